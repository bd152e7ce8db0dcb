//! The made-up tenants, in the parts in which they are loaded.

use crate::sample::Size;

/// A tenant with its parts, the smallest size first.
#[derive(Clone, Copy, Debug)]
pub struct Tenant {
    pub name: &'static str,
    pub parts: &'static [Part],
}

/// Projects of a tenant and the members who join with them, by their subjects at the platform's own issuer.
#[derive(Debug)]
pub struct Part {
    /// The smallest sample with this part.
    pub size: Size,
    /// The first one joins last and so marks the part as complete.
    pub members: &'static [(&'static str, &'static str)],
    pub projects: &'static [Project],
}

/// A project with its numbers of attributes and issues.
#[derive(Debug)]
pub struct Project {
    pub name: &'static str,
    pub attributes: usize,
    pub issues: usize,
}

/// All tenants.
pub const TENANTS: &[Tenant] = &[
    Tenant {
        name: "Northern Bridges",
        parts: &[
            Part {
                size: Size::Small,
                members: &[("ada", "admin"), ("ann", "editor"), ("vic", "viewer")],
                projects: &[Project { name: "Footbridge survey", attributes: 6, issues: 60 }],
            },
            Part {
                size: Size::World,
                members: &[("kim", "editor")],
                projects: &[Project { name: "Estuary crossing", attributes: 30, issues: 10_000 }],
            },
        ],
    },
    Tenant {
        name: "Harbour Press",
        parts: &[Part {
            size: Size::World,
            members: &[("max", "admin"), ("ann", "editor")],
            projects: &[
                Project { name: "Weekend edition", attributes: 4, issues: 80 },
                Project { name: "New website", attributes: 8, issues: 120 },
            ],
        }],
    },
    Tenant {
        name: "Hillside Clinic",
        parts: &[Part {
            size: Size::World,
            members: &[("zoe", "admin")],
            projects: &[Project { name: "Equipment", attributes: 5, issues: 40 }],
        }],
    },
];

impl Tenant {
    /// The parts that a sample of this size has.
    pub(super) fn parts(&self, size: Size) -> impl Iterator<Item = &'static Part> + use<> {
        self.parts.iter().filter(move |part| part.size <= size)
    }
}

impl Part {
    pub(super) fn issues(&self) -> u64 {
        self.projects.iter().map(|project| project.issues as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn world_has_three_tenants_with_five_projects_and_one_person_in_two() {
        let parts = |tenant: &Tenant| tenant.parts(Size::World);
        let projects: Vec<&Project> = TENANTS.iter().flat_map(parts).flat_map(|part| part.projects).collect();
        assert_eq!((TENANTS.len(), projects.len()), (3, 5));
        assert!(projects.iter().any(|project| (project.attributes, project.issues) == (30, 10_000)));
        let is_member = |tenant: &Tenant, subject: &str| {
            parts(tenant).flat_map(|part| part.members).any(|(member, _)| *member == subject)
        };
        let in_tenants = |subject: &str| TENANTS.iter().filter(|tenant| is_member(tenant, subject)).count();
        assert_eq!((in_tenants("ann"), in_tenants("ada")), (2, 1));
        // With the id of a tenant it is an `Idempotency-Key`, which has at most 64 characters.
        assert!(projects.iter().all(|project| project.name.len() <= 64 - " tenant-".len() - 36));
    }

    #[test]
    fn small_sample_has_one_tenant_with_sixty_issues() {
        let parts: Vec<&Part> = TENANTS.iter().flat_map(|tenant| tenant.parts(Size::Small)).collect();
        assert_eq!((parts.len(), parts.iter().map(|part| part.issues()).sum::<u64>()), (1, 60));
        assert!(TENANTS.iter().all(|tenant| tenant.parts.is_sorted_by_key(|part| part.size)));
    }
}
