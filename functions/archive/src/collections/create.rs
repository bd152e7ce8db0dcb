//! `POST /archive/collections`

use serde::Deserialize;
use table::Action;
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Created, Fault, IdempotencyKey, Json, Problem, Route, Rules, Sample, Valid, problem};

use super::{CollectionView, LIST, image_url_fault, of_transaction, place_check, repeated, unknown};
use crate::access::{CALLER, CREATE_COLLECTION, CREATE_USER, NEXT_IDS};
use crate::audit::now;
use crate::authorization::{Caller, SIGNED_IN};
use crate::category_use;
use crate::item::{ClosedYears, Collection, CollectionCategory, CollectionUse};
use crate::keys::{CollectionCategoryKey, CollectionKey, CollectionUseKey};
use crate::mapping::{self, MappedColumn};
use crate::names::{CategoryId, CollectionId, PlaceId, Role};
use crate::schema::ARCHIVE;
use crate::sequence::next_id;

/// A new collection.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewCollection {
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    #[serde(default)]
    #[schema(max_length = 10000)]
    description: String,
    /// Each is named once.
    #[schema(min_items = 1, max_items = 90)]
    category_ids: Vec<CategoryId>,
    /// Where places of its records are looked for first.
    #[serde(default)]
    #[schema(nullable = false)]
    place_id: Option<PlaceId>,
    /// The mapping of its new posts.
    #[serde(default)]
    #[schema(max_items = 100, nullable = false)]
    default_mapping: Option<Vec<MappedColumn>>,
    #[serde(default)]
    #[schema(max_length = 2000)]
    citation_template: String,
    /// The link to the image of a record: an https or http URL. `{header}` stands for the record's cell of that column.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 500, nullable = false)]
    image_url_template: Option<String>,
    #[serde(default)]
    #[schema(nullable = false)]
    closed_years: Option<ClosedYears>,
}

impl Rules for NewCollection {
    fn faults(&self) -> Vec<Fault> {
        let mapping = self.default_mapping.as_deref().map(|columns| mapping::faults("/defaultMapping", columns));
        let faults = name_fault("/name", &self.name).into_iter().chain(repeated(&self.category_ids));
        faults
            .chain(mapping.unwrap_or_default())
            .chain(self.image_url_template.as_deref().and_then(image_url_fault))
            .collect()
    }
}

pub fn route() -> Route {
    Route::post("createCollection", LIST, SIGNED_IN, create)
        .summary("Create a collection in one or more categories")
        .patterns(&[&CALLER, &CREATE_USER, &NEXT_IDS, &CREATE_COLLECTION])
        .body_limit(256 * 1024)
        .problems(&[problem::FORBIDDEN, problem::UNPROCESSABLE, problem::CONFLICT])
        .sample(
            Sample::new(LIST).body(
                r#"{"name":"Llanfair parish registers","categoryIds":["7000000001"],"closedYears":{"birth":100}}"#,
            ),
        )
}

async fn create(
    cx: Context,
    once: IdempotencyKey,
    Valid(Json(new)): Valid<Json<NewCollection>>,
) -> Result<Created<CollectionView>, Problem> {
    let caller = Caller::with_role(&cx, Role::Editor).await?;
    if let Some(earlier) = once.earlier(&cx, &CREATE_COLLECTION, &ARCHIVE).await? {
        return Ok(earlier);
    }
    let user = caller.into_user(&cx).await?;
    let id = next_id(&cx, CollectionId::new).await?;
    let at = now(&cx);
    let collection = Collection {
        id,
        listed_by: new.name.clone(),
        name: new.name,
        description: new.description,
        category_ids: new.category_ids,
        place_id: new.place_id,
        default_mapping: new.default_mapping,
        citation_template: new.citation_template,
        image_url_template: new.image_url_template,
        closed_years: new.closed_years,
        created_at: at.clone(),
        updated_at: at,
        created_by: user.id,
    };
    let view = CollectionView::from(collection.clone());
    cx.retry(|| async {
        let mut actions = vec![
            category_use::counted(&collection.category_ids, &[]),
            Action::create(&ARCHIVE, CollectionKey { collection: id }, &collection)?,
            Action::create(&ARCHIVE, CollectionUseKey { collection: id }, &CollectionUse::default())?,
        ];
        for category in &collection.category_ids {
            let key = CollectionCategoryKey { collection: id, category: *category };
            actions.push(Action::create(&ARCHIVE, key, &CollectionCategory { collection: id, listed_by: id })?);
        }
        if let Some(place) = collection.place_id {
            actions.push(place_check(&cx, &CREATE_COLLECTION, place).await?);
        }
        let created = once.create(&cx, &CREATE_COLLECTION, &ARCHIVE, actions, format!("{LIST}/{id}"), &view).await;
        created.map_err(|error| match error.failed(0) {
            Some(counts) => unknown(&collection.category_ids, counts.item.as_ref()),
            None => of_transaction(error),
        })
    })
    .await
}
