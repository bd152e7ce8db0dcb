//! Each change of an agency, a member or an invitation as an event on the account's event bus, for programs that send mail
//! or grant rights in other systems.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use table::access::OnEventBus;
use table::{AccessPattern, BusEvent, EntityKey, MAX_BUS_EVENTS};
use web::{Event, EventFailure, EventHandler, Record, records, respond_to_records};

use crate::item::{Agency, Invitation, Member};
use crate::keys::{AgencyKey, InvitationKey, MemberKey};
use crate::names::{AgencyId, InvitationStatus};
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
    for batch in changes.chunks(MAX_BUS_EVENTS) {
        let events: Vec<BusEvent> = batch.iter().map(|(record, change)| change.event(record)).collect();
        if let Err(error) = access.put_events(&PUBLISH, SOURCE, &events).await {
            tracing::warn!(%error, "putting events failed; their records will be delivered again");
            return Ok(respond_to_records(batch.first().map(|(record, _)| *record)));
        }
    }
    Ok(respond_to_records(None))
}

/// What has happened to an agency, a member or an invitation.
#[derive(Clone, Debug, PartialEq)]
struct Change {
    /// The kind of event.
    kind: &'static str,
    agency: AgencyId,
    /// The agency's id, the member's person or the invited address.
    subject: String,
    /// The status after the change, or before a removal. Absent if it cannot be read.
    status: Option<Value>,
    /// The role, likewise.
    role: Option<Value>,
}

impl Change {
    fn event(&self, record: &Record) -> BusEvent {
        let mut detail = json!({
            "type": self.kind,
            "agencyId": self.agency,
            "subject": self.subject,
            "at": record.at(),
            // The stream's number grows with each change of the item, while a foreign write may keep the revision.
            "key": format!("{}@{}", record.key.document_id(), record.sequence),
        });
        for (name, value) in [("status", &self.status), ("role", &self.role)] {
            if let (Some(value), Some(members)) = (value, detail.as_object_mut()) {
                members.insert(name.to_owned(), value.clone());
            }
        }
        BusEvent { kind: self.kind, time: record.time(), detail }
    }
}

/// The images of a change. An old image that does not fit its type, which only a foreign write stores, is absent.
enum Images<T> {
    Created(T),
    Updated { old: Option<T>, new: T },
    Removed(Option<T>),
}

impl<T: DeserializeOwned> Images<T> {
    /// Reads the images of a record. Returns `None` if the new one does not fit its type: another delivery would fail alike,
    /// and delay the records after it.
    fn read(record: &Record) -> Option<Self> {
        match (record.read_old(), record.read_new()) {
            (Ok(None), Ok(None)) => None,
            (Ok(None), Ok(Some(new))) => Some(Self::Created(new)),
            (old, Ok(Some(new))) => Some(Self::Updated { old: old.ok().flatten(), new }),
            (old, Ok(None)) => Some(Self::Removed(old.ok().flatten())),
            (_, Err(_)) => {
                tracing::error!(sequence = record.sequence, "a change has no event: its item does not fit its type");
                None
            }
        }
    }

    /// Returns the state after the change, or before a removal.
    fn into_last(self) -> Option<T> {
        match self {
            Self::Created(new) | Self::Updated { new, .. } => Some(new),
            Self::Removed(old) => old,
        }
    }
}

/// Returns the change of a record. Stamps, and changes of other items, have none.
fn change(record: &Record) -> Option<Change> {
    if let Some(AgencyKey { agency }) = AgencyKey::parse(&record.key) {
        let images = Images::read(record)?;
        let kind = of_agency(&images)?;
        let status = images.into_last().map(|last| json!(last.status));
        Some(Change { kind, subject: agency.to_string(), agency, status, role: None })
    } else if let Some(MemberKey { agency, person }) = MemberKey::parse(&record.key) {
        let images = Images::read(record)?;
        let kind = of_member(&images)?;
        let (status, role) = images.into_last().map(|last| (json!(last.status), json!(last.role))).unzip();
        Some(Change { kind, agency, subject: person.to_string(), status, role })
    } else {
        let InvitationKey { agency, .. } = InvitationKey::parse(&record.key)?;
        let images = Images::read(record)?;
        let kind = of_invitation(&images, &record.at())?;
        let Invitation { address, role, .. } = images.into_last()?;
        Some(Change { kind, agency, subject: address, status: None, role: Some(json!(role)) })
    }
}

fn of_agency(images: &Images<Agency>) -> Option<&'static str> {
    // An agency is absent to its members as soon as its deletion begins.
    let is_present = |agency: Option<&Agency>| agency.is_none_or(|agency| !agency.is_being_deleted());
    match images {
        Images::Created(_) => Some("agency.created"),
        Images::Removed(old) => is_present(old.as_ref()).then_some("agency.deleted"),
        Images::Updated { old, new } if new.is_being_deleted() => is_present(old.as_ref()).then_some("agency.deleted"),
        Images::Updated { old, new } => {
            let state = |agency: &Agency| (agency.name.clone(), agency.status);
            (old.as_ref().map(state) != Some(state(new))).then_some("agency.updated")
        }
    }
}

fn of_member(images: &Images<Member>) -> Option<&'static str> {
    match images {
        Images::Created(_) => Some("member.added"),
        Images::Removed(_) => Some("member.removed"),
        Images::Updated { old, new } => {
            let state = |member: &Member| (member.role, member.status, member.display_name.clone());
            (old.as_ref().map(state) != Some(state(new))).then_some("member.updated")
        }
    }
}

/// The end of an invitation's time, and of the item of an invitation that has ended, is no event.
fn of_invitation(images: &Images<Invitation>, at: &str) -> Option<&'static str> {
    let begun_or_ended = |status| match status {
        InvitationStatus::Pending => Some("invitation.created"),
        InvitationStatus::Accepted => Some("invitation.accepted"),
        InvitationStatus::Declined => Some("invitation.declined"),
        InvitationStatus::Revoked => Some("invitation.revoked"),
        InvitationStatus::Expired => None,
    };
    match images {
        Images::Created(_) => Some("invitation.created"),
        Images::Removed(old) => {
            let was_pending = old.as_ref()?.status_at(at) == InvitationStatus::Pending;
            was_pending.then_some("invitation.revoked")
        }
        // A new invitation may replace one that has ended.
        Images::Updated { old: Some(old), new } if old.invited != new.invited => Some("invitation.created"),
        Images::Updated { old: Some(old), new } if old.status == new.status => None,
        Images::Updated { new, .. } => begun_or_ended(new.status),
    }
}
