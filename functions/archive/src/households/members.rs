//! The members of one household in the published run, with what their records say.

use std::collections::BTreeMap;

use table::item::from_item;
use table::{Error, Item, Key, Stored, TableAccess};
use web::Problem;

use super::{HouseholdView, Member, MemberView};
use crate::fold::first;
use crate::keys::RecordKey;
use crate::mapping::PersonRole;
use crate::names::{Household, PostId, RunNumber};
use crate::record::{Event, Record};
use crate::viewer::Viewer;

/// The members that a list or a search shows of each household.
const LISTED_MEMBERS: usize = 10;

/// The most characters of a date or a place that a household shows of a member. The record has all of them.
const EVENT_CHARS: usize = 200;

/// The same for all members together, of whom each has up to seven events. A response has at most 6 MB.
const HOUSEHOLD_EVENT_CHARS: usize = 60_000;

/// The members of a household in one run.
#[derive(Clone, Debug)]
pub struct Members {
    pub post: PostId,
    pub household: Household,
    /// In the order of the rows.
    pub members: Vec<Member>,
}

/// Returns the members of a household in a run. Empty if the run does not have the household.
pub fn members_of(stored: &Stored, run: RunNumber) -> Result<Vec<Member>, Error> {
    let attribute = run.attribute();
    let Some(members) = stored.item.get(&attribute) else { return Ok(Vec::new()) };
    let only = Item::from([(attribute.clone(), members.clone())]);
    let mut read: BTreeMap<String, Vec<Member>> = from_item(only)?;
    Ok(read.remove(&attribute).unwrap_or_default())
}

/// Returns a household with its first members whom the viewer may see. None if there are none.
pub fn listed(id: Household, stored: &Stored, run: RunNumber, viewer: &Viewer) -> Result<Option<HouseholdView>, Error> {
    let members = members_of(stored, run)?.into_iter().filter(|member| viewer.sees(member.visible_from));
    let mut members: Vec<MemberView> = members.map(MemberView::from).collect();
    let count = members.len();
    members.truncate(LISTED_MEMBERS);
    Ok((count > 0).then(|| HouseholdView { number: id.name().to_owned(), id, count, members }))
}

/// Returns a household with those of its members whom the viewer may see. None if there are none. `is_consistent` reads
/// the members as the last write left them.
pub async fn view(
    table: TableAccess<'_>,
    viewer: &Viewer,
    household: Members,
    is_consistent: bool,
) -> Result<Option<HouseholdView>, Problem> {
    let key = |member: &Member| RecordKey { record: member.id, post: household.post }.into();
    let keys: Vec<Key> = household.members.iter().map(key).collect();
    let records = if is_consistent { table.batch_get_consistent(&keys).await? } else { table.batch_get(&keys).await? };
    let records = records.into_iter().map(|stored| stored.map(|stored| stored.read::<Record>()).transpose());
    let records = records.collect::<Result<Vec<_>, _>>()?;
    let chars = event_chars(household.members.len());
    let members: Vec<MemberView> = household
        .members
        .into_iter()
        .zip(records)
        .filter(|(member, record)| {
            viewer.sees(record.as_ref().map_or(member.visible_from, |record| record.visible_from))
        })
        .map(|(member, record)| detailed(member, record, chars))
        .collect();
    let (id, count) = (household.household, members.len());
    let number = id.name().to_owned();
    Ok((count > 0).then_some(HouseholdView { id, number, count, members }))
}

/// Returns the most characters of a date or a place in a household with this number of members.
fn event_chars(members: usize) -> usize {
    (HOUSEHOLD_EVENT_CHARS / members.max(1)).min(EVENT_CHARS)
}

/// Returns a member with what the record says of its principal person, and the first characters of its dates and places. A
/// record that has just been replaced or taken down leaves what the household says.
fn detailed(member: Member, record: Option<Record>, chars: usize) -> MemberView {
    let Some(record) = record else { return member.into() };
    let sex = record.principal().and_then(|person| person.sex);
    let events = record.events.into_iter().filter(|event| event.role == PersonRole::Principal);
    let short = |event: Event| Event {
        date_text: first(&event.date_text, chars).to_owned(),
        place_text: first(&event.place_text, chars).to_owned(),
        ..event
    };
    MemberView { sex, events: Some(events.map(short).collect()), ..member.into() }
}

#[cfg(test)]
mod tests {
    use table::item::{text, to_item};

    use super::*;

    #[test]
    fn larger_households_show_less_of_each_date_and_place() {
        assert_eq!([0, 1, 300, 400, 1_000].map(event_chars), [200, 200, 200, 150, 60]);
    }

    #[test]
    fn household_has_the_members_of_the_run_only() {
        let member = |number: u64| Member {
            id: crate::names::RecordId::new(number).unwrap(),
            permanent_id: crate::names::RecordId::new(1_000_000_001).unwrap(),
            name: "Evan Pugh".to_owned(),
            relation: Some("Head".to_owned()),
            visible_from: None,
        };
        let runs = BTreeMap::from([
            ("run_1".to_owned(), vec![member(1_000_000_001)]),
            ("run_12".to_owned(), vec![member(1_000_000_009)]),
        ]);
        let mut item = to_item(&runs).unwrap();
        item.insert("PK".to_owned(), text("1000000000"));
        let stored = Stored { key: Key::new("1000000000", "record_household#14"), rev: None, item };
        assert_eq!(members_of(&stored, RunNumber(1)).unwrap(), [member(1_000_000_001)]);
        assert_eq!(members_of(&stored, RunNumber(12)).unwrap(), [member(1_000_000_009)]);
        assert_eq!(members_of(&stored, RunNumber(2)).unwrap(), []);
    }
}
