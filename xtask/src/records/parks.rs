//! A morning in a park: a collection and a geozone are made, a campground is shown, a trail's item is removed by hand,
//! a product opens for some days, and a count that search never shows goes up.

use parks::cascade::counters::COUNT;
use parks::item::Item;
use parks::keys::{CollectionKey, FacilityKey, GeozoneKey, LiveKey, Parent, ProductKey};
use parks::names::{ActivityType, CollectionId, FacilityType, Kind};
use parks::open_days::OpenDays;
use parks::schema::PARKS;
use serde_json::{Value, json};
use table::{EntityKey, Key, Number};

use super::{Write, invalid, of};

const MADE: &str = "2026-01-01T08:00:00.000000Z";
const CHANGED: &str = "2026-01-01T09:30:00.000000Z";
const REV: u64 = 3_534_508_800_000_000;

/// The stream records of all this.
pub fn records() -> Vec<Value> {
    let Ok(collection) = "bcparks_1".parse::<CollectionId>() else { return invalid() };
    let partition = Parent::Collection(CollectionKey { collection: collection.clone() }).partition(Kind::Geozone);
    let live = |rev: u64, value: u64| json!({ COUNT: value, "rev": rev });
    let campground =
        FacilityKey { collection: collection.clone(), facility_type: FacilityType::Campground, number: Number(1) };
    let trail = FacilityKey { collection: collection.clone(), facility_type: FacilityType::Trail, number: Number(2) };
    let pass = ProductKey {
        collection: collection.clone(),
        activity_type: ActivityType::DayUse,
        activity: Number(1),
        number: Number(1),
    };
    let open = Item { open_ranges: OpenDays::of_ranges(["2025-12-24/2025-12-26"]), ..named("Day pass", 5) };
    let hidden = Item { admin_notes: Some("den nearby".to_owned()), ..named("Bear Camp", 1) };
    let shown = Item { is_visible: Some(true), updated_at: Some(CHANGED.to_owned()), ..hidden.clone() };
    let writes = [
        made(CollectionKey { collection: collection.clone() }.key(), visible(named("Strathcona Park", 2))),
        made(GeozoneKey { collection: collection.clone(), number: Number(1) }.key(), visible(lakes())),
        Write {
            key: campground.key(),
            before: Some(stored(&campground.key(), hidden, REV)),
            after: Some(stored(&campground.key(), shown, REV + 10)),
        },
        Write {
            key: trail.key(),
            before: Some(stored(&trail.key(), visible(named("Elk River Trail", 4)), REV)),
            after: None,
        },
        Write {
            key: pass.key(),
            before: Some(stored(&pass.key(), visible(named("Day pass", 5)), REV)),
            after: Some(stored(&pass.key(), visible(open), REV + 12)),
        },
        counted(LiveKey { partition }.key(), live(REV, 0), live(REV + 14, 1)),
    ];
    of(&PARKS, &writes)
}

fn named(name: &str, id: u8) -> Item {
    Item {
        global_id: Some(format!("01890a5d-ac96-774b-bcce-b302099a805{id}")),
        display_name: Some(name.to_owned()),
        created_at: Some(MADE.to_owned()),
        updated_at: Some(MADE.to_owned()),
        location: Some(vec![-125.5, 49.6]),
        ..Item::default()
    }
}

fn lakes() -> Item {
    let boundary = r#"{"type":"Polygon","coordinates":[[[-125.6,49.48],[-125.57,49.48],[-125.57,49.51],[-125.6,49.51],[-125.6,49.48]]]}"#;
    Item {
        location: Some(vec![-125.589, 49.498]),
        search_terms: Some(vec!["cream lake".to_owned()]),
        boundary: Some(boundary.to_owned()),
        envelope: Some([-125.6, 49.48, -125.57, 49.51]),
        ..named("Bedwell Lakes", 3)
    }
}

fn visible(item: Item) -> Item {
    Item { is_visible: Some(true), ..item }
}

fn made(key: Key, item: Item) -> Write {
    let after = Some(stored(&key, item, REV));
    Write { key, before: None, after }
}

/// The item as the table keeps it.
fn stored(key: &Key, mut item: Item, rev: u64) -> Value {
    item.set_key(key.clone(), MADE);
    if matches!(item.kind(), Some(Kind::Collection | Kind::Product)) {
        item.location = None;
    }
    with(serde_json::to_value(item).unwrap_or_default(), &json!({ "rev": rev }))
}

fn counted(key: Key, before: Value, after: Value) -> Write {
    let keys = json!({ "pk": key.pk, "sk": key.sk });
    Write { before: Some(with(before, &keys)), after: Some(with(after, &keys)), key }
}

/// An object with the members of another.
fn with(mut object: Value, members: &Value) -> Value {
    if let (Value::Object(object), Value::Object(members)) = (&mut object, members) {
        object.extend(members.clone());
    }
    object
}
