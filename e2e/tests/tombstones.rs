//! The retention of tombstones in search.

use std::time::Duration;

use ::mirror::SWEEP;
use aws_sdk_dynamodb::types::AttributeValue;
use local::systems;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::table::text;
use crate::harness::{Cairn, Setup};
use crate::mirror::{campground, copy};
use crate::tests;

tests! { tombstones:
    tombstones_are_swept_after_a_day,
    #[long] each_system_sweeps_its_old_tombstones,
}

async fn tombstones_are_swept_after_a_day() {
    let cairn = Cairn::with_strathcona().await;
    let item = campground(&cairn).await;
    let (visitor, table) = (cairn.visitor(), cairn.table());
    table.put(copy(&item, 2, &[("displayName", text("Another"))])).await;
    table.delete("facility::bcparks_1", "campground::1").await;
    cairn.caught_up().await;
    let sweep = async || cairn.event("parks", SWEEP, &json!({})).await.unwrap();
    let tombstone = async || cairn.document("parks", "facility::bcparks_1#campground::1").await;
    cairn.clock.advance(Duration::from_secs(24 * 3600));
    sweep().await;
    assert_eq!(tombstone().await.unwrap()["deleted"], true);
    cairn.clock.advance(Duration::from_secs(2 * 3600));
    sweep().await;
    assert_eq!(tombstone().await, None);
    visitor.search("entity=facility").await.are(&["Another"]);
    // An item that is created again with the present clock is found at once, although OpenSearch remembers the delete
    // for another minute.
    let rev = AttributeValue::N((2 * cairn.clock.micros()).to_string());
    table.put(copy(&item, 1, &[("displayName", text("Again")), ("rev", rev)])).await;
    cairn.caught_up().await;
    visitor.search("entity=facility").await.are(&["Again", "Another"]);
}

async fn each_system_sweeps_its_old_tombstones() {
    for served in systems::ALL {
        let system = served.system.name;
        let cairn = Cairn::with(Setup::of(system)).await;
        let index = format!("{}-000001", cairn.engines().config.search_name(system));
        let keep = async |id: &str, document: Value| {
            let path = format!("/{index}/_doc/{id}%231?version=11&version_type=external&refresh=true");
            cairn.search_engine(Method::PUT, &path, &document).await;
        };
        let hours_ago = |hours: i64| cairn.clock.seconds() * 1000 - hours * 3_600_000;
        let deleted = |hours| json!({ "pk": system, "deleted": true, "deletedAt": hours_ago(hours) });
        keep("live", json!({ "pk": system })).await;
        keep("young", deleted(24)).await;
        keep("old", deleted(26)).await;
        cairn.event(system, SWEEP, &json!({})).await.unwrap();
        let left = async |id: &str| cairn.document(system, &format!("{id}#1")).await.is_some();
        assert_eq!((left("live").await, left("young").await, left("old").await), (true, true, false), "{system}");
    }
}
