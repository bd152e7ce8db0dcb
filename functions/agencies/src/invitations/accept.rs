//! `POST /agencies/me/invitations/{agencyId}/accept`

use table::{Action, Changes, Condition, Error, Idpid, Stored, item};
use web::visible::is_readable;
use web::{Context, Created, Either, Path, Problem, Route, Sample, Tagged, problem};

use super::{
    INVITATION_EXPIRED, INVITATION_SETTLED, already_settled, forget_address, is_pending, own_address, settled,
};
use crate::access::{ACCEPT_INVITATION, LOAD_INVITATION};
use crate::address::AddressHash;
use crate::agencies::AgencyPath;
use crate::audit::Audit;
use crate::authorization::{AGENCY_INACTIVE, SIGNED_IN, inactive};
use crate::item::{Agency, Invitation, Member, Removal};
use crate::keys::{agency_key, invitation_key, known_address_key, member_key, removal_key};
use crate::members::{MemberView, check_gate, count, refusal};
use crate::names::{AgencyId, InvitationStatus, Status};
use crate::schema::AGENCIES;

/// The caller's invitation to an agency, with the items that decide whether it may be accepted.
pub struct Invited {
    pub agency: Agency,
    pub stored: Stored,
    pub invitation: Invitation,
    /// The hash of the caller's address, which is the invitation's.
    pub hash: AddressHash,
    /// The caller's membership, if the caller is a member already.
    pub member: Option<(Stored, Member)>,
    /// The caller's last removal from the agency.
    pub removal: Option<(Stored, Removal)>,
}

/// In characters.
const MAX_DISPLAY_NAME: usize = 200;

/// The statuses in which invitations are accepted. The first administrator joins while the agency is pending.
const OPEN: &[Status] = &[Status::Pending, Status::Active];

impl Invited {
    /// Loads the invitation to the caller's verified address. 404 without such an address or invitation, if the agency
    /// is being deleted, and to a suspended member.
    pub async fn load(cx: &Context, agency: &AgencyId) -> Result<Self, Problem> {
        let hash = own_address(cx)?.ok_or_else(Problem::not_found)?;
        let me = cx.principal().signed_in()?.idpid();
        let keys = [agency_key(agency), invitation_key(agency, &hash), member_key(agency, me), removal_key(agency, me)];
        let mut found = cx.access().table(&LOAD_INVITATION, &AGENCIES).batch_get_consistent(&keys).await?.into_iter();
        let mut next = || found.next().flatten();
        let (stored_agency, stored, member, removal) = (next(), next(), next(), next());
        let agency: Agency = stored_agency.ok_or_else(Problem::not_found)?.read()?;
        let stored = stored.filter(|_| !agency.is_being_deleted()).ok_or_else(Problem::not_found)?;
        let invitation = stored.read()?;
        let member = member.map(|member| Ok::<_, Error>((member.clone(), member.read::<Member>()?))).transpose()?;
        if member.as_ref().is_some_and(|(_, member)| member.is_suspended()) {
            return Err(Problem::not_found());
        }
        let removal = removal.map(|removal| Ok::<_, Error>((removal.clone(), removal.read()?))).transpose()?;
        Ok(Self { agency, stored, invitation, hash, member, removal })
    }

    /// The status of the invitation for the caller.
    pub fn status_at(&self, now: &str) -> InvitationStatus {
        self.invitation.status_for(self.removal.as_ref().map(|(_, removal)| removal), now)
    }

    /// The action that records the member who has the address.
    fn record_address(&self, me: &Idpid) -> Action {
        let key = known_address_key(&self.invitation.agency_id, &self.hash);
        Action::update(&AGENCIES, key, Changes::new().set("person", item::text(me.to_string()))).or_absent()
    }

    /// The action that checks that the caller was not removed since this was read.
    fn check_removal(&self, me: &Idpid) -> Action {
        let check = Action::check(&AGENCIES, removal_key(&self.invitation.agency_id, me));
        match &self.removal {
            Some((stored, _)) => check.if_unchanged(stored),
            None => check.or_absent().when(Condition::Absent("removed")),
        }
    }
}

pub fn route() -> Route {
    Route::post("acceptInvitation", "/agencies/me/invitations/{agencyId}/accept", SIGNED_IN, accept)
        .summary("Accept an invitation; a caller who is a member already keeps the role")
        .patterns(&[&LOAD_INVITATION, &ACCEPT_INVITATION])
        .problems(&[problem::NOT_FOUND, INVITATION_EXPIRED, INVITATION_SETTLED, AGENCY_INACTIVE, problem::CONFLICT])
        .sample(Sample::new("/agencies/me/invitations/01890a5d-ac96-774b-bcce-b302099a8057/accept"))
}

async fn accept(
    cx: Context,
    Path(path): Path<AgencyPath>,
) -> Result<Either<Created<MemberView>, Tagged<MemberView>>, Problem> {
    cx.retry(|| async {
        let invited = Invited::load(&cx, &path.agency_id).await?;
        let audit = Audit::now(&cx)?;
        if let Some((stored, member)) = &invited.member {
            return settle_for_member(&cx, &invited, stored, member, &audit).await.map(Either::Second);
        }
        match invited.status_at(&audit.at) {
            InvitationStatus::Pending => {}
            InvitationStatus::Expired => {
                return Err(INVITATION_EXPIRED.because("Ask an administrator of the agency for a new invitation."));
            }
            InvitationStatus::Accepted | InvitationStatus::Declined | InvitationStatus::Revoked => {
                return Err(already_settled());
            }
        }
        if !OPEN.contains(&invited.agency.status) {
            return Err(inactive());
        }
        join(&cx, &invited, &audit).await.map(Either::First).map_err(|error| match error.failed(0) {
            Some(gate) => refusal(gate, Some(OPEN)),
            // The caller has joined or was removed, or the invitation was settled, since it was read.
            None if matches!(error, Error::ConditionFailed(_)) => Problem::stale(),
            None => error.into(),
        })
    })
    .await
}

async fn join(cx: &Context, invited: &Invited, audit: &Audit) -> Result<Created<MemberView>, Error> {
    let Invited { invitation, .. } = invited;
    let agency = &invitation.agency_id;
    let Some(caller) = cx.principal().known() else { return Err(Error::NotFound) };
    let name = caller.name.as_deref().and_then(display_name);
    let member = Member {
        address_hash: Some(invited.hash.clone()),
        ..Member::new(agency.clone(), caller.idpid().clone(), invitation.role, name, audit)
    };
    let actions = [
        count(agency, 1, invitation.role.admins())
            .when(Condition::Differs("status", item::text(Status::Inactive.as_str()))),
        Action::create(&AGENCIES, member_key(agency, &member.idpid), &member)?,
        // An invitation that was revoked and created again since it was read may give another role.
        Action::update(&AGENCIES, invited.stored.key.clone(), settled(invitation, InvitationStatus::Accepted, audit))
            .if_unchanged(&invited.stored)
            .when(is_pending())
            .when(Condition::Above("expiresAt", item::text(&audit.at))),
        invited.check_removal(&member.idpid),
        invited.record_address(&member.idpid),
    ];
    let rev = cx.access().transact(&ACCEPT_INVITATION, &actions).await?;
    let location = format!("/agencies/{agency}/members/{}", member.idpid);
    Ok(Created::new(location, rev, &member.into()))
}

/// The name in a token as a `displayName`. None if it has no visible character.
fn display_name(name: &str) -> Option<String> {
    let shown: String = name.chars().filter(|letter| !letter.is_control()).take(MAX_DISPLAY_NAME).collect();
    is_readable(&shown).then_some(shown)
}

/// Settles the invitation of a caller who is a member already and keeps the role, if it is pending.
async fn settle_for_member(
    cx: &Context,
    invited: &Invited,
    stored: &Stored,
    member: &Member,
    audit: &Audit,
) -> Result<Tagged<MemberView>, Problem> {
    let is_open = OPEN.contains(&invited.agency.status);
    if invited.status_at(&audit.at) != InvitationStatus::Pending || !is_open {
        return Ok(Tagged::new(&member.clone().into(), stored.rev));
    }
    let after = Member { address_hash: Some(invited.hash.clone()), ..member.clone() }.updated(audit);
    let accepted = settled(&invited.invitation, InvitationStatus::Accepted, audit);
    let mut actions = vec![
        // The deletion of the agency would not find an address that is recorded after it.
        check_gate(&member.agency_id),
        Action::update(&AGENCIES, stored.key.clone(), Changes::between(member, &after)?).if_unchanged(stored),
        Action::update(&AGENCIES, invited.stored.key.clone(), accepted).if_unchanged(&invited.stored),
        invited.record_address(&member.idpid),
    ];
    if member.address_hash != after.address_hash {
        actions.extend(forget_address(cx, &ACCEPT_INVITATION, member).await?);
    }
    match cx.access().transact(&ACCEPT_INVITATION, &actions).await {
        Ok(rev) => Ok(Tagged::new(&after.into(), rev)),
        Err(error) => Err(match error.failed(0) {
            Some(_) => Problem::not_found(),
            // The member was removed or updated, or the invitation was settled or replaced, since it was read.
            None if matches!(error, Error::ConditionFailed(_)) => Problem::stale(),
            None => error.into(),
        }),
    }
}
