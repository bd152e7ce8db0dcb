//! A morning on a bridge: a tenant is made, an issue is entered with its row and closed, a project is marked for its
//! deletion, an issue goes, and a gate counts, which search never shows.

use serde::Serialize;
use serde_json::{Value, json};
use table::{EntityKey, Key};
use tracker::audit::Audit;
use tracker::items::{Gate, Issue, Project, State, Tenant, Value as Kept};
use tracker::keys::{GateKey, IssueKey, ProjectKey, TenantKey, ValueRowKey};
use tracker::names::{AttributeId, GateNumber, IssueId, ProjectId, TenantId};
use tracker::schema::TRACKER;
use tracker::values::{Type, number_key};

use super::{Write, invalid, of};

const REV: u64 = 3_534_508_800_000_000;
const MADE: &str = "2026-01-01T08:00:00.000000Z";
const CHANGED: &str = "2026-01-01T09:30:00.000000Z";

/// The stream records of all this.
pub fn records() -> Vec<Value> {
    let ids = (TenantId::parse_id("tenant-0807"), ProjectId::parse_id("project-35e9"));
    let issues = (IssueId::parse_id("issue-af34"), IssueId::parse_id("issue-67d1"));
    let (Some(tenant), Some(project)) = ids else { return invalid() };
    let (Some(girder), Some(rust)) = issues else { return invalid() };
    let Some(attribute) = AttributeId::parse_id("xattrib-3fe6") else { return invalid() };
    let Some(gate) = GateNumber::all().next() else { return invalid() };
    let acme =
        Tenant { name: "ACME Engineering".to_owned(), projects: 0, admins: 1, deleting: None, audit: audit(MADE) };
    let open = issue(tenant, 3, "Girder needs replacing", "42", attribute);
    let closed = Issue { state: State::Closed, audit: audit(CHANGED), ..open.clone() };
    let bridge = Project {
        data: Some(tracker::listed::entry("Forth Rail Bridge")),
        attrib_rev: 1,
        schema_rev: 1,
        deleting: None,
        audit: audit(MADE),
    };
    let marked =
        Project { data: None, deleting: "01890a5d-ac96-774b-bcce-b302099a8057".parse().ok(), ..bridge.clone() };
    let counts = |live| Gate { schema_rev: 1, live, open: live, closed: None };
    let row = ValueRowKey { issue: girder, attribute }.key();
    let data = open.value(attribute).map(|value| value.key().data(open.num));
    let key = |issue| IssueKey { issue, project }.key();
    let gone = issue(tenant, 2, "Check for rust", "7", attribute);
    of(
        &TRACKER,
        &[
            write(TenantKey { tenant }.key(), None::<&()>, Some(&acme), REV),
            write(key(girder), None::<&()>, Some(&open), REV + 2),
            write(row, None::<&()>, Some(&json!({ "Data": data })), REV + 2),
            write(key(girder), Some(&open), Some(&closed), REV + 2),
            write(key(rust), Some(&gone), None::<&Issue>, REV + 4),
            write(GateKey { project, gate }.key(), Some(&counts(2)), Some(&counts(1)), REV + 6),
            write(ProjectKey { project, tenant }.key(), Some(&bridge), Some(&marked), REV + 8),
        ],
    )
}

fn write<B: Serialize, A: Serialize>(key: Key, before: Option<&B>, after: Option<&A>, rev: u64) -> Write {
    let before = before.and_then(|item| stored(&key, item, rev));
    let after = after.and_then(|item| stored(&key, item, rev + u64::from(before.is_some()) * 2));
    Write { key, before, after }
}

/// The item as the table keeps it.
fn stored(key: &Key, item: &impl Serialize, rev: u64) -> Option<Value> {
    let mut item = serde_json::to_value(item).ok()?;
    let members = item.as_object_mut()?;
    members.retain(|_, value| !value.is_null());
    for (name, value) in [("PK", json!(key.pk)), ("SK", json!(key.sk)), ("rev", json!(rev))] {
        members.insert(name.to_owned(), value);
    }
    Some(item)
}

fn issue(tenant: TenantId, num: u64, name: &str, items: &str, attribute: AttributeId) -> Issue {
    let mut issue = Issue {
        data: number_key(num),
        name: name.to_owned(),
        state: State::Open,
        num,
        tenant,
        values: Default::default(),
        import: None,
        unsettled: None,
        audit: audit(MADE),
    };
    issue.set(attribute, Some(Kept { slot: 2, of: Type::Int, value: items.to_owned() }));
    issue
}

fn audit(updated: &str) -> Audit {
    let who = Some("local:ada".to_owned());
    Audit { created_at: MADE.to_owned(), created_by: who.clone(), updated_at: updated.to_owned(), updated_by: who }
}
