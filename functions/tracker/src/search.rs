//! `GET /tracker/tenants/{tenantId}/search`

mod words;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use table::{EntityKey, Error, Key, Stored};
use utoipa::ToSchema;
use web::search::{Highlights, Hit, MAX_COUNT, Marks, One, Piece, SearchResponse, Total};
use web::{Context, Fault, Json, Limit, Path, Problem, Query, Route, Sample, problem};

use crate::access::{ALIAS, ISSUES, MEMBERSHIP, PROJECT, SEARCH};
use crate::attributes::ATTRIBUTE_BUSY;
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::grid::query::check_busy_filters;
use crate::grid::{Filter, FilterFault, clause};
use crate::items::{Issue, Project, State};
use crate::keys::{IssueKey, ProjectKey};
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

impl FoundIssue {
    fn new(IssueKey { issue, project }: IssueKey, Issue { num, name, state, .. }: Issue) -> Self {
        Self { id: issue, project_id: project, number: num, name, state }
    }
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
    let filters = query.filters(schema.as_ref())?;
    let marks = Marks::random();
    let limit = usize::try_from(query.limit.0).unwrap_or(usize::MAX);
    let mut request = json!({
        "query": { "bool": { "filter": query.clauses(path.tenant_id, schema.as_ref(), &filters), "must": words.clause(schema.is_some()) } },
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
    let keys = hits.iter().map(|hit| HitKeys::of(path.tenant_id, hit)).collect::<Result<Vec<_>, _>>()?;
    let passes = |issue: &Issue| query.holds(issue, &filters);
    let present = Present::load(&cx, &keys, passes).await?;
    let mut items = Vec::new();
    for (hit, keys) in hits.into_iter().zip(keys) {
        // The job that deletes a project may not have come to its issues.
        if !present.has_project(&keys.project)? {
            continue;
        }
        let score = hit.score.ok_or_else(|| Problem::internal("a hit lacks its score"))?;
        let highlights = marks.read(&hit.highlight);
        let (issue, project) = match query.entity {
            Searched::Issue => {
                // An issue that was deleted since it was indexed, or no longer matches, is left out.
                let Some(key) = keys.issue else { continue };
                let Some(issue) = present.issue(&key)?.filter(passes) else { continue };
                (Some(FoundIssue::new(key, issue)), None)
            }
            Searched::Project => {
                let name = hit.fields.name.get().ok_or_else(|| Problem::internal("a project's hit lacks its name"))?;
                (None, Some(FoundProject { id: keys.project.project, name }))
            }
        };
        items.push(FoundHit { issue, project, score, highlights });
    }
    let next_cursor = cx.cursor_to(next)?;
    Ok(Json(FoundPage { items, total, next_cursor }))
}

impl SearchQuery {
    /// The clauses that all hits match, first of all the tenant.
    fn clauses(&self, tenant: TenantId, schema: Option<&Schema>, filters: &[Filter]) -> Vec<Value> {
        let entity = match self.entity {
            Searched::Issue => "issue",
            Searched::Project => "project",
        };
        let mut clauses = vec![json!({ "term": { "entity": entity } }), json!({ "term": { "tenantId": tenant.id() } })];
        clauses.extend(self.project_id.map(|project| json!({ "term": { "projectId": project.id() } })));
        clauses.extend(self.state.map(|state| json!({ "term": { "state": state.as_str() } })));
        clauses.extend(schema.iter().flat_map(|schema| filters.iter().map(|filter| clause(schema, filter))));
        clauses
    }

    /// Whether an issue has the state and passes the filters of the query.
    fn holds(&self, issue: &Issue, filters: &[Filter]) -> bool {
        self.state.is_none_or(|state| issue.state == state) && filters.iter().all(|filter| filter.holds(issue))
    }

    /// The filters on columns, which only a project has.
    fn filters(&self, schema: Option<&Schema>) -> Result<Vec<Filter>, Problem> {
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
        Ok(filters)
    }
}

/// The keys of a hit's project and, for an issue, of the issue.
#[derive(Debug)]
struct HitKeys {
    project: ProjectKey,
    issue: Option<IssueKey>,
}

impl HitKeys {
    fn of(tenant: TenantId, hit: &Hit<Fields>) -> Result<Self, Problem> {
        let project = hit.fields.project_id.peek().and_then(|id| ProjectId::parse_id(id));
        let project = project.ok_or_else(|| Problem::internal("a hit lacks its project"))?;
        let issue = hit.fields.pk.peek().and_then(|pk| IssueId::parse_id(pk));
        let issue = issue.map(|issue| IssueKey { issue, project });
        Ok(Self { project: ProjectKey { project, tenant }, issue })
    }

    fn keys(&self) -> impl Iterator<Item = Key> {
        [Some(self.project.key()), self.issue.as_ref().map(EntityKey::key)].into_iter().flatten()
    }
}

/// The present items of the hits, which the index may be behind.
#[derive(Debug)]
struct Present(HashMap<Key, Stored>);

impl Present {
    async fn load(cx: &Context, hits: &[HitKeys], passes: impl Fn(&Issue) -> bool) -> Result<Self, Problem> {
        let table = cx.access().table(&ISSUES, &TRACKER);
        let keys: Vec<Key> = hits.iter().flat_map(HitKeys::keys).collect();
        let mut present = Self(HashMap::new());
        present.add(table.batch_get(&keys).await?);
        // An eventually consistent read may be older than search.
        let mut again = Vec::new();
        for hit in hits {
            if !present.shows(hit, &passes)? {
                again.extend(hit.keys());
            }
        }
        present.add(table.batch_get_consistent(&again).await?);
        Ok(present)
    }

    fn add(&mut self, found: Vec<Option<Stored>>) {
        self.0.extend(found.into_iter().flatten().map(|stored| (stored.key.clone(), stored)));
    }

    /// Whether the hit's project is present and, for an issue, the issue, which passes the test.
    fn shows(&self, hit: &HitKeys, passes: impl Fn(&Issue) -> bool) -> Result<bool, Error> {
        let Some(key) = &hit.issue else { return self.has_project(&hit.project) };
        Ok(self.issue(key)?.is_some_and(|issue| passes(&issue)) && self.has_project(&hit.project)?)
    }

    /// Whether the project exists and is not being deleted.
    fn has_project(&self, key: &ProjectKey) -> Result<bool, Error> {
        let project = self.0.get(&key.key()).map(Stored::read::<Project>).transpose()?;
        Ok(project.is_some_and(|project| project.data.is_some()))
    }

    fn issue(&self, key: &IssueKey) -> Result<Option<Issue>, Error> {
        self.0.get(&key.key()).map(Stored::read).transpose()
    }
}
