//! The fixture of agencies' tests: three agencies, their people, and one pending invitation.

use std::collections::{BTreeMap, HashMap};

use ::agencies::address::{Address, AddressHash};
use ::agencies::audit::Audit;
use ::agencies::item::{Agency, Gate, Invitation, Member, Term};
use ::agencies::keys::{agency_key, gate_key, invitation_key, member_key};
use ::agencies::names::{AgencyId, Role, Status};
use ::agencies::schema::AGENCIES;
use local::identity::Person;
use serde::Serialize;
use serde_json::json;
use table::{Clock, Idpid, Key};

use crate::harness::table::{Item, Table, text};
use crate::harness::{Cairn, Setup, User};

/// A platform with the fixture, and its people.
pub struct Stage {
    pub cairn: Cairn,
    pub root: User,
    pub ann: User,
    pub bob: User,
    pub cay: User,
    pub dee: User,
}

impl Stage {
    pub async fn new() -> Self {
        Self::with(Setup::of("agencies")).await
    }

    pub async fn with(setup: Setup) -> Self {
        let cairn = Cairn::with(setup).await;
        cairn.table_of(&AGENCIES).put_all(fixture()).await;
        cairn.caught_up().await;
        let (root, dee) = (cairn.person("root", root()).await, cairn.person("dee", dee()).await);
        let [ann, bob, cay] = ["ann", "bob", "cay"].map(|name| cairn.person(name, idp(name)));
        let (ann, bob, cay) = (ann.await, bob.await, cay.await);
        Self { root, ann, bob, cay, dee, cairn }
    }

    /// Returns the user of a person with this verified address.
    pub async fn person(&self, subject: &str, address: Option<&str>) -> User {
        self.cairn.person("person", Person { address, ..idp(subject) }).await
    }

    pub fn table(&self) -> Table {
        self.cairn.table_of(&AGENCIES)
    }

    /// Every item by its key.
    pub async fn items(&self) -> BTreeMap<String, Item> {
        let table = self.table();
        table.items().await.into_iter().map(|item| (table.name_of(&item), item)).collect()
    }

    /// The keys of what an index has in a partition, in its order.
    pub async fn listed(&self, index: &str, partition: &str) -> Vec<String> {
        let (engines, table) = (self.cairn.engines(), self.table());
        let key = AGENCIES.indexes.iter().find(|known| known.name == index).unwrap().pk;
        let query = engines.dynamodb().query().table_name(engines.config.table(AGENCIES.name)).index_name(index);
        let query = query.key_condition_expression("#key = :key").expression_attribute_names("#key", key);
        let found = query.expression_attribute_values(":key", text(partition)).send().await.unwrap();
        assert!(found.last_evaluated_key().is_none_or(HashMap::is_empty), "{partition} has more than a page");
        found.items().iter().map(|item| table.name_of(item)).collect()
    }

    /// Makes an agency of so many members, and itself one more: the first administrator `idp:head`.
    pub async fn agency_of(&self, members: usize) -> String {
        let id = AgencyId::new();
        let agency = agency(id.as_str(), "Mountain Rescue", Status::Active, "2026-02-01T00:00:00.000000Z");
        let gate = Gate { status: Status::Active, members: members as u64 + 1, admins: 1, closed: None };
        let mut items = vec![stored(&agency_key(&id), &agency), stored(&gate_key(&id), &gate)];
        let head = member(id.as_str(), "head", Role::Admin, "2026-02-01T00:00:00.000000Z");
        items.push(stored(&member_key(&id, &head.idpid), &head));
        for number in 0..members {
            let member = member(id.as_str(), &format!("m{number:04}"), Role::Member, "2026-02-02T00:00:00.000000Z");
            items.push(stored(&member_key(&id, &member.idpid), &member));
        }
        self.table().put_all(items).await;
        id.to_string()
    }

    /// What the gate counts: members and administrators.
    pub async fn counts(&self, agency: &str) -> (u64, u64) {
        let read = self.root.get(&format!("/agencies/{agency}")).await.is(200);
        (read["members"].as_u64().unwrap(), read["admins"].as_u64().unwrap())
    }

    /// The gates' counts equal the items.
    pub async fn adds_up(&self) {
        let items = self.table().items().await;
        let text = |item: &Item, name: &str| item.get(name).and_then(|value| value.as_s().ok()).cloned();
        for gate in items.iter().filter(|item| item["PK"].as_s().unwrap().starts_with("GATE#")) {
            let gate_of: String = gate["PK"].as_s().unwrap().replace("GATE#", "AGENCY#");
            let members: Vec<&Item> = items
                .iter()
                .filter(|item| {
                    *item["PK"].as_s().unwrap() == gate_of && text(item, "type").as_deref() == Some("Member")
                })
                .collect();
            let is_admin =
                |item: &&&Item| text(item, "role").as_deref() == Some("admin") && !item.contains_key("status");
            let admins = members.iter().filter(is_admin).count();
            let counted = |name: &str| gate[name].as_n().unwrap().parse::<usize>().unwrap();
            assert_eq!((counted("members"), counted("admins")), (members.len(), admins), "{gate_of}");
        }
    }
}

pub fn idp(subject: &str) -> Person<'_> {
    Person { issuer: "idp", ..Person::new(subject) }
}

/// The platform's administrator.
pub fn root() -> Person<'static> {
    Person { roles: &["platform-admin"], ..idp("root") }
}

/// Whom the invitation is for.
pub fn dee() -> Person<'static> {
    Person { address: Some("dee@example.org"), ..idp("dee") }
}

pub fn hash(address: &str) -> String {
    address.parse::<Address>().unwrap().hash().to_string()
}

fn stamp(at: &str) -> Audit {
    Audit { at: at.to_owned(), by: "idp:root".to_owned() }
}

pub fn agency(id: &str, name: &str, status: Status, created: &str) -> Agency {
    let agency_id = id.parse().unwrap();
    Agency { agency_id, status, ..Agency::new(name.to_owned(), &stamp(created)) }
}

fn member(agency: &str, subject: &str, role: Role, created: &str) -> Member {
    let person = Idpid::new("idp", subject).unwrap();
    Member::new(agency.parse().unwrap(), person, role, Some(subject.to_owned()), &stamp(created))
}

/// The item as the table keeps it.
pub fn stored(key: &Key, value: &impl Serialize) -> Item {
    crate::harness::table::stored(&AGENCIES, key, value)
}

fn fixture() -> Vec<Item> {
    const FIRST: &str = "2026-01-01T00:00:00.000000Z";
    let agencies = [
        (agency("n", "North Rescue", Status::Active, FIRST), 2, 1),
        (agency("s", "South Patrol", Status::Pending, FIRST), 1, 0),
        (agency("c", "Coast Watch", Status::Inactive, "2026-01-02T00:00:00.000000Z"), 1, 1),
    ];
    let mut items = Vec::new();
    for (agency, members, admins) in agencies {
        let gate = Gate { status: agency.status, members, admins, closed: None };
        items.push(stored(&agency_key(&agency.agency_id), &agency));
        items.push(stored(&gate_key(&agency.agency_id), &gate));
    }
    for member in [
        member("n", "ann", Role::Admin, "2026-01-03T00:00:00.000000Z"),
        member("s", "ann", Role::Member, "2026-01-04T00:00:00.000000Z"),
        member("n", "bob", Role::Member, "2026-01-05T00:00:00.000000Z"),
        member("c", "cay", Role::Admin, "2026-01-06T00:00:00.000000Z"),
    ] {
        items.push(stored(&member_key(&member.agency_id, &member.idpid), &member));
    }
    let dee: AddressHash = hash("dee@example.org").parse().unwrap();
    let end = Clock::system().seconds() + 10 * 24 * 3600;
    let expires_at = table::clock::rfc3339(jiff_of(end));
    let term = Term { expires_at, time_to_live: end + 30 * 24 * 3600 };
    let north: AgencyId = "n".parse().unwrap();
    let invited = Invitation::new(north.clone(), "dee@example.org", &dee, Role::Member, term, &stamp(FIRST));
    items.push(stored(&invitation_key(&north, &dee), &invited));
    items
}

fn jiff_of(seconds: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(seconds).unwrap()
}

/// The body of an invitation.
pub fn invitation(address: &str) -> serde_json::Value {
    json!({ "address": address })
}
