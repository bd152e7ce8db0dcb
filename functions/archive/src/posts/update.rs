//! `PATCH /archive/posts/{postId}`

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use table::{Action, Cause, Changes};
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Fault, IfMatch, MergePatch, Patch, Path, Problem, Route, Rules, Sample, Tagged, Valid, problem};

use super::inspect::inspect_again;
use super::{IN_TRANSIT, NOT_MOVABLE, ONE, PostPath, PostView, SAMPLE, in_transit, metadata, unknown_collection};
use crate::access::{CALLER, INSPECT_AGAIN, ONE as ONE_ITEM, SETTINGS, UPDATE_POST};
use crate::audit::now;
use crate::authorization::{Caller, SIGNED_IN};
use crate::item::{MetadataValue, Post, PostFile};
use crate::keys::{CollectionUseKey, PostKey};
use crate::mapping::{self, MappedColumn};
use crate::names::{CollectionId, PostStatus, Role};
use crate::register::{CsvOptions, Delimiter, Encoding};
use crate::schema::ARCHIVE;

/// Enough to read a file of 50 MB.
const TIMEOUT: Duration = Duration::from_secs(25);

/// The fields of a post that can be updated.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostPatch {
    /// Moves the post to another collection.
    #[schema(value_type = Option<String>, pattern = "^[1-9][0-9]{9}$", nullable = false)]
    collection_id: Option<CollectionId>,
    #[schema(min_length = 1, max_length = 200, nullable = false)]
    name: Option<String>,
    /// The values that change, of fields that the settings declare. `null` removes one.
    #[schema(nullable = false)]
    metadata: Option<BTreeMap<String, MetadataPatch>>,
    /// The options that change. `null` removes all. The file of the post is read again with them.
    #[serde(default)]
    #[schema(value_type = Option<CsvOptionsPatch>)]
    csv_options: Patch<CsvOptionsPatch>,
    /// All columns.
    #[schema(max_items = 100, nullable = false)]
    mapping: Option<Vec<MappedColumn>>,
}

/// A value of the metadata, or `null`.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct MetadataPatch(Option<MetadataValue>);

/// The options that change. `null` removes one.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CsvOptionsPatch {
    #[serde(default)]
    #[schema(value_type = Option<String>, example = "windows-1250")]
    encoding: Patch<Encoding>,
    #[serde(default)]
    #[schema(value_type = Option<Delimiter>)]
    delimiter: Patch<Delimiter>,
}

impl CsvOptionsPatch {
    fn apply(self, before: CsvOptions) -> CsvOptions {
        CsvOptions { encoding: self.encoding.apply(before.encoding), delimiter: self.delimiter.apply(before.delimiter) }
    }
}

impl Rules for PostPatch {
    fn faults(&self) -> Vec<Fault> {
        let mut faults: Vec<Fault> =
            self.name.as_deref().and_then(|name| name_fault("/name", name)).into_iter().collect();
        faults.extend(self.mapping.as_deref().map(|columns| mapping::faults("/mapping", columns)).unwrap_or_default());
        faults
    }
}

impl PostPatch {
    /// The values that it sets. A stored one may be of a field that the settings do not declare any more.
    fn new_metadata(&self) -> BTreeMap<String, MetadataValue> {
        let set = |(name, MetadataPatch(value)): (&String, &MetadataPatch)| Some((name.clone(), value.clone()?));
        self.metadata.iter().flatten().filter_map(set).collect()
    }

    fn apply(&self, before: &Post) -> Post {
        let (patch, before) = (self.clone(), before.clone());
        let mut metadata = before.metadata;
        for (name, MetadataPatch(value)) in patch.metadata.unwrap_or_default() {
            match value {
                Some(value) => drop(metadata.insert(name, value)),
                None => drop(metadata.remove(&name)),
            }
        }
        let options = patch.csv_options.map(|options| options.apply(before.csv_options.unwrap_or_default()));
        Post {
            collection_id: patch.collection_id.unwrap_or(before.collection_id),
            name: patch.name.unwrap_or(before.name),
            metadata,
            csv_options: options.apply(before.csv_options),
            mapping: patch.mapping.unwrap_or(before.mapping),
            ..before
        }
    }
}

pub fn route() -> Route {
    Route::patch("updatePost", ONE, SIGNED_IN, update)
        .summary("Update a post of the caller, or any as an editor; a draft can be moved to another collection")
        .patterns(&[&CALLER, &ONE_ITEM, &SETTINGS, &INSPECT_AGAIN, &UPDATE_POST])
        .timeout(TIMEOUT)
        .body_limit(256 * 1024)
        .problems(&[
            problem::FORBIDDEN,
            problem::NOT_FOUND,
            IN_TRANSIT,
            NOT_MOVABLE,
            problem::UNPROCESSABLE,
            problem::CONFLICT,
        ])
        .sample(Sample::new(SAMPLE).body(r#"{"name":"Baptisms 1813 to 1837"}"#))
}

async fn update(
    cx: Context,
    Path(PostPath { post_id: post }): Path<PostPath>,
    tag: IfMatch,
    Valid(MergePatch(patch)): Valid<MergePatch<PostPatch>>,
) -> Result<Tagged<PostView>, Problem> {
    let caller = Caller::with_role(&cx, Role::Volunteer).await?;
    cx.retry_stale(&tag, || async {
        let stored = cx.access().table(&ONE_ITEM, &ARCHIVE).get_consistent(PostKey { post }).await?;
        let stored = stored.ok_or_else(Problem::not_found)?;
        let before: Post = stored.read()?;
        caller.require_own(&before)?;
        tag.check(stored.rev)?;
        if before.status.is_in_transit() {
            return Err(in_transit());
        }
        let after = patch.apply(&before);
        if after == before {
            return Ok(Tagged::new(&before.into(), stored.rev));
        }
        let moves = after.collection_id != before.collection_id;
        if moves && !matches!(before.status, PostStatus::Draft | PostStatus::Error) {
            return Err(NOT_MOVABLE.because("Only a draft and a post with an error can be moved. Unpublish it first."));
        }
        metadata::check(cx.access().table(&SETTINGS, &ARCHIVE), &patch.new_metadata()).await?;
        let mut after = Post { updated_at: now(&cx), ..after };
        if let Some(file) = before.file.as_ref().filter(|_| after.csv_options != before.csv_options) {
            let inspection = inspect_again(cx.access(), post, file, after.csv_options.unwrap_or_default()).await?;
            after.file = Some(PostFile { inspection, ..file.clone() });
        }
        let changes = Changes::between(&before, &after)?;
        let mut actions = vec![Action::update(&ARCHIVE, stored.key.clone(), changes).if_unchanged(&stored)];
        if moves {
            let count = |collection, more| {
                Action::update(&ARCHIVE, CollectionUseKey { collection }, Changes::new().add("posts", more))
            };
            actions.extend([count(after.collection_id, 1), count(before.collection_id, -1)]);
        }
        match cx.access().transact(&UPDATE_POST, &actions).await {
            Ok(rev) => Ok(Tagged::new(&after.into(), rev)),
            Err(error) => Err(match (error.failed(0).map(|failed| failed.cause), error.failed(1)) {
                (Some(Cause::Missing), _) => Problem::not_found(),
                (Some(_), _) => Problem::stale(),
                (None, Some(_)) => unknown_collection(),
                (None, None) => error.into(),
            }),
        }
    })
    .await
}
