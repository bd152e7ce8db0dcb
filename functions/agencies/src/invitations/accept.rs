//! `POST /agencies/me/invitations/{agencyId}/accept`.

use table::{Action, Backoff, Changes, Condition, Error, Idpid, Stored, item};
use web::{Answer, Problem, Request};

use super::{INVITATION_EXPIRED, already_settled, is_pending, own_address, settled};
use crate::access::{ACCEPT, INVITED};
use crate::agencies::AgencyPath;
use crate::item::{Agency, Invitation, Member, Removal, Stamp};
use crate::keys::{agency_key, invitation_key, known_address_key, member_key, removal_key};
use crate::members::{MemberView, count, refusal};
use crate::names::{AgencyId, InvitationStatus, Status};
use crate::schema::AGENCIES;
use crate::standing::{inactive, stamp, tag};

/// A person's invitation to an agency, with what else decides.
pub struct Invited {
    pub agency: Agency,
    pub stored: Stored,
    pub invitation: Invitation,
    /// The membership of somebody who is in already.
    pub member: Option<(Stored, Member)>,
    /// The caller's last removal from the agency.
    pub removal: Option<(Stored, Removal)>,
}

/// The most characters of a member's `displayName`.
const LONGEST_DISPLAY_NAME: usize = 200;

/// In which statuses people may join: a first administrator while the agency is pending.
const OPEN: &[Status] = &[Status::Pending, Status::Active];

impl Invited {
    /// The caller's. 404 without a verified address, without an invitation to it, and where the agency is being deleted.
    pub async fn read(request: &Request, agency: &AgencyId) -> Result<Self, Problem> {
        let hash = own_address(request)?.ok_or_else(Problem::not_found)?;
        let me = request.principal().signed_in()?.idpid();
        let keys = [agency_key(agency), invitation_key(agency, &hash), member_key(agency, me), removal_key(agency, me)];
        let mut found = request.access().table(&INVITED, &AGENCIES).batch_get_consistent(&keys).await?.into_iter();
        let mut next = || found.next().flatten();
        let (stored_agency, stored, member, removal) = (next(), next(), next(), next());
        let agency: Agency = stored_agency.ok_or_else(Problem::not_found)?.read()?;
        let stored = stored.filter(|_| !agency.is_being_deleted()).ok_or_else(Problem::not_found)?;
        let invitation = stored.read()?;
        let member = member.map(|member| Ok::<_, Error>((member.clone(), member.read()?))).transpose()?;
        let removal = removal.map(|removal| Ok::<_, Error>((removal.clone(), removal.read()?))).transpose()?;
        Ok(Self { agency, stored, invitation, member, removal })
    }

    /// The status of the invitation for the caller.
    pub fn status_at(&self, now: &str) -> InvitationStatus {
        self.invitation.status_for(self.removal.as_ref().map(|(_, removal)| removal), now)
    }

    /// Notes whose the address is.
    fn known(&self, me: &Idpid) -> Option<Action> {
        let key = known_address_key(&self.invitation.agency_id, &self.invitation.hash()?);
        let person = Changes::new().set("person", item::text(me.to_string()));
        Some(Action::update(&AGENCIES, key, person).or_absent())
    }

    /// Checks in a transaction that the caller was not removed since this was read.
    fn not_removed_since(&self, me: &Idpid) -> Action {
        let check = Action::check(&AGENCIES, removal_key(&self.invitation.agency_id, me));
        match &self.removal {
            Some((stored, _)) => check.if_unchanged(stored),
            None => check.or_absent().when(Condition::Absent("removed")),
        }
    }
}

pub async fn accept(request: Request) -> Result<Answer, Problem> {
    let agency = request.path::<AgencyPath>()?.id().ok_or_else(Problem::not_found)?;
    let mut backoff = Backoff::new();
    loop {
        let invited = Invited::read(&request, &agency).await?;
        let stamp = stamp(&request)?;
        if let Some((stored, member)) = &invited.member {
            return is_in(&request, &invited, stored, member, &stamp).await;
        }
        match invited.status_at(&stamp.at) {
            InvitationStatus::Pending => {}
            InvitationStatus::Expired => {
                return Err(INVITATION_EXPIRED.because("Ask an administrator of the agency to invite you again."));
            }
            InvitationStatus::Accepted | InvitationStatus::Declined | InvitationStatus::Revoked => {
                return Err(already_settled());
            }
        }
        if !OPEN.contains(&invited.agency.status) {
            return Err(inactive());
        }
        let error = match join(&request, &invited, &stamp).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        match (error.failed(0), matches!(error, Error::ConditionFailed(_))) {
            (Some(gate), _) => return Err(refusal(gate, Some(OPEN))),
            // The caller has joined or was removed, or the invitation was settled, since it was read.
            (None, true) if backoff.wait().await => {}
            (None, true) => return Err(Problem::conflict()),
            (None, false) => return Err(error.into()),
        }
    }
}

async fn join(request: &Request, invited: &Invited, stamp: &Stamp) -> Result<Answer, Error> {
    let Invited { invitation, .. } = invited;
    let agency = &invitation.agency_id;
    let Some(caller) = request.principal().known() else { return Err(Error::NotFound) };
    let name = caller.name.as_deref().map(shown);
    let member = Member::new(agency.clone(), caller.idpid().clone(), invitation.role, name, stamp);
    let mut actions = vec![
        count(agency, 1, invitation.role.admins())
            .when(Condition::Differs("status", item::text(Status::Inactive.as_str()))),
        Action::create(&AGENCIES, member_key(agency, &member.idpid), &member)?,
        // As it was read: one that was taken back and made anew since may give another role.
        Action::update(&AGENCIES, invited.stored.key.clone(), settled(InvitationStatus::Accepted, stamp))
            .if_unchanged(&invited.stored)
            .when(is_pending())
            .when(Condition::Above("expiresAt", item::text(&stamp.at))),
        invited.not_removed_since(&member.idpid),
    ];
    actions.extend(invited.known(&member.idpid));
    let rev = request.access().transact(&ACCEPT, &actions).await?;
    let location = format!("/agencies/{agency}/members/{}", member.idpid);
    Ok(Answer::created(location, rev, &MemberView::from(member)))
}

/// What a token calls somebody, as a member's `displayName` may be.
fn shown(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_control()).take(LONGEST_DISPLAY_NAME).collect()
}

/// Who is a member already keeps the role; an open invitation is settled.
async fn is_in(
    request: &Request,
    invited: &Invited,
    stored: &Stored,
    member: &Member,
    stamp: &Stamp,
) -> Result<Answer, Problem> {
    if invited.invitation.status == InvitationStatus::Pending {
        let accepted = settled(InvitationStatus::Accepted, stamp);
        let action = Action::update(&AGENCIES, invited.stored.key.clone(), accepted).when(is_pending());
        let actions: Vec<Action> = [action].into_iter().chain(invited.known(&member.idpid)).collect();
        match request.access().transact(&ACCEPT, &actions).await {
            Ok(_) | Err(Error::ConditionFailed(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Answer::ok(&MemberView::from(member.clone())).etag(tag(stored)))
}
