//! The day from which the public may see a record.

use super::{Event, EventType};
use crate::item::ClosedYears;
use crate::mapping::PersonRole;

/// The first open day of a record that is open, where an absent one means that it is not known.
pub const OPEN: u32 = 0;

/// The first open day of a record that stays closed until its dates are corrected.
const CLOSED_FOR_GOOD: u32 = 99991231;

/// A year and the longest life, in the numbers `yyyymmdd` of days.
const YEAR: u32 = 10_000;
const LIFETIME: u32 = 120 * YEAR;

/// Returns the first day on which the public may see a record, as `yyyymmdd`: 1 January after its last event and the
/// closed years of that event's type. Returns `None` if it is open: no years, or 0, close nothing.
///
/// The last event is the one that may have happened last. Of two on the same day, the one that is closed longer counts. An
/// event without a date tells nothing, and a record without any dates is open.
///
/// An event whose date is not understood may be the last one, too, if it would close the record: it counts with the last
/// day that the other dates leave for it. If no date is understood, the record stays closed: the date may be of last year.
pub fn visible_from(events: &[Event], closed: &ClosedYears) -> Option<u32> {
    let years = |event: &Event| u32::from(closed_years(closed, event.kind));
    let dated = events.iter().filter_map(|event| Some((event.to?, years(event))));
    let last = dated.max();
    let mut unclear = events.iter().filter(|event| is_unclear(event) && years(event) > 0);
    let Some((day, _)) = last else { return unclear.next().map(|_| CLOSED_FOR_GOOD) };
    let may_be_last = unclear.map(|event| (last_day(event, events, day), years(event))).filter(|(to, _)| *to >= day);
    let closing = may_be_last.chain(last).filter(|(_, years)| *years > 0);
    closing.map(|(day, years)| ((day / YEAR + years + 1) * YEAR + 101).min(CLOSED_FOR_GOOD)).max()
}

/// Whether the event has a date that is not understood.
const fn is_unclear(event: &Event) -> bool {
    event.to.is_none() && !event.date_text.is_empty()
}

/// Returns the last day on which an event may have been whose date is not understood, given the last day of the others.
fn last_day(event: &Event, events: &[Event], last: u32) -> u32 {
    let bounds = events.iter().filter_map(|other| last_day_beside(event, other));
    bounds.min().unwrap_or(last + LIFETIME)
}

/// Returns the last day on which an event may have been beside one whose date is understood. Returns `None` if that one
/// tells nothing of it.
fn last_day_beside(event: &Event, other: &Event) -> Option<u32> {
    use EventType::{Baptism, Birth, Burial, Death, Marriage, Residence};
    let day = other.to?;
    if event.role != other.role {
        return is_born_before(event, other).then_some(day);
    }
    Some(match (event.kind, other.kind) {
        (Birth, _) | (Baptism | Marriage | Residence | Death, Death | Burial) => day,
        (Burial, Death) => day + YEAR,
        _ => day + LIFETIME,
    })
}

/// Whether the event is the birth of a person before the other event, which is of another person: parents are older than
/// their own child, and couples were born before they married, lived together or died.
fn is_born_before(event: &Event, other: &Event) -> bool {
    let is_of_adult = !matches!(other.kind, EventType::Birth | EventType::Baptism | EventType::Other);
    let is_of_couple = is_in_couple(event.role) && is_in_couple(other.role);
    event.kind == EventType::Birth && (child_of(event.role) == Some(other.role) || is_of_couple && is_of_adult)
}

/// Returns the role of a parent's own child.
const fn child_of(role: PersonRole) -> Option<PersonRole> {
    match role {
        PersonRole::Father | PersonRole::Mother => Some(PersonRole::Principal),
        PersonRole::BrideFather | PersonRole::BrideMother => Some(PersonRole::Bride),
        PersonRole::GroomFather | PersonRole::GroomMother => Some(PersonRole::Groom),
        _ => None,
    }
}

/// Whether a person may be one of the couple of a record.
const fn is_in_couple(role: PersonRole) -> bool {
    matches!(role, PersonRole::Principal | PersonRole::Spouse | PersonRole::Bride | PersonRole::Groom)
}

const fn closed_years(closed: &ClosedYears, kind: EventType) -> u8 {
    match kind {
        EventType::Birth => closed.birth,
        EventType::Baptism => closed.baptism,
        EventType::Marriage => closed.marriage,
        EventType::Residence => closed.residence,
        EventType::Death => closed.death,
        EventType::Burial => closed.burial,
        EventType::Other => closed.other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::event;
    use super::*;

    const CLOSED: ClosedYears =
        ClosedYears { birth: 100, baptism: 0, marriage: 75, residence: 0, death: 30, burial: 30, other: 0 };

    fn check(events: &[(EventType, &str)], first_open: Option<u32>) {
        let of_principal: Vec<_> = events.iter().map(|(kind, date)| (PersonRole::Principal, *kind, *date)).collect();
        check_of(&of_principal, first_open);
    }

    fn check_of(events: &[(PersonRole, EventType, &str)], first_open: Option<u32>) {
        let of = |(role, kind, date): &(PersonRole, EventType, &str)| Event { role: *role, ..event(*kind, date) };
        let events: Vec<Event> = events.iter().map(of).collect();
        assert_eq!(visible_from(&events, &CLOSED), first_open, "{events:?}");
    }

    #[test]
    fn record_opens_on_1_january_after_the_closed_years_of_its_last_event() {
        check(&[(EventType::Birth, "3 Mar 1990")], Some(20910101));
        check(&[(EventType::Birth, "1985-1990")], Some(20910101));
        check(&[(EventType::Birth, "1990"), (EventType::Death, "2020")], Some(20510101));
        check(&[(EventType::Death, "2020"), (EventType::Birth, "1990")], Some(20510101));
        check(&[(EventType::Death, "1990"), (EventType::Birth, "1990")], Some(20910101));
        check(&[(EventType::Birth, "9950")], Some(CLOSED_FOR_GOOD));
    }

    #[test]
    fn record_whose_last_event_is_not_closed_is_open() {
        check(&[(EventType::Residence, "1990")], None);
        check(&[(EventType::Birth, "1900"), (EventType::Residence, "1911")], None);
    }

    #[test]
    fn record_without_dates_is_open_and_one_whose_dates_are_not_understood_is_closed() {
        check(&[], None);
        check(&[(EventType::Birth, "")], None);
        check(&[(EventType::Birth, "last spring")], Some(CLOSED_FOR_GOOD));
        check(&[(EventType::Residence, "last spring")], None);
    }

    #[test]
    fn date_that_is_not_understood_may_be_as_late_as_the_others_leave_open() {
        check(&[(EventType::Birth, "1930"), (EventType::Death, "?")], Some(20810101));
        check(&[(EventType::Birth, "1990"), (EventType::Marriage, "?")], Some(21860101));
        check(&[(EventType::Birth, "1850"), (EventType::Residence, "1911"), (EventType::Death, "?")], Some(20010101));
        // It does not open what an understood date closes for longer, and what is not closed does not close.
        check(&[(EventType::Birth, "2020"), (EventType::Residence, "?")], Some(21210101));
        check(&[(EventType::Residence, "1990"), (EventType::Baptism, "?")], None);
    }

    #[test]
    fn date_that_is_not_understood_is_not_later_than_what_follows_in_a_life() {
        check(&[(EventType::Birth, "?"), (EventType::Residence, "1911")], Some(20120101));
        check(&[(EventType::Birth, "?"), (EventType::Baptism, "1850"), (EventType::Death, "1911")], Some(19420101));
        check(&[(EventType::Marriage, "?"), (EventType::Death, "1990")], Some(20660101));
        check(&[(EventType::Burial, "?"), (EventType::Death, "1990")], Some(20220101));
    }

    #[test]
    fn parents_and_couples_were_born_before_the_events_of_a_record() {
        let marriage = (PersonRole::Principal, EventType::Marriage, "1890");
        check_of(&[marriage, (PersonRole::Bride, EventType::Birth, "?")], Some(19910101));
        check_of(&[marriage, (PersonRole::Other, EventType::Birth, "?")], Some(21110101));
        let birth = (PersonRole::Principal, EventType::Birth, "1890");
        check_of(&[birth, (PersonRole::Mother, EventType::Birth, "?")], Some(19910101));
        check_of(&[birth, (PersonRole::Spouse, EventType::Birth, "?")], Some(21110101));
        let of_father = (PersonRole::Father, EventType::Marriage, "1890");
        check_of(&[of_father, (PersonRole::Principal, EventType::Birth, "?")], Some(21110101));
    }

    #[test]
    fn parents_in_law_may_be_younger_than_the_couple() {
        let born = |role| (role, EventType::Birth, "1890");
        let unclear = |role| (role, EventType::Birth, "?");
        for (parent, child, in_law) in [
            (PersonRole::Father, PersonRole::Principal, PersonRole::Spouse),
            (PersonRole::BrideFather, PersonRole::Bride, PersonRole::Groom),
            (PersonRole::GroomMother, PersonRole::Groom, PersonRole::Bride),
        ] {
            check_of(&[born(child), unclear(parent)], Some(19910101));
            check_of(&[born(in_law), unclear(parent)], Some(21110101));
        }
    }
}
