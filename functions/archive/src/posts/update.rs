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
use crate::register::CsvOptions;
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
    /// All values of the fields that the settings declare.
    #[schema(nullable = false)]
    metadata: Option<BTreeMap<String, MetadataValue>>,
    /// All options. `null` removes them. The file of the post is read again with them.
    #[serde(default)]
    #[schema(value_type = Option<CsvOptions>)]
    csv_options: Patch<CsvOptions>,
    /// All columns.
    #[schema(max_items = 100, nullable = false)]
    mapping: Option<Vec<MappedColumn>>,
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
    fn apply(&self, before: &Post) -> Post {
        let (patch, before) = (self.clone(), before.clone());
        Post {
            collection_id: patch.collection_id.unwrap_or(before.collection_id),
            name: patch.name.unwrap_or(before.name),
            metadata: patch.metadata.unwrap_or(before.metadata),
            csv_options: patch.csv_options.apply(before.csv_options),
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
        if patch.metadata.is_some() {
            metadata::check(cx.access().table(&SETTINGS, &ARCHIVE), &after.metadata).await?;
        }
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
