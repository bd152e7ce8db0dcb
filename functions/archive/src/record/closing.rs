//! The day from which the public may see a record.

use super::{Event, EventType};
use crate::item::ClosedYears;

/// The first open day of a record that stays closed until its dates are corrected.
const CLOSED_FOR_GOOD: u32 = 99991231;

/// Returns the first day on which the public may see a record, as `yyyymmdd`: 1 January after its last event and the
/// closed years of that event's type. Returns `None` if it is open: no years, or 0, close nothing.
///
/// The last event is the one that may have happened last. Of two on the same day, the one that is closed longer counts. An
/// event without a date tells nothing, and a record without any dates is open. But if no date of the record is understood
/// and one of them would close it, the record stays closed: the date may be of last year.
pub fn visible_from(events: &[Event], closed: &ClosedYears) -> Option<u32> {
    let years = |event: &Event| u32::from(closed_years(closed, event.kind));
    let dated = events.iter().filter_map(|event| Some((event.to?, years(event))));
    let Some((day, years)) = dated.max() else {
        let may_close = |event: &Event| !event.date_text.is_empty() && years(event) > 0;
        return events.iter().any(may_close).then_some(CLOSED_FOR_GOOD);
    };
    let first_open = (day / 10_000 + years + 1) * 10_000 + 101;
    (years > 0).then(|| first_open.min(CLOSED_FOR_GOOD))
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
        let events: Vec<Event> = events.iter().map(|(kind, date)| event(*kind, date)).collect();
        assert_eq!(visible_from(&events, &CLOSED), first_open, "{events:?}");
    }

    #[test]
    fn record_opens_on_1_january_after_the_closed_years_of_its_last_event() {
        check(&[(EventType::Birth, "3 Mar 1990")], Some(20910101));
        check(&[(EventType::Birth, "1985-1990")], Some(20910101));
        check(&[(EventType::Birth, "1990"), (EventType::Death, "2020")], Some(20510101));
        check(&[(EventType::Death, "2020"), (EventType::Birth, "1990")], Some(20510101));
        check(&[(EventType::Death, "1990"), (EventType::Birth, "1990")], Some(20910101));
        check(&[(EventType::Birth, "1990"), (EventType::Marriage, "year unknown")], Some(20910101));
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
}
