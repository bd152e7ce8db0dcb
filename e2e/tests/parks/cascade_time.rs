//! Jobs and the time that they have: a request works on a cascade for some seconds, a run of the worker for a minute.

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use table::{Config, Engines};
use tokio::time::Instant;

use super::cascades::{COLLECTION, ended, with_facilities, with_hub};
use super::cascades_stopped;
use super::products::product;
use super::relationships::seen;
use crate::harness::delay::Delay;
use crate::harness::stopper::Moment;
use crate::harness::{Cairn, User, sized};
use crate::tests;

tests! { cascade_time:
    short_cascade_has_ended_when_204_is_returned,
    descendants_stay_visible_until_the_cascade_reaches_them,
    #[long] run_starts_no_batch_that_would_exceed_its_deadline,
    #[long] run_stopped_during_a_batch_releases_its_lease,
    #[long] hiding_includes_a_relationship_that_moves_before_the_checkpoint,
    #[long] job_without_progress_is_stalled_until_its_cause_is_removed,
}

const CHILD: &str = "/parks/facilities/bcparks_1/campground/1";

async fn short_cascade_has_ended_when_204_is_returned() {
    let count = sized(60, 300);
    let (_cairn, admin, visitor) = with_facilities(count, count - 1).await;
    let activity = json!({ "activityType": "dayuse", "displayName": "Day use", "isVisible": true });
    admin.post("/parks/activities/bcparks_1", activity).await.is(201);
    for number in 1..=5 {
        admin.post("/parks/products/bcparks_1/dayuse/1", product(&format!("Pass {number}"))).await.is(201);
    }
    let began = Instant::now();
    let answer = admin.delete(&format!("{COLLECTION}?cascade=true")).await;
    // A busy machine may take more than the request has for the larger one.
    if answer.status == 202 && count > 60 {
        ended(&admin, answer.header("location")).await;
    } else {
        assert_eq!(answer.is(204).header("location"), "");
    }
    println!("a cascade over {} items took {:.1} s", count + 7, began.elapsed().as_secs_f64());
    for path in [COLLECTION, CHILD, "/parks/products/bcparks_1/dayuse/1/5"] {
        visitor.get(path).await.refused(404, "not-found");
    }
    visitor.search("collectionId=bcparks_1").await.is_nothing();
    let jobs = admin.get("/parks/jobs").await.is(200);
    assert!(jobs.each("status").iter().all(|status| **status == "succeeded"), "{}", jobs.told());
}

/// Nothing is promised of the children before the job has ended.
async fn descendants_stay_visible_until_the_cascade_reaches_them() {
    let (cairn, admin, visitor) = with_facilities(sized(60, 120), 0).await;
    // No worker of the platform takes the job.
    cairn.engines().wind_down();
    let begun = admin.delete(&format!("{COLLECTION}?cascade=true")).await.is(202);
    visitor.get(COLLECTION).await.refused(404, "not-found");
    visitor.get(CHILD).await.is(200);
    let job = begun.header("location");
    assert_eq!(begun["status"], "running");
    worker(&cairn, cairn.engines().config.clone(), Duration::from_secs(60)).await;
    ended(&admin, job).await;
    visitor.get(CHILD).await.refused(404, "not-found");
    visitor.search("collectionId=bcparks_1").await.is_nothing();
}

/// A run of the worker with so much time.
pub async fn worker(cairn: &Cairn, config: Config, time: Duration) {
    let app = ::parks::app(Engines::new(config, cairn.clock.clone()));
    app.event("runJobs", "{}".into(), Instant::now() + time).await.unwrap();
}

/// A deletion of more batches than one that nobody works on, and its job.
async fn begun() -> (Cairn, User, String) {
    let (cairn, admin, _) = with_hub(60).await;
    cairn.engines().wind_down();
    let begun = admin.delete("/parks/geozones/bcparks_1/1?cascade=true").await.is(202);
    let job = begun.header("location").to_owned();
    (cairn, admin, job)
}

/// Whether a worker holds the lease of a job.
async fn is_held(cairn: &Cairn, job: &str) -> bool {
    let id = job.rsplit('/').next().unwrap();
    let due = cairn.table().get(&format!("job::{id}"), "due").await.unwrap();
    let (_, until) = due["listSk"].as_s().unwrap().rsplit_once(' ').unwrap();
    *until > *table::clock::rfc3339(cairn.clock.now())
}

async fn run_starts_no_batch_that_would_exceed_its_deadline() {
    let (cairn, _admin, job) = begun().await;
    let config = cairn.engines().config.clone();
    let second = Duration::from_secs(1);
    let delay = Delay::before(config.dynamodb.clone().unwrap(), second * 2, Moment::BeforeItIsSent).await;
    // After the first batch there is time for another of that length, and not for one that takes a little more.
    worker(&cairn, Config { dynamodb: Some(delay.url.clone()), ..config }, second * 6).await;
    assert_eq!(delay.carried_out(), 1);
    assert!(!is_held(&cairn, &job).await);
}

async fn run_stopped_during_a_batch_releases_its_lease() {
    for moment in Moment::BOTH {
        let (cairn, admin, job) = begun().await;
        let config = cairn.engines().config.clone();
        let never = Duration::from_secs(600);
        let delay = Arc::new(Delay::before(config.dynamodb.clone().unwrap(), never, moment).await);
        let config = Config { dynamodb: Some(delay.url.clone()), ..config };
        worker(&cairn, config.clone(), Duration::from_secs(5)).await;
        assert!(delay.sent() > 0, "{moment:?}");
        assert!(!is_held(&cairn, &job).await, "{moment:?}");
        // Nobody waits for the end of a lease.
        delay.end();
        worker(&cairn, config, Duration::from_secs(60)).await;
        assert_eq!(admin.get(&job).await.is(200)["status"], "succeeded", "{moment:?}");
    }
}

/// The relationships are in the order of their keys, and the last one gets another key after the first batch.
async fn hiding_includes_a_relationship_that_moves_before_the_checkpoint() {
    let (cairn, admin, visitor) = with_hub(120).await;
    cairn.engines().wind_down();
    let begun = admin.patch("/parks/geozones/bcparks_1/1", json!({ "isVisible": false })).await.is(202);
    let job = begun.header("location");
    cascades_stopped::worker(&cairn, Some((1, Moment::BeforeItIsSent))).await;
    assert!(admin.get(job).await.is(200)["counts"]["done"].as_u64() > Some(0));
    let last = "/parks/facilities/bcparks_1/campground/99";
    admin.post(&format!("{last}/retype"), json!({ "facilityType": "accessPoint" })).await.is(200);
    worker(&cairn, cairn.engines().config.clone(), Duration::from_secs(60)).await;
    assert_eq!(admin.get(job).await.is(200)["status"], "succeeded");
    let moved = "facility::bcparks_1/accessPoint::99";
    assert_eq!((seen(&visitor, moved).await.len(), seen(&admin, moved).await.len()), (0, 1));
    assert!(seen(&visitor, "geozone::bcparks_1/1").await.is_empty());
}

async fn job_without_progress_is_stalled_until_its_cause_is_removed() {
    let (cairn, admin, job) = begun().await;
    let counter = cairn.table().get("counter::rel::geozone::bcparks_1::1", "live").await.unwrap();
    let mut broken = counter.clone();
    broken.insert("live".to_owned(), AttributeValue::S("many".to_owned()));
    cairn.table().put(broken).await;
    let app = ::parks::app(Engines::new(cairn.engines().config.clone(), cairn.clock.clone()));
    for _ in 0..10 {
        assert!(admin.get(&job).await.is(200).body.get("stalled").is_none());
        app.event("runJobs", "{}".into(), Instant::now() + Duration::from_secs(60)).await.unwrap_err();
    }
    let stalled = admin.get(&job).await.is(200);
    assert_eq!((stalled.text("status"), &stalled["stalled"]), ("running", &json!(true)));
    cairn.table().put(counter).await;
    worker(&cairn, cairn.engines().config.clone(), Duration::from_secs(60)).await;
    let ended = admin.get(&job).await.is(200);
    assert_eq!((ended.text("status"), ended.body.get("stalled")), ("succeeded", None));
}
