//! Lists by name: all tenants, and the projects of a tenant.

use serde::Deserialize;
use table::{EntityKey, Position, Stored};
use utoipa::ToSchema;
use web::{Context, Limit, Order, Page, Problem};

use crate::access::BY_NAME;
use crate::listed;
use crate::schema::{DATA, INDEX, TRACKER};

/// The query of a list by name.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NameQuery {
    #[serde(default)]
    pub limit: Limit,
    #[schema(min_length = 1)]
    pub cursor: Option<String>,
    #[serde(default)]
    pub order: Order,
    /// Only names that start with this; case and accents are ignored.
    #[schema(min_length = 1, max_length = 200)]
    pub prefix: Option<String>,
}

/// A page of the entries in a partition of the index, each as `view` makes it of its key and its name.
pub async fn page<K: EntityKey, T>(
    cx: &Context,
    partition: &str,
    query: &NameQuery,
    view: impl Fn(K, String) -> T,
) -> Result<Page<T>, Problem> {
    let after: Option<Position> = cx.cursor(query.cursor.as_deref())?;
    let entries = cx.access().table(&BY_NAME, &TRACKER).query(partition).index(INDEX);
    let prefix = query.prefix.as_deref().map(listed::key);
    // No name is empty, so none starts with what has no visible character.
    if prefix.as_ref().is_some_and(String::is_empty) {
        return Ok(Page { items: Vec::new(), next_cursor: None });
    }
    let entries = match &prefix {
        Some(prefix) => entries.begins_with(listed::beginning(prefix)),
        None => entries,
    };
    let entries = if query.order == Order::Desc { entries.backward() } else { entries };
    let named = |entry: &Stored| {
        let name = listed::name(entry.item.get(DATA)?.as_s().ok()?);
        let matches = prefix.as_ref().is_none_or(|prefix| listed::key(name).starts_with(prefix.as_str()));
        matches.then_some(view(K::parse(&entry.key)?, name.to_owned()))
    };
    let matching = |page: Vec<Stored>| {
        let views: Vec<Option<T>> = page.iter().map(named).collect();
        async { Ok::<_, Problem>(views) }
    };
    let (items, next) = entries.after(after).page_of(query.limit.0, matching).await?;
    Ok(Page { items, next_cursor: cx.cursor_to(next)? })
}
