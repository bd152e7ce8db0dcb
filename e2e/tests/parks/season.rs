//! A season of dates under load: many who change it at once, and a platform that dies.

use std::collections::BTreeSet;
use std::future::IntoFuture;

use futures::future::join_all;
use serde_json::json;

use super::dates::{seed, with_product};
use crate::harness::process::Process;
use crate::harness::{User, sized, temporary};
use crate::tests;

tests! { season:
    date_creation_resumes_where_it_stopped,
    concurrent_date_creation_creates_each_date_once,
    concurrent_date_updates_stay_consistent,
    date_creation_racing_a_narrower_range_stays_consistent,
    #[long] date_creation_killed_half_way_keeps_ranges_consistent,
}

const PASS: &str = "/parks/products/bcparks_1/dayuse/1/1";
const DATES: &str = "/parks/products/bcparks_1/dayuse/1/1/dates";

/// The open days of the product, which are exactly those of its dates that are open.
async fn open_days(admin: &User) -> usize {
    let pages = admin.pages(DATES, 100).await;
    let dates = pages.iter().flat_map(|page| page["items"].as_array().unwrap());
    let open = dates.filter(|date| date["status"] == "open");
    let open: BTreeSet<String> = open.map(|date| date["date"].as_str().unwrap().to_owned()).collect();
    let product = admin.get(PASS).await.is(200);
    let ranges = product["openRanges"].as_array().cloned().unwrap_or_default();
    let listed: BTreeSet<String> = ranges
        .iter()
        .map(|range| range.as_str().unwrap().parse::<::parks::days::Days>().unwrap())
        .flat_map(|days| days.each().map(|day| day.to_string()).collect::<Vec<_>>())
        .collect();
    assert_eq!(listed, open);
    open.len()
}

async fn date_creation_resumes_where_it_stopped() {
    let (_cairn, admin, _) = with_product().await;
    // As if a request had ended after its first transaction.
    assert_eq!(admin.post(DATES, seed("2025-12-01", "2026-03-09", "open")).await.is(200)["created"], 99);
    admin.patch(&format!("{DATES}/2026-01-01"), json!({ "status": "closed" })).await.is(200);
    let whole = admin.post(DATES, seed("2025-12-01", "2026-11-30", "open")).await.is(200);
    assert_eq!(whole.body, json!({ "created": 266, "existing": 99 }));
    assert_eq!(open_days(&admin).await, 364);
}

async fn concurrent_date_creation_creates_each_date_once() {
    let (_cairn, admin, _) = with_product().await;
    let year = seed("2025-12-01", "2026-11-30", "open");
    let answers = join_all((0..4).map(|_| admin.post(DATES, year.clone()).into_future())).await;
    let mut created = 0;
    for answer in answers {
        let answer = answer.is(200);
        assert_eq!(answer["created"].as_u64().unwrap() + answer["existing"].as_u64().unwrap(), 365);
        created += answer["created"].as_u64().unwrap();
    }
    assert_eq!(created, 365);
    assert_eq!(open_days(&admin).await, 365);
}

async fn concurrent_date_updates_stay_consistent() {
    let (_cairn, admin, _) = with_product().await;
    admin.post(DATES, seed("2025-12-01", "2026-11-30", "open")).await.is(200);
    let all = format!("{DATES}?from=2025-12-01&to=2026-11-30");
    let set = |status: &str| admin.patch(&all, json!({ "status": status })).into_future();
    let one = |day: &str| admin.patch(&format!("{DATES}/{day}"), json!({ "status": "closed" })).into_future();
    let some = admin.delete(&format!("{DATES}?from=2026-06-01&to=2026-06-30")).into_future();
    let (first, second, third, fourth, fifth) =
        tokio::join!(set("closed"), set("open"), one("2026-05-01"), one("2026-11-30"), some);
    for answer in [first, second, third, fourth] {
        answer.is(200);
    }
    assert_eq!(fifth.is(200)["deleted"], 30);
    open_days(&admin).await;
    assert_eq!(set("open").await.status, 200);
    assert_eq!(open_days(&admin).await, 335);
}

async fn date_creation_racing_a_narrower_range_stays_consistent() {
    let (_cairn, admin, _) = with_product().await;
    for round in 0..5 {
        let day = format!("2026-11-2{round}");
        let narrow = admin.patch(PASS, json!({ "rangeEnd": "2026-11-19" })).into_future();
        let seeding = admin.post(DATES, seed(&day, &day, "closed")).into_future();
        let (narrowed, seeded) = tokio::join!(narrow, seeding);
        match (narrowed.status, seeded.status) {
            (200, 422) => {
                admin.patch(PASS, json!({ "rangeEnd": "2026-11-30" })).await.is(200);
            }
            (409, 200) => {
                admin.delete(&format!("{DATES}/{day}")).await.is(204);
            }
            _ => panic!("a date outside its range: {} {}", narrowed.told(), seeded.told()),
        }
    }
}

async fn date_creation_killed_half_way_keeps_ranges_consistent() {
    let folder = temporary::folder();
    let state = folder.path().join("state");
    let mut process = Process::start(&state, None).await;
    let admin = process.administrator();
    let park = json!({ "collectionId": "bcparks_1", "displayName": "Strathcona Park", "isVisible": true });
    admin.post("/parks/collections", park).await.is(201);
    let activity = json!({ "activityType": "dayuse", "displayName": "Day use", "isVisible": true });
    admin.post("/parks/activities/bcparks_1", activity).await.is(201);
    let pass = json!({ "displayName": "Pass", "rangeStart": "2025-12-01", "rangeEnd": "2029-11-30" });
    admin.post("/parks/products/bcparks_1/dayuse/1", pass).await.is(201);

    let years = [("2025-12-01", "2026-11-30"), ("2026-12-01", "2027-11-30")];
    let years = sized(&years[..1], &years);
    for (from, to) in years {
        let (admin, year) = (process.administrator(), seed(from, to, "open"));
        let seeding = tokio::spawn({
            let (admin, year) = (admin.clone(), year.clone());
            async move { admin.post(DATES, year).or_gone().await.is_some() }
        });
        // As soon as its first transaction shows, the process is killed.
        let begun = format!("{DATES}/{from}");
        while !seeding.is_finished() && admin.get(&begun).await.status == 404 {}
        process.kill().await;
        let answered = seeding.await.unwrap();

        process = Process::start(&state, None).await;
        let admin = process.administrator();
        let before = open_days(&admin).await;
        let again = admin.post(DATES, year).await.is(200);
        assert_eq!(again["created"].as_u64().unwrap() + again["existing"].as_u64().unwrap(), 365);
        assert!(again["existing"].as_u64().unwrap() >= if answered { 365 } else { 99 }, "{}", again.told());
        assert_eq!(open_days(&admin).await, before + usize::try_from(again["created"].as_u64().unwrap()).unwrap());
    }
    let whole = process.administrator().get(PASS).await.is(200);
    assert_eq!(whole["openRanges"], json!([format!("2025-12-01/{}", years[years.len() - 1].1)]));
    process.stop().await;
}
