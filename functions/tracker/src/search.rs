//! `GET /tracker/tenants/{tenantId}/search`

mod words;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use table::{EntityKey, Key};
use utoipa::ToSchema;
use web::search::{Highlights, Hit, MAX_COUNT, Marks, One, Piece, SearchResponse, Total};
use web::{Context, Fault, Json, Limit, Path, Problem, Query, Route, Sample, problem};

use crate::access::{ALIAS, ISSUES, MEMBERSHIP, PROJECT, SEARCH};
use crate::attributes::ATTRIBUTE_BUSY;
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::grid::query::check_busy_filters;
use crate::grid::{Filter, FilterFault, clause};
use crate::items::{Issue, State};
use crate::keys::IssueKey;
use crate::names::{IssueId, ProjectId, TenantId};
use crate::project::{Consistency, Schema};
use crate::projects;
use crate::schema::TRACKER;
use crate::tenants::TenantPath;
pub use words::Words;

/// The kind of items to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Searched {
    #[default]
    Issue,
    Project,
}

/// The query string as sent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchQuery {
    /// At most 20 words; typos are tolerated.
    #[schema(min_length = 1, max_length = 200)]
    q: String,
    #[serde(default)]
    entity: Searched,
    project_id: Option<ProjectId>,
    state: Option<State>,
    /// Filters as on the grid. They need a `projectId`.
    #[serde(default)]
    filter: Vec<String>,
    #[serde(default)]
    limit: Limit,
    #[schema(min_length = 1)]
    cursor: Option<String>,
}

/// An issue without its values.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FoundIssue {
    id: IssueId,
    project_id: ProjectId,
    number: u64,
    name: String,
    state: State,
}

/// A project.
#[derive(Serialize, ToSchema)]
struct FoundProject {
    id: ProjectId,
    name: String,
}

/// An issue or a project.
#[derive(Serialize, ToSchema)]
struct FoundHit {
    #[serde(skip_serializing_if = "Option::is_none")]
    issue: Option<FoundIssue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<FoundProject>,
    score: f64,
    /// The fragments by field, each in pieces whose concatenation is the text.
    #[schema(value_type = BTreeMap<String, Vec<Vec<Piece>>>)]
    highlights: Highlights,
}

/// A page of hits.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundPage {
    items: Vec<FoundHit>,
    total: Total,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Fields {
    pk: One<String>,
    project_id: One<String>,
    name: One<String>,
}

pub fn route() -> Route {
    Route::get("search", "/tracker/tenants/{tenantId}/search", SIGNED_IN, search)
        .summary("Search the issues of a tenant by their words, or its projects by name")
        .patterns(&[&MEMBERSHIP, &PROJECT, &SEARCH, &ISSUES])
        .problems(&[problem::NOT_FOUND, ATTRIBUTE_BUSY, problem::SEARCH_UNAVAILABLE])
        .sample(Sample::new("/tracker/tenants/tenant-0807/search?q=girder"))
}

async fn search(
    cx: Context,
    Path(path): Path<TenantPath>,
    Query(query): Query<SearchQuery>,
) -> Result<Json<FoundPage>, Problem> {
    TenantAccess::load(&cx, path.tenant_id).await?;
    let after: Option<Box<RawValue>> = cx.cursor(query.cursor.as_deref())?;
    let words = Words::parse(&query.q).map_err(|detail| Problem::faults(vec![Fault::parameter("q", detail)]))?;
    let schema = match query.project_id {
        Some(project) => Some(projects::load(&cx, path.tenant_id, project, Consistency::Strong).await?),
        None => None,
    };
    let filters = query.filters(path.tenant_id, schema.as_ref())?;
    let marks = Marks::random();
    let limit = usize::try_from(query.limit.0).unwrap_or(usize::MAX);
    let mut request = json!({
        "query": { "bool": { "filter": filters, "must": words.clause(schema.is_some()) } },
        "sort": [{ "_score": "desc" }, { "pk": "desc" }, { "sk": "desc" }],
        "size": limit + 1,
        "_source": false,
        "fields": ["pk", "projectId"],
        "stored_fields": ["name"],
        "highlight": marks.request(json!({ "name": { "number_of_fragments": 0 }, "texts": {} }), words.highlighted()),
        "track_total_hits": MAX_COUNT,
    });
    if let (Some(after), Some(request)) = (after, request.as_object_mut()) {
        request.insert("search_after".to_owned(), json!(after));
    }
    let response: SearchResponse<Fields> = cx.access().search(&SEARCH, ALIAS, &request).await?;
    let total = response.total();
    let (hits, next) = response.page(limit);
    let mut items = Vec::new();
    let issues = issues(&cx, &hits).await?;
    for (hit, issue) in hits.into_iter().zip(issues) {
        let score = hit.score.ok_or_else(|| Problem::internal("a hit lacks its score"))?;
        let highlights = marks.read(&hit.highlight);
        let project = hit.fields.project_id.peek().and_then(|id| ProjectId::parse_id(id));
        let Some(project_id) = project else { return Err(Problem::internal("a hit lacks its project")) };
        let found = match query.entity {
            // An issue that was deleted since it was indexed is left out.
            Searched::Issue => issue.map(|(id, issue)| {
                let Issue { num, name, state, .. } = issue;
                (Some(FoundIssue { id, project_id, number: num, name, state }), None)
            }),
            Searched::Project => {
                let name = hit.fields.name.get().ok_or_else(|| Problem::internal("a project's hit lacks its name"))?;
                Some((None, Some(FoundProject { id: project_id, name })))
            }
        };
        items.extend(found.map(|(issue, project)| FoundHit { issue, project, score, highlights }));
    }
    let next_cursor = cx.cursor_to(next)?;
    Ok(Json(FoundPage { items, total, next_cursor }))
}

impl SearchQuery {
    /// The filters of the search, first of all the tenant.
    fn filters(&self, tenant: TenantId, schema: Option<&Schema>) -> Result<Vec<Value>, Problem> {
        let entity = match self.entity {
            Searched::Issue => "issue",
            Searched::Project => "project",
        };
        let mut filters = vec![json!({ "term": { "entity": entity } }), json!({ "term": { "tenantId": tenant.id() } })];
        filters.extend(self.project_id.map(|project| json!({ "term": { "projectId": project.id() } })));
        filters.extend(self.state.map(|state| json!({ "term": { "state": state.as_str() } })));
        filters.extend(self.column_filters(schema)?);
        Ok(filters)
    }

    /// The filters on columns, which only a project has.
    fn column_filters(&self, schema: Option<&Schema>) -> Result<Vec<Value>, Problem> {
        if self.filter.is_empty() {
            return Ok(Vec::new());
        }
        let fault = |detail: &str| Problem::faults(vec![Fault::parameter("filter", detail)]);
        let schema = schema.ok_or_else(|| fault("requires `projectId`"))?;
        if self.entity == Searched::Project {
            return Err(fault("is allowed only with `entity=issue`"));
        }
        let filters = Filter::of_parameter(&self.filter, schema);
        let filters =
            filters.map_err(|faults| Problem::faults(faults.into_iter().map(FilterFault::of_parameter).collect()))?;
        check_busy_filters(schema, &filters)?;
        Ok(filters.iter().map(|filter| clause(schema, filter)).collect())
    }
}

/// The present issues of the hits. None for a hit that is no issue, and for a deleted issue.
async fn issues(cx: &Context, hits: &[Hit<Fields>]) -> Result<Vec<Option<(IssueId, Issue)>>, Problem> {
    let key = |hit: &Hit<Fields>| {
        let issue = IssueId::parse_id(hit.fields.pk.peek()?)?;
        let project = ProjectId::parse_id(hit.fields.project_id.peek()?)?;
        Some(IssueKey { issue, project })
    };
    let keys: Vec<Option<IssueKey>> = hits.iter().map(key).collect();
    let wanted: Vec<Key> = keys.iter().flatten().map(EntityKey::key).collect();
    let table = cx.access().table(&ISSUES, &TRACKER);
    let mut found = table.batch_get(&wanted).await?;
    // An eventually consistent read may miss a new issue.
    let missing: Vec<Key> =
        wanted.iter().zip(&found).filter(|(_, stored)| stored.is_none()).map(|(key, _)| key.clone()).collect();
    if !missing.is_empty() {
        let mut again = table.batch_get_consistent(&missing).await?.into_iter();
        found.iter_mut().filter(|stored| stored.is_none()).for_each(|stored| *stored = again.next().flatten());
    }
    let mut found = found.into_iter();
    let mut issues = Vec::new();
    for key in keys {
        let stored = key.as_ref().and_then(|_| found.next()).flatten();
        issues.push(match (key, stored) {
            (Some(key), Some(stored)) => Some((key.issue, stored.read()?)),
            _ => None,
        });
    }
    Ok(issues)
}
