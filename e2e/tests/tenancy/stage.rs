//! A system with its principals, and with items of their own and of others.

use std::collections::HashMap;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use local::Served;
use serde_json::Value;
use web::token::Claims;

use super::expectations::Expectations;
use super::operations::{self, Operation};
use crate::harness::table::{Item, Table};
use crate::harness::{Cairn, User};

/// The stage of one system.
pub struct Stage {
    pub cairn: Cairn,
    pub system: &'static str,
    /// The principals by the names of the columns in `e2e/tenancy.md`.
    pub principals: Vec<(&'static str, User)>,
    pub operations: Vec<Operation>,
    pub parts: Parts,
    tables: Vec<(Table, HashMap<String, Item>)>,
}

/// A system's declaration of its stage.
#[derive(Default)]
pub struct Parts {
    /// The principals by the names of the columns in `e2e/tenancy.md`. `none` and `expired` are added.
    pub principals: Vec<(&'static str, User)>,
    /// The subject of the token that has expired, and its roles.
    pub expired: (&'static str, &'static [&'static str]),
    pub things: Vec<Thing>,
    /// Texts of the samples with their replacements, which may have names in braces.
    pub texts: Vec<(&'static str, String)>,
    /// The principals to whom the items in the first column are foreign.
    pub outsiders: &'static [&'static str],
    /// The principal who sees the items in the first column and must learn nothing about those in the second.
    pub insiders: &'static [&'static str],
    /// The principal who sees the items in the second column.
    pub others: &'static str,
    /// The bodies that name items: the operation, a principal, and a body with names in braces.
    pub bodies: Vec<(&'static str, &'static str, &'static str)>,
    /// A word that only principals with access to a foreign item can find.
    pub word: &'static str,
    /// The path with which a platform administrator revokes an administrator's rights by DELETE.
    pub removal: Option<&'static str>,
    /// The parameter with few values, for each of which an operation has its own row, and the values.
    pub values: Option<(&'static str, &'static [&'static str])>,
    /// The searches that find the same items for all principals.
    pub open_searches: &'static [&'static str],
    /// The prefix of the keys of items that count requests.
    pub counters: Option<&'static str>,
}

/// The values of a name in paths, queries and bodies.
pub struct Thing {
    name: &'static str,
    /// The step of the paths that have these values. `None` for all other paths.
    below: Option<&'static str>,
    /// Whether all principals see the item.
    is_open: bool,
    pub own: String,
    pub foreign: String,
    pub absent: String,
}

impl Thing {
    pub fn new(name: &'static str, own: &str, foreign: &str, absent: &str) -> Self {
        let [own, foreign, absent] = [own, foreign, absent].map(str::to_owned);
        Self { name, below: None, is_open: false, own, foreign, absent }
    }

    /// Has these values only in paths with this step.
    pub fn below(self, step: &'static str) -> Self {
        Self { below: Some(step), ..self }
    }

    /// An item that all principals see.
    pub fn open(self) -> Self {
        Self { is_open: true, ..self }
    }

    /// A value that does not exist.
    pub fn same(name: &'static str, value: &str) -> Self {
        Self::new(name, value, value, value)
    }
}

impl Stage {
    /// Creates the stage from a system's declaration, after search shows all writes.
    pub async fn new(cairn: Cairn, served: &'static Served, parts: Parts) -> Self {
        cairn.caught_up().await;
        let description = cairn.visitor().get(&format!("/{}/openapi.json", served.system.name)).await.is(200).body;
        let mut operations = operations::all(served, cairn.engines(), &description, &parts.texts);
        if let Some((parameter, values)) = parts.values {
            operations = operations::with_values(operations, parameter, values);
        }
        for operation in &mut operations {
            let mut things: Vec<&Thing> = parts.things.iter().filter(|thing| thing.is_of(operation)).collect();
            things.sort_by_key(|thing| thing.below.is_none());
            operation.fill(|body| {
                things.iter().fold(body, |body, thing| body.replace(&format!("{{{}}}", thing.name), &thing.own))
            });
        }
        let (subject, roles) = parts.expired;
        let now = cairn.clock.seconds();
        let expired = cairn.sign(&Claims {
            iss: "urn:cairn:local".to_owned(),
            aud: "cairn".to_owned(),
            sub: subject.to_owned(),
            iat: now - 7200,
            nbf: now - 7200,
            exp: now - 3600,
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
            ..Claims::default()
        });
        let mut principals =
            vec![("none", cairn.visitor()), ("expired", cairn.user("expired", &format!("Bearer {expired}")))];
        principals.extend(parts.principals.iter().cloned());
        let names: Vec<_> = principals.iter().map(|(name, _)| *name).collect();
        assert_eq!(Expectations::read().principals(served.system.name), names, "the columns of e2e/tenancy.md");
        let mut tables = Vec::new();
        for table in served.system.tables.iter().filter(|table| table.stream) {
            let table = cairn.table_of(table);
            let items = named_items(&table, parts.counters).await;
            tables.push((table, items));
        }
        Self { cairn, system: served.system.name, principals, operations, parts, tables }
    }

    /// Returns whether all callers see all items, as in the smallest systems, which have few operations.
    pub fn is_shared(&self) -> bool {
        self.parts.insiders.is_empty()
    }

    pub fn user(&self, name: &str) -> &User {
        &self.principals.iter().find(|(known, _)| *known == name).unwrap().1
    }

    /// Returns the expected status for a principal.
    pub fn stated(&self, operation: &Operation, principal: &str) -> u16 {
        let place = self.principals.iter().position(|(name, _)| *name == principal).unwrap();
        let expectations = Expectations::read();
        let row = expectations.of(self.system, &operation.row);
        row.unwrap_or_else(|| panic!("e2e/tenancy.md says nothing of {}", operation.row))[place]
    }

    /// Returns the values of an operation's names.
    pub fn values(&self, operation: &Operation, of: impl Fn(&Thing) -> &String) -> Vec<String> {
        operation.names().map(|name| of(self.thing(name, operation)).clone()).collect()
    }

    pub fn own(&self, operation: &Operation) -> String {
        operation.path(&self.values(operation, |thing| &thing.own))
    }

    pub fn foreign(&self, operation: &Operation) -> String {
        operation.path(&self.values(operation, |thing| &thing.foreign))
    }

    pub fn absent(&self, operation: &Operation) -> String {
        operation.path(&self.values(operation, |thing| &thing.absent))
    }

    /// Returns the thing of a name in an operation's path. One of a step of the path comes before the others.
    fn thing(&self, name: &str, operation: &Operation) -> &Thing {
        let found = self.parts.things.iter().filter(|thing| thing.name == name && thing.is_of(operation));
        let found = found.max_by_key(|thing| thing.below.is_some());
        found.unwrap_or_else(|| panic!("the stage of {} has nothing for `{name}` of {}", self.system, operation.name))
    }

    /// Whether all principals see the items that an operation's path names after the first `from` ones.
    pub fn is_open(&self, operation: &Operation, from: usize) -> bool {
        operation.names().skip(from).all(|name| self.thing(name, operation).is_open)
    }

    /// Whether a principal must not learn from a refusal that the item of the path exists.
    pub fn hides(&self, operation: &Operation, principal: &str) -> bool {
        let stated = self.stated(operation, principal);
        stated >= 400 && !(stated == 403 && self.is_open(operation, 0))
    }

    /// Returns the names of items.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &Thing)> {
        self.parts.things.iter().map(|thing| (thing.name, thing))
    }

    /// Restores the tables of the stage. Returns the keys of the items that had changed.
    pub async fn restore(&self) -> Vec<String> {
        self.restore_tables(&self.tables.iter().collect::<Vec<_>>()).await
    }

    /// Restores the tables that an operation can have changed. Returns the keys of the items that had changed.
    pub async fn restore_after(&self, operation: &Operation) -> Vec<String> {
        let declared = self.tables.iter().filter(|(table, _)| operation.tables.contains(table.table.name));
        self.restore_tables(&declared.collect::<Vec<_>>()).await
    }

    async fn restore_tables(&self, tables: &[&(Table, HashMap<String, Item>)]) -> Vec<String> {
        let mut changed = Vec::new();
        let end = tokio::time::Instant::now() + Duration::from_secs(20);
        loop {
            let before = changed.len();
            for (table, kept) in tables {
                self.restore_table(table, kept, &mut changed).await;
            }
            // A job may have been running. Its next step fails, since its items were replaced.
            if changed.len() == before {
                return changed;
            }
            assert!(tokio::time::Instant::now() < end, "it does not come to rest: {changed:?}");
        }
    }

    async fn restore_table(&self, table: &Table, kept: &HashMap<String, Item>, changed: &mut Vec<String>) {
        let found = named_items(table, self.parts.counters).await;
        for (name, item) in &found {
            if !kept.contains_key(name) {
                changed.push(name.clone());
                table.delete_item(item).await;
            }
        }
        let mut missing = Vec::new();
        for (name, item) in kept {
            if found.get(name).map(content) != Some(content(item)) {
                changed.push(name.clone());
                let mut item = item.clone();
                if item.contains_key("rev") {
                    item.insert("rev".to_owned(), table::item::number(self.cairn.clock.micros() * 2));
                }
                missing.push(item);
            }
        }
        table.put_all(missing).await;
    }
}

impl Thing {
    /// Whether the paths of an operation have its values.
    fn is_of(&self, operation: &Operation) -> bool {
        self.below.is_none_or(|step| operation.is_below(step))
    }
}

/// Returns the items of a table by their names, without those that count requests.
async fn named_items(table: &Table, counters: Option<&str>) -> HashMap<String, Item> {
    let named = table.items().await.into_iter().map(|item| (table.name_of(&item), item));
    named.filter(|(name, _)| !counters.is_some_and(|prefix| name.starts_with(prefix))).collect()
}

/// Returns an item without its revision.
fn content(item: &Item) -> Vec<(&String, &AttributeValue)> {
    let mut content: Vec<_> = item.iter().filter(|(name, _)| *name != "rev").collect();
    content.sort_by_key(|(name, _)| name.as_str());
    content
}

/// Returns a body with the values of one column instead of the names.
pub fn filled(stage: &Stage, body: &str, of: impl Fn(&Thing) -> &String) -> String {
    stage.named().fold(body.to_owned(), |body, (name, thing)| body.replace(&format!("{{{name}}}"), of(thing)))
}

/// Returns a response's body with the foreign ids replaced by the absent ones, since faults repeat the sent values.
pub fn absent_for_foreign(stage: &Stage, body: &Value) -> Value {
    let told = stage.named().filter(|(_, thing)| thing.foreign.len() > 4);
    let text = told.fold(body.to_string(), |text, (_, thing)| text.replace(&thing.foreign, &thing.absent));
    serde_json::from_str(&text).unwrap()
}
