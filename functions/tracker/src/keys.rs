//! The keys of every entity that this system writes.

use jobs::JobId;
use table::Idpid;
use table::part::Number;

use crate::names::{AttributeId, ChangeNumber, GateNumber, IssueId, ProjectId, TenantId};

table::key! {
    pub struct TenantKey { tenant: TenantId }
    pk "tenant-{tenant}"
    sk "*"
}

table::key! {
    /// Lists a tenant by name.
    pub struct DirectoryKey { tenant: TenantId }
    pk "tenant-{tenant}"
    sk "directory"
}

table::key! {
    pub struct MemberKey { tenant: TenantId, user: Idpid }
    pk "tenant-{tenant}"
    sk "user-{user}"
}

table::key! {
    pub struct ProjectKey { project: ProjectId, tenant: TenantId }
    pk "project-{project}"
    sk "tenant-{tenant}"
}

table::key! {
    pub struct AttributeKey { project: ProjectId, attribute: AttributeId }
    pk "project-{project}"
    sk "xattrib-{attribute}"
}

table::key! {
    pub struct IssueKey { issue: IssueId, project: ProjectId }
    pk "issue-{issue}"
    sk "project-{project}"
}

table::key! {
    /// Lists an issue by its value of an attribute.
    pub struct ValueRowKey { issue: IssueId, attribute: AttributeId }
    pk "issue-{issue}"
    sk "value-{attribute}"
}

table::key! {
    /// Lists an issue among those without a value of an attribute.
    pub struct BlankRowKey { issue: IssueId, attribute: AttributeId }
    pk "issue-{issue}"
    sk "blank-{attribute}"
}

table::key! {
    /// Lists an issue by its state.
    pub struct StateRowKey { issue: IssueId, project: ProjectId }
    pk "issue-{issue}"
    sk "state-{project}"
}

table::key! {
    /// Counts the numbers of a project's issues.
    pub struct CounterKey { project: ProjectId }
    pk "counter-{project}"
    sk "*"
}

table::key! {
    /// Every write of an issue goes through a random gate of its project.
    pub struct GateKey { project: ProjectId, gate: GateNumber }
    pk "gate-{project}"
    sk "{gate}"
}

table::key! {
    /// The number of the last change of a project's issues.
    pub struct LastChangeKey { project: ProjectId }
    pk "changes-{project}"
    sk "*"
}

table::key! {
    /// A change of an issue in the order of its project.
    pub struct ChangeKey { project: ProjectId, change: ChangeNumber }
    pk "changes-{project}"
    sk "change-{change}"
}

table::key! {
    /// A job.
    pub struct JobKey { tenant: TenantId, job: JobId }
    pk "tenant-{tenant}"
    sk "job-{job}"
}

table::key! {
    /// Lists a job by the time at which it is due.
    pub struct JobDueKey { job: JobId }
    pk "job-{job}"
    sk "due"
}

table::key! {
    /// A slot of a tenant's limit of open imports and exports.
    pub struct TenantSlotKey { tenant: TenantId, slot: Number }
    pk "jobs-{tenant}"
    sk "tenant::{slot}"
}

table::key! {
    /// A slot of a project's limit of open imports and exports.
    pub struct ProjectSlotKey { tenant: TenantId, project: ProjectId, slot: Number }
    pk "jobs-{tenant}"
    sk "project-{project}::{slot}"
}

table::key! {
    /// A slot of a person's limit of open imports and exports.
    pub struct PersonSlotKey { tenant: TenantId, user: Idpid, slot: Number }
    pk "jobs-{tenant}"
    sk "user-{user}::{slot}"
}

table::key! {
    /// The records that one worker of an import has written.
    pub struct WrittenKey { job: JobId, worker: GateNumber }
    pk "written-{job}"
    sk "{worker}"
}

table::key! {
    /// Lists an unsettled issue by the time at which its rows are due.
    pub struct IssueDueKey { issue: IssueId }
    pk "issue-{issue}"
    sk "due"
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use table::EntityKey;

    use super::*;
    use crate::schema::TRACKER;

    fn check<K: EntityKey + PartialEq + Debug>(entity: &str, key: K) {
        assert_eq!(TRACKER.entity_of(&key.key()).map(|entity| entity.name), Some(entity), "{key:?}");
        assert_eq!(K::parse(&key.key()), Some(key));
    }

    #[test]
    fn every_key_belongs_to_its_entity_and_comes_back() {
        let (tenant, project, issue) = (TenantId::new(), ProjectId::new(), IssueId::new());
        let (attribute, job) = (AttributeId::new(), JobId::new());
        check("tenant", TenantKey { tenant });
        check("directory", DirectoryKey { tenant });
        check("member", MemberKey { tenant, user: "local:a~23b".parse().unwrap() });
        check("project", ProjectKey { project, tenant });
        check("attribute", AttributeKey { project, attribute });
        check("issue", IssueKey { issue, project });
        check("value", ValueRowKey { issue, attribute });
        check("blank", BlankRowKey { issue, attribute });
        check("state", StateRowKey { issue, project });
        check("counter", CounterKey { project });
        for gate in GateNumber::all() {
            check("gate", GateKey { project, gate });
        }
        check("lastChange", LastChangeKey { project });
        check("change", ChangeKey { project, change: ChangeNumber(12) });
        check("job", JobKey { tenant, job });
        check("jobDue", JobDueKey { job });
        let (user, slot): (Idpid, _) = ("local:a~23b".parse().unwrap(), Number(29));
        check("tenantSlot", TenantSlotKey { tenant, slot });
        check("projectSlot", ProjectSlotKey { tenant, project, slot });
        check("personSlot", PersonSlotKey { tenant, user, slot });
        check("written", WrittenKey { job, worker: GateNumber::random() });
        check("issueDue", IssueDueKey { issue });
    }
}
