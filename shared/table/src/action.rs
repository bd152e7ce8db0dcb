//! One write of one item, with its conditions.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_dynamodb::types::AttributeValue;
use serde::Serialize;

use crate::access::{Call, TableAction};
use crate::attribute;
use crate::error::{Cause, Error};
use crate::expression::{Condition, Placeholders, exists, is_absent};
use crate::item::{self, Item, Stored, to_item};
use crate::rev::{self, Rev};
use crate::schema::{EXPIRES, Search, Table};
use crate::sequence::Sequence;
use crate::{Config, Key};

/// A write of one item, alone ([`crate::Access::write`]) or in a transaction ([`crate::Access::transact`]). The client
/// sets key and revision. Attributes of the value with these names are ignored.
#[derive(Clone, Debug)]
pub struct Action {
    pub(crate) table: &'static Table,
    pub(crate) key: Key,
    pub(crate) write: Write,
    /// The `rev` attribute that the item must still have.
    seen: Option<Option<AttributeValue>>,
    conditions: Vec<Condition>,
    /// Whether the item may be absent.
    or_absent: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Write {
    Create(Item),
    CreateSequence(&'static str),
    RaiseSequence(&'static str, u64),
    SetSequence(&'static str, u64),
    Update(Changes),
    Delete,
    Check,
}

impl Action {
    /// Creates an item. Fails if an unexpired item has its key.
    pub fn create<T: Serialize>(table: &'static Table, key: impl Into<Key>, value: &T) -> Result<Self, Error> {
        Ok(Self::new(table, key, Write::Create(to_item(value)?)))
    }

    /// Creates a sequence whose first number is 1. Sequences are the only items without a revision.
    pub fn create_sequence(table: &'static Table, sequence: impl Into<Sequence>) -> Self {
        let Sequence { key, attribute, .. } = sequence.into();
        Self::new(table, key, Write::CreateSequence(attribute))
    }

    /// Sets the last number that a sequence has allocated. Fails with [`Cause::Unmet`] if that is not above its present
    /// one.
    pub fn raise_sequence(table: &'static Table, sequence: impl Into<Sequence>, to: u64) -> Self {
        let Sequence { key, attribute, .. } = sequence.into();
        Self::new(table, key, Write::RaiseSequence(attribute, to))
    }

    /// Sets the last number that a sequence has allocated, up or down. Numbers above it are allocated again, so the
    /// caller adds a condition on the present one.
    pub fn set_sequence(table: &'static Table, sequence: impl Into<Sequence>, to: u64) -> Self {
        let Sequence { key, attribute, .. } = sequence.into();
        Self::new(table, key, Write::SetSequence(attribute, to))
    }

    /// Updates an item that exists, whatever its revision.
    pub fn update(table: &'static Table, key: impl Into<Key>, changes: Changes) -> Self {
        Self::new(table, key, Write::Update(changes))
    }

    /// Deletes an item that exists, whatever its revision.
    pub fn delete(table: &'static Table, key: impl Into<Key>) -> Self {
        Self::new(table, key, Write::Delete)
    }

    /// Changes nothing, and fails unless the item exists.
    pub fn check(table: &'static Table, key: impl Into<Key>) -> Self {
        Self::new(table, key, Write::Check)
    }

    /// Adds the condition that the item has this revision, as a client's `If-Match` asks for.
    pub fn if_rev(self, rev: Rev) -> Self {
        Self { seen: Some(Some(AttributeValue::N(rev.to_string()))), ..self }
    }

    /// Adds the condition that the item has not changed since it was read.
    pub fn if_unchanged(self, read: &Stored) -> Self {
        Self { seen: Some(read.item.get(rev::ATTRIBUTE).cloned()), ..self }
    }

    /// Adds a condition on the item's attributes.
    pub fn when(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    /// Adds conditions on the item's attributes, such as one that only some callers need.
    pub fn when_all(mut self, conditions: impl IntoIterator<Item = Condition>) -> Self {
        self.conditions.extend(conditions);
        self
    }

    /// Lets the action succeed if the item does not exist. An update then creates it, and a check passes. For counters.
    /// A check treats an expired item as absent; other actions do not.
    pub fn or_absent(self) -> Self {
        Self { or_absent: true, ..self }
    }

    fn new(table: &'static Table, key: impl Into<Key>, write: Write) -> Self {
        Self { table, key: key.into(), write, seen: None, conditions: Vec::new(), or_absent: false }
    }

    pub(crate) fn call(&self) -> Call {
        let action = match self.write {
            Write::Create(_) | Write::CreateSequence(_) => TableAction::PutItem,
            Write::Update(_) | Write::RaiseSequence(..) | Write::SetSequence(..) => TableAction::UpdateItem,
            Write::Delete => TableAction::DeleteItem,
            Write::Check => TableAction::ConditionCheckItem,
        };
        Call::Table { table: self.table.name, action }
    }

    /// Refuses a key that is too long, or that no template of the table builds.
    pub(crate) fn check_key(&self) -> Result<(), Error> {
        self.key.check_length()?;
        match self.table.entity_of(&self.key) {
            Some(_) => Ok(()),
            None => Err(Error::ForeignKey { table: self.table.name, key: self.key.clone() }),
        }
    }

    /// Returns the revision that was read. The new one must be higher.
    pub(crate) fn seen_rev(&self) -> Option<Rev> {
        self.seen.as_ref()?.as_ref()?.as_n().ok().and_then(|number| Rev::parse(number))
    }

    /// Builds the request of one attempt. A transaction has one revision and one time for all its actions. `once` means
    /// that its token keeps DynamoDB from carrying it out twice.
    pub(crate) fn request(&self, config: &Config, rev: Rev, seconds: i64, once: bool) -> Request {
        let mut placeholders = Placeholders::default();
        let commutes = once && self.commutes();
        let condition = self.condition(rev, seconds, commutes, &mut placeholders);
        let (item, update) = match &self.write {
            Write::Create(_) | Write::CreateSequence(_) => (self.item(rev), String::new()),
            Write::RaiseSequence(attribute, to) | Write::SetSequence(attribute, to) => {
                let (name, to) = (placeholders.name(attribute), placeholders.value(item::number(*to)));
                (item::key_item(self.table, &self.key), format!("SET {name} = {to}"))
            }
            Write::Update(changes) => {
                let update = changes.express(self.table, rev, commutes, &mut placeholders);
                (item::key_item(self.table, &self.key), update)
            }
            Write::Delete | Write::Check => (item::key_item(self.table, &self.key), String::new()),
        };
        let (names, values) = placeholders.into_parts();
        Request { table: config.table(self.table.name), item, update, condition, names, values }
    }

    fn item(&self, rev: Rev) -> Item {
        let mut item = item::key_item(self.table, &self.key);
        match &self.write {
            Write::Create(value) => {
                item.insert(rev::ATTRIBUTE.to_owned(), item::number(rev.number()));
                for (name, attribute) in value {
                    item.entry(name.clone()).or_insert_with(|| attribute.clone());
                }
            }
            Write::CreateSequence(attribute) => {
                item.insert((*attribute).to_owned(), item::number(0));
            }
            Write::Update(_) | Write::RaiseSequence(..) | Write::SetSequence(..) | Write::Delete | Write::Check => {}
        }
        item
    }

    /// Whether the action only adds to numbers of an item that never has a document, so that concurrent additions
    /// commute. The item's revision is then incremented without a condition, since under one they would refuse each
    /// other.
    fn commutes(&self) -> bool {
        let never = || self.table.entity_of(&self.key).is_some_and(|entity| entity.search == Search::Never);
        let counts = |changes: &Changes| changes.set.is_empty() && !changes.add.is_empty();
        self.seen.is_none() && matches!(&self.write, Write::Update(changes) if counts(changes)) && never()
    }

    fn condition(&self, rev: Rev, seconds: i64, commutes: bool, placeholders: &mut Placeholders) -> String {
        let older = |placeholders: &mut Placeholders| {
            let (attribute, new) = (placeholders.name(rev::ATTRIBUTE), placeholders.value(item::number(rev.number())));
            format!("(attribute_not_exists({attribute}) OR {attribute} < {new})")
        };
        let mut all = match self.write {
            Write::Create(_) => {
                let (pk, expires) = (placeholders.name(self.table.pk), placeholders.name(EXPIRES));
                let now = placeholders.value(item::number(seconds));
                vec![format!("(attribute_not_exists({pk}) OR ({expires} <= {now} AND {}))", older(placeholders))]
            }
            Write::CreateSequence(_) => vec![format!("attribute_not_exists({})", placeholders.name(self.table.pk))],
            _ => vec![exists(self.table, seconds, placeholders)],
        };
        match &self.seen {
            Some(Some(read)) => {
                let (attribute, read) = (placeholders.name(rev::ATTRIBUTE), placeholders.value(read.clone()));
                all.push(format!("{attribute} = {read}"));
            }
            Some(None) => all.push(format!("attribute_not_exists({})", placeholders.name(rev::ATTRIBUTE))),
            None if matches!(self.write, Write::Update(_)) && !commutes => all.push(older(placeholders)),
            None => {}
        }
        if let Write::RaiseSequence(attribute, to) = &self.write {
            all.push(format!("{} < {}", placeholders.name(attribute), placeholders.value(item::number(*to))));
        }
        all.extend(self.conditions.iter().map(|condition| condition.express(placeholders)));
        let all = all.join(" AND ");
        match self.write {
            _ if !self.or_absent => all,
            Write::Check => format!("{} OR ({all})", is_absent(self.table, seconds, placeholders)),
            _ => format!("attribute_not_exists({}) OR ({all})", placeholders.name(self.table.pk)),
        }
    }

    /// Returns why the condition of an attempt failed, given the item that DynamoDB found. Returns none if the new
    /// revision was merely not above the item's. Then a clock is behind, and a higher revision will do.
    pub(crate) fn cause(&self, found: Option<&Item>, seconds: i64) -> Option<Cause> {
        let present = found.filter(|item| !item::expired(item, seconds));
        match (&self.write, present) {
            (Write::CreateSequence(_), _) => Some(Cause::Exists),
            (Write::RaiseSequence(..), Some(_)) => Some(Cause::Unmet),
            (Write::Create(_), None) => None,
            (Write::Create(_), Some(_)) => Some(Cause::Exists),
            (Write::Check, None) if self.or_absent => None,
            (_, None) if self.or_absent && found.is_none() => None,
            (_, None) => Some(Cause::Missing),
            (_, Some(item)) => {
                if self.seen.as_ref().is_some_and(|seen| seen.as_ref() != item.get(rev::ATTRIBUTE)) {
                    Some(Cause::Stale)
                } else if !self.conditions.iter().all(|condition| condition.holds(item)) {
                    Some(Cause::Unmet)
                } else {
                    None
                }
            }
        }
    }

    /// Whether an earlier sending of this attempt may have written the item before others changed it.
    pub(crate) fn may_lie_beneath(&self, found: Option<&Item>, rev: Rev) -> bool {
        let counts = self.seen.is_none() && matches!(&self.write, Write::Update(changes) if changes.adds());
        counts || found.and_then(item::rev).is_some_and(|found| found > rev)
    }

    /// Whether the item that a repeated attempt found is what its earlier sending wrote.
    pub(crate) fn already_done(&self, found: Option<&Item>, rev: Rev) -> bool {
        match (&self.write, found) {
            (Write::Create(_) | Write::CreateSequence(_), Some(found)) => item::same_item(&self.item(rev), found),
            (Write::Update(changes), Some(found)) => item::rev(found) == Some(rev) && changes.are_in(found),
            (Write::RaiseSequence(attribute, to) | Write::SetSequence(attribute, to), Some(found)) => {
                found.get(*attribute).is_some_and(|last| item::same(last, &item::number(*to)))
            }
            (Write::Delete, None) => true,
            _ => false,
        }
    }
}

/// The parameters of one attempt of an action, as DynamoDB's requests take them.
pub(crate) struct Request {
    pub table: String,
    /// The item of a put, the key of any other request.
    pub item: Item,
    /// Empty unless the request is an update.
    pub update: String,
    pub condition: String,
    pub names: Option<HashMap<String, String>>,
    pub values: Option<Item>,
}

/// The changes that an update makes to the attributes of an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    set: BTreeMap<String, AttributeValue>,
    remove: BTreeSet<String>,
    add: BTreeMap<String, i64>,
    /// Additions to and removals of entries of maps, by the names of attribute and entry.
    add_entries: BTreeMap<(String, String), i64>,
    remove_entries: BTreeSet<(String, String)>,
}

impl Changes {
    pub fn new() -> Self {
        Self::default()
    }

    /// Computes the changes that turn one value into the other. Attributes that neither value has stay as they are.
    pub fn between<T: Serialize>(old: &T, new: &T) -> Result<Self, Error> {
        let (old, new) = (to_item(old)?, to_item(new)?);
        let remove = old.keys().filter(|name| !new.contains_key(*name)).cloned().collect();
        let changed = |(name, value): &(_, _)| !old.get(name).is_some_and(|old| item::same(old, value));
        Ok(Self { set: new.into_iter().filter(changed).collect(), remove, ..Self::default() })
    }

    pub fn set(mut self, name: &str, value: AttributeValue) -> Self {
        self.set.insert(name.to_owned(), value);
        self
    }

    pub fn remove(mut self, name: &str) -> Self {
        self.remove.insert(name.to_owned());
        self
    }

    /// Adds to a number. An absent attribute counts as 0.
    pub fn add(mut self, name: &str, amount: i64) -> Self {
        self.add.insert(name.to_owned(), amount);
        self
    }

    /// Adds to a number in a map. An absent entry counts as 0; the map must be present.
    pub fn add_entry(mut self, map: &str, entry: &str, amount: i64) -> Self {
        self.add_entries.insert((map.to_owned(), entry.to_owned()), amount);
        self
    }

    /// Removes an entry of a map, which must be present.
    pub fn remove_entry(mut self, map: &str, entry: &str) -> Self {
        self.remove_entries.insert((map.to_owned(), entry.to_owned()));
        self
    }

    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
            && self.remove.is_empty()
            && self.add.is_empty()
            && self.add_entries.is_empty()
            && self.remove_entries.is_empty()
    }

    fn express(&self, table: &Table, rev: Rev, commutes: bool, placeholders: &mut Placeholders) -> String {
        let ours = |name: &String| name == rev::ATTRIBUTE || name == table.pk || Some(name.as_str()) == table.sk;
        let set = self.set.iter().filter(|(name, _)| !ours(name));
        let mut set: Vec<_> = set
            .map(|(name, value)| format!("{} = {}", placeholders.name(name), placeholders.value(value.clone())))
            .collect();
        let (name, rev) = (placeholders.name(rev::ATTRIBUTE), placeholders.value(item::number(rev.number())));
        set.push(if commutes {
            format!("{name} = if_not_exists({name}, {rev}) + {}", placeholders.value(item::number(rev::STEP)))
        } else {
            format!("{name} = {rev}")
        });
        // DynamoDB adds to top-level attributes only, so an entry is set to a sum.
        for ((map, entry), amount) in &self.add_entries {
            let (path, zero) = (placeholders.entry(map, entry), placeholders.value(item::number(0)));
            let amount = placeholders.value(item::number(*amount));
            set.push(format!("{path} = if_not_exists({path}, {zero}) + {amount}"));
        }
        let remove = self.remove.iter().filter(|name| !ours(name));
        let mut remove: Vec<_> = remove.map(|name| placeholders.name(name)).collect();
        remove.extend(self.remove_entries.iter().map(|(map, entry)| placeholders.entry(map, entry)));
        let add = self.add.iter();
        let add: Vec<_> = add
            .map(|(name, amount)| format!("{} {}", placeholders.name(name), placeholders.value(item::number(*amount))))
            .collect();
        [("SET", set), ("REMOVE", remove), ("ADD", add)]
            .into_iter()
            .filter(|(_, clauses)| !clauses.is_empty())
            .map(|(verb, clauses)| format!("{verb} {}", clauses.join(", ")))
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn adds(&self) -> bool {
        !self.add.is_empty() || !self.add_entries.is_empty()
    }

    /// Whether an item has these changes. Additions leave no trace, and are ignored.
    fn are_in(&self, item: &Item) -> bool {
        self.set
            .iter()
            .all(|(name, value)| name == rev::ATTRIBUTE || item.get(name).is_some_and(|found| item::same(value, found)))
            && self.remove.iter().all(|name| !item.contains_key(name))
            && self.remove_entries.iter().all(|(map, entry)| attribute::entry(item, map, entry).is_none())
    }
}
