//! Each change of an agency, a member or an invitation as an event on the account's event bus, for those who send mail or
//! grant rights in other systems.

use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::json;
use table::access::OnEventBus;
use table::{AccessPattern, BusEvent, EntityKey, Error, MAX_EVENTS};
use web::{Event, EventFailure, EventHandler, Record, records, respond_to_records};

use crate::item::{Agency, Invitation, Member};
use crate::keys::{AgencyKey, InvitationKey, MemberKey};
use crate::names::{AgencyId, InvitationStatus, Status};
use crate::schema::{PUBLISH_EVENTS, SYSTEM};

/// The events of changes.
const PUBLISH: AccessPattern = AccessPattern::new("publishEvents", &[OnEventBus(SOURCE).put()]);

/// The logical source of the events.
const SOURCE: &str = "agencies";

pub fn handler() -> EventHandler {
    EventHandler::new(PUBLISH_EVENTS, publish).patterns(&[&PUBLISH])
}

async fn publish(event: Event) -> Result<Bytes, EventFailure> {
    let access = event.access();
    let records = records(&event.payload, &SYSTEM, &access.engines().config)?;
    let changes: Vec<(&Record, Change)> =
        records.iter().filter_map(|record| change(record).map(|change| (record, change))).collect();
    if changes.is_empty() {
        event.found_nothing();
    }
    for some in changes.chunks(MAX_EVENTS) {
        let events: Vec<BusEvent> = some.iter().map(|(record, change)| change.event(record)).collect();
        if let Err(error) = access.put_events(&PUBLISH, SOURCE, &events).await {
            tracing::warn!(%error, "putting events failed; their records will be delivered again");
            return Ok(respond_to_records(some.first().map(|(record, _)| *record)));
        }
    }
    Ok(respond_to_records(None))
}

/// What has happened to an agency, a member or an invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    /// The kind of event.
    kind: &'static str,
    agency: AgencyId,
    /// The agency's id, the member's person or the invited address.
    subject: String,
}

impl Change {
    fn event(&self, record: &Record) -> BusEvent {
        let time = record.time();
        let detail = json!({
            "type": self.kind,
            "agencyId": self.agency,
            "subject": self.subject,
            "at": rfc3339(time),
            "key": record.event_key(),
        });
        BusEvent { kind: self.kind, time, detail }
    }
}

fn rfc3339(since_epoch: Duration) -> String {
    let micros = i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX);
    table::clock::rfc3339(Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX))
}

/// Returns the change of a record. Stamps, and changes of other items, have none.
fn change(record: &Record) -> Option<Change> {
    let change = if let Some(key) = AgencyKey::parse(&record.key) {
        of_agency(record).map(|kind| kind.map(|kind| (kind, key.agency.to_string(), key.agency)))
    } else if let Some(key) = MemberKey::parse(&record.key) {
        of_member(record).map(|kind| kind.map(|kind| (kind, key.person.to_string(), key.agency)))
    } else {
        let key = InvitationKey::parse(&record.key)?;
        of_invitation(record).map(|kind| kind.map(|(kind, address)| (kind, address, key.agency)))
    };
    match change {
        Ok(change) => change.map(|(kind, subject, agency)| Change { kind, agency, subject }),
        Err(error) => {
            // Only a foreign write creates such an item, and another delivery would fail alike.
            tracing::error!(key = record.key.document_id(), %error, "a change has no event: its item is invalid");
            None
        }
    }
}

fn of_agency(record: &Record) -> Result<Option<&'static str>, Error> {
    let (old, new): (Option<Agency>, Option<Agency>) = (record.read_old()?, record.read_new()?);
    // An agency is absent to its members as soon as its deletion begins.
    let present = |agency: &Agency| !agency.is_being_deleted();
    Ok(match (old.filter(present), new.filter(present)) {
        (None, Some(_)) => Some("agency.created"),
        (Some(_), None) => Some("agency.deleted"),
        (Some(old), Some(new)) if old.status != new.status => match new.status {
            Status::Active => Some("agency.activated"),
            Status::Inactive => Some("agency.deactivated"),
            Status::Pending => Some("agency.updated"),
        },
        (Some(old), Some(new)) => (old.name != new.name).then_some("agency.updated"),
        (None, None) => None,
    })
}

fn of_member(record: &Record) -> Result<Option<&'static str>, Error> {
    let (old, new): (Option<Member>, Option<Member>) = (record.read_old()?, record.read_new()?);
    Ok(match (old, new) {
        (None, Some(_)) => Some("member.added"),
        (Some(_), None) => Some("member.removed"),
        (Some(old), Some(new)) if old.status != new.status => {
            Some(if new.is_suspended() { "member.suspended" } else { "member.reinstated" })
        }
        (Some(old), Some(new)) => {
            (old.role != new.role || old.display_name != new.display_name).then_some("member.updated")
        }
        (None, None) => None,
    })
}

/// Returns the kind of event with the invited address. The end of an invitation's time, and of the item of an ended one,
/// is no event.
fn of_invitation(record: &Record) -> Result<Option<(&'static str, String)>, Error> {
    let (old, new): (Option<Invitation>, Option<Invitation>) = (record.read_old()?, record.read_new()?);
    let kind = match (&old, &new) {
        (Some(old), None) => {
            let revoked = old.status_at(&rfc3339(record.time())) == InvitationStatus::Pending;
            revoked.then_some("invitation.revoked")
        }
        // A new invitation may replace an ended one.
        (old, Some(new)) if old.as_ref().is_none_or(|old| old.invited != new.invited) => Some("invitation.created"),
        (Some(old), Some(new)) if old.status != new.status => match new.status {
            InvitationStatus::Accepted => Some("invitation.accepted"),
            InvitationStatus::Declined => Some("invitation.declined"),
            InvitationStatus::Revoked => Some("invitation.revoked"),
            InvitationStatus::Pending | InvitationStatus::Expired => None,
        },
        _ => None,
    };
    Ok(kind.zip(new.or(old)).map(|(kind, invitation)| (kind, invitation.address)))
}
