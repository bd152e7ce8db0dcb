//! Direct writes to the table, and their documents in search.

pub mod each_system;

use std::collections::{BTreeMap, HashMap};

use ::mirror::{Code, Marker, Subject};
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use table::Key;

use crate::harness::Cairn;
use crate::harness::table::{Item, text};
use crate::parks::shapes::ellipse;
use crate::tests;

tests! { mirror:
    poison_record_delays_no_other_and_recovers,
    #[long] attribute_of_a_wrong_type_quarantines_its_item_alone,
    #[long] write_past_the_platform_is_stamped_and_indexed,
    delete_past_the_platform_writes_a_tombstone,
    delete_and_recreate_converges_in_any_order,
    item_with_an_unknown_key_is_ignored,
    records_of_unsearched_entities_are_skipped,
}

const FACILITIES: &str = "/parks/facilities/bcparks_1";

fn number(number: impl ToString) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

/// Returns a copy of the item with another number and other attributes.
pub fn copy(item: &Item, number: u32, changes: &[(&str, AttributeValue)]) -> Item {
    let mut copy = item.clone();
    copy.insert("sk".to_owned(), text(&format!("campground::{number}")));
    copy.insert("number".to_owned(), self::number(number));
    for (name, value) in changes {
        copy.insert((*name).to_owned(), value.clone());
    }
    copy
}

/// Starts a platform with a campground 1 that has every attribute. Returns it with the item.
async fn with_campground() -> (Cairn, Item) {
    let cairn = Cairn::with_strathcona().await;
    let item = campground(&cairn).await;
    (cairn, item)
}

/// Creates campground 1 in `bcparks_1` with every attribute. Returns its item.
pub async fn campground(cairn: &Cairn) -> Item {
    let admin = cairn.administrator().await;
    let ring: Value = serde_json::from_str(&ellipse([-125.5, 49.6], [0.1, 0.1], 1000, 7)).unwrap();
    let new = json!({
        "facilityType": "campground", "displayName": "Model", "location": [-125.5, 49.6], "isVisible": true,
        "description": "Quiet.", "searchTerms": ["den"], "imageUrls": ["https://example.org/a.jpg"],
        "timezone": "America/Vancouver", "adminNotes": "notes", "minMapZoom": 3, "maxMapZoom": 12,
        "externalId": "A-1", "subType": "rustic", "address": "1 Lake Road", "isOpen": true, "showOnMap": true,
        "boundary": { "type": "Polygon", "coordinates": [ring] },
        "path": { "type": "LineString", "coordinates": [[-125.5, 49.6], [-125.4, 49.7]] }
    });
    admin.post(FACILITIES, new).await.is(201);
    let item = cairn.table().get("facility::bcparks_1", "campground::1").await.unwrap();
    cairn.caught_up().await;
    item
}

/// Waits until the written items are stamped. The caller must wait for the stream records of the stamps, which index
/// the items.
async fn stamped(cairn: &Cairn) {
    cairn.caught_up().await;
}

/// Returns the keys of the items in quarantine, with the reasons.
fn by_key(markers: Vec<Marker>) -> BTreeMap<String, Marker> {
    let key = |marker: Marker| match &marker.subject {
        Subject::Item { key: Key { pk, sk }, .. } => (format!("{pk}#{}", sk.clone().unwrap_or_default()), marker),
        Subject::Record(hash) => (hash.clone(), marker),
    };
    markers.into_iter().map(key).collect()
}

async fn poison_record_delays_no_other_and_recovers() {
    let (cairn, item) = with_campground().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let table = cairn.table();
    let poison = [("displayName", AttributeValue::Bool(true))];
    let poisoned = |item: &Item| {
        let rev: u64 = item["rev"].as_n().unwrap().parse().unwrap();
        copy(item, 1, &[poison[0].clone(), ("rev", number(rev + 2))])
    };
    // The first item was visible before. The second was never valid.
    table.put(poisoned(&item)).await;
    table.put(copy(&item, 2, &poison)).await;
    let neighbours = (3..40).map(|at| copy(&item, at, &[("displayName", text(&format!("Neighbour {at}")))]));
    for neighbour in neighbours {
        table.put(neighbour).await;
    }
    assert_eq!(visitor.search("q=neighbour").await.total(), 37);
    // The stale document of the first item is hidden.
    visitor.search("q=model").await.is_nothing();
    let markers = by_key(cairn.quarantined().await);
    assert_eq!(
        markers.keys().collect::<Vec<_>>(),
        ["facility::bcparks_1#campground::1", "facility::bcparks_1#campground::2"]
    );
    for marker in markers.values() {
        assert_eq!(marker.code, Code::Unfit);
        assert!(marker.reason.contains("displayName"), "{marker:?}");
        // The record is kept with its reason.
        let kept = std::fs::read_to_string(cairn.bucket("parks").join(&marker.object)).unwrap();
        let kept: Value = serde_json::from_str(&kept).unwrap();
        assert_eq!((kept["code"].as_str(), &kept["table"]), (Some("unfit"), &json!("parks")), "{kept}");
        assert!(kept["reason"].as_str().unwrap().contains("displayName") && kept["record"].is_object(), "{kept}");
    }

    // The platform fixes one item, the other is fixed directly in the table.
    let url = format!("{FACILITIES}/campground/1");
    admin.patch(&url, json!({ "displayName": "Mended" })).await.is(200);
    visitor.search("q=mended").await.are(&["Mended"]);
    assert_eq!(by_key(cairn.quarantined().await).keys().collect::<Vec<_>>(), ["facility::bcparks_1#campground::2"]);
    let rev: u64 = item["rev"].as_n().unwrap().parse().unwrap();
    table.put(copy(&item, 2, &[("displayName", text("Healed")), ("rev", number(rev + 2))])).await;
    visitor.search("q=healed").await.are(&["Healed"]);
    assert_eq!(cairn.quarantined().await, Vec::new());
}

async fn attribute_of_a_wrong_type_quarantines_its_item_alone() {
    let (cairn, item) = with_campground().await;
    let visitor = cairn.visitor();
    let table = cairn.table();
    let types = [
        text("x"),
        number(7),
        AttributeValue::Bool(true),
        AttributeValue::Null(true),
        AttributeValue::M(HashMap::from([("x".to_owned(), number(7))])),
        AttributeValue::L(vec![AttributeValue::Bool(true)]),
        AttributeValue::Ss(vec!["x".to_owned()]),
        AttributeValue::Ns(vec!["7".to_owned()]),
        AttributeValue::Bs(vec![Blob::new("x")]),
        AttributeValue::B(Blob::new("x")),
    ];
    // The keys of the table and its indexes cannot have another type, and the others are not searchable.
    let unread = ["pk", "sk", "rev", "entity", "globalId", "listPk", "listSk", "publicPk", "imageUrls", "timezone"];
    let mut poison = BTreeMap::new();
    let mut number = 1000;
    let mut names: Vec<&String> = item.keys().filter(|name| !unread.contains(&name.as_str())).collect();
    names.sort();
    for name in names {
        for wrong in &types {
            // Lists with invalid elements, maps without required members and invalid numbers are also refused.
            let same = std::mem::discriminant(wrong) == std::mem::discriminant(&item[name]);
            if same && !matches!(wrong, AttributeValue::L(_) | AttributeValue::M(_)) {
                continue;
            }
            number += 1;
            let mut poisoned = copy(&item, number, &[]);
            // An item contains its shape or a reference to it.
            poisoned.insert(name.clone(), wrong.clone());
            table.put(poisoned).await;
            poison.insert(format!("facility::bcparks_1#campground::{number}"), name.clone());
            if number % 10 == 0 {
                table.put(copy(&item, number + 10_000, &[("displayName", text("Neighbour"))])).await;
            }
        }
    }
    assert!(poison.len() > 150, "{}", poison.len());
    let neighbours = visitor.search("q=neighbour&limit=1").await.total();
    assert_eq!(neighbours, (1000..=number).filter(|number| number % 10 == 0).count() as u64 - 1);
    assert_eq!(visitor.search("entity=facility&limit=1").await.total(), neighbours + 1);
    let markers = by_key(cairn.quarantined().await);
    let missing: Vec<_> = poison.iter().filter(|(key, _)| !markers.contains_key(*key)).collect();
    assert!(missing.is_empty(), "not in quarantine: {missing:?}");
    assert_eq!(markers.len(), poison.len());
    for (key, marker) in &markers {
        // The reference lacks a member.
        let named = if poison[key] == "boundaryRef" { "" } else { poison[key].as_str() };
        assert!(marker.code == Code::Unfit && marker.reason.contains(named), "{key}: {marker:?}");
    }
}

async fn write_past_the_platform_is_stamped_and_indexed() {
    let (cairn, item) = with_campground().await;
    let visitor = cairn.visitor();
    let table = cairn.table();
    let rev: u64 = item["rev"].as_n().unwrap().parse().unwrap();
    let revs = [
        number(rev),
        number(rev - 1000),
        number(-1),
        number(7),
        number("3.5"),
        number("1e40"),
        text("two"),
        AttributeValue::Null(true),
        AttributeValue::L(vec![]),
    ];
    // The item is written several times with a revision that does not grow.
    for (round, rev) in revs.iter().enumerate() {
        let name = ["Amber", "Birch", "Cedar", "Dogwood", "Elder", "Fir", "Gorse", "Hazel", "Iris"][round];
        table.put(copy(&item, 1, &[("rev", rev.clone()), ("displayName", text(name))])).await;
        stamped(&cairn).await;
        visitor.search("entity=facility").await.are(&[name]);
        let stamped = table.get("facility::bcparks_1", "campground::1").await.unwrap();
        let stamped: u64 = stamped["rev"].as_n().unwrap().parse().unwrap();
        assert!(stamped > 0 && stamped.is_multiple_of(2), "{stamped}");
    }
    // Older data has no revision.
    let mut before = copy(&item, 1, &[("displayName", text("Juniper"))]);
    before.remove("rev");
    table.put(before.clone()).await;
    stamped(&cairn).await;
    visitor.search("entity=facility").await.are(&["Juniper"]);
    before.insert("sk".to_owned(), text("campground::2"));
    table.put(before).await;
    stamped(&cairn).await;
    visitor.search("entity=facility").await.are(&["Juniper", "Juniper"]);
    // After a stamp the client's entity tag is stale, although its content is not.
    let tag = visitor.get(&format!("{FACILITIES}/campground/1")).await.is(200).tag();
    let admin = cairn.administrator().await;
    admin.patch(&format!("{FACILITIES}/campground/1"), json!({ "displayName": "Kelp" })).if_match(&tag).await.is(200);
    visitor.search("q=kelp").await.are(&["Kelp"]);
    // Only the revision has changed.
    let after = table.get("facility::bcparks_1", "campground::2").await.unwrap();
    let others = |item: &Item| -> Vec<String> {
        let mut names: Vec<String> = item.keys().filter(|name| *name != "rev").cloned().collect();
        names.sort();
        names
    };
    assert_eq!(others(&after), others(&item));
    assert_eq!(cairn.quarantined().await, Vec::new());
}

async fn delete_past_the_platform_writes_a_tombstone() {
    let (cairn, item) = with_campground().await;
    let visitor = cairn.visitor();
    let table = cairn.table();
    table.delete("facility::bcparks_1", "campground::1").await;
    visitor.search("entity=facility").await.is_nothing();
    let tombstone = cairn.document("parks", "facility::bcparks_1#campground::1").await.unwrap();
    assert_eq!((&tombstone["deleted"], tombstone.get("name")), (&json!(true), None));
    assert!(tombstone["deletedAt"].is_string() || tombstone["deletedAt"].is_number(), "{tombstone}");
    // The old record is delivered again, and the deleted item is not restored.
    let late = json!({ "Records": [table.insert_record(&item, 5)] });
    assert_eq!(cairn.event("parks", "mirror", &late).await.unwrap(), json!({ "batchItemFailures": [] }));
    visitor.search("entity=facility").await.is_nothing();
    // The item is found after it was created again with a slow clock.
    table.put(copy(&item, 1, &[("rev", number(2)), ("displayName", text("Again"))])).await;
    stamped(&cairn).await;
    visitor.search("entity=facility").await.are(&["Again"]);
    // A repeated delete removes nothing.
    let late = json!({ "Records": [table.remove_record(&item, 6)] });
    cairn.event("parks", "mirror", &late).await.unwrap();
    stamped(&cairn).await;
    visitor.search("entity=facility").await.are(&["Again"]);
}

async fn delete_and_recreate_converges_in_any_order() {
    let (cairn, item) = with_campground().await;
    let visitor = cairn.visitor();
    let table = cairn.table();
    for at in 2..30 {
        table.put(copy(&item, at, &[("displayName", text("Before"))])).await;
    }
    visitor.search("q=before&limit=1").await;
    let rev: u64 = item["rev"].as_n().unwrap().parse().unwrap();
    // The writes do not wait, so that many are in one batch. Items with even numbers end live, the others deleted.
    for at in 2..30 {
        table.delete("facility::bcparks_1", &format!("campground::{at}")).await;
        let again = [("displayName", text("Reborn")), ("rev", number(if at % 4 < 2 { rev + 10 } else { rev - 10 }))];
        table.put(copy(&item, at, &again)).await;
        if at % 2 == 1 {
            table.delete("facility::bcparks_1", &format!("campground::{at}")).await;
        }
    }
    stamped(&cairn).await;
    visitor.search("q=before").await.is_nothing();
    assert_eq!(visitor.search("q=reborn").await.total(), 14);
    assert_eq!(cairn.quarantined().await, Vec::new());
}

async fn item_with_an_unknown_key_is_ignored() {
    let (cairn, item) = with_campground().await;
    let visitor = cairn.visitor();
    let table = cairn.table();
    let key = |pk: &str, sk: &str| {
        let mut item = copy(&item, 1, &[("displayName", text("Stranger"))]);
        item.insert("pk".to_owned(), text(pk));
        item.insert("sk".to_owned(), text(sk));
        item
    };
    let long = "x".repeat(600);
    let strange = [
        ("stranger", "1"),
        ("facility::bcparks_1", "campground"),
        ("facility", "campground::1"),
        ("collection::x", "y"),
        ("facility::bcparks_1", &format!("campground::{long}")[..]),
    ];
    for (pk, sk) in strange {
        table.put(key(pk, sk)).await;
    }
    table.put(copy(&item, 2, &[("displayName", text("Neighbour"))])).await;
    visitor.search("q=neighbour").await.are(&["Neighbour"]);
    visitor.search("q=stranger").await.is_nothing();
    let markers = by_key(cairn.quarantined().await);
    assert_eq!(markers.len(), strange.len(), "{markers:?}");
    for (pk, sk) in strange {
        let marker = &markers[&format!("{pk}#{sk}")];
        let expected = if sk.len() > 512 { Code::KeyTooLong } else { Code::UnknownKey };
        assert_eq!(marker.code, expected, "{marker:?}");
    }
}

async fn records_of_unsearched_entities_are_skipped() {
    let (cairn, _) = with_campground().await;
    let table = cairn.table();
    for (pk, sk) in [
        ("counter::geozone::bcparks_1", "sequence"),
        ("rel::geozone::bcparks_1::1", "facility::bcparks_1::campground::1"),
        ("upload::x", "upload"),
        ("idempotency#abc", "idempotency"),
    ] {
        let item =
            HashMap::from([("pk".to_owned(), text(pk)), ("sk".to_owned(), text(sk)), ("x".to_owned(), text("y"))]);
        table.put(item).await;
        assert_eq!(cairn.document("parks", &format!("{pk}#{sk}")).await, None);
    }
    // The event's name does not matter.
    let unknown = json!({ "Records": [{
        "eventName": "EXPIRE", "eventSource": "aws:dynamodb", "eventSourceARN": table.stream_arn(),
        "dynamodb": {
            "Keys": { "pk": { "S": "counter::geozone::bcparks_1" }, "sk": { "S": "sequence" } },
            "SequenceNumber": "000000000000000000001", "ApproximateCreationDateTime": 1
        }
    }] });
    assert_eq!(cairn.event("parks", "mirror", &unknown).await.unwrap(), json!({ "batchItemFailures": [] }));
    assert_eq!(cairn.quarantined().await, Vec::new());
}
