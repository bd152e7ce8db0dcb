//! A deletion and a restoration whose workers die at each of their batches in turn.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use table::{Config, Engines};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::cascades::{COLLECTION, camp, is_open, with_facilities};
use super::products::product;
use super::relationships::{relate, seen};
use crate::harness::stopper::{Moment, Stopper};
use crate::harness::table::Item;
use crate::harness::{Answer, Cairn, Set, Test, User, engines, sized};

/// How often is in the name.
pub fn tests() -> Vec<Test> {
    let (times, told) = if engines::set() == Set::Real { (10, "ten") } else { sized((10, "ten"), (100, "a_hundred")) };
    let meanwhile: [Test; 5] = [
        Test::new(
            "cascades::delete_during_restore_waits_for_the_restore",
            what_comes_back_is_back_before_it_goes_again,
        ),
        Test::new("cascades::restore_skips_descendants_deleted_in_between", what_is_deleted_meanwhile_keeps_its_own)
            .long(),
        Test::new("cascades::restore_checks_the_activity_of_a_product", activity_is_deleted_before_its_products_return)
            .long(),
        Test::new("cascades::item_with_an_unfinished_job_is_busy", what_is_half_done_is_busy).long(),
        Test::new("cascades::relationships_of_a_deleted_item_go_before_its_children", its_relationships_go_first),
    ];
    let crash = Test::new(format!("cascades::cascade_killed_{told}_times_ends_the_same"), move || killed(times)).long();
    [crash].into_iter().chain(meanwhile).collect()
}

const FACILITIES: usize = 50;
const RELATIONSHIPS: usize = 30;

/// Ten facilities, each with its relationships' counter and its partition's.
const BATCH: usize = 33;

/// What the table holds but for the jobs themselves, and but for when it was written.
pub async fn kept(cairn: &Cairn) -> BTreeMap<(String, String), Item> {
    let mut kept = BTreeMap::new();
    for mut item in cairn.table().items().await {
        let key = ["pk", "sk"].map(|name| item[name].as_s().unwrap().clone());
        for name in ["rev", "updatedAt", "updatedBy"] {
            item.remove(name);
        }
        if !key[0].starts_with("job::") {
            kept.insert(key.into(), item);
        }
    }
    kept
}

/// A worker of small batches, which dies where it is told to. Returns how many transactions it sent.
pub async fn worker(cairn: &Cairn, dies: Option<(usize, Moment)>) -> usize {
    let (stopper, run) = start_worker(cairn, dies).await;
    let abort = run.abort_handle();
    tokio::select! {
        done = run => done.unwrap(),
        () = stopper.stopped() => abort.abort(),
    }
    // What it held is anybody's after two minutes.
    cairn.clock.advance(Duration::from_secs(121));
    stopper.writes()
}

/// Starts a worker of small batches whose requests go through a stopper.
async fn start_worker(cairn: &Cairn, held: Option<(usize, Moment)>) -> (Stopper, JoinHandle<()>) {
    let config = cairn.engines().config.clone();
    let stopper = Stopper::before(config.dynamodb.clone().unwrap(), held).await;
    let config = Config { dynamodb: Some(stopper.url.clone()), batch: BATCH, ..config };
    let app = ::parks::app(Engines::new(config, cairn.clock.clone()));
    let run = tokio::spawn(async move {
        let deadline = Instant::now() + Duration::from_secs(120);
        app.event("runJobs", "{}".into(), deadline).await.unwrap();
    });
    (stopper, run)
}

/// Does a job to its end, with one worker that dies. Returns how many transactions took the job on.
pub async fn job(cairn: &Cairn, admin: &User, job: &str, dies: Option<(usize, Moment)>) -> usize {
    let mut transactions = 0;
    if let Some((number, _)) = dies {
        while transactions == 0 {
            transactions = worker(cairn, dies).await;
        }
        assert_eq!(transactions, number + 1, "it did not come to where it dies");
        assert!(is_open(admin.get(job).await.is(200).text("status")));
    }
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        transactions += worker(cairn, None).await;
        let read = admin.get(job).await.is(200);
        if read["status"] == "succeeded" {
            return transactions;
        }
        assert!(Instant::now() < deadline, "it does not come to its end: {}", read.told());
    }
}

async fn killed(times: usize) {
    let (cairn, admin, visitor) = with_facilities(FACILITIES, RELATIONSHIPS).await;
    // The platform's own worker lets go of whatever it takes.
    cairn.engines().wind_down();
    let delete =
        async || admin.delete(&format!("{COLLECTION}?cascade=true")).await.is(202).header("location").to_owned();
    let restore =
        async || admin.post(&format!("{COLLECTION}/restore"), json!({})).await.is(202).header("location").to_owned();
    let live = kept(&cairn).await;
    let batches_of_deletion = job(&cairn, &admin, &delete().await, None).await;
    let gone = kept(&cairn).await;
    assert!(gone.keys().any(|(pk, _)| pk.starts_with("detached::")) && gone != live);
    let batches_of_restoration = job(&cairn, &admin, &restore().await, None).await;
    assert!(kept(&cairn).await == live, "restored, it is not what it was");
    assert!(batches_of_deletion > 5 && batches_of_restoration > 5);

    for round in 0..times / 2 {
        let moment = if round % 2 == 0 { Moment::BeforeItIsSent } else { Moment::AfterItIsDone };
        // After the last batch nothing is left to do.
        let dies = |batches: usize| Some((round / 2 % (batches - 1), moment));
        let deletion = delete().await;
        visitor.get(COLLECTION).await.refused(404, "not-found");
        job(&cairn, &admin, &deletion, dies(batches_of_deletion)).await;
        for (key, item) in kept(&cairn).await {
            assert!(!key.0.starts_with("rel::"), "{key:?} is left in round {round}");
            let deleted =
                !item.contains_key("entity") || item.get("isDeleted").is_some_and(|is| *is.as_bool().unwrap());
            assert!(deleted || key.0.ends_with("other") || key.1 == "other", "{key:?} is left in round {round}");
            let count = item.get("live").map_or("0", |count| count.as_n().unwrap());
            assert!(count == "0" || key.0.ends_with("::other"), "{key:?} counts {count} in round {round}");
        }
        job(&cairn, &admin, &restore().await, dies(batches_of_restoration)).await;
        assert!(kept(&cairn).await == live, "restored in round {round}, it is not what it was");
        visitor.get(COLLECTION).await.is(200);
    }
}

const ACTIVITY: &str = "/parks/activities/bcparks_1/dayuse/1";
const PRODUCTS: usize = 60;

/// `bcparks_1` with an activity of more products than go in one transaction.
async fn with_products() -> (Cairn, User) {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    let activity = json!({ "activityType": "dayuse", "displayName": "Day use", "isVisible": true });
    admin.post("/parks/activities/bcparks_1", activity).await.is(201);
    for number in 0..PRODUCTS {
        admin.post("/parks/products/bcparks_1/dayuse/1", product(&format!("Product {number}"))).await.is(201);
    }
    // The platform's own worker lets go of whatever it takes.
    cairn.engines().wind_down();
    (cairn, admin)
}

async fn products(admin: &User) -> usize {
    admin.pages("/parks/products/bcparks_1/dayuse/1", 100).await.iter().map(|page| page.each("sk").len()).sum()
}

/// Has all open jobs done, and this one.
async fn done(cairn: &Cairn, admin: &User, begun: &Answer) {
    job(cairn, admin, begun.header("location"), None).await;
}

async fn what_comes_back_is_back_before_it_goes_again() {
    let (cairn, admin) = with_products().await;
    done(&cairn, &admin, &admin.delete(&format!("{ACTIVITY}?cascade=true")).await.is(202)).await;
    assert_eq!(products(&admin).await, 0);
    let back = admin.post(&format!("{ACTIVITY}/restore"), json!({})).await.is(202);
    // It is live now, and its products are still to come.
    let gone = admin.delete(&format!("{COLLECTION}?cascade=true")).await.is(202);
    done(&cairn, &admin, &back).await;
    done(&cairn, &admin, &gone).await;
    assert_eq!(admin.get(ACTIVITY).await.is(200)["isDeleted"], true);
    done(&cairn, &admin, &admin.post(&format!("{COLLECTION}/restore"), json!({})).await.is(202)).await;
    assert_eq!(products(&admin).await, PRODUCTS);
    assert!(admin.get(ACTIVITY).await.is(200).body.get("busy").is_none());
}

/// Works on the restoration until the activity is back, which comes first.
async fn restore_activity(cairn: &Cairn, admin: &User) {
    let mut workers = 0;
    while admin.get(ACTIVITY).await.is(200)["isDeleted"] == true {
        assert!(workers < 10, "it does not come back");
        worker(cairn, Some((1, Moment::BeforeItIsSent))).await;
        workers += 1;
    }
}

async fn what_is_deleted_meanwhile_keeps_its_own() {
    let (cairn, admin) = with_products().await;
    done(&cairn, &admin, &admin.delete(&format!("{COLLECTION}?cascade=true")).await.is(202)).await;
    let back = admin.post(&format!("{COLLECTION}/restore"), json!({})).await.is(202);
    restore_activity(&cairn, &admin).await;
    assert_eq!(products(&admin).await, 0);
    admin.delete(ACTIVITY).await.is(204);
    done(&cairn, &admin, &back).await;
    assert_eq!(admin.get(ACTIVITY).await.is(200)["isDeleted"], true, "nobody has restored it");
    assert_eq!(products(&admin).await, 0);
    let product = "/parks/products/bcparks_1/dayuse/1/7";
    admin.post(&format!("{product}/restore"), json!({})).await.refused(409, "parent-deleted");
    done(&cairn, &admin, &admin.post(&format!("{ACTIVITY}/restore"), json!({})).await.is(202)).await;
    assert_eq!(products(&admin).await, PRODUCTS);
    assert!(admin.get(product).await.is(200).body.get("deletedWith").is_none());
}

/// The worker has read the activity, and writes its products after the deletion.
async fn activity_is_deleted_before_its_products_return() {
    let (cairn, admin) = with_products().await;
    let visitor = cairn.visitor();
    done(&cairn, &admin, &admin.delete(&format!("{COLLECTION}?cascade=true")).await.is(202)).await;
    let back = admin.post(&format!("{COLLECTION}/restore"), json!({})).await.is(202);
    restore_activity(&cairn, &admin).await;
    let (stopper, run) = start_worker(&cairn, Some((0, Moment::BeforeItIsSent))).await;
    stopper.stopped().await;
    admin.delete(ACTIVITY).await.is(204);
    stopper.resume();
    run.await.unwrap();
    cairn.clock.advance(Duration::from_secs(121));
    done(&cairn, &admin, &back).await;
    assert_eq!(products(&admin).await, 0);
    visitor.search("entity=product").await.is_nothing();
    done(&cairn, &admin, &admin.post(&format!("{ACTIVITY}/restore"), json!({})).await.is(202)).await;
    assert_eq!(products(&admin).await, PRODUCTS);
}

/// An item with more relationships than a batch takes.
async fn what_is_half_done_is_busy() {
    let (cairn, admin, _) = with_facilities(40, 0).await;
    const ZONE: &str = "geozone::other/1";
    for number in 2..=12 {
        relate(&admin, &camp(1), &camp(number)).await.is(201);
    }
    cairn.engines().wind_down();
    let live = kept(&cairn).await;
    let first = "/parks/facilities/bcparks_1/campground/1";
    let busy = async || admin.get(first).await.is(200).body.get("busy").is_some();
    let left_alone = async || {
        relate(&admin, &camp(1), ZONE).await.refused(409, "busy");
        relate(&admin, ZONE, &camp(1)).await.refused(409, "busy");
        admin.post(&format!("{first}/retype"), json!({ "facilityType": "trail" })).await.refused(409, "busy");
        admin.delete(first).await.refused(409, "busy");
    };
    for (change, path) in
        [("delete", format!("{COLLECTION}?cascade=true")), ("restore", format!("{COLLECTION}/restore"))]
    {
        let begun = if change == "delete" { admin.delete(&path).await } else { admin.post(&path, json!({})).await };
        let begun = begun.is(202);
        let mut workers = 0;
        while !busy().await {
            assert!(workers < 10, "{change}: it never is");
            worker(&cairn, Some((1, Moment::BeforeItIsSent))).await;
            workers += 1;
        }
        left_alone().await;
        done(&cairn, &admin, &begun).await;
        assert!(!busy().await, "{change}");
    }
    assert!(kept(&cairn).await == live, "restored, it is not what it was");
}

async fn its_relationships_go_first() {
    const ZONE: &str = "geozone::bcparks_1/1";
    let (cairn, admin) = with_products().await;
    let visitor = cairn.visitor();
    let zone = json!({ "displayName": "Bedwell Lakes", "location": [-125.589, 49.498], "isVisible": true });
    admin.post("/parks/geozones/bcparks_1", zone).await.is(201);
    relate(&admin, ZONE, "activity::bcparks_1/dayuse::1").await.is(201);
    assert_eq!(seen(&visitor, ZONE).await, ["dayuse::1"]);
    let gone = admin.delete(&format!("{ACTIVITY}?cascade=true")).await.is(202);
    worker(&cairn, Some((1, Moment::BeforeItIsSent))).await;
    assert!(seen(&visitor, ZONE).await.is_empty());
    assert_eq!(products(&admin).await, PRODUCTS);
    done(&cairn, &admin, &gone).await;
    assert_eq!(products(&admin).await, 0);
    done(&cairn, &admin, &admin.post(&format!("{ACTIVITY}/restore"), json!({})).await.is(202)).await;
    assert_eq!(seen(&visitor, ZONE).await, ["dayuse::1"]);
}
