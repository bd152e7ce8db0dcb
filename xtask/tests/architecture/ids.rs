//! Document ids: all tables of a system share one index, and an id does not name its table.

use local::systems;
use table::schema::{Entity, Search, Table};

/// The literal text with which every document id of an entity begins.
fn beginning(entity: &Entity) -> String {
    let id = entity.sk.map_or_else(|| entity.pk.to_owned(), |sk| format!("{}#{sk}", entity.pk));
    id.split('{').next().unwrap_or_default().to_owned()
}

/// Two entities of different tables whose documents might have one id: one beginning is the beginning of the other.
fn sharing(tables: &[&'static Table]) -> Vec<String> {
    let searched: Vec<(&Table, &Entity)> = tables
        .iter()
        .flat_map(|table| table.entities.iter().map(move |entity| (*table, entity)))
        .filter(|(_, entity)| entity.search == Search::Document)
        .collect();
    let mut found = Vec::new();
    for (at, (table, entity)) in searched.iter().enumerate() {
        for (other_table, other) in searched.iter().skip(at + 1).filter(|(other, _)| other.name != table.name) {
            let (one, two) = (beginning(entity), beginning(other));
            if one.starts_with(&two) || two.starts_with(&one) {
                found.push(format!("{}/{} and {}/{}", table.name, entity.name, other_table.name, other.name));
            }
        }
    }
    found
}

#[test]
fn two_tables_of_a_system_never_share_a_document_id() {
    for served in systems::ALL {
        assert_eq!(sharing(served.system.tables), Vec::<String>::new(), "{}", served.system.name);
    }
}

#[test]
fn tables_whose_ids_might_be_equal_are_found() {
    const fn entity(pk: &'static str) -> Entity {
        Entity { name: "toy", pk, sk: Some("{number}"), search: Search::Document }
    }
    const fn table(name: &'static str, entities: &'static [Entity]) -> Table {
        Table { name, pk: "pk", sk: Some("sk"), indexes: &[], entities, stream: true }
    }
    static KITES: Table = table("kites", &[entity("KITE#{name}")]);
    static BALLS: Table = table("balls", &[entity("BALL#{name}")]);
    static PARTS: Table = table("parts", &[entity("KITE#PART#{name}")]);
    static ANY: Table = table("any", &[entity("{id}")]);
    assert_eq!(sharing(&[&KITES, &BALLS]), Vec::<String>::new());
    assert_eq!(sharing(&[&KITES, &BALLS, &PARTS]), ["kites/toy and parts/toy"]);
    assert_eq!(sharing(&[&BALLS, &ANY]), ["balls/toy and any/toy"]);
}
