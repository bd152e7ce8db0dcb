//! Tenants, members, projects with their attributes, and issues in responses.

use jobs::JobId;
use std::collections::BTreeMap;

use serde::Serialize;
use table::{Idpid, Rev};
use utoipa::ToSchema;
use web::search::{Highlights, Piece, Total};
use web::{EntityTag, Problem};

use crate::audit::Audit;
use crate::items::{Issue, Member, Project, Role, State, Status, Tenant, Value};
use crate::names::{AttributeId, IssueId, ProjectId, TenantId};
use crate::options::ChoiceOption;
use crate::project::{Attribute, Schema};
use crate::values::Type;

/// The times (RFC 3339 in UTC) and the persons of the creation and of the last update.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Audit)]
pub struct AuditView {
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    pub updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_by: Option<String>,
}

impl From<&Audit> for AuditView {
    fn from(audit: &Audit) -> Self {
        let Audit { created_at, created_by, updated_at, updated_by } = audit.clone();
        Self { created_at, created_by, updated_at, updated_by }
    }
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TenantView {
    pub id: TenantId,
    pub name: String,
    #[serde(flatten)]
    pub audit: AuditView,
}

impl TenantView {
    pub fn new(id: TenantId, tenant: &Tenant) -> Self {
        Self { id, name: tenant.name.clone(), audit: AuditView::from(&tenant.audit) }
    }
}

/// A tenant in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TenantEntry {
    pub id: TenantId,
    pub name: String,
    /// Only in a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Only in a search: the fragments by field, each in pieces whose concatenation is the text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, Vec<Vec<Piece>>>)]
    pub highlights: Highlights,
}

/// A page of tenants.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantPage {
    pub items: Vec<TenantEntry>,
    /// Only with `q`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Total>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A tenant of which a person is a member.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TenantOfPerson {
    pub id: TenantId,
    pub name: String,
    /// The person's role.
    pub role: Role,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MemberView {
    #[schema(value_type = String)]
    pub idpid: Idpid,
    pub role: Role,
    pub name: String,
    #[serde(flatten)]
    pub audit: AuditView,
}

impl MemberView {
    pub fn new(idpid: Idpid, member: &Member) -> Self {
        Self { idpid, role: member.role, name: member.name.clone(), audit: AuditView::from(&member.audit) }
    }
}

/// A project in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProjectEntry {
    pub id: ProjectId,
    pub name: String,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProjectView {
    pub id: ProjectId,
    pub name: String,
    /// In column order.
    pub attributes: Vec<AttributeView>,
    #[serde(flatten)]
    pub audit: AuditView,
}

impl ProjectView {
    /// The view of a project that is not being deleted, and so has a name.
    pub fn new(id: ProjectId, project: &Project, attributes: Vec<AttributeView>) -> Result<Self, Problem> {
        let name = project.name().ok_or_else(|| Problem::internal("a project without a name"))?.to_owned();
        Ok(Self { id, name, attributes, audit: AuditView::from(&project.audit) })
    }

    pub fn of(schema: &Schema) -> Result<Self, Problem> {
        Self::new(schema.id, &schema.project, schema.columns().map(AttributeView::new).collect())
    }
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AttributeView {
    pub id: AttributeId,
    pub name: String,
    #[serde(rename = "type")]
    pub of: Type,
    pub status: Status,
    /// The options of a choice in their order, retired options last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<ChoiceOption>,
    #[serde(flatten)]
    pub audit: AuditView,
}

impl AttributeView {
    pub fn new(attribute: &Attribute) -> Self {
        let item = &attribute.item;
        Self {
            id: attribute.id,
            name: item.name.clone(),
            of: item.of,
            status: item.status,
            options: if item.of == Type::Choice { item.options.all().to_vec() } else { Vec::new() },
            audit: AuditView::from(&item.audit),
        }
    }
}

/// A value in responses: text, a number as text, or an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ValueView {
    Text(String),
    Choice { id: String, label: String },
}

impl ValueView {
    /// The view of a value. While its attribute is being retyped, it shows the new type.
    pub fn new(attribute: &Attribute, value: &Value) -> Self {
        if value.of != Type::Choice {
            return Self::Text(value.value.clone());
        }
        let option = attribute.options().by_id(&value.value);
        let label = option.map_or_else(|| value.value.clone(), |option| option.label.clone());
        if attribute.item.of == Type::Choice {
            Self::Choice { id: value.value.clone(), label }
        } else {
            Self::Text(label)
        }
    }
}

/// Values by the ids of their attributes.
pub type Values = BTreeMap<String, ValueView>;

/// An issue's values of these attributes.
pub fn values<'a>(attributes: impl Iterator<Item = &'a Attribute>, issue: &Issue) -> Values {
    let value =
        |attribute: &Attribute| Some((attribute.id.id(), ValueView::new(attribute, issue.value(attribute.id)?)));
    attributes.filter_map(value).collect()
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct IssueView {
    pub id: IssueId,
    pub number: u64,
    pub name: String,
    pub state: State,
    /// By attribute: text, a number as text, or an option with id and label.
    pub values: BTreeMap<String, ValueView>,
    /// The import that has created the issue.
    #[serde(rename = "importId", skip_serializing_if = "Option::is_none")]
    pub import: Option<JobId>,
    #[serde(flatten)]
    pub audit: AuditView,
}

impl IssueView {
    pub fn new(id: IssueId, schema: &Schema, issue: &Issue) -> Self {
        Self {
            id,
            number: issue.num,
            name: issue.name.clone(),
            state: issue.state,
            values: values(schema.columns(), issue),
            import: issue.import,
            audit: AuditView::from(&issue.audit),
        }
    }
}

/// An issue on the grid, with the requested columns.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GridRow {
    pub id: IssueId,
    pub number: u64,
    pub name: String,
    pub state: State,
    /// By attribute: text, a number as text, or an option with id and label.
    pub values: BTreeMap<String, ValueView>,
    /// The import that has created the issue.
    #[serde(rename = "importId", skip_serializing_if = "Option::is_none")]
    pub import: Option<JobId>,
    /// RFC 3339 in UTC, with six fraction digits.
    pub created_at: String,
    pub updated_at: String,
    /// The entity tag of the issue as `If-Match` takes it, with its quotes.
    pub etag: String,
}

impl GridRow {
    pub fn new<'a>(id: IssueId, rev: Option<Rev>, issue: &Issue, columns: impl Iterator<Item = &'a Attribute>) -> Self {
        Self {
            id,
            number: issue.num,
            name: issue.name.clone(),
            state: issue.state,
            values: values(columns, issue),
            import: issue.import,
            created_at: issue.audit.created_at.clone(),
            updated_at: issue.audit.updated_at.clone(),
            etag: EntityTag::from(rev).to_string(),
        }
    }
}
