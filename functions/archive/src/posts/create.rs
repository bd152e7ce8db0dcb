//! `POST /archive/posts`

use std::collections::BTreeMap;

use serde::Deserialize;
use table::{Action, Changes};
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Created, Fault, IdempotencyKey, Json, Problem, Route, Rules, Sample, Valid, problem};

use super::{LIST, PostView, metadata, unknown_collection};
use crate::access::{CALLER, CREATE_POST, CREATE_USER, NEXT_IDS, ONE as ONE_ITEM, SETTINGS};
use crate::audit::now;
use crate::authorization::{Caller, SIGNED_IN};
use crate::item::{Collection, MetadataValue, Post};
use crate::keys::{CollectionKey, CollectionUseKey, PostKey};
use crate::mapping::{self, MappedColumn};
use crate::names::{CollectionId, PostId, PostStatus, Role, RunNumber};
use crate::register::CsvOptions;
use crate::schema::ARCHIVE;
use crate::sequence::next_id;

/// A new post.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewPost {
    collection_id: CollectionId,
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// Values of the fields that the settings declare.
    #[serde(default)]
    metadata: BTreeMap<String, MetadataValue>,
    #[serde(default)]
    #[schema(nullable = false)]
    csv_options: Option<CsvOptions>,
    /// Without it the post has the default mapping of its collection.
    #[serde(default)]
    #[schema(max_items = 100, nullable = false)]
    mapping: Option<Vec<MappedColumn>>,
}

impl Rules for NewPost {
    fn faults(&self) -> Vec<Fault> {
        let mapping = self.mapping.as_deref().map(|columns| mapping::faults("/mapping", columns)).unwrap_or_default();
        name_fault("/name", &self.name).into_iter().chain(mapping).collect()
    }
}

pub fn route() -> Route {
    Route::post("createPost", LIST, SIGNED_IN, create)
        .summary("Create a post of the caller in a collection")
        .patterns(&[&CALLER, &CREATE_USER, &NEXT_IDS, &ONE_ITEM, &SETTINGS, &CREATE_POST])
        .body_limit(256 * 1024)
        .problems(&[problem::FORBIDDEN, problem::UNPROCESSABLE, problem::CONFLICT])
        .sample(Sample::new(LIST).body(
            r#"{"collectionId":"7000000002","name":"Baptisms 1813","mapping":[{"header":"Born","field":"birthDate"}]}"#,
        ))
}

async fn create(
    cx: Context,
    once: IdempotencyKey,
    Valid(Json(new)): Valid<Json<NewPost>>,
) -> Result<Created<PostView>, Problem> {
    let caller = Caller::with_role(&cx, Role::Volunteer).await?;
    if let Some(earlier) = once.earlier(&cx, &CREATE_POST, &ARCHIVE).await? {
        return Ok(earlier);
    }
    metadata::check(cx.access().table(&SETTINGS, &ARCHIVE), &new.metadata).await?;
    let mapping = match new.mapping {
        Some(mapping) => mapping,
        None => default_mapping(&cx, new.collection_id).await?,
    };
    let user = caller.into_user(&cx).await?;
    let id = next_id(&cx, PostId::new).await?;
    let at = now(&cx);
    let post = Post {
        id,
        collection_id: new.collection_id,
        name: new.name,
        owner_id: user.id,
        metadata: new.metadata,
        csv_options: new.csv_options,
        mapping,
        upload: None,
        file: None,
        unused_files: Default::default(),
        last_published: None,
        status: PostStatus::Draft,
        run: RunNumber(0),
        published_run: None,
        first_id: None,
        last_id: None,
        record_count: 0,
        household_count: 0,
        last_error: None,
        search_lag: false,
        created_at: at.clone(),
        updated_at: at,
        created_by: user.id,
    };
    let counts = CollectionUseKey { collection: new.collection_id };
    let actions = vec![
        Action::update(&ARCHIVE, counts, Changes::new().add("posts", 1)),
        Action::create(&ARCHIVE, PostKey { post: id }, &post)?,
    ];
    let view = PostView::from(post);
    let created = once.create(&cx, &CREATE_POST, &ARCHIVE, actions, format!("{LIST}/{id}"), &view).await;
    created.map_err(|error| match error.failed(0) {
        Some(_) => unknown_collection(),
        None => error.into(),
    })
}

async fn default_mapping(cx: &Context, collection: CollectionId) -> Result<Vec<MappedColumn>, Problem> {
    let stored = cx.access().table(&ONE_ITEM, &ARCHIVE).get_consistent(CollectionKey { collection }).await?;
    let collection: Collection = stored.ok_or_else(unknown_collection)?.read()?;
    Ok(collection.default_mapping.unwrap_or_default())
}
