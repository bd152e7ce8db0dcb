//! `/tracker/tenants/{tenantId}/projects/{projectId}/attributes`

use web::{Route, Sample, Who, problem};

use super::PROJECT as P;
use crate::access::{
    CHANGE_ATTRIBUTE, CREATE_ATTRIBUTE, DELETE_ATTRIBUTE, MEMBERSHIP, PROJECT, RETYPE_ATTRIBUTE, TOTALS,
};
use crate::attributes::change::{AttributeChange, change};
use crate::attributes::create::{NewAttribute, create};
use crate::attributes::delete::delete;
use crate::attributes::retype::{ATTRIBUTE_BUSY, Retype, UNSAFE_RETYPE, retype};
use crate::attributes::{AttributePath, TOO_MANY_ATTRIBUTES};
use crate::issues::{UNKNOWN_OPTION, WRONG_TYPE};
use crate::projects::ProjectPath;
use crate::views::AttributeView;
use crate::work::routes::WorkView;

const ATTRIBUTES: &str = "/tracker/tenants/tenant-0807/projects/project-35e9/attributes";
const SAMPLE: &str = "/tracker/tenants/tenant-0807/projects/project-35e9/attributes/xattrib-3fe6";
const RETYPE: &str = "/tracker/tenants/tenant-0807/projects/project-35e9/attributes/xattrib-3fe6/retype";

pub fn routes() -> Vec<Route> {
    let one = format!("{P}/attributes/{{attributeId}}");
    vec![
        Route::post("createAttribute", format!("{P}/attributes"), Who::SignedIn, create)
            .summary("Gives a project one more column")
            .patterns(&[&MEMBERSHIP, &PROJECT, &TOTALS, &CREATE_ATTRIBUTE])
            .path::<ProjectPath>()
            .takes::<NewAttribute>()
            .creates()
            .timeout(web::route::MAX_TIMEOUT)
            .answers::<AttributeView>(201)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::TAKEN, TOO_MANY_ATTRIBUTES, problem::CONFLICT])
            .sample(Sample::new(ATTRIBUTES).body(r#"{"name":"Num Items","type":"int"}"#)),
        Route::patch("changeAttribute", one.as_str(), Who::SignedIn, change)
            .summary("Changes an attribute's name, its place among the columns, or its options")
            .patterns(&[&MEMBERSHIP, &PROJECT, &CHANGE_ATTRIBUTE])
            .path::<AttributePath>()
            .takes_patch::<AttributeChange>()
            .answers::<AttributeView>(200)
            .problems(&[
                problem::FORBIDDEN,
                problem::NOT_FOUND,
                problem::TAKEN,
                problem::CONFLICT,
                WRONG_TYPE,
                UNKNOWN_OPTION,
            ])
            .sample(Sample::new(SAMPLE).body(r#"{"name":"Items","position":1}"#)),
        Route::delete("deleteAttribute", one.as_str(), Who::SignedIn, delete)
            .summary("Hides an attribute at once; its values follow")
            .patterns(&[&MEMBERSHIP, &PROJECT, &TOTALS, &DELETE_ATTRIBUTE])
            .path::<AttributePath>()
            .answers_empty(204)
            .answers::<WorkView>(202)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::CONFLICT])
            .sample(Sample::new(SAMPLE).expects(202)),
        Route::post("retypeAttribute", format!("{one}/retype"), Who::SignedIn, retype)
            .summary("Makes whole numbers decimals, or anything text")
            .patterns(&[&MEMBERSHIP, &PROJECT, &TOTALS, &RETYPE_ATTRIBUTE])
            .path::<AttributePath>()
            .takes::<Retype>()
            .answers::<AttributeView>(200)
            .answers::<WorkView>(202)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, UNSAFE_RETYPE, ATTRIBUTE_BUSY, problem::CONFLICT])
            .sample(Sample::new(RETYPE).body(r#"{"type":"decimal"}"#)),
    ]
}
