//! Tenants by the words of their names, for who runs the platform.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use web::search::{One, SearchResponse};
use web::{Answer, Fault, Page, Problem, Request};

use crate::grid::{ALIAS, SEARCH};
use crate::names::TenantId;
use crate::search::Words;
use crate::views::TenantEntry;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Fields {
    tenant_id: One<String>,
    name: One<String>,
}

/// A page of the tenants whose names have these words, the best first.
pub async fn find(request: &Request, q: &str, limit: u32, cursor: Option<&str>) -> Result<Answer, Problem> {
    let after: Option<Box<RawValue>> = request.cursor(cursor)?;
    let words = Words::parse(q).map_err(|detail| Problem::faults(vec![Fault::parameter("q", detail)]))?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut asked = json!({
        "query": { "bool": { "filter": [{ "term": { "entity": "tenant" } }], "must": words.clause(false) } },
        "sort": [{ "_score": "desc" }, { "pk": "desc" }],
        "size": limit + 1,
        "_source": false,
        "fields": ["tenantId"],
        "stored_fields": ["name"],
    });
    if let (Some(after), Some(asked)) = (after, asked.as_object_mut()) {
        let after: Value = serde_json::from_str(after.get()).map_err(Problem::internal)?;
        asked.insert("search_after".to_owned(), after);
    }
    let answer: SearchResponse<Fields> = request.access().search(&SEARCH, ALIAS, &asked).await?;
    let (hits, next) = answer.page(limit);
    let entry = |fields: Fields| Some((TenantId::parse_id(&fields.tenant_id.get()?)?, fields.name.get()?));
    let items = hits.into_iter().filter_map(|hit| entry(hit.fields)).map(|(id, name)| TenantEntry { id, name });
    let next_cursor = next.map(|next| request.next_cursor(&next)).transpose()?;
    Ok(Answer::ok(&Page { items: items.collect(), next_cursor }))
}
