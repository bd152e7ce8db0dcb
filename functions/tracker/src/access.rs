//! The access patterns of tracker.

use table::access::{AccessPattern, Call, OnObjects, OnQueue, OnTable};

use crate::schema::{BUCKET, INDEX, QUEUE};

const TABLE: OnTable = OnTable("tracker");

pub const IMPORTS: OnObjects = OnObjects { bucket: BUCKET, prefix: "imports/" };
const CHECKS: OnObjects = OnObjects { bucket: BUCKET, prefix: "checks/" };
const FAULTS: OnObjects = OnObjects { bucket: BUCKET, prefix: "faults/" };
const EXPORTS: OnObjects = OnObjects { bucket: BUCKET, prefix: "exports/" };

/// The alias of the system's documents.
pub const ALIAS: &str = "tracker";

/// The membership of the caller, or of the creator of an import, in a tenant.
pub const MEMBERSHIP: AccessPattern = AccessPattern::new("membership", &[TABLE.get()]);

/// The tenants of a person.
pub const PERSON_TENANTS: AccessPattern =
    AccessPattern::new("personTenants", &[TABLE.query_index(INDEX), TABLE.batch_get()]);

/// The memberships of a person.
pub const MEMBERSHIPS: AccessPattern = AccessPattern::new("memberships", &[TABLE.query_index(INDEX)]);

/// A tenant.
pub const TENANT: AccessPattern = AccessPattern::new("tenant", &[TABLE.get()]);

/// An issue.
pub const ISSUE: AccessPattern = AccessPattern::new("issue", &[TABLE.get()]);

/// All tenants, or the projects of a tenant, by name.
pub const BY_NAME: AccessPattern = AccessPattern::new("byName", &[TABLE.query_index(INDEX)]);

/// The members of a tenant, or its jobs, newest first.
pub const OF_TENANT: AccessPattern = AccessPattern::new("ofTenant", &[TABLE.query()]);

/// A member.
pub const MEMBER: AccessPattern = AccessPattern::new("member", &[TABLE.get()]);

/// A project with its attributes.
pub const PROJECT: AccessPattern = AccessPattern::new("project", &[TABLE.query()]);

/// An issue by its number.
pub const BY_NUMBER: AccessPattern = AccessPattern::new("byNumber", &[TABLE.query_index(INDEX)]);

/// The index entries of a grid in their order.
pub const ENTRIES: AccessPattern = AccessPattern::new("entries", &[TABLE.query_index(INDEX)]);

/// The issues of a page; in a search, also their projects.
pub const ISSUES: AccessPattern = AccessPattern::new("issues", &[TABLE.batch_get()]);

/// The gates of a project, which count its issues.
pub const TOTALS: AccessPattern = AccessPattern::new("totals", &[TABLE.query()]);

/// The changes of a project's issues, and their number.
pub const CHANGES: AccessPattern = AccessPattern::new("changes", &[TABLE.get(), TABLE.query()]);

/// The issues of changes, as the table has them after these.
pub const CHANGED_ISSUES: AccessPattern = AccessPattern::new("changedIssues", &[TABLE.batch_get()]);

/// New entries of a project's changes, with their number, while the project is not being deleted.
pub const LOG_CHANGES: AccessPattern =
    AccessPattern::new("logChanges", &[TABLE.get(), TABLE.check(), TABLE.put(), TABLE.update()]);

/// An issue with all its rows.
pub const ISSUE_ROWS: AccessPattern = AccessPattern::new("issueRows", &[TABLE.query()]);

/// The next number of a project.
pub const NEXT_NUMBER: AccessPattern = AccessPattern::new("nextNumber", &[TABLE.update()]);

/// The counter of a project's numbers: raised at once, if the project still has the tag of the request, or lowered by a
/// job.
pub const SET_NEXT_NUMBER: AccessPattern = AccessPattern::new(
    "setNextNumber",
    &[TABLE.get(), TABLE.query_index(INDEX), TABLE.check(), TABLE.put(), TABLE.update()],
);

/// A new issue with its rows, through a gate.
pub const CREATE_ISSUE: AccessPattern = AccessPattern::new("createIssue", &[TABLE.get(), TABLE.put(), TABLE.update()]);

/// An update of an unchanged issue with the rows that differ, or with all rows of an unsettled one.
pub const UPDATE_ISSUE: AccessPattern =
    AccessPattern::new("updateIssue", &[TABLE.check(), TABLE.update(), TABLE.delete()]);

/// An update of an unchanged issue whose rows may be more than a transaction takes, or its move to another project.
pub const WRITE_ISSUE: AccessPattern =
    AccessPattern::new("writeIssue", &[TABLE.check(), TABLE.put(), TABLE.update(), TABLE.delete()]);

/// The deletion of an issue with its rows. Rows beyond one transaction are deleted after it.
pub const DELETE_ISSUE: AccessPattern =
    AccessPattern::new("deleteIssue", &[TABLE.put(), TABLE.update(), TABLE.delete(), TABLE.batch_delete()]);

/// A new tenant with its directory row and its first administrator.
pub const CREATE_TENANT: AccessPattern = AccessPattern::new("createTenant", &[TABLE.get(), TABLE.put()]);

/// A tenant's name, on the tenant and on its directory row.
pub const UPDATE_TENANT: AccessPattern = AccessPattern::new("updateTenant", &[TABLE.update()]);

/// A new member. The tenant counts an administrator.
pub const ADD_MEMBER: AccessPattern =
    AccessPattern::new("addMember", &[TABLE.get(), TABLE.put(), TABLE.update(), TABLE.check()]);

/// A member's role or name. One administrator stays.
pub const UPDATE_MEMBER: AccessPattern = AccessPattern::new("updateMember", &[TABLE.update(), TABLE.check()]);

/// The removal of a member. One administrator stays.
pub const REMOVE_MEMBER: AccessPattern =
    AccessPattern::new("removeMember", &[TABLE.update(), TABLE.delete(), TABLE.check()]);

/// A new project with its counter and its gates, counted by its tenant.
pub const CREATE_PROJECT: AccessPattern =
    AccessPattern::new("createProject", &[TABLE.get(), TABLE.put(), TABLE.update()]);

/// A project's name.
pub const UPDATE_PROJECT: AccessPattern = AccessPattern::new("updateProject", &[TABLE.update()]);

/// A new attribute with its project, the gates, and the job that creates its rows.
pub const CREATE_ATTRIBUTE: AccessPattern =
    AccessPattern::new("createAttribute", &[TABLE.get(), TABLE.put(), TABLE.update()]);

/// An attribute with its project.
pub const UPDATE_ATTRIBUTE: AccessPattern = AccessPattern::new("updateAttribute", &[TABLE.update()]);

/// An attribute's type with its project, the gates, and the job that rewrites its rows.
pub const RETYPE_ATTRIBUTE: AccessPattern = AccessPattern::new("retypeAttribute", &[TABLE.put(), TABLE.update()]);

/// The deletion of an attribute with its project, the gates, and the job that deletes its values.
pub const DELETE_ATTRIBUTE: AccessPattern =
    AccessPattern::new("deleteAttribute", &[TABLE.put(), TABLE.update(), TABLE.delete()]);

/// The mark of a project's or a tenant's deletion, with its job.
pub const MARK_DELETION: AccessPattern =
    AccessPattern::new("markDeletion", &[TABLE.put(), TABLE.update(), TABLE.delete()]);

/// A job of a tenant.
pub const JOB: AccessPattern = AccessPattern::new("job", &[TABLE.get()]);

/// The jobs that are due.
pub const DUE: AccessPattern = AccessPattern::new("due", &[TABLE.query_index(INDEX)]);

/// The lease of a job.
pub const LEASE: AccessPattern = AccessPattern::new("lease", &[TABLE.get(), TABLE.update()]);

/// The message by which a job begins at once.
pub const BEGIN_JOB: AccessPattern = AccessPattern::new("beginJob", &[OnQueue(QUEUE).send()]);

/// A step that builds or converts an attribute, or lowers a number, with its checkpoint.
pub const ATTRIBUTE_STEP: AccessPattern = AccessPattern::new(
    "attributeStep",
    &[TABLE.query_index(INDEX), TABLE.batch_get(), TABLE.check(), TABLE.update(), TABLE.delete()],
);

/// A step of an attribute's deletion with its checkpoint.
pub const DELETE_ATTRIBUTE_STEP: AccessPattern = AccessPattern::new(
    "deleteAttributeStep",
    &[TABLE.query_index(INDEX), TABLE.batch_get(), TABLE.update(), TABLE.delete(), TABLE.batch_delete()],
);

/// A step of a project's deletion with its checkpoint.
pub const PROJECT_STEP: AccessPattern = AccessPattern::new(
    "projectStep",
    &[TABLE.query(), TABLE.query_index(INDEX), TABLE.batch_get(), TABLE.update(), TABLE.delete(), TABLE.batch_delete()],
);

/// A step of a tenant's deletion with its checkpoint. Each project is deleted by a job of its own.
pub const TENANT_STEP: AccessPattern = AccessPattern::new(
    "tenantStep",
    &[TABLE.query_index(INDEX), TABLE.get(), TABLE.put(), TABLE.update(), TABLE.delete(), TABLE.batch_delete()],
);

/// The checkpoint of an import or an export, with the numbers that a file's issues get.
pub const CHECKPOINT: AccessPattern = AccessPattern::new("checkpoint", &[TABLE.update(), TABLE.delete()]);

/// A new job that undoes an import.
pub const UNDO: AccessPattern = AccessPattern::new("undo", &[TABLE.get(), TABLE.put()]);

/// A step that undoes an import: the import, and the issues of some of its records.
pub const UNDO_STEP: AccessPattern = AccessPattern::new("undoStep", &[TABLE.get(), TABLE.batch_get()]);

/// The open imports and exports of a tenant, which are limited.
pub const OPEN_JOBS: AccessPattern = AccessPattern::new("openJobs", &[TABLE.query()]);

/// A new import, whose job waits for its file.
pub const IMPORT: AccessPattern = AccessPattern::new("import", &[TABLE.get(), TABLE.put(), IMPORTS.put()]);

/// The file of an import, from an offset. The right to list tells a missing file from a forbidden one.
pub const READ_IMPORT: AccessPattern =
    AccessPattern::new("readImport", &[IMPORTS.get(), IMPORTS.head(), IMPORTS.list()]);

/// The numbers and the invalid records that the first pass over a file has found.
pub const SAVE_SEEN: AccessPattern = AccessPattern::new("saveSeen", &[CHECKS.put()]);

/// What an earlier run of the first pass has stored by [`SAVE_SEEN`].
pub const LOAD_SEEN: AccessPattern = AccessPattern::new("loadSeen", &[CHECKS.get()]);

/// The records of a file as issues, several in a transaction, which also stores which records it has written.
pub const IMPORT_ROWS: AccessPattern = AccessPattern::new(
    "importRows",
    &[TABLE.query_index(INDEX), TABLE.get(), TABLE.query(), TABLE.put(), TABLE.update()],
);

/// The faults of records, until the job has ended.
pub const KEEP_FAULTS: AccessPattern = AccessPattern::new("keepFaults", &[FAULTS.get(), FAULTS.put()]);

/// A new export.
pub const EXPORT: AccessPattern = AccessPattern::new("export", &[TABLE.get(), TABLE.put()]);

/// The file of an export, uploaded in parts, and the rows that a run stores for the next run.
pub const WRITE_EXPORT: AccessPattern =
    AccessPattern::new("writeExport", &[EXPORTS.put(), EXPORTS.get(), EXPORTS.head(), EXPORTS.list()]);

/// Links to the files of an export and of an import's faults.
pub const LINKS: AccessPattern = AccessPattern::new("links", &[EXPORTS.get(), FAULTS.get()]);

/// The cancellation of an import or an export.
pub const CANCEL_JOB: AccessPattern = AccessPattern::new("cancelJob", &[TABLE.get(), TABLE.update(), TABLE.delete()]);

/// A search.
pub const SEARCH: AccessPattern = AccessPattern::new("search", &[Call::Search { alias: ALIAS }]);

/// Whether search answers, and how far it is behind.
pub const HEALTH: AccessPattern =
    AccessPattern::new("health", &[OnTable("tracker-mirror").query(), Call::Search { alias: "tracker" }]);
