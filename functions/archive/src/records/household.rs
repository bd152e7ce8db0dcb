//! The household of a record that is corrected or taken down. The names of its members and their relatives follow in the
//! same transaction.

use std::collections::BTreeMap;

use table::{Action, Changes, EntityKey, Error, Key, Stored, TableAccess};
use web::Problem;

use crate::households::{MAX_BYTES, Member, members_of, name_of, relation_of};
use crate::keys::{RecordHouseholdKey, RecordKey};
use crate::names::{Household, PostId, RecordId, RunNumber};
use crate::record::Record;
use crate::relatives::{MAX_MEMBERS, Member as Relation, relatives};
use crate::schema::ARCHIVE;

/// A household in one run, as it was read.
#[derive(Debug)]
pub struct LoadedHousehold {
    stored: Stored,
    run: RunNumber,
    members: Vec<Member>,
    /// The records of the members with their items. Empty for a household that is too large for relatives.
    records: Vec<(Stored, Record)>,
}

/// The writes that a change of one member makes to its household.
#[derive(Debug, Default)]
pub struct HouseholdChange {
    pub actions: Vec<Action>,
    /// Whether no member is left.
    pub is_empty: bool,
}

impl LoadedHousehold {
    /// Reads the household of a record with its members. None if the record is in no household.
    pub async fn load(table: TableAccess<'_>, post: PostId, record: &Record) -> Result<Option<Self>, Problem> {
        let Some(name) = &record.household else { return Ok(None) };
        let household = Household::new(name).map_err(Problem::internal)?;
        let Some(stored) = table.get_consistent(RecordHouseholdKey { post, household }).await? else {
            return Ok(None);
        };
        let members = members_of(&stored, record.run)?;
        if !members.iter().any(|member| member.id == record.id) {
            return Ok(None);
        }
        let mut records = Vec::new();
        if members.len() <= MAX_MEMBERS {
            let key = |member: &Member| RecordKey { record: member.id, post }.key();
            let keys: Vec<Key> = members.iter().map(key).collect();
            for stored in table.batch_get_consistent(&keys).await? {
                // Another request has just taken the member down.
                let stored = stored.ok_or_else(Problem::lost_race)?;
                let record = stored.read()?;
                records.push((stored, record));
            }
        }
        Ok(Some(Self { stored, run: record.run, members, records }))
    }

    /// Whether a member's correction makes the household larger than it may be.
    pub fn is_outgrown_by(&self, after: &Record) -> bool {
        let bytes = |member: &Member| if member.id == after.id { member_of(after).bytes() } else { member.bytes() };
        let (now, then): (usize, usize) =
            (self.members.iter().map(Member::bytes).sum(), self.members.iter().map(bytes).sum());
        then > MAX_BYTES && then > now
    }

    /// Returns the writes after a member's correction, and sets the member's own relatives.
    pub fn corrected(self, after: &mut Record) -> Result<HouseholdChange, Error> {
        let members =
            self.members.iter().cloned().map(|member| if member.id == after.id { member_of(after) } else { member });
        let members: Vec<Member> = members.collect();
        let mut change = HouseholdChange::default();
        change.actions.extend(self.replaced_by(&members)?);
        if self.records.is_empty() {
            return Ok(change);
        }
        let corrected = |(_, record): &(Stored, Record)| {
            if record.id == after.id { after.clone() } else { record.clone() }
        };
        for record in related(self.records.iter().map(corrected).collect()) {
            if record.id == after.id {
                *after = record;
            } else {
                change.actions.extend(self.related(record, &after.updated_at)?);
            }
        }
        Ok(change)
    }

    /// Returns the writes after a member was taken down.
    pub fn without(self, record: RecordId, at: &str) -> Result<HouseholdChange, Error> {
        let members: Vec<Member> = self.members.iter().filter(|member| member.id != record).cloned().collect();
        if members.is_empty() {
            return Ok(HouseholdChange { actions: vec![self.emptied()], is_empty: true });
        }
        let mut change = HouseholdChange::default();
        change.actions.extend(self.replaced_by(&members)?);
        let others = self.records.iter().filter(|(_, other)| other.id != record).map(|(_, other)| other.clone());
        for other in related(others.collect()) {
            change.actions.extend(self.related(other, at)?);
        }
        Ok(change)
    }

    /// Returns the update of the household's members, if they change.
    fn replaced_by(&self, members: &[Member]) -> Result<Option<Action>, Error> {
        let attribute = self.run.attribute();
        let of = |members: &[Member]| BTreeMap::from([(attribute.clone(), members.to_vec())]);
        let changes = Changes::between(&of(&self.members), &of(members))?;
        let update = Action::update(&ARCHIVE, self.stored.key.clone(), changes.clone()).if_unchanged(&self.stored);
        Ok((!changes.is_empty()).then_some(update))
    }

    /// Returns the removal of the members. A household without members of any run is deleted.
    fn emptied(&self) -> Action {
        let attribute = self.run.attribute();
        let has_others = self.stored.item.keys().any(|name| name.starts_with("run_") && *name != attribute);
        let action = if has_others {
            Action::update(&ARCHIVE, self.stored.key.clone(), Changes::new().remove(&attribute))
        } else {
            Action::delete(&ARCHIVE, self.stored.key.clone())
        };
        action.if_unchanged(&self.stored)
    }

    /// Returns the update of another member's relatives, if they change.
    fn related(&self, after: Record, at: &str) -> Result<Option<Action>, Error> {
        let Some((stored, before)) = self.records.iter().find(|(_, before)| before.id == after.id) else {
            return Ok(None);
        };
        if before.relatives == after.relatives {
            return Ok(None);
        }
        let after = Record { updated_at: at.to_owned(), ..after };
        let changes = Changes::between(before, &after)?;
        Ok(Some(Action::update(&ARCHIVE, stored.key.clone(), changes).if_unchanged(stored)))
    }
}

fn member_of(record: &Record) -> Member {
    Member {
        id: record.id,
        permanent_id: record.permanent_id,
        name: name_of(record.principal()),
        relation: record.relation.as_deref().map(relation_of),
        visible_from: record.visible_from,
    }
}

/// Returns the records of a household with their relatives derived again.
fn related(mut records: Vec<Record>) -> Vec<Record> {
    let people: Vec<Relation<'_>> = records
        .iter()
        .map(|record| Relation {
            person: record.principal(),
            relation: record.relation.as_deref(),
            visible_from: record.visible_from,
        })
        .collect();
    let relatives = relatives(&people);
    for (record, relatives) in records.iter_mut().zip(relatives) {
        record.set_relatives(relatives);
    }
    records
}

#[cfg(test)]
mod tests {
    use table::item::to_item;

    use super::*;
    use crate::record::{Person, RelativeKind, Sex};

    const RUN: RunNumber = RunNumber(1);

    fn id(number: u64) -> RecordId {
        RecordId::new(1_000_000_000 + number).unwrap()
    }

    fn record(number: u64, given: &str, relation: &str, sex: Sex) -> Record {
        let person = Person {
            role: crate::mapping::PersonRole::Principal,
            given: given.to_owned(),
            surname: "Pugh".to_owned(),
            sex: Some(sex),
        };
        let owner = "1000000001".parse().unwrap();
        Record {
            id: id(number),
            listed_by: id(number),
            run: RUN,
            row: u32::try_from(number).unwrap(),
            collection_id: "1000000002".parse().unwrap(),
            permanent_id: id(number),
            values: Vec::new(),
            people: vec![person],
            events: Vec::new(),
            relatives: Vec::new(),
            keywords: Vec::new(),
            household: Some("14".to_owned()),
            relation: Some(relation.to_owned()),
            visible_from: None,
            corrections: BTreeMap::new(),
            created_at: "2026-11-25T10:00:00.000000Z".to_owned(),
            updated_at: "2026-11-25T10:00:00.000000Z".to_owned(),
            created_by: owner,
        }
    }

    /// The household of file F: Evan, Margaret and Griffith Pugh.
    fn household(other_runs: &[&str]) -> LoadedHousehold {
        let records = related(vec![
            record(11, "Evan", "Head", Sex::Male),
            record(12, "Margaret", "Wife", Sex::Female),
            record(13, "Griffith", "Son", Sex::Male),
        ]);
        let members: Vec<Member> = records.iter().map(member_of).collect();
        let runs = other_runs.iter().copied().chain(["run_1"]).map(|run| (run, members.clone()));
        let item = to_item(&runs.collect::<BTreeMap<_, _>>()).unwrap();
        let stored = |key: Key| Stored { key, rev: None, item: item.clone() };
        let post = "1000000003".parse().unwrap();
        let of_record = |record: Record| (stored(RecordKey { record: record.id, post }.key()), record);
        let key = RecordHouseholdKey { post, household: Household::new("14").unwrap() }.key();
        LoadedHousehold {
            stored: stored(key),
            run: RUN,
            members,
            records: records.into_iter().map(of_record).collect(),
        }
    }

    fn relatives_of(record: &Record) -> Vec<(RelativeKind, &str)> {
        record.relatives.iter().map(|relative| (relative.relation, relative.given.as_str())).collect()
    }

    #[test]
    fn corrected_name_changes_the_household_and_the_relatives_of_the_others() {
        let household = household(&[]);
        let mut evan = household.records[0].1.clone();
        evan.people[0].given = "Ifan".to_owned();
        let change = household.corrected(&mut evan).unwrap();
        // The household, Margaret and Griffith.
        assert_eq!(change.actions.len(), 3);
        assert!(!change.is_empty);
        let expected = [(RelativeKind::Spouse, "Margaret"), (RelativeKind::Child, "Griffith")];
        assert_eq!(relatives_of(&evan), expected);
        let text = format!("{:?}", change.actions);
        assert!(text.contains("Ifan Pugh") && !text.contains("Evan"), "{text}");
    }

    #[test]
    fn corrected_relation_changes_the_member_s_own_relatives() {
        let household = household(&[]);
        let mut griffith = household.records[2].1.clone();
        griffith.relation = Some("Lodger".to_owned());
        let change = household.corrected(&mut griffith).unwrap();
        assert_eq!(relatives_of(&griffith), []);
        assert_eq!(change.actions.len(), 3);
    }

    #[test]
    fn correction_without_a_name_writes_no_other_item() {
        let household = household(&[]);
        let mut evan = household.records[0].1.clone();
        evan.keywords.push("miner".to_owned());
        assert!(household.corrected(&mut evan).unwrap().actions.is_empty());
    }

    #[test]
    fn member_who_is_taken_down_is_no_relative_any_more() {
        let household = household(&[]);
        let change = household.without(id(11), "2026-11-25T11:00:00.000000Z").unwrap();
        assert!(!change.is_empty);
        assert_eq!(change.actions.len(), 3);
        let text = format!("{:?}", change.actions);
        assert!(!text.contains("Evan"), "{text}");
    }

    #[test]
    fn household_without_members_is_deleted_unless_another_run_has_it() {
        let only = |other_runs: &[&str]| {
            let mut household = household(other_runs);
            household.members.truncate(1);
            household.records.truncate(1);
            household.without(id(11), "2026-11-25T11:00:00.000000Z").unwrap()
        };
        let deleted = only(&[]);
        assert!(deleted.is_empty && format!("{:?}", deleted.actions).contains("Delete"));
        let updated = only(&["run_2"]);
        assert!(updated.is_empty && !format!("{:?}", updated.actions).contains("Delete"));
    }

    #[test]
    fn household_that_is_too_large_keeps_its_relatives_empty() {
        let mut household = household(&[]);
        let mut evan = household.records[0].1.clone();
        household.records.clear();
        evan.people[0].given = "Ifan".to_owned();
        assert_eq!(household.corrected(&mut evan).unwrap().actions.len(), 1);
    }
}
