//! `POST …/invitations`, to an address that is not known to be a member's. One that has lapsed, or was declined or revoked, never stands in the way of a new one.

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use table::clock::rfc3339;
use table::{Action, Backoff, Changes, Condition};
use utoipa::ToSchema;
use web::{Answer, Fault, Problem, Request, Rules};

use super::{INVITED, InvitationView};
use crate::access::{INVITATION, INVITE, KNOWN_ADDRESS};
use crate::address::{Address, AddressHash};
use crate::agencies::AgencyPath;
use crate::item::{Invitation, KnownAddress, Term};
use crate::keys::{gate_key, invitation_key, known_address_key, member_key};
use crate::members::refusal;
use crate::names::{AgencyId, InvitationStatus, Role};
use crate::schema::AGENCIES;
use crate::standing::{Standing, stamp};

/// Somebody to be invited.
#[derive(Debug, Deserialize, ToSchema)]
pub struct NewInvitation {
    /// An email address.
    #[schema(min_length = 3, max_length = 300)]
    address: String,
    #[serde(default)]
    role: Role,
    /// For how many days it stands.
    #[serde(default = "two_weeks")]
    #[schema(minimum = 1, maximum = 90, default = 14)]
    days: u32,
}

const fn two_weeks() -> u32 {
    14
}

/// For how many days an invitation is kept after its end.
const KEPT: u32 = 30;

impl Rules for NewInvitation {
    fn faults(&self) -> Vec<Fault> {
        address(&self.address).err().into_iter().collect()
    }
}

fn address(text: &str) -> Result<Address, Fault> {
    text.parse().map_err(|_| Fault::pointer("/address", Address::EXPECTED))
}

pub async fn create(request: Request) -> Result<Answer, Problem> {
    let agency = request.path::<AgencyPath>()?.id().ok_or_else(Problem::not_found)?;
    let new: NewInvitation = request.json()?;
    let mut backoff = Backoff::new();
    loop {
        let standing = Standing::of(&request, &agency).await?;
        standing.change()?;
        if let Some(answer) = request.earlier(&INVITE, &AGENCIES).await? {
            return Ok(answer);
        }
        let address = address(&new.address).map_err(|fault| Problem::faults(vec![fault]))?;
        let (hash, stamp) = (address.hash(), stamp(&request)?);
        if is_a_member_s(&request, &agency, &hash).await? {
            return Err(Problem::exists("The person who has this address is a member already."));
        }
        let term = term(request.engines().clock.now(), new.days)?;
        let invitation = Invitation::new(agency.clone(), address.as_str(), &hash, new.role, term, &stamp);
        let mut gate = Action::check(&AGENCIES, gate_key(&agency)).when(Condition::Absent("closed"));
        if let Some(active) = standing.while_active() {
            gate = gate.when(active);
        }
        let Some(placed) = in_place(&request, &invitation, &stamp.at).await? else {
            // It may be what this very request has made, come twice at the same moment.
            let earlier = request.earlier(&INVITE, &AGENCIES).await?;
            return earlier.ok_or_else(|| INVITED.because("Revoke the open invitation first."));
        };
        let actions = vec![gate, placed];
        let location = format!("/agencies/{agency}/invitations/{hash}");
        let made = InvitationView::at(invitation, &stamp.at)?;
        let error = match request.create_once(&INVITE, &AGENCIES, actions, location, &made).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        match (error.failed(0), error.failed(1)) {
            (Some(gate), _) => return Err(refusal(gate, standing.allowed())),
            // Somebody else has invited, or the former invitation was settled, since it was read.
            (None, Some(_)) if backoff.wait().await => {}
            (None, Some(_)) => return Err(Problem::conflict()),
            (None, None) => return Err(error.into()),
        }
    }
}

/// Whether an invitation to this address was accepted by somebody who is a member. Who was made one without an invitation, or
/// has another address by now, is not known by it.
async fn is_a_member_s(request: &Request, agency: &AgencyId, address: &AddressHash) -> Result<bool, Problem> {
    let read = request.access().table(&KNOWN_ADDRESS, &AGENCIES);
    let Some(known) = read.get_consistent(known_address_key(agency, address)).await? else { return Ok(false) };
    let KnownAddress { person } = known.read()?;
    Ok(read.get_consistent(member_key(agency, &person)).await?.is_some())
}

/// Puts the invitation where none is, or in the place of one that is open no more; none where one is open.
async fn in_place(request: &Request, invitation: &Invitation, now: &str) -> Result<Option<Action>, Problem> {
    let hash = invitation.hash().ok_or_else(|| Problem::internal("an invitation to no address"))?;
    let key = invitation_key(&invitation.agency_id, &hash);
    let stored = request.access().table(&INVITATION, &AGENCIES).get_consistent(key.clone()).await?;
    let Some(stored) = stored else { return Ok(Some(Action::create(&AGENCIES, key, invitation)?)) };
    let before: Invitation = stored.read()?;
    if before.status_at(now) == InvitationStatus::Pending {
        return Ok(None);
    }
    Ok(Some(Action::update(&AGENCIES, key, Changes::between(&before, invitation)?).if_unchanged(&stored)))
}

fn term(now: Timestamp, days: u32) -> Result<Term, Problem> {
    let after =
        |days: u32| now.checked_add(SignedDuration::from_hours(24 * i64::from(days))).map_err(Problem::internal);
    Ok(Term { expires_at: rfc3339(after(days)?), forgotten: after(days.saturating_add(KEPT))?.as_second() })
}
