//! `/tracker/tenants/{tenantId}/projects/{projectId}/imports` and `.../exports`: issues from a file, and a grid as one.

use web::{Route, Sample, Who, problem};

use super::PROJECT as P;
use crate::access::{EXPORT, IMPORT, MEMBERSHIP, OPEN_JOBS, PROJECT};
use crate::attributes::retype::ATTRIBUTE_BUSY;
use crate::exports::{NewExport, begin};
use crate::imports::{ImportLink, NewImport, UNMAPPED_COLUMN, announce};
use crate::projects::ProjectPath;
use crate::work::TOO_MANY_JOBS;
use crate::work::routes::WorkView;

pub fn routes() -> Vec<Route> {
    vec![
        Route::post("createImport", format!("{P}/imports"), Who::SignedIn, announce)
            .summary("Announces a CSV file of up to 200 MB with issues, and gives the link that takes it and its work")
            .patterns(&[&MEMBERSHIP, &PROJECT, &OPEN_JOBS, &IMPORT])
            .path::<ProjectPath>()
            .takes::<NewImport>()
            .creates()
            .answers::<ImportLink>(201)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::TOO_LARGE, TOO_MANY_JOBS, UNMAPPED_COLUMN])
            .sample(
                Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/imports")
                    .body(r#"{"bytes":1000,"mode":"create","onError":"skip","columns":{"Priority":null}}"#),
            ),
        Route::post("createExport", format!("{P}/exports"), Who::SignedIn, begin)
            .summary("Begins a CSV file of all rows of a grid; its work links to it once it is done")
            .patterns(&[&MEMBERSHIP, &PROJECT, &OPEN_JOBS, &EXPORT])
            .path::<ProjectPath>()
            .takes::<NewExport>()
            .creates()
            .answers::<WorkView>(202)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, ATTRIBUTE_BUSY, TOO_MANY_JOBS, UNMAPPED_COLUMN])
            .sample(
                Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/exports")
                    .body(r#"{"sort":"name","filter":["state:eq:open"]}"#),
            ),
    ]
}
