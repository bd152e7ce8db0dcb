//! `/agencies/{agencyId}/invitations`.

use web::{Page, Route, Sample, problem};

use super::SIGNED_IN;
use crate::access::{INVITATION, INVITATIONS, INVITE, KNOWN_ADDRESS, SETTLE, STANDING};
use crate::agencies::AgencyPath;
use crate::invitations::create::NewInvitation;
use crate::invitations::{INVITATION_SETTLED, INVITED, InvitationPath, InvitationView, create, list, read, revoke};
use crate::members::list::ListQuery;
use crate::standing::AGENCY_INACTIVE;

const ALL: &str = "/agencies/{agencyId}/invitations";
const ONE: &str = "/agencies/{agencyId}/invitations/{hash}";

/// Of dee@example.org.
const SAMPLE: &str = "/agencies/01890a5d-ac96-774b-bcce-b302099a8057/invitations/b6e81874b8017c9e41c6707ec59fb38e";

pub fn routes() -> Vec<Route> {
    vec![
        Route::post("createInvitation", ALL, SIGNED_IN, create::create)
            .summary("Invites a person by e-mail address")
            .patterns(&[&STANDING, &KNOWN_ADDRESS, &INVITATION, &INVITE])
            .path::<AgencyPath>()
            .takes::<NewInvitation>()
            .rules::<NewInvitation>()
            .creates()
            .answers::<InvitationView>(201)
            .problems(&[
                problem::FORBIDDEN,
                problem::NOT_FOUND,
                problem::EXISTS,
                INVITED,
                AGENCY_INACTIVE,
                problem::CONFLICT,
            ])
            .sample(
                Sample::new("/agencies/01890a5d-ac96-774b-bcce-b302099a8057/invitations")
                    .body(r#"{"address":"dee@example.org","days":30}"#),
            ),
        Route::get("listInvitations", ALL, SIGNED_IN, list::list)
            .summary("Who was invited, and what has become of it")
            .patterns(&[&STANDING, &INVITATIONS])
            .path::<AgencyPath>()
            .query::<ListQuery>()
            .answers::<Page<InvitationView>>(200)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND])
            .sample(Sample::new("/agencies/01890a5d-ac96-774b-bcce-b302099a8057/invitations")),
        Route::get("getInvitation", ONE, SIGNED_IN, read::get)
            .summary("One invitation")
            .patterns(&[&STANDING, &INVITATION])
            .path::<InvitationPath>()
            .tagged()
            .answers::<InvitationView>(200)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND])
            .sample(Sample::new(SAMPLE)),
        Route::delete("revokeInvitation", ONE, SIGNED_IN, revoke::revoke)
            .summary("Takes an open invitation back")
            .patterns(&[&STANDING, &INVITATION, &SETTLE])
            .path::<InvitationPath>()
            .if_match()
            .answers_empty(204)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, INVITATION_SETTLED, AGENCY_INACTIVE, problem::CONFLICT])
            .sample(Sample::new(SAMPLE)),
    ]
}
