//! What becomes of the attributes of each kind of item.

use serde_json::{Value, json};

use super::*;

fn documented(name: &str, item: &Value) -> Result<Value, Unfit> {
    let entity =
        crate::schema::SYSTEM.tables.iter().flat_map(|table| table.entities).find(|entity| entity.name == name);
    let text = item.to_string();
    match mirror::Documents::document(&Parks, entity.unwrap(), &Image::parse(&text).unwrap())? {
        Found::Document(document) => Ok(serde_json::from_str(&format!("{{{}}}", document.fields())).unwrap()),
        Found::Hidden => Ok(Value::Null),
    }
}

/// A facility with every attribute that a document is made of.
fn facility() -> Value {
    json!({
        "pk": {"S": "facility::bcparks_1"}, "sk": {"S": "campground::1"}, "rev": {"N": "2"}, "entity": {"S": "facility"},
        "globalId": {"S": "0198"}, "collectionId": {"S": "bcparks_1"}, "displayName": {"S": "Bear Camp"},
        "description": {"S": "Quiet."}, "searchTerms": {"L": [{"S": "den"}, {"S": "cave"}]},
        "imageUrls": {"L": [{"S": "https://example.org/1.jpg"}, {"S": "https://example.org/2.jpg"}]},
        "isVisible": {"BOOL": true}, "isDeleted": {"BOOL": false}, "adminNotes": {"S": "den nearby"},
        "createdAt": {"S": "2026-01-01T00:00:00.000000Z"}, "createdBy": {"S": "local:ada"},
        "updatedAt": {"S": "2026-01-02T00:00:00.000000Z"}, "updatedBy": {"S": "local:bob"},
        "number": {"N": "1"}, "minMapZoom": {"N": "3"}, "maxMapZoom": {"N": "12"}, "externalId": {"S": "A-1"},
        "location": {"L": [{"N": "-125.50000001"}, {"N": "49.6"}, {"N": "120"}]},
        "envelope": {"L": [{"N": "-126"}, {"N": "49.3"}, {"N": "-124.8"}, {"N": "49.9"}]},
        "boundary": {"S": "{}"},
        "pathRef": {"M": {
            "url": {"S": "s3://bucket/geometries/ab.geojson"}, "sha256": {"S": "ab"}, "bytes": {"N": "9000"},
            "positions": {"N": "400"}, "parts": {"N": "1"}, "type": {"S": "LineString"},
            "envelope": {"L": [{"N": "1"}, {"N": "2"}, {"N": "3"}, {"N": "4"}]},
            "tolerances": {"M": {"coarse": {"N": "0"}}}
        }},
        "facilityType": {"S": "campground"}, "subType": {"S": "rustic"}, "address": {"S": "1 Lake Road"},
        "isOpen": {"BOOL": true}, "showOnMap": {"BOOL": false}, "listPk": {"S": "facility::bcparks_1"}
    })
}

#[test]
fn a_facility_has_these_fields_and_no_others() {
    let expected = json!({
        "globalId": "0198", "collectionId": "bcparks_1", "rank": 2, "name": "Bear Camp", "wholeName": "0begin0 Bear Camp 0end0",
        "nameOrder": "Bear Camp", "nameLength": 9, "description": "Quiet.", "image": "https://example.org/1.jpg",
        "searchTerms": ["den", "cave"], "wholeTerms": ["0begin0 den 0end0", "0begin0 cave 0end0"], "isVisible": true, "isDeleted": false, "adminNotes": "den nearby",
        "createdAt": "2026-01-01T00:00:00.000000Z", "createdBy": "local:ada",
        "updatedAt": "2026-01-02T00:00:00.000000Z", "updatedBy": "local:bob",
        "number": 1, "minMapZoom": 3, "maxMapZoom": 12, "externalId": "A-1",
        "location": [-125.50000001, 49.6, 120], "envelope": "-126,49.3,-124.8,49.9", "extentArea": 5_769_750_191_i64,
        "type": "campground", "subType": "rustic", "address": "1 Lake Road", "isOpen": true, "showOnMap": false
    });
    assert_eq!(documented("facility", &facility()), Ok(expected));
}

fn product() -> Value {
    json!({
        "pk": {"S": "product::bcparks_1::dayuse::1"}, "sk": {"S": "2"}, "rev": {"N": "10"},
        "entity": {"S": "product"}, "globalId": {"S": "0199"}, "collectionId": {"S": "bcparks_1"},
        "displayName": {"S": "Day pass"}, "isVisible": {"BOOL": true}, "isDeleted": {"BOOL": false},
        "number": {"N": "2"}, "activityType": {"S": "dayuse"},
        "openRanges": {"L": [{"S": "2025-12-31/2026-01-01"}, {"S": "2026-01-03/2026-01-03"}]}
    })
}

fn activity() -> Value {
    let mut activity = facility();
    (activity["pk"], activity["sk"]) = (json!({"S": "activity::bcparks_1"}), json!({"S": "dayuse::1"}));
    for other in ["facilityType", "address", "isOpen", "showOnMap"] {
        activity.as_object_mut().unwrap().remove(other);
    }
    activity["activityType"] = json!({"S": "dayuse"});
    activity
}

#[test]
fn a_product_has_its_open_days_and_the_key_of_its_activity() {
    let expected = json!({
        "globalId": "0199", "collectionId": "bcparks_1", "rank": 4, "name": "Day pass",
        "wholeName": "0begin0 Day pass 0end0", "nameOrder": "Day pass", "nameLength": 8, "isVisible": true, "isDeleted": false,
        "number": 2, "type": "dayuse", "activityKey": "activity::bcparks_1#dayuse::1",
        "openDates": ["2025-12-31", "2026-01-01", "2026-01-03"]
    });
    assert_eq!(documented("product", &product()), Ok(expected));
    let activity = documented("activity", &activity()).unwrap();
    assert_eq!(
        (&activity["type"], &activity["activityKey"]),
        (&json!("dayuse"), &json!("activity::bcparks_1#dayuse::1"))
    );
}

#[test]
fn ranges_that_are_no_ranges_are_unfit() {
    let long = json!({"S": "1900-01-01/2199-12-31"});
    for wrong in [json!({"S": "2025-12-31"}), json!({"S": "2026-01-02/2026-01-01"}), json!({"N": "1"}), long] {
        let mut item = product();
        item["openRanges"] = json!({"L": [wrong]});
        assert_eq!(documented("product", &item).unwrap_err().attribute, "openRanges");
    }
    let mut foreign = product();
    foreign["pk"] = json!({"S": "product::bcparks_1::walking::1"});
    assert_eq!(documented("product", &foreign).unwrap_err().attribute, "pk");
}

#[test]
fn every_field_is_in_the_mapping() {
    let mapping: Value = serde_json::from_str(MAPPING.body).unwrap();
    let known = mapping["mappings"]["properties"].as_object().unwrap();
    for (entity, item) in [("facility", facility()), ("activity", activity()), ("product", product())] {
        for name in documented(entity, &item).unwrap().as_object().unwrap().keys() {
            assert!(known.contains_key(name), "{name}");
        }
    }
    for shape in ["boundary", "path"] {
        for field in ["", "Status", "Tolerance", "Outline"] {
            assert!(known.contains_key(&format!("{shape}{field}")), "{shape}{field}");
        }
    }
}

#[test]
fn an_attribute_of_another_type_is_unfit() {
    let unread = ["pk", "sk", "rev", "entity", "listPk"];
    for (entity, whole) in [("facility", facility()), ("activity", activity()), ("product", product())] {
        for name in whole.as_object().unwrap().keys().filter(|name| !unread.contains(&name.as_str())) {
            for wrong in
                [json!({"S": "x"}), json!({"N": "1"}), json!({"BOOL": true}), json!({"NULL": true}), json!({"M": {}})]
            {
                let mut item = whole.clone();
                let same_type = whole[name].as_object().unwrap().keys().eq(wrong.as_object().unwrap().keys());
                item[name] = wrong;
                let read = documented(entity, &item);
                assert_eq!(read.is_ok(), same_type && name != "pathRef", "{name}: {:?}", item[name]);
            }
        }
    }
}

#[test]
fn a_collection_or_a_bare_item_has_what_it_has() {
    let bare = json!({"pk": {"S": "collection"}, "sk": {"S": "a"}});
    let hidden = |rank: u8| json!({"isVisible": false, "isDeleted": false, "rank": rank});
    assert_eq!(documented("collection", &bare), Ok(hidden(0)));
    assert_eq!(documented("geozone", &bare), Ok(hidden(1)));
}

#[test]
fn a_shape_is_the_items_own_text_or_the_object_it_names() {
    let item = facility();
    let text = item.to_string();
    let image = Image::parse(&text).unwrap();
    assert_eq!(shape(&image, "boundary", "boundaryRef"), Ok(Some(ShapeSource::Inline("{}".to_owned()))));
    let object = StoredShape {
        sha256: "ab".to_owned(),
        bytes: 9000,
        positions: 400,
        envelope: ["1", "2", "3", "4"].map(str::to_owned),
        fine_tolerance: None,
        coarse_tolerance: "0".to_owned(),
    };
    assert_eq!(shape(&image, "path", "pathRef"), Ok(Some(ShapeSource::Object(object))));
    assert_eq!(shape(&image, "none", "noneRef"), Ok(None));
}
