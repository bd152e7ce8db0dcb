//! The routes of tracker, a file for each kind of thing that they are about.

mod attributes;
mod files;
mod issues;
mod members;
mod projects;
mod tenants;
mod work;

use web::Route;

/// All routes of the system, in the order in which the docs and the API description have them.
pub fn all() -> Vec<Route> {
    [
        tenants::routes(),
        members::routes(),
        projects::routes(),
        attributes::routes(),
        issues::routes(),
        files::routes(),
        work::routes(),
    ]
    .concat()
}

/// A tenant, a project, an issue: below each lies the next.
const TENANT: &str = "/tracker/tenants/{tenantId}";
const PROJECT: &str = "/tracker/tenants/{tenantId}/projects/{projectId}";
const ISSUE: &str = "/tracker/tenants/{tenantId}/projects/{projectId}/issues/{issueId}";

/// The same with the ids of the samples.
const SAMPLE_TENANT: &str = "/tracker/tenants/tenant-0807";
const SAMPLE_PROJECT: &str = "/tracker/tenants/tenant-0807/projects/project-35e9";
const SAMPLE_ISSUE: &str = "/tracker/tenants/tenant-0807/projects/project-35e9/issues/issue-af34";
