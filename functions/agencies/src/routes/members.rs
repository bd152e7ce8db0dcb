//! `/agencies/{agencyId}/members`.

use web::{Page, Route, Sample, problem};

use super::SIGNED_IN;
use crate::access::{CHANGE_MEMBER, CREATE_MEMBER, DELETE_MEMBER, MEMBER, MEMBERS, STANDING};
use crate::agencies::AgencyPath;
use crate::members::add::NewMember;
use crate::members::change::MemberChange;
use crate::members::list::ListQuery;
use crate::members::{MemberPath, MemberView, add, change, list, read, remove};
use crate::standing::AGENCY_INACTIVE;

const ALL: &str = "/agencies/{agencyId}/members";
const ONE: &str = "/agencies/{agencyId}/members/{idpid}";

pub fn routes() -> Vec<Route> {
    vec![
        Route::post("addMember", ALL, SIGNED_IN, add::add)
            .summary("Adds a member")
            .patterns(&[&STANDING, &CREATE_MEMBER])
            .path::<AgencyPath>()
            .takes::<NewMember>()
            .rules::<NewMember>()
            .creates()
            .answers::<MemberView>(201)
            .problems(&[
                problem::FORBIDDEN,
                problem::NOT_FOUND,
                problem::EXISTS,
                AGENCY_INACTIVE,
                problem::UNPROCESSABLE,
                problem::CONFLICT,
            ])
            .sample(
                Sample::new("/agencies/01890a5d-ac96-774b-bcce-b302099a8057/members")
                    .body(r#"{"idpid":"local:bob","displayName":"Bob Hill"}"#),
            ),
        Route::get("listMembers", ALL, SIGNED_IN, list::list)
            .summary("Who is in an agency")
            .patterns(&[&STANDING, &MEMBERS])
            .path::<AgencyPath>()
            .query::<ListQuery>()
            .answers::<Page<MemberView>>(200)
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new("/agencies/01890a5d-ac96-774b-bcce-b302099a8057/members")),
        Route::get("getMember", ONE, SIGNED_IN, read::get)
            .summary("One member")
            .patterns(&[&STANDING, &MEMBER])
            .path::<MemberPath>()
            .tagged()
            .answers::<MemberView>(200)
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new("/agencies/01890a5d-ac96-774b-bcce-b302099a8057/members/local:bob")),
        Route::patch("changeMember", ONE, SIGNED_IN, change::change)
            .summary("Changes a member's role and name; one administrator stays")
            .patterns(&[&STANDING, &MEMBER, &CHANGE_MEMBER])
            .path::<MemberPath>()
            .takes_patch::<MemberChange>()
            .if_match()
            .tagged()
            .answers::<MemberView>(200)
            .problems(&[
                problem::FORBIDDEN,
                problem::NOT_FOUND,
                problem::LAST_ADMIN,
                AGENCY_INACTIVE,
                problem::CONFLICT,
            ])
            .sample(
                Sample::new("/agencies/01890a5d-ac96-774b-bcce-b302099a8057/members/local:bob")
                    .body(r#"{"role":"admin"}"#),
            ),
        Route::delete("removeMember", ONE, SIGNED_IN, remove::remove)
            .summary("Ends a membership, one's own or, for administrators, another's; one administrator stays")
            .patterns(&[&STANDING, &MEMBER, &DELETE_MEMBER])
            .path::<MemberPath>()
            .if_match()
            .answers_empty(204)
            .problems(&[
                problem::FORBIDDEN,
                problem::NOT_FOUND,
                problem::LAST_ADMIN,
                AGENCY_INACTIVE,
                problem::CONFLICT,
            ])
            .sample(Sample::new("/agencies/01890a5d-ac96-774b-bcce-b302099a8057/members/local:bob")),
    ]
}
