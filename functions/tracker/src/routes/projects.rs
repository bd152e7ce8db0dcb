//! `/tracker/tenants/{tenantId}/projects` and the grid of one.

use web::{Page, Route, Sample, Who, problem};

use super::{PROJECT as P, SAMPLE_PROJECT, TENANT as T};
use crate::access::{
    BEGIN_DELETION, BY_NAME, CREATE_PROJECT, DUE, ENTRIES, ISSUE_ROWS, ISSUES, MEMBERSHIP, OPEN_JOBS, PROJECT,
    PROJECT_STEP, RENAME_PROJECT, SET_NEXT_NUMBER, TOTALS, WORK,
};
use crate::attributes::retype::ATTRIBUTE_BUSY;
use crate::grid::SEARCH;
use crate::grid::list::{Grid, GridQuery, list as list_grid};
use crate::issues::next_number::{self, NUMBERS_IN_USE, NextNumber};
use crate::projects::{NewProject, ProjectChange, ProjectPath, create, delete, get, list, rename};
use crate::tenants::delete::DeleteQuery;
use crate::tenants::one::{ByName, TenantPath};
use crate::views::{ProjectEntry, ProjectView};
use crate::work::routes::WorkView;

const PROJECTS: &str = "/tracker/tenants/tenant-0807/projects";

pub fn routes() -> Vec<Route> {
    vec![
        Route::post("createProject", format!("{T}/projects"), Who::SignedIn, create)
            .summary("Makes a project")
            .patterns(&[&MEMBERSHIP, &CREATE_PROJECT])
            .path::<TenantPath>()
            .takes::<NewProject>()
            .creates()
            .answers::<ProjectView>(201)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::CONFLICT])
            .sample(Sample::new(PROJECTS).body(r#"{"name":"Forth Rail Bridge"}"#)),
        Route::get("listProjects", format!("{T}/projects"), Who::SignedIn, list)
            .summary("A tenant's projects by name")
            .patterns(&[&MEMBERSHIP, &BY_NAME])
            .path::<TenantPath>()
            .query::<ByName>()
            .answers::<Page<ProjectEntry>>(200)
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new(PROJECTS)),
        Route::get("getProject", P, Who::SignedIn, get)
            .summary("One project with its attributes in column order")
            .patterns(&[&MEMBERSHIP, &PROJECT])
            .path::<ProjectPath>()
            .tagged()
            .answers::<ProjectView>(200)
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new(SAMPLE_PROJECT)),
        Route::patch("renameProject", P, Who::SignedIn, rename)
            .summary("Gives a project another name")
            .patterns(&[&MEMBERSHIP, &PROJECT, &RENAME_PROJECT])
            .path::<ProjectPath>()
            .takes_patch::<ProjectChange>()
            .if_match()
            .tagged()
            .answers::<ProjectView>(200)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::CONFLICT])
            .sample(Sample::new(SAMPLE_PROJECT).body(r#"{"name":"Forth Bridge"}"#)),
        Route::delete("deleteProject", P, Who::SignedIn, delete)
            .summary("Deletes a project; `cascade=true` also deletes its issues")
            .patterns(&[&MEMBERSHIP, &PROJECT, &TOTALS, &BEGIN_DELETION, &WORK, &DUE, &PROJECT_STEP, &ISSUE_ROWS])
            .path::<ProjectPath>()
            .query::<DeleteQuery>()
            .if_match()
            .timeout(web::route::MAX_TIMEOUT)
            .answers_empty(204)
            .answers::<WorkView>(202)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::HAS_DEPENDENTS, problem::CONFLICT])
            .sample(Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9?cascade=true")),
        Route::put("setNextNumber", format!("{P}/next-number"), Who::SignedIn, next_number::set)
            .summary("Sets the number of a project's next issue, above those of all its issues")
            .patterns(&[&MEMBERSHIP, &PROJECT, &TOTALS, &OPEN_JOBS, &SET_NEXT_NUMBER])
            .path::<ProjectPath>()
            .takes::<NextNumber>()
            .answers_empty(204)
            .answers::<WorkView>(202)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::TAKEN, NUMBERS_IN_USE, problem::CONFLICT])
            .sample(
                Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/next-number").body(r#"{"number":100}"#),
            ),
        Route::get("listGrid", format!("{P}/grid"), Who::SignedIn, list_grid)
            .summary("Issues with their values, sorted and filtered by any column")
            .patterns(&[&MEMBERSHIP, &PROJECT, &ENTRIES, &ISSUES, &TOTALS, &SEARCH])
            .path::<ProjectPath>()
            .query::<GridQuery>()
            .answers::<Grid>(200)
            .problems(&[problem::NOT_FOUND, ATTRIBUTE_BUSY, problem::SEARCH_UNAVAILABLE])
            .sample(Sample::new(
                "/tracker/tenants/tenant-0807/projects/project-35e9/grid?sort=xattrib-3fe6&count=true",
            )),
    ]
}
