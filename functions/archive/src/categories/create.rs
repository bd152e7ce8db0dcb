//! `POST /archive/categories`

use serde::Deserialize;
use table::Action;
use utoipa::ToSchema;
use web::{Context, Created, Fault, IdempotencyKey, Json, Problem, Route, Rules, Sample, Valid, problem};

use super::{CategoryView, LIST, TOO_MANY_CATEGORIES, folded, name_faults, taken};
use crate::access::{CALLER, CREATE_CATEGORY, CREATE_USER, NEXT_IDS};
use crate::audit::Audit;
use crate::authorization::{Caller, SIGNED_IN};
use crate::category_use::{self, MAX_CATEGORIES};
use crate::item::{Category, CategoryName};
use crate::keys::{CategoryKey, CategoryNameKey};
use crate::names::{CategoryId, Role};
use crate::schema::ARCHIVE;
use crate::sequence::next_id;

/// A new category.
#[derive(Debug, Deserialize, ToSchema)]
pub struct NewCategory {
    /// Unique without regard to case, accents and punctuation. It has a letter or a digit.
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    #[serde(default)]
    #[schema(max_length = 2000)]
    description: String,
}

impl Rules for NewCategory {
    fn faults(&self) -> Vec<Fault> {
        name_faults(&self.name)
    }
}

pub fn route() -> Route {
    Route::post("createCategory", LIST, SIGNED_IN, create)
        .summary("Create a category")
        .patterns(&[&CALLER, &CREATE_USER, &NEXT_IDS, &CREATE_CATEGORY])
        .problems(&[problem::FORBIDDEN, problem::TAKEN, TOO_MANY_CATEGORIES, problem::CONFLICT])
        .sample(Sample::new(LIST).body(r#"{"name":"Births","description":"Civil registers of births"}"#))
}

async fn create(
    cx: Context,
    once: IdempotencyKey,
    Valid(Json(new)): Valid<Json<NewCategory>>,
) -> Result<Created<CategoryView>, Problem> {
    let caller = Caller::with_role(&cx, Role::Editor).await?;
    if let Some(earlier) = once.earlier(&cx, &CREATE_CATEGORY, &ARCHIVE).await? {
        return Ok(earlier);
    }
    let name = folded(&new.name).map_err(|fault| Problem::faults(vec![fault]))?;
    let user = caller.into_user(&cx).await?;
    let id = next_id(&cx, CategoryId::new).await?;
    let category = Category::new(id, new.name, new.description, Audit::now(&cx, user.id));
    let actions = vec![
        Action::create(&ARCHIVE, CategoryKey { category: id }, &category)?,
        Action::create(&ARCHIVE, CategoryNameKey { name }, &CategoryName { category_id: id })?,
        category_use::added(id),
    ];
    let view = CategoryView::from(category);
    let created = once.create(&cx, &CREATE_CATEGORY, &ARCHIVE, actions, format!("{LIST}/{id}"), &view).await;
    created.map_err(|error| match (error.failed(1), error.failed(2)) {
        (Some(_), _) => taken(),
        (None, Some(_)) => TOO_MANY_CATEGORIES
            .because(format!("An archive has at most {MAX_CATEGORIES} categories. Delete one that is not needed.")),
        (None, None) => error.into(),
    })
}
