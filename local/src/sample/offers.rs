//! Activities, products and their dates, derived from the real places by the rule in `samples/README.md`. They are not
//! real offers.

use serde_json::json;

use super::feature::{Feature, Name, Place};

/// The season of every product: the request that creates its dates.
pub const SEASON: &str = r#"{"from":"2026-05-15","to":"2026-09-30","status":"open"}"#;

/// The number of days of the season.
pub const DATES: u64 = 139;

const NO_OFFER: &str = "A sample, derived by rule from the place of this name; not a real offer.";

/// The activity and product of facilities of one type.
struct Rule {
    sub_type: &'static str,
    activity_type: &'static str,
    /// Prefix of the activity's name, before the facility's.
    activity: &'static str,
    /// Prefix of the product's name, if there is a product.
    product: Option<&'static str>,
}

const RULES: [Rule; 7] = [
    Rule { sub_type: "capitol", activity_type: "dayuse", activity: "Visit", product: None },
    Rule { sub_type: "bathingPlace", activity_type: "dayuse", activity: "Bathing", product: Some("Day ticket") },
    Rule { sub_type: "grove", activity_type: "dayuse", activity: "Picnic", product: None },
    Rule { sub_type: "tentSite", activity_type: "camping", activity: "Camping", product: Some("Tent pitch") },
    Rule { sub_type: "route", activity_type: "hiking", activity: "Hike", product: None },
    Rule { sub_type: "hut", activity_type: "cabinStay", activity: "Night in the hut", product: None },
    Rule { sub_type: "harbour", activity_type: "boating", activity: "Boating", product: None },
];

/// An activity at a facility.
#[derive(Clone, Debug)]
pub struct Activity {
    pub feature: Feature,
    pub facility: Name,
    pub product: Option<Product>,
}

#[derive(Clone, Debug)]
pub struct Product {
    pub name: String,
    /// JSON.
    pub body: String,
}

/// Returns the activity at a place, with the place's location and external id.
pub fn activity(place: &Place) -> Option<Activity> {
    let rule = RULES.iter().find(|rule| rule.sub_type == place.sub_type)?;
    let display_name = format!("{}: {}", rule.activity, place.display_name);
    let body = json!({
        "activityType": rule.activity_type,
        "displayName": display_name,
        "description": NO_OFFER,
        "location": place.location,
        "externalId": place.name.id,
        "isVisible": true,
    });
    let name = Name { list: format!("/parks/activities/{}", place.collection), id: place.name.id.clone() };
    Some(Activity {
        feature: Feature { name, display_name, body: body.to_string() },
        facility: place.name.clone(),
        product: rule.product.map(|title| product(format!("{title}: {}", place.display_name))),
    })
}

fn product(name: String) -> Product {
    let body = json!({
        "displayName": name,
        "description": NO_OFFER,
        "timezone": "Atlantic/Reykjavik",
        "rangeStart": "2026-05-15",
        "rangeEnd": "2026-09-30",
        "isVisible": true,
    });
    Product { name, body: body.to_string() }
}
