//! `/agencies/me`: the caller's own agencies and invitations.

use web::{Page, Route, Sample, problem};

use super::SIGNED_IN;
use crate::access::{ACCEPT, ADDRESS_INVITATIONS, INVITED, PERSON_AGENCIES, SETTLE};
use crate::agencies::AgencyPath;
use crate::invitations::{INVITATION_EXPIRED, INVITATION_SETTLED, accept, decline};
use crate::members::MemberView;
use crate::members::list::ListQuery;
use crate::people::{Membership, MyInvitation, agencies, invitations};
use crate::standing::AGENCY_INACTIVE;

const INVITATIONS: &str = "/agencies/me/invitations";
const INVITATION: &str = "/agencies/me/invitations/{agencyId}";

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("listMyAgencies", "/agencies/me/agencies", SIGNED_IN, agencies::mine)
            .summary("The caller's agencies, with names and own roles")
            .patterns(&[&PERSON_AGENCIES])
            .query::<ListQuery>()
            .answers::<Page<Membership>>(200)
            .sample(Sample::new("/agencies/me/agencies")),
        Route::get("listMyInvitations", INVITATIONS, SIGNED_IN, invitations::mine)
            .summary("Invitations to the caller's verified address")
            .patterns(&[&ADDRESS_INVITATIONS])
            .query::<ListQuery>()
            .answers::<Page<MyInvitation>>(200)
            .sample(Sample::new(INVITATIONS)),
        Route::post("acceptInvitation", format!("{INVITATION}/accept"), SIGNED_IN, accept::accept)
            .summary("Becomes a member; who is one already keeps the role")
            .patterns(&[&INVITED, &ACCEPT])
            .path::<AgencyPath>()
            .tagged()
            .answers::<MemberView>(201)
            .answers::<MemberView>(200)
            .problems(&[problem::NOT_FOUND, INVITATION_EXPIRED, INVITATION_SETTLED, AGENCY_INACTIVE, problem::CONFLICT])
            .sample(Sample::new("/agencies/me/invitations/01890a5d-ac96-774b-bcce-b302099a8057/accept")),
        Route::post("declineInvitation", format!("{INVITATION}/decline"), SIGNED_IN, decline::decline)
            .summary("Declines an invitation, also after its time")
            .patterns(&[&INVITED, &SETTLE])
            .path::<AgencyPath>()
            .tagged()
            .answers::<MyInvitation>(200)
            .problems(&[problem::NOT_FOUND, INVITATION_SETTLED, problem::CONFLICT])
            .sample(Sample::new("/agencies/me/invitations/01890a5d-ac96-774b-bcce-b302099a8057/decline")),
    ]
}
