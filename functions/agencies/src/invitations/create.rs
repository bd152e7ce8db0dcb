//! `POST /agencies/{agencyId}/invitations`: invites an address that is not known to belong to a member. An expired,
//! declined or revoked invitation is replaced.

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use table::clock::rfc3339;
use table::{Action, Changes, Error};
use utoipa::ToSchema;
use web::{Context, Created, Fault, IdempotencyKey, Json, Path, Problem, Route, Rules, Sample, Valid, problem};

use super::{INVITED, InvitationView, LIST, SAMPLE_LIST};
use crate::access::{AUTHORIZATION, CREATE_INVITATION, INVITATION, KNOWN_ADDRESS};
use crate::address::{Address, AddressHash};
use crate::agencies::AgencyPath;
use crate::audit::Audit;
use crate::authorization::{AGENCY_INACTIVE, AgencyAccess, SIGNED_IN};
use crate::item::{Invitation, KnownAddress, Term};
use crate::keys::{invitation_key, known_address_key, member_key};
use crate::members::{check_gate, refusal};
use crate::names::{AgencyId, InvitationStatus, Role};
use crate::schema::AGENCIES;

/// A new invitation.
#[derive(Debug, Deserialize, ToSchema)]
pub struct NewInvitation {
    /// An email address.
    #[schema(min_length = 3, max_length = 300)]
    address: String,
    #[serde(default)]
    role: Role,
    /// The number of days until the invitation expires.
    #[serde(default = "two_weeks")]
    #[schema(minimum = 1, maximum = 90, default = 14)]
    days: u32,
}

const fn two_weeks() -> u32 {
    14
}

/// Days that an expired invitation is kept.
const RETENTION_DAYS: u32 = 30;

impl Rules for NewInvitation {
    fn faults(&self) -> Vec<Fault> {
        address(&self.address).err().into_iter().collect()
    }
}

fn address(text: &str) -> Result<Address, Fault> {
    text.parse().map_err(|_| Fault::pointer("/address", Address::EXPECTED))
}

pub fn route() -> Route {
    Route::post("createInvitation", LIST, SIGNED_IN, create)
        .summary("Create an invitation to an email address")
        .patterns(&[&AUTHORIZATION, &KNOWN_ADDRESS, &INVITATION, &CREATE_INVITATION])
        .problems(&[
            problem::FORBIDDEN,
            problem::NOT_FOUND,
            problem::EXISTS,
            INVITED,
            AGENCY_INACTIVE,
            problem::CONFLICT,
        ])
        .sample(Sample::new(SAMPLE_LIST).body(r#"{"address":"dee@example.org","days":30}"#))
}

async fn create(
    cx: Context,
    Path(path): Path<AgencyPath>,
    once: IdempotencyKey,
    Valid(Json(new)): Valid<Json<NewInvitation>>,
) -> Result<Created<InvitationView>, Problem> {
    let agency = path.agency_id;
    let address = address(&new.address).map_err(|fault| Problem::faults(vec![fault]))?;
    let hash = address.hash();
    cx.retry(|| async {
        let access = AgencyAccess::load(&cx, &agency).await?;
        access.require_admin()?;
        if let Some(earlier) = once.earlier(&cx, &CREATE_INVITATION, &AGENCIES).await? {
            return Ok(earlier);
        }
        access.require_active()?;
        // Any acceptance after this read makes the write fail, so the address is looked up after it.
        let key = invitation_key(&agency, &hash);
        let stored = cx.access().table(&INVITATION, &AGENCIES).get_consistent(key.clone()).await?;
        let audit = Audit::now(&cx)?;
        if belongs_to_member(&cx, &agency, &hash).await? {
            return Err(Problem::exists("The person with this address is already a member."));
        }
        let before = stored.map(|stored| Ok::<_, Error>((stored.read::<Invitation>()?, stored))).transpose()?;
        if before.as_ref().is_some_and(|(before, _)| before.status_at(&audit.at) == InvitationStatus::Pending) {
            // The pending invitation may be the one that this request has created, sent twice at the same time.
            let earlier = once.earlier(&cx, &CREATE_INVITATION, &AGENCIES).await?;
            return earlier.ok_or_else(|| INVITED.because("Revoke the pending invitation first."));
        }
        let term = term(cx.engines().clock.now(), new.days)?;
        let mut invitation = Invitation::new(agency.clone(), address.as_str(), &hash, new.role, term, &audit);
        if let Some((before, _)) = &before {
            // `invited` is the time of this clock, as that of a removal, which ends earlier invitations.
            invitation.modified = audit.modified_after(&before.modified);
        }
        let gate = check_gate(&agency).when_all(access.active_condition());
        let put = match &before {
            Some((before, stored)) => {
                Action::update(&AGENCIES, key, Changes::between(before, &invitation)?).if_unchanged(stored)
            }
            None => Action::create(&AGENCIES, key, &invitation)?,
        };
        let location = format!("/agencies/{agency}/invitations/{hash}");
        let view = InvitationView::at(invitation, &audit.at)?;
        let created = once.create(&cx, &CREATE_INVITATION, &AGENCIES, vec![gate, put], location, &view).await;
        created.map_err(|error| match (error.failed(0), error.failed(1)) {
            (Some(gate), _) => refusal(gate, access.required_statuses()),
            // Another request has invited, or settled the earlier invitation, since it was read.
            (None, Some(_)) => Problem::stale(),
            (None, None) => error.into(),
        })
    })
    .await
}

/// Returns whether a member has accepted an invitation to this address. A member who was added without an invitation, or
/// has another address now, is not found.
async fn belongs_to_member(cx: &Context, agency: &AgencyId, address: &AddressHash) -> Result<bool, Problem> {
    let read = cx.access().table(&KNOWN_ADDRESS, &AGENCIES);
    let Some(known) = read.get_consistent(known_address_key(agency, address)).await? else { return Ok(false) };
    let KnownAddress { person } = known.read()?;
    Ok(read.get_consistent(member_key(agency, &person)).await?.is_some())
}

fn term(now: Timestamp, days: u32) -> Result<Term, Problem> {
    let after =
        |days: u32| now.checked_add(SignedDuration::from_hours(24 * i64::from(days))).map_err(Problem::internal);
    Ok(Term {
        expires_at: rfc3339(after(days)?),
        time_to_live: after(days.saturating_add(RETENTION_DAYS))?.as_second(),
    })
}
