//! Changes of structure that are more than one transaction can do: jobs that go on whoever dies.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream;
use serde_json::json;
use table::Engines;
use tokio::runtime::Builder;
use tokio::time::{Instant, sleep};

use super::cascade_time::worker;
use super::cascades_stopped::{job, kept};
use super::products::product;
use super::relationships::{counted, relate, seen, with_camps};
use crate::harness::{Answer, Cairn, Front, User, sized};
use crate::tests;

tests! { cascades:
    #[long] cascade_killed_at_each_batch_ends_the_same,
    #[long] hiding_an_item_with_many_relationships_hides_all_of_them,
    #[long] item_with_98_relationships_is_hidden_by_one_request,
    #[long] deleting_and_restoring_keeps_many_relationships,
    #[long] jobs_work_on_relationships_in_both_directions,
    #[long] products_return_with_an_item_that_is_related_to_their_activity,
    #[long] item_of_an_open_job_cannot_be_deleted_or_moved,
    #[long] item_that_a_job_hides_cannot_be_shown,
    repeated_delete_works_on_the_job_of_the_first,
}

pub const COLLECTION: &str = "/parks/collections/bcparks_1";

/// `bcparks_1` with so many facilities, and relationships: a third of them to one geozone elsewhere, the others between
/// neighbours.
pub async fn with_facilities(facilities: usize, relationships: usize) -> (Cairn, User, User) {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    cairn.collection("other", "Garibaldi").await;
    let zone = json!({ "displayName": "Rubble Creek", "location": [-123, 49.9], "isVisible": true });
    admin.post("/parks/geozones/other", zone).await.is(201);
    let make = |number: usize| {
        let admin = admin.clone();
        async move {
            let new = json!({
                "facilityType": "campground", "displayName": format!("Camp {number}"), "location": [-125.5, 49.5],
                "isVisible": true
            });
            admin.post("/parks/facilities/bcparks_1", new).await.is(201);
        }
    };
    stream::iter(1..=facilities).for_each_concurrent(16, make).await;
    let join = |number: usize| {
        let admin = admin.clone();
        let other = if number.is_multiple_of(3) { "geozone::other/1".to_owned() } else { camp(number + 1) };
        async move {
            relate(&admin, &camp(number), &other).await.is(201);
        }
    };
    stream::iter(1..=relationships).for_each_concurrent(8, join).await;
    (cairn, admin, visitor)
}

pub fn camp(number: usize) -> String {
    format!("facility::bcparks_1/campground::{number}")
}

/// Whether a job has not ended.
pub fn is_open(status: &str) -> bool {
    ["queued", "running"].contains(&status)
}

async fn done(admin: &User, job: &str) -> (String, u64) {
    let job = admin.get(job).await.is(200);
    (job.text("status").to_owned(), job["counts"]["done"].as_u64().unwrap())
}

/// Lets one worker after another die as soon as it has moved the job on; nobody else works. Returns how many it took.
async fn worked_on_by_the_dying(cairn: &Cairn, admin: &User, job: &str) -> usize {
    // The platform's own worker lets go of whatever it takes.
    cairn.engines().wind_down();
    let mut workers = 0;
    let deadline = Instant::now() + Duration::from_secs(400);
    loop {
        let before = done(admin, job).await;
        if !is_open(&before.0) {
            assert_eq!(before.0, "succeeded");
            return workers;
        }
        assert!(Instant::now() < deadline, "it does not come to its end: {before:?}");
        let config = cairn.engines().config.clone();
        let engines = Engines::new(config, cairn.clock.clone());
        let worker = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let app = ::parks::app(Arc::clone(&engines));
        worker.spawn(async move {
            let deadline = Instant::now() + Duration::from_secs(60);
            let _ = app.event("runJobs", "{}".into(), deadline).await;
        });
        let patience = Instant::now() + Duration::from_secs(5);
        while done(admin, job).await == before && Instant::now() < patience {
            sleep(Duration::from_millis(2)).await;
        }
        worker.shutdown_background();
        workers += 1;
        // What it held is anybody's after two minutes.
        cairn.clock.advance(Duration::from_secs(121));
    }
}

/// Waits until the platform's own worker has done it.
pub async fn ended(admin: &User, job: &str) -> Answer {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let read = admin.get(job).await.is(200);
        if !is_open(read.text("status")) {
            assert_eq!(read["status"], "succeeded", "{}", read.told());
            return read;
        }
        assert!(Instant::now() < deadline, "{}", read.told());
        sleep(Duration::from_millis(50)).await;
    }
}

async fn live_facilities(admin: &User) -> usize {
    admin.pages("/parks/facilities/bcparks_1", 100).await.iter().map(|page| page.each("sk").len()).sum()
}

async fn all_related(user: &User, facilities: usize) -> usize {
    let of_each = stream::iter(1..=facilities).map(|number| async move {
        let pages = user.pages(&format!("/parks/relationships/{}?direction=forward", camp(number)), 100).await;
        pages.iter().map(|page| page.each("sk1").len()).sum::<usize>()
    });
    let forward: Vec<usize> = of_each.buffer_unordered(8).collect().await;
    forward.into_iter().sum::<usize>() + seen(user, "geozone::other/1").await.len()
}

async fn sum_of_counters(cairn: &Cairn, facilities: usize) -> u64 {
    let mut sum = counted(cairn, "geozone::other::1").await;
    for number in 1..=facilities {
        sum += counted(cairn, &format!("facility::bcparks_1::campground::{number}")).await;
    }
    let live = cairn.table().get("counter::facility::bcparks_1", "live").await.unwrap();
    sum + live["live"].as_n().unwrap().parse::<u64>().unwrap()
}

async fn cascade_killed_at_each_batch_ends_the_same() {
    let (facilities, relationships) = sized((120, 60), (500, 300));
    let (cairn, admin, visitor) = with_facilities(facilities, relationships).await;
    let new = json!({ "facilityType": "trail", "displayName": "Late", "location": [1, 2] });
    let gone = async || {
        visitor.get(COLLECTION).await.refused(404, "not-found");
        admin.post("/parks/facilities/bcparks_1", new.clone()).await.refused(404, "not-found");
    };
    admin.delete(COLLECTION).await.refused(409, "has-dependents");
    cairn.engines().wind_down();
    let deletion = admin.delete(&format!("{COLLECTION}?cascade=true")).await.is(202);
    let job = deletion.header("location").to_owned();
    gone().await;
    let workers = worked_on_by_the_dying(&cairn, &admin, &job).await;
    assert!(workers >= facilities / 50, "{workers}");
    gone().await;
    assert_eq!((live_facilities(&admin).await, all_related(&admin, facilities).await), (0, 0));
    assert_eq!(sum_of_counters(&cairn, facilities).await, 0);
    let deleted = admin.get("/parks/facilities/bcparks_1/campground/7").await.is(200);
    assert_eq!(deleted["deletedWith"], json!(job.rsplit_once('/').unwrap().1));
    assert_eq!(done(&admin, &job).await.1, facilities as u64);

    let restoring = admin.post(&format!("{COLLECTION}/restore"), json!({})).await.is(202);
    worked_on_by_the_dying(&cairn, &admin, restoring.header("location")).await;
    visitor.get(COLLECTION).await.is(200);
    for user in [&admin, &visitor] {
        assert_eq!((live_facilities(user).await, all_related(user, facilities).await), (facilities, relationships));
    }
    assert_eq!(sum_of_counters(&cairn, facilities).await, (facilities + 2 * relationships) as u64);
    assert!(admin.get(COLLECTION).await.is(200).body.get("busy").is_none());
}

/// Geozone 1, related to this many campgrounds.
pub async fn with_hub(count: usize) -> (Cairn, User, User) {
    let (cairn, admin, visitor) = with_camps(count).await;
    let join = |number: usize| {
        let admin = admin.clone();
        async move {
            relate(&admin, "geozone::bcparks_1/1", &camp(number)).await.is(201);
        }
    };
    stream::iter(1..=count).for_each_concurrent(4, join).await;
    (cairn, admin, visitor)
}

const ZONE: &str = "/parks/geozones/bcparks_1/1";

async fn hiding_an_item_with_many_relationships_hides_all_of_them() {
    let (_cairn, admin, visitor) = with_hub(120).await;
    for visible in [false, true, false] {
        let change = json!({ "isVisible": visible, "description": format!("{visible}") });
        let begun = admin.patch(ZONE, change).await.is(202);
        ended(&admin, begun.header("location")).await;
        let zone = admin.get(ZONE).await.is(200);
        assert_eq!((&zone["isVisible"], zone.text("description")), (&json!(visible), visible.to_string().as_str()));
        assert!(zone.body.get("busy").is_none());
        let expected = if visible { 120 } else { 0 };
        assert_eq!(seen(&visitor, "geozone::bcparks_1/1").await.len(), expected);
        assert_eq!(seen(&visitor, &camp(77)).await.len(), usize::from(visible));
        assert_eq!(seen(&admin, "geozone::bcparks_1/1").await.len(), 120);
    }
}

async fn item_with_98_relationships_is_hidden_by_one_request() {
    let (_cairn, admin, visitor) = with_hub(98).await;
    admin.patch(ZONE, json!({ "isVisible": false })).await.is(200);
    for item in ["geozone::bcparks_1/1".to_owned(), camp(77)] {
        assert!(seen(&visitor, &item).await.is_empty());
    }
    // The guard of the external id is one more than a transaction takes.
    let begun = admin.patch(ZONE, json!({ "isVisible": true, "externalId": "hub" })).await.is(202);
    ended(&admin, begun.header("location")).await;
    assert_eq!(seen(&visitor, "geozone::bcparks_1/1").await.len(), 98);
}

async fn deleting_and_restoring_keeps_many_relationships() {
    let (cairn, admin, visitor) = with_hub(60).await;
    let conflicts = cairn.conflicts(0.3);
    admin.delete(&format!("{ZONE}?cascade=true")).await.is(204);
    visitor.get(ZONE).await.refused(404, "not-found");
    relate(&admin, "geozone::bcparks_1/1", &camp(1)).await.refused(404, "not-found");
    assert_eq!(counted(&cairn, "geozone::bcparks_1::1").await, 0);
    assert!(seen(&admin, &camp(60)).await.is_empty());
    admin.delete("/parks/facilities/bcparks_1/campground/60").await.is(204);

    let begun = admin.post(&format!("{ZONE}/restore"), json!({})).await.is(202);
    ended(&admin, begun.header("location")).await;
    assert_eq!(seen(&visitor, "geozone::bcparks_1/1").await.len(), 59);
    admin.post("/parks/facilities/bcparks_1/campground/60/restore", json!({})).await.is(200);
    assert_eq!(seen(&visitor, "geozone::bcparks_1/1").await.len(), 60);
    assert_eq!(counted(&cairn, "geozone::bcparks_1::1").await, 60);
    let retype = admin
        .post(&format!("{}/retype", "/parks/facilities/bcparks_1/campground/2"), json!({ "facilityType": "trail" }));
    retype.await.is(200);
    assert!(conflicts.count() > 0, "no conflict occurred");
}

/// Of two facilities, the one with the smaller key is the first of their relationship.
async fn jobs_work_on_relationships_in_both_directions() {
    let (cairn, admin, visitor) = with_camps(111).await;
    let (hub, path) = (camp(50), "/parks/facilities/bcparks_1/campground/50");
    let join = |number: usize| {
        let (admin, hub) = (admin.clone(), hub.clone());
        async move {
            relate(&admin, &hub, &camp(number)).await.is(201);
        }
    };
    let others = (1..=111).filter(|number| *number != 50);
    stream::iter(others).for_each_concurrent(4, join).await;
    for visible in [false, true] {
        let begun = admin.patch(path, json!({ "isVisible": visible })).await.is(202);
        ended(&admin, begun.header("location")).await;
        assert_eq!(seen(&visitor, &hub).await.len(), if visible { 110 } else { 0 });
        assert_eq!(seen(&admin, &hub).await.len(), 110);
    }
    // No worker of the platform takes the job.
    cairn.engines().wind_down();
    let begun = admin.delete(&format!("{path}?cascade=true")).await.is(202);
    worker(&cairn, cairn.engines().config.clone(), Duration::from_secs(60)).await;
    ended(&admin, begun.header("location")).await;
    visitor.get(path).await.refused(404, "not-found");
    assert_eq!(counted(&cairn, "facility::bcparks_1::campground::50").await, 0);
    for number in [1, 77] {
        assert!(seen(&admin, &camp(number)).await.is_empty());
    }
}

/// One transaction restores the geozone and some of the products, and checks the activity for both.
async fn products_return_with_an_item_that_is_related_to_their_activity() {
    let (cairn, admin, visitor) = with_facilities(30, 0).await;
    let zone = json!({ "displayName": "Bedwell Lakes", "location": [-125.589, 49.498], "isVisible": true });
    admin.post("/parks/geozones/bcparks_1", zone).await.is(201);
    let activity = json!({ "activityType": "dayuse", "displayName": "Day use", "isVisible": true });
    admin.post("/parks/activities/bcparks_1", activity).await.is(201);
    for number in 1..=20 {
        admin.post("/parks/products/bcparks_1/dayuse/1", product(&format!("Pass {number}"))).await.is(201);
    }
    relate(&admin, "geozone::bcparks_1/1", "activity::bcparks_1/dayuse::1").await.is(201);
    // The platform's own worker lets go of whatever it takes.
    cairn.engines().wind_down();
    let live = kept(&cairn).await;
    let begun = admin.delete(&format!("{COLLECTION}?cascade=true")).await.is(202);
    job(&cairn, &admin, begun.header("location"), None).await;
    let begun = admin.post(&format!("{COLLECTION}/restore"), json!({})).await.is(202);
    job(&cairn, &admin, begun.header("location"), None).await;
    assert!(kept(&cairn).await == live, "restored, it is not what it was");
    assert_eq!(seen(&visitor, "geozone::bcparks_1/1").await, ["dayuse::1"]);
}

async fn item_of_an_open_job_cannot_be_deleted_or_moved() {
    let (cairn, admin, _) = with_hub(60).await;
    // No worker of the platform takes the job.
    cairn.engines().wind_down();
    let begun = admin.delete(&format!("{ZONE}?cascade=true")).await.is(202);
    assert_eq!(admin.get(ZONE).await.is(200)["busy"], true);
    admin.post(&format!("{ZONE}/restore"), json!({})).await.refused(409, "busy");
    let again = admin.delete(ZONE).await.is(202);
    assert_eq!(again.header("location"), begun.header("location"));
    admin.patch(ZONE, json!({ "isVisible": false })).await.refused(404, "not-found");
    worked_on_by_the_dying(&cairn, &admin, begun.header("location")).await;
    let begun = admin.post(&format!("{ZONE}/restore"), json!({})).await.is(202);
    admin.delete(&format!("{ZONE}?cascade=true")).await.refused(409, "busy");
    admin.patch(ZONE, json!({ "isVisible": false })).await.refused(409, "busy");
    admin.patch(ZONE, json!({ "description": "Back." })).await.is(200);
    // One of those that are still to come back.
    relate(&admin, "geozone::bcparks_1/1", &camp(1)).await.refused(409, "busy");
    worked_on_by_the_dying(&cairn, &admin, begun.header("location")).await;
    assert_eq!(admin.get(ZONE).await.is(200)["description"], "Back.");
    assert_eq!(seen(&admin, "geozone::bcparks_1/1").await.len(), 60);
}

/// The item itself is visible until the job ends, so to show it seems to change nothing.
async fn item_that_a_job_hides_cannot_be_shown() {
    let (cairn, admin, visitor) = with_hub(120).await;
    cairn.engines().wind_down();
    let begun = admin.patch(ZONE, json!({ "isVisible": false })).await.is(202);
    for visible in [true, false] {
        admin.patch(ZONE, json!({ "isVisible": visible })).await.refused(409, "busy");
    }
    assert_eq!(admin.patch(ZONE, json!({ "description": "Wet." })).await.is(200)["busy"], true);
    worked_on_by_the_dying(&cairn, &admin, begun.header("location")).await;
    visitor.get(ZONE).await.refused(404, "not-found");
    assert_eq!(admin.get(ZONE).await.is(200)["isVisible"], false);
    let begun = admin.patch(ZONE, json!({ "isVisible": true })).await.is(202);
    worked_on_by_the_dying(&cairn, &admin, begun.header("location")).await;
    assert_eq!(visitor.get(ZONE).await.is(200)["description"], "Wet.");
}

async fn repeated_delete_works_on_the_job_of_the_first() {
    let (cairn, admin, visitor) = with_hub(40).await;
    let config = cairn.engines().config.clone();
    let token = cairn.token("ada", &["parks-admin"]).await;
    // The request that begins the deletion has no time for it.
    cairn.engines().wind_down();
    let front = Front::of(cairn, config).await;
    let again = front.user("administrator", &token);
    let begun = admin.delete(&format!("{ZONE}?cascade=true")).await.is(202);
    assert!(counted(&front.cairn, "geozone::bcparks_1::1").await > 0);
    visitor.delete(ZONE).await.refused(401, "not-signed-in");
    again.delete(&format!("{ZONE}?cascade=true")).await.is(204);
    assert_eq!(admin.get(begun.header("location")).await.is(200)["status"], "succeeded");
    assert_eq!(counted(&front.cairn, "geozone::bcparks_1::1").await, 0);
    for user in [&admin, &again] {
        user.delete(&format!("{ZONE}?cascade=true")).await.refused(404, "not-found");
    }
}
