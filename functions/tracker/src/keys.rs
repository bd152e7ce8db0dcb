//! The keys of every entity that this system writes.

use table::Idpid;
use table::part::Number;

use crate::names::{AttributeId, GateNumber, IssueId, ProjectId, TenantId, WorkId};

table::key! {
    pub struct TenantKey { tenant: TenantId }
    pk "tenant-{tenant}"
    sk "*"
}

table::key! {
    /// By which tenants are listed by name.
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
    /// An issue's entry in the order of an attribute's values.
    pub struct ValueRowKey { issue: IssueId, attribute: AttributeId }
    pk "issue-{issue}"
    sk "value-{attribute}"
}

table::key! {
    /// An issue's entry among those without a value of an attribute.
    pub struct BlankRowKey { issue: IssueId, attribute: AttributeId }
    pk "issue-{issue}"
    sk "blank-{attribute}"
}

table::key! {
    /// An issue's entry in the order of states.
    pub struct StateRowKey { issue: IssueId, project: ProjectId }
    pk "issue-{issue}"
    sk "state-{project}"
}

table::key! {
    /// The last number given in a project.
    pub struct CounterKey { project: ProjectId }
    pk "counter-{project}"
    sk "*"
}

table::key! {
    /// What every write of an issue passes, one of many at random.
    pub struct GateKey { project: ProjectId, gate: GateNumber }
    pk "gate-{project}"
    sk "{gate}"
}

table::key! {
    /// Work that outlives its request.
    pub struct WorkKey { tenant: TenantId, work: WorkId }
    pk "tenant-{tenant}"
    sk "xwork-{work}"
}

table::key! {
    /// When work is to go on, and its lease.
    pub struct WorkDueKey { work: WorkId }
    pk "work-{work}"
    sk "due"
}

table::key! {
    /// One of the places that a tenant has for the imports and exports that are open.
    pub struct TenantPlaceKey { tenant: TenantId, place: Number }
    pk "jobs-{tenant}"
    sk "tenant::{place}"
}

table::key! {
    /// The same of a project.
    pub struct ProjectPlaceKey { tenant: TenantId, project: ProjectId, place: Number }
    pk "jobs-{tenant}"
    sk "project-{project}::{place}"
}

table::key! {
    /// The same of a person.
    pub struct PersonPlaceKey { tenant: TenantId, user: Idpid, place: Number }
    pk "jobs-{tenant}"
    sk "user-{user}::{place}"
}

table::key! {
    /// What one worker of an import has made of its file.
    pub struct MadeKey { work: WorkId, worker: GateNumber }
    pk "made-{work}"
    sk "{worker}"
}

table::key! {
    /// When the rows of an issue that is not settled are to be completed.
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
        let (attribute, work) = (AttributeId::new(), WorkId::new());
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
        check("work", WorkKey { tenant, work });
        check("workDue", WorkDueKey { work });
        let (user, place): (Idpid, _) = ("local:a~23b".parse().unwrap(), Number(29));
        check("tenantPlace", TenantPlaceKey { tenant, place });
        check("projectPlace", ProjectPlaceKey { tenant, project, place });
        check("personPlace", PersonPlaceKey { tenant, user, place });
        check("made", MadeKey { work, worker: GateNumber::random() });
        check("issueDue", IssueDueKey { issue });
    }
}
