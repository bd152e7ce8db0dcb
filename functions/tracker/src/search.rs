//! Search over what a tenant's members may see: issues, and projects by name.

mod words;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use table::{EntityKey, Key};
use utoipa::ToSchema;
use web::search::{COUNTED, Highlights, Marks, One, Piece, SearchResponse, Total};
use web::{Answer, Fault, Limit, Problem, Request};

use crate::access::ISSUES;
use crate::callers::at_least;
use crate::grid::list::check_busy;
use crate::grid::{ALIAS, Filter, SEARCH, clause};
use crate::items::{Issue, Role, State};
use crate::keys::IssueKey;
use crate::names::{IssueId, ProjectId, TenantId};
use crate::project::{Read, Schema};
use crate::projects;
use crate::schema::TRACKER;
use crate::tenants::one::TenantPath;
pub use words::Words;

/// What is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sought {
    #[default]
    Issue,
    Project,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchQuery {
    /// At most 20 words; typos are forgiven.
    #[schema(min_length = 1, max_length = 200)]
    q: String,
    #[serde(default)]
    entity: Sought,
    #[serde(default)]
    #[schema(nullable = false)]
    project_id: Option<ProjectId>,
    #[serde(default)]
    #[schema(nullable = false)]
    state: Option<State>,
    /// As on the grid; only with a project.
    #[serde(default)]
    filter: Vec<String>,
    #[serde(default)]
    limit: Limit,
    #[serde(default)]
    #[schema(nullable = false, min_length = 1)]
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

#[derive(Serialize, ToSchema)]
struct FoundProject {
    id: ProjectId,
    name: String,
}

/// An issue or a project, whichever was looked for.
#[derive(Serialize, ToSchema)]
struct FoundHit {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    issue: Option<FoundIssue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    project: Option<FoundProject>,
    score: f64,
    /// By field its fragments, each in pieces; joined these are the text.
    #[schema(value_type = BTreeMap<String, Vec<Vec<Piece>>>)]
    highlights: Highlights,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundPage {
    items: Vec<FoundHit>,
    total: Total,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next_cursor: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Fields {
    pk: One<String>,
    project_id: One<String>,
    name: One<String>,
}

pub async fn search(request: Request) -> Result<Answer, Problem> {
    let TenantPath { tenant_id } = request.path()?;
    at_least(&request, tenant_id, Role::Viewer).await?;
    let query: SearchQuery = request.query()?;
    let after: Option<Box<RawValue>> = request.cursor(query.cursor.as_deref())?;
    let words = Words::parse(&query.q).map_err(|detail| Problem::faults(vec![Fault::parameter("q", detail)]))?;
    let schema = match query.project_id {
        Some(project) => Some(projects::read(&request, tenant_id, project, Read::Strong).await?),
        None => None,
    };
    let filters = filters(&query, schema.as_ref())?;
    let marks = Marks::random();
    let limit = usize::try_from(query.limit.0).unwrap_or(usize::MAX);
    let mut asked = json!({
        "query": { "bool": { "filter": own(tenant_id, &query, &filters), "must": words.clause(schema.is_some()) } },
        "sort": [{ "_score": "desc" }, { "pk": "desc" }, { "sk": "desc" }],
        "size": limit + 1,
        "_source": false,
        "fields": ["pk", "projectId"],
        "stored_fields": ["name"],
        "highlight": marks.request(json!({ "name": { "number_of_fragments": 0 }, "texts": {} }), words.highlighted()),
        "track_total_hits": COUNTED,
    });
    if let (Some(after), Some(asked)) = (after, asked.as_object_mut()) {
        let after: Value = serde_json::from_str(after.get()).map_err(Problem::internal)?;
        asked.insert("search_after".to_owned(), after);
    }
    let answer: SearchResponse<Fields> = request.access().search(&SEARCH, ALIAS, &asked).await?;
    let total = answer.total();
    let (hits, next) = answer.page(limit);
    let mut items = Vec::new();
    let issues = issues(&request, &hits).await?;
    for (hit, issue) in hits.into_iter().zip(issues) {
        let (score, highlights) = (hit.score.unwrap_or_default(), marks.read(&hit.highlight));
        let project = hit.fields.project_id.peek().and_then(|id| ProjectId::parse_id(id));
        let Some(project_id) = project else { continue };
        let found = match query.entity {
            Sought::Issue => issue.map(|(id, issue)| {
                let Issue { num, name, state, .. } = issue;
                (Some(FoundIssue { id, project_id, number: num, name, state }), None)
            }),
            Sought::Project => {
                let name = hit.fields.name.get().unwrap_or_default();
                Some((None, Some(FoundProject { id: project_id, name })))
            }
        };
        // What is gone since search has seen it is not answered.
        items.extend(found.map(|(issue, project)| FoundHit { issue, project, score, highlights }));
    }
    let next_cursor = next.map(|next| request.next_cursor(&next)).transpose()?;
    Ok(Answer::ok(&FoundPage { items, total, next_cursor }))
}

/// The filters on columns, which only a project has.
fn filters(query: &SearchQuery, schema: Option<&Schema>) -> Result<Vec<Value>, Problem> {
    if query.filter.is_empty() {
        return Ok(Vec::new());
    }
    let fault = |detail: String| Problem::faults(vec![Fault::parameter("filter", detail)]);
    let schema = schema.ok_or_else(|| fault("needs a `projectId`: columns are a project's".to_owned()))?;
    if query.entity == Sought::Project {
        return Err(fault("is for issues only".to_owned()));
    }
    let filters = Filter::parse_all(&query.filter.join(","), schema).map_err(fault)?;
    check_busy(schema, None, &filters)?;
    Ok(filters.iter().map(|filter| clause(schema, filter)).collect())
}

/// Whatever is asked, only this tenant's.
fn own(tenant: TenantId, query: &SearchQuery, filters: &[Value]) -> Vec<Value> {
    let entity = if query.entity == Sought::Issue { "issue" } else { "project" };
    let mut own = vec![json!({ "term": { "entity": entity } }), json!({ "term": { "tenantId": tenant.id() } })];
    own.extend(query.project_id.map(|project| json!({ "term": { "projectId": project.id() } })));
    own.extend(query.state.map(|state| json!({ "term": { "state": state.as_str() } })));
    own.extend(filters.iter().cloned());
    own
}

/// Pattern 9: the issues of the hits, where they are issues that are still there.
async fn issues(
    request: &Request,
    hits: &[web::search::Hit<Fields>],
) -> Result<Vec<Option<(IssueId, Issue)>>, Problem> {
    let key = |hit: &web::search::Hit<Fields>| {
        let issue = IssueId::parse_id(hit.fields.pk.peek()?)?;
        let project = ProjectId::parse_id(hit.fields.project_id.peek()?)?;
        Some(IssueKey { issue, project })
    };
    let keys: Vec<Option<IssueKey>> = hits.iter().map(key).collect();
    let wanted: Vec<Key> = keys.iter().flatten().map(EntityKey::key).collect();
    let table = request.access().table(&ISSUES, &TRACKER);
    let mut found = table.batch_get(&wanted).await?;
    // What a read of some moments ago lacks may be there.
    let late: Vec<Key> =
        wanted.iter().zip(&found).filter(|(_, stored)| stored.is_none()).map(|(key, _)| key.clone()).collect();
    if !late.is_empty() {
        let mut late = table.batch_get_consistent(&late).await?.into_iter();
        found.iter_mut().filter(|stored| stored.is_none()).for_each(|stored| *stored = late.next().flatten());
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
