//! The access patterns of tracker, with the numbers by which other places speak of them.

use table::access::{AccessPattern, Call, ObjectAction, TableAction};

use crate::schema::{BUCKET, INDEX};

const TABLE: &str = "tracker";

const GET: Call = on(TableAction::GetItem);
const BATCH_GET: Call = on(TableAction::BatchGetItem);
const QUERY: Call = on(TableAction::Query);
const CHECK: Call = on(TableAction::ConditionCheckItem);
const PUT: Call = on(TableAction::PutItem);
const UPDATE: Call = on(TableAction::UpdateItem);
const DELETE: Call = on(TableAction::DeleteItem);
const BATCH_DELETE: Call = on(TableAction::BatchWriteItem);
const QUERY_INDEX: Call = Call::Index { table: TABLE, index: INDEX };

const fn on(action: TableAction) -> Call {
    Call::Table { table: TABLE, action }
}

const fn objects(prefix: &'static str, action: ObjectAction) -> Call {
    Call::Objects { bucket: BUCKET, prefix, action }
}

/// 1: what the caller is in a tenant, on every route under it.
pub const MEMBERSHIP: AccessPattern = AccessPattern { name: "membership", calls: &[GET] };

/// 2: the tenants of the caller.
pub const MY_TENANTS: AccessPattern = AccessPattern { name: "myTenants", calls: &[QUERY_INDEX, BATCH_GET] };

/// 3: a tenant.
pub const TENANT: AccessPattern = AccessPattern { name: "tenant", calls: &[GET] };

/// 3: an issue.
pub const ISSUE: AccessPattern = AccessPattern { name: "issue", calls: &[GET] };

/// 4: tenants, or the projects of a tenant, by name.
pub const BY_NAME: AccessPattern = AccessPattern { name: "byName", calls: &[QUERY_INDEX] };

/// 5: the members of a tenant, or its work, newest first.
pub const OF_TENANT: AccessPattern = AccessPattern { name: "ofTenant", calls: &[QUERY] };

/// 5: one member.
pub const MEMBER: AccessPattern = AccessPattern { name: "member", calls: &[GET] };

/// 6: a project with its attributes.
pub const PROJECT: AccessPattern = AccessPattern { name: "project", calls: &[QUERY] };

/// 7: an issue by its number.
pub const BY_NUMBER: AccessPattern = AccessPattern { name: "byNumber", calls: &[QUERY_INDEX] };

/// 8: entries of the grid in their order.
pub const ENTRIES: AccessPattern = AccessPattern { name: "entries", calls: &[QUERY_INDEX] };

/// 9: the issues of a page.
pub const ISSUES: AccessPattern = AccessPattern { name: "issues", calls: &[BATCH_GET] };

/// 10: exact totals.
pub const TOTALS: AccessPattern = AccessPattern { name: "totals", calls: &[QUERY] };

/// 11: an issue with all its rows.
pub const ISSUE_ROWS: AccessPattern = AccessPattern { name: "issueRows", calls: &[QUERY] };

/// 12: the next number of a project.
pub const NEXT_NUMBER: AccessPattern = AccessPattern { name: "nextNumber", calls: &[UPDATE] };

/// 12: the next number of a project set: at once if it is above the last one, else by work, which no import and no number that
/// was taken before gets past.
pub const SET_NEXT_NUMBER: AccessPattern =
    AccessPattern { name: "setNextNumber", calls: &[GET, QUERY_INDEX, PUT, UPDATE] };

/// 13: an issue with its rows, made through a gate.
pub const CREATE_ISSUE: AccessPattern = AccessPattern { name: "createIssue", calls: &[GET, PUT, UPDATE] };

/// 14: an issue changed as it was read, with the few rows that differ; one that a writer has left unsettled, with all.
pub const CHANGE_ISSUE: AccessPattern = AccessPattern { name: "changeIssue", calls: &[CHECK, UPDATE, DELETE] };

/// 14: an issue changed as it was read, with rows that may be more than a transaction takes, and are due then; one that is
/// moved is another item.
pub const WRITE_ISSUE: AccessPattern = AccessPattern { name: "writeIssue", calls: &[CHECK, PUT, UPDATE, DELETE] };

/// An issue deleted with its rows; those that no transaction has room for after it.
pub const DELETE_ISSUE: AccessPattern =
    AccessPattern { name: "deleteIssue", calls: &[PUT, UPDATE, DELETE, BATCH_DELETE] };

/// A tenant with its directory row and its first administrator.
pub const CREATE_TENANT: AccessPattern = AccessPattern { name: "createTenant", calls: &[GET, PUT] };

/// A tenant's name, on the tenant and on its directory row.
pub const RENAME_TENANT: AccessPattern = AccessPattern { name: "renameTenant", calls: &[UPDATE] };

/// A member added, counted among the administrators where it is one.
pub const ADD_MEMBER: AccessPattern = AccessPattern { name: "addMember", calls: &[GET, PUT, UPDATE, CHECK] };

/// A member changed; one administrator stays.
pub const CHANGE_MEMBER: AccessPattern = AccessPattern { name: "changeMember", calls: &[UPDATE, CHECK] };

/// A member removed; one administrator stays.
pub const REMOVE_MEMBER: AccessPattern = AccessPattern { name: "removeMember", calls: &[UPDATE, DELETE, CHECK] };

/// A project with its counter and its gates, counted in its tenant.
pub const CREATE_PROJECT: AccessPattern = AccessPattern { name: "createProject", calls: &[GET, PUT, UPDATE] };

pub const RENAME_PROJECT: AccessPattern = AccessPattern { name: "renameProject", calls: &[UPDATE] };

/// An attribute made: with the project, its gates, and the work that builds its rows.
pub const CREATE_ATTRIBUTE: AccessPattern = AccessPattern { name: "createAttribute", calls: &[GET, PUT, UPDATE] };

/// An attribute changed, with the project.
pub const CHANGE_ATTRIBUTE: AccessPattern = AccessPattern { name: "changeAttribute", calls: &[UPDATE] };

/// An attribute of another type: with the project, its gates, and the work that rewrites its rows.
pub const RETYPE_ATTRIBUTE: AccessPattern = AccessPattern { name: "retypeAttribute", calls: &[PUT, UPDATE] };

/// An attribute deleted: with the project, its gates, and the work that drains it.
pub const DELETE_ATTRIBUTE: AccessPattern = AccessPattern { name: "deleteAttribute", calls: &[PUT, UPDATE, DELETE] };

/// A project or a tenant marked as being deleted, with the work that follows.
pub const BEGIN_DELETION: AccessPattern = AccessPattern { name: "beginDeletion", calls: &[PUT, UPDATE, DELETE] };

/// Work of a tenant.
pub const WORK: AccessPattern = AccessPattern { name: "work", calls: &[GET] };

/// 15: what is due, and the lease on it.
pub const DUE: AccessPattern = AccessPattern { name: "due", calls: &[QUERY_INDEX, GET, UPDATE] };

/// 16: a batch of an attribute's work, with its checkpoint.
pub const ATTRIBUTE_STEP: AccessPattern =
    AccessPattern { name: "attributeStep", calls: &[QUERY_INDEX, BATCH_GET, CHECK, UPDATE, DELETE, BATCH_DELETE] };

/// 16: a batch of a project's deletion, with its checkpoint.
pub const PROJECT_STEP: AccessPattern =
    AccessPattern { name: "projectStep", calls: &[QUERY_INDEX, BATCH_GET, UPDATE, DELETE, BATCH_DELETE] };

/// 16: a step of a tenant's deletion, with its checkpoint: each project goes by work of its own.
pub const TENANT_STEP: AccessPattern =
    AccessPattern { name: "tenantStep", calls: &[QUERY_INDEX, GET, PUT, UPDATE, DELETE, BATCH_DELETE] };

/// How far an import or an export has come; the numbers that a file's issues get.
pub const CHECKPOINT: AccessPattern = AccessPattern { name: "checkpoint", calls: &[UPDATE, DELETE] };

/// The imports and exports of a tenant that are open: whether there is a place for one more.
pub const OPEN_JOBS: AccessPattern = AccessPattern { name: "openJobs", calls: &[QUERY] };

/// A file announced, with the work that waits for it.
pub const IMPORT: AccessPattern =
    AccessPattern { name: "import", calls: &[GET, PUT, objects("imports/", ObjectAction::PutObject)] };

/// A file read from its place on; a missing one is told from a forbidden one.
pub const READ_IMPORT: AccessPattern = AccessPattern {
    name: "readImport",
    calls: &[
        objects("imports/", ObjectAction::GetObject),
        objects("imports/", ObjectAction::HeadObject),
        objects("imports/", ObjectAction::ListBucket),
    ],
};

/// What the first pass over a file knows, kept: the numbers that it has met, and the records that cannot be.
pub const KEEP_MET: AccessPattern =
    AccessPattern { name: "keepMet", calls: &[objects("checks/", ObjectAction::PutObject)] };

/// The same, read by whoever goes on where a run before has died.
pub const LOAD_MET: AccessPattern =
    AccessPattern { name: "loadMet", calls: &[objects("checks/", ObjectAction::GetObject)] };

/// The records of a file as issues: those that have their numbers, and several a transaction, which keeps what it makes.
pub const IMPORT_ROWS: AccessPattern =
    AccessPattern { name: "importRows", calls: &[QUERY_INDEX, GET, QUERY, PUT, UPDATE] };

/// What was wrong with records, kept until the work has ended.
pub const KEEP_FAULTS: AccessPattern = AccessPattern {
    name: "keepFaults",
    calls: &[objects("faults/", ObjectAction::GetObject), objects("faults/", ObjectAction::PutObject)],
};

/// A grid's rows as a file is begun.
pub const EXPORT: AccessPattern = AccessPattern { name: "export", calls: &[GET, PUT] };

/// The file of an export, sent part by part, and what a run keeps for the next.
pub const WRITE_EXPORT: AccessPattern = AccessPattern {
    name: "writeExport",
    calls: &[
        objects("exports/", ObjectAction::PutObject),
        objects("exports/", ObjectAction::GetObject),
        objects("exports/", ObjectAction::HeadObject),
        objects("exports/", ObjectAction::ListBucket),
    ],
};

/// Links to what work has made.
pub const LINKS: AccessPattern = AccessPattern {
    name: "links",
    calls: &[objects("exports/", ObjectAction::GetObject), objects("faults/", ObjectAction::GetObject)],
};

/// An import or an export ended by somebody who does not want it any more.
pub const CANCEL_WORK: AccessPattern = AccessPattern { name: "cancelWork", calls: &[GET, UPDATE, DELETE] };
