//! Lists whose items name users: `include=people` adds the names of these users to the page, each once.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, Type};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};
use web::{Context, Limit, Page, Problem};

use crate::names::UserId;
use crate::people::{Include, PersonName, names};

/// The query of such a list.
#[derive(Debug, Deserialize, ToSchema)]
pub struct PeopleQuery {
    #[serde(default)]
    pub limit: Limit,
    #[schema(min_length = 1)]
    pub cursor: Option<String>,
    /// `people` adds the names of the users whom the items name.
    #[schema(nullable = false)]
    pub include: Option<Include>,
}

/// A page with the names of the users whom its items name. The API description calls such a page of `Reader`
/// `ReaderPageWithPeople`, since other lists of the same items may have plain pages.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PeoplePage<T> {
    items: Vec<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    people: Option<Vec<PersonName>>,
}

impl<T> PeoplePage<T> {
    /// Reads the names of the users whom the items of a page name, if the query includes them. The route has the
    /// pattern [`PEOPLE`](crate::people::PEOPLE).
    pub async fn of<I: IntoIterator<Item = UserId>>(
        cx: &Context,
        page: Page<T>,
        include: Option<Include>,
        users: impl Fn(&T) -> I,
    ) -> Result<Self, Problem> {
        let people = names(cx, include, page.items.iter().flat_map(users)).await?;
        Ok(Self { items: page.items, next_cursor: page.next_cursor, people })
    }
}

impl<T: ToSchema> PartialSchema for PeoplePage<T> {
    fn schema() -> RefOr<Schema> {
        let list = |name| ArrayBuilder::new().items(Ref::from_schema_name(name));
        let people = list(PersonName::name());
        let people = people.description(Some("With `include=people`: the users whom the items name, each once."));
        ObjectBuilder::new()
            .property("items", list(T::name()))
            .required("items")
            .property("nextCursor", ObjectBuilder::new().schema_type(Type::String))
            .property("people", people)
            .into()
    }
}

impl<T: ToSchema> ToSchema for PeoplePage<T> {
    fn name() -> Cow<'static, str> {
        format!("{}PageWithPeople", T::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(schemas);
        schemas.push((PersonName::name().into_owned(), PersonName::schema()));
        PersonName::schemas(schemas);
    }
}
