//! `/tracker/tenants/{tenantId}/members`

use web::{Page, Route, Sample, Who, problem};

use super::TENANT as T;
use crate::access::{ADD_MEMBER, CHANGE_MEMBER, MEMBER, MEMBERSHIP, OF_TENANT, REMOVE_MEMBER, TENANT};
use crate::tenants::members::{MemberChange, MemberPath, NewMember, add, change, get, list, remove};
use crate::tenants::one::{Paged, TenantPath};
use crate::views::MemberView;

const MEMBERS: &str = "/tracker/tenants/tenant-0807/members";
const SAMPLE: &str = "/tracker/tenants/tenant-0807/members/local:ann";

pub fn routes() -> Vec<Route> {
    let one = format!("{T}/members/{{idpid}}");
    vec![
        Route::post("addMember", format!("{T}/members"), Who::SignedIn, add)
            .summary("Adds a member")
            .patterns(&[&MEMBERSHIP, &TENANT, &ADD_MEMBER])
            .path::<TenantPath>()
            .takes::<NewMember>()
            .creates()
            .answers::<MemberView>(201)
            .problems(&[
                problem::FORBIDDEN,
                problem::NOT_FOUND,
                problem::EXISTS,
                problem::UNPROCESSABLE,
                problem::CONFLICT,
            ])
            .sample(Sample::new(MEMBERS).body(r#"{"idpid":"local:ann","role":"viewer","name":"Ann"}"#)),
        Route::get("listMembers", format!("{T}/members"), Who::SignedIn, list)
            .summary("The members of a tenant")
            .patterns(&[&MEMBERSHIP, &TENANT, &OF_TENANT])
            .path::<TenantPath>()
            .query::<Paged>()
            .answers::<Page<MemberView>>(200)
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new(MEMBERS)),
        Route::get("getMember", one.as_str(), Who::SignedIn, get)
            .summary("One member")
            .patterns(&[&MEMBERSHIP, &TENANT, &MEMBER])
            .path::<MemberPath>()
            .tagged()
            .answers::<MemberView>(200)
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new(SAMPLE)),
        Route::patch("changeMember", one.as_str(), Who::SignedIn, change)
            .summary("Gives a member another role or name")
            .patterns(&[&MEMBERSHIP, &TENANT, &MEMBER, &CHANGE_MEMBER])
            .path::<MemberPath>()
            .takes_patch::<MemberChange>()
            .if_match()
            .tagged()
            .answers::<MemberView>(200)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::LAST_ADMIN, problem::CONFLICT])
            .sample(Sample::new(SAMPLE).body(r#"{"role":"editor"}"#)),
        Route::delete("removeMember", one.as_str(), Who::SignedIn, remove)
            .summary("Ends a membership; anybody may end their own")
            .patterns(&[&MEMBERSHIP, &TENANT, &MEMBER, &REMOVE_MEMBER])
            .path::<MemberPath>()
            .if_match()
            .answers_empty(204)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::LAST_ADMIN, problem::CONFLICT])
            .sample(Sample::new(SAMPLE)),
    ]
}
