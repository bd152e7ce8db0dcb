//! The search for tenants by the words of their names, for platform administrators.

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use web::search::{Hit, MAX_COUNT, Marks, One, SearchResponse};
use web::{Context, Fault, Problem};

use crate::access::{ALIAS, SEARCH};
use crate::names::TenantId;
use crate::search::Words;
use crate::views::{TenantEntry, TenantPage};

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Fields {
    tenant_id: One<String>,
    name: One<String>,
}

/// A page of the tenants whose names have these words, most relevant first.
pub async fn search(cx: &Context, q: &str, limit: u32, cursor: Option<&str>) -> Result<TenantPage, Problem> {
    let after: Option<Box<RawValue>> = cx.cursor(cursor)?;
    let words = Words::parse(q).map_err(|detail| Problem::faults(vec![Fault::parameter("q", detail)]))?;
    let (marks, limit) = (Marks::random(), usize::try_from(limit).unwrap_or(usize::MAX));
    let mut request = json!({
        "query": { "bool": { "filter": [{ "term": { "entity": "tenant" } }], "must": words.clause(false) } },
        "sort": [{ "_score": "desc" }, { "pk": "desc" }],
        "size": limit + 1,
        "_source": false,
        "fields": ["tenantId"],
        "stored_fields": ["name"],
        "highlight": marks.request(json!({ "name": { "number_of_fragments": 0 } }), words.highlighted()),
        "track_total_hits": MAX_COUNT,
    });
    if let (Some(after), Some(request)) = (after, request.as_object_mut()) {
        request.insert("search_after".to_owned(), json!(after));
    }
    let response: SearchResponse<Fields> = cx.access().search(&SEARCH, ALIAS, &request).await?;
    let total = Some(response.total());
    let (hits, next) = response.page(limit);
    let entry = |hit: Hit<Fields>| {
        let highlights = marks.read(&hit.highlight);
        let id = TenantId::parse_id(&hit.fields.tenant_id.get()?)?;
        Some(TenantEntry { id, name: hit.fields.name.get()?, score: hit.score, highlights })
    };
    Ok(TenantPage { items: hits.into_iter().filter_map(entry).collect(), total, next_cursor: cx.cursor_to(next)? })
}
