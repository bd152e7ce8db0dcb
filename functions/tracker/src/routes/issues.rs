//! `/tracker/tenants/{tenantId}/projects/{projectId}/issues` and what lies below it.

use web::{Kind, Route, Sample, Who, problem};

use super::{ISSUE as I, PROJECT as P, SAMPLE_ISSUE};
use crate::access::{
    BY_NUMBER, CHANGE_ISSUE, CREATE_ISSUE, DELETE_ISSUE, ISSUE, ISSUE_ROWS, MEMBERSHIP, NEXT_NUMBER, PROJECT,
    WRITE_ISSUE,
};
use crate::issues::change::{IssueChange, change};
use crate::issues::create::{NewIssue, create};
use crate::issues::delete::delete;
use crate::issues::read::{NumberPath, find, get};
use crate::issues::renumber::{Move, Moved, Renumber, WOULD_DROP, move_to, renumber};
use crate::issues::values::{NewValue, NewValues, ValuePath, clear_one, set_many, set_one};
use crate::issues::{ISSUE_TOO_LARGE, IssuePath, UNKNOWN_ATTRIBUTE, UNKNOWN_OPTION, WRONG_TYPE};
use crate::projects::ProjectPath;
use crate::views::IssueView;

const VALUE: &str = "/tracker/tenants/tenant-0807/projects/project-35e9/issues/issue-af34/values/xattrib-3fe6";

/// What values may be refused for, beside what every write may be.
const VALUES: &[Kind] = &[
    problem::FORBIDDEN,
    problem::NOT_FOUND,
    WRONG_TYPE,
    UNKNOWN_ATTRIBUTE,
    UNKNOWN_OPTION,
    ISSUE_TOO_LARGE,
    problem::CONFLICT,
];

/// The same where an issue is made, whose project may have no number left.
const NEW: &[Kind] = &[
    problem::FORBIDDEN,
    problem::NOT_FOUND,
    problem::TAKEN,
    WRONG_TYPE,
    UNKNOWN_ATTRIBUTE,
    UNKNOWN_OPTION,
    ISSUE_TOO_LARGE,
    problem::CONFLICT,
];

/// The largest body: 100 values of 1024 characters, each of which may take six bytes in JSON.
const WITH_VALUES: usize = 1024 * 1024;

pub fn routes() -> Vec<Route> {
    [of_issues(), of_values()].concat()
}

fn of_issues() -> Vec<Route> {
    vec![
        Route::post("createIssue", format!("{P}/issues"), Who::SignedIn, create)
            .summary("Makes an issue under the next number of its project")
            .patterns(&[&MEMBERSHIP, &PROJECT, &NEXT_NUMBER, &CREATE_ISSUE, &ISSUE_ROWS, &CHANGE_ISSUE])
            .path::<ProjectPath>()
            .takes::<NewIssue>()
            .body_limit(WITH_VALUES)
            .creates()
            .timeout(web::route::MAX_TIMEOUT)
            .answers::<IssueView>(201)
            .problems(NEW)
            .sample(
                Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/issues")
                    .body(r#"{"name":"Tighten the girder bolts","values":{"xattrib-3fe6":"42"}}"#),
            ),
        Route::get("getIssue", I, Who::SignedIn, get)
            .summary("One issue with all its values")
            .patterns(&[&MEMBERSHIP, &PROJECT, &ISSUE])
            .path::<IssuePath>()
            .tagged()
            .answers::<IssueView>(200)
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new(SAMPLE_ISSUE)),
        Route::get("findIssue", format!("{P}/numbers/{{number}}"), Who::SignedIn, find)
            .summary("The issue of this number")
            .patterns(&[&MEMBERSHIP, &BY_NUMBER, &PROJECT, &ISSUE])
            .path::<NumberPath>()
            .tagged()
            .answers::<IssueView>(200)
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/numbers/1")),
        Route::patch("changeIssue", I, Who::SignedIn, change)
            .summary("Changes an issue's name or state")
            .patterns(&[&MEMBERSHIP, &PROJECT, &ISSUE, &CHANGE_ISSUE, &ISSUE_ROWS])
            .path::<IssuePath>()
            .takes_patch::<IssueChange>()
            .if_match()
            .tagged()
            .answers::<IssueView>(200)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, ISSUE_TOO_LARGE, problem::CONFLICT])
            .sample(Sample::new(SAMPLE_ISSUE).body(r#"{"state":"closed"}"#)),
        Route::delete("deleteIssue", I, Who::SignedIn, delete)
            .summary("Deletes an issue; its number is not given again")
            .patterns(&[&MEMBERSHIP, &PROJECT, &ISSUE, &CHANGE_ISSUE, &DELETE_ISSUE, &ISSUE_ROWS])
            .path::<IssuePath>()
            .if_match()
            .answers_empty(204)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::CONFLICT])
            .sample(Sample::new(SAMPLE_ISSUE)),
        Route::post("renumberIssue", format!("{I}/renumber"), Who::SignedIn, renumber)
            .summary("Gives an issue the next number, or one above all that were given")
            .patterns(&[&MEMBERSHIP, &PROJECT, &ISSUE, &NEXT_NUMBER, &WRITE_ISSUE, &CHANGE_ISSUE, &ISSUE_ROWS])
            .path::<IssuePath>()
            .takes::<Renumber>()
            .if_match()
            .tagged()
            .answers::<IssueView>(200)
            .problems(&[
                problem::FORBIDDEN,
                problem::NOT_FOUND,
                problem::UNPROCESSABLE,
                problem::TAKEN,
                problem::CONFLICT,
            ])
            .sample(
                Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/issues/issue-af34/renumber")
                    .body(r#"{"number":100}"#),
            ),
        Route::post("moveIssue", format!("{I}/move"), Who::SignedIn, move_to)
            .summary("Moves an issue to another project, with the values that have a place there")
            .patterns(&[&MEMBERSHIP, &PROJECT, &ISSUE, &NEXT_NUMBER, &WRITE_ISSUE, &CHANGE_ISSUE, &ISSUE_ROWS])
            .path::<IssuePath>()
            .takes::<Move>()
            .if_match()
            .tagged()
            .answers::<Moved>(200)
            .problems(&[
                problem::FORBIDDEN,
                problem::NOT_FOUND,
                problem::UNPROCESSABLE,
                ISSUE_TOO_LARGE,
                WOULD_DROP,
                problem::TAKEN,
                problem::CONFLICT,
            ])
            .sample(
                Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/issues/issue-67d1/move")
                    .body(r#"{"project":"project-46fa"}"#),
            ),
    ]
}

fn of_values() -> Vec<Route> {
    let value = format!("{I}/values/{{attributeId}}");
    vec![
        Route::put("setValue", value.as_str(), Who::SignedIn, set_one)
            .summary("Sets one value; the entity tag is the issue's")
            .patterns(&[&MEMBERSHIP, &PROJECT, &ISSUE, &CHANGE_ISSUE, &ISSUE_ROWS])
            .path::<ValuePath>()
            .takes::<NewValue>()
            .if_match()
            .tagged()
            .answers::<IssueView>(200)
            .problems(VALUES)
            .sample(Sample::new(VALUE).body(r#"{"value":"43"}"#)),
        Route::delete("clearValue", value.as_str(), Who::SignedIn, clear_one)
            .summary("Clears one value that is set")
            .patterns(&[&MEMBERSHIP, &PROJECT, &ISSUE, &CHANGE_ISSUE, &ISSUE_ROWS])
            .path::<ValuePath>()
            .if_match()
            .answers_empty(204)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::CONFLICT])
            .sample(Sample::new(VALUE)),
        Route::patch("setValues", format!("{I}/values"), Who::SignedIn, set_many)
            .summary("Sets and clears up to 100 values at once, all or none")
            .patterns(&[&MEMBERSHIP, &PROJECT, &ISSUE, &WRITE_ISSUE, &CHANGE_ISSUE, &ISSUE_ROWS])
            .path::<IssuePath>()
            .takes_patch::<NewValues>()
            .body_limit(WITH_VALUES)
            .if_match()
            .tagged()
            .timeout(web::route::MAX_TIMEOUT)
            .answers::<IssueView>(200)
            .problems(VALUES)
            .sample(
                Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/issues/issue-af34/values")
                    .body(r#"{"values":{"xattrib-3fe6":"7"}}"#),
            ),
    ]
}
