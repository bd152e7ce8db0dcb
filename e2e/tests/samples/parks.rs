//! The samples of parks: a few real places of each kind, and the items that are derived from them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use local::Progress;
use local::progress::Event;
use local::sample::{Feature, Loaded, Samples, Size, load_these};
use serde_json::json;
use tokio::sync::Notify;

use crate::harness::Cairn;
use crate::tests;

tests! { samples:
    second_load_creates_nothing,
    #[long] deleted_sample_items_are_not_recreated,
    items_of_a_deleted_collection_are_skipped,
    #[long] interrupted_load_is_completed_by_the_next,
    #[long] world_after_small_creates_the_missing_items,
}

/// Three boundaries, one of them repaired, two capitols, a route, an airport and two tent sites.
const SOME: [&str; 9] = [
    "/parks/geozones/us_states 56",
    "/parks/geozones/us_states 10",
    "/parks/geozones/us_counties 08041",
    "/parks/facilities/us_states capitol:Wyoming",
    "/parks/facilities/us_states capitol:Delaware",
    "/parks/facilities/us_west_airports 00V",
    "/parks/facilities/iceland_travel iceaddr:25812",
    "/parks/facilities/iceland_travel iceaddr:64390",
    "/parks/facilities/iceland_travel iceaddr:69309",
];

/// The items in the table afterwards.
const ITEMS: [(&str, usize); 7] = [
    ("activity", 5),
    ("collection", 7),
    ("facility", 6),
    ("geozone", 3),
    ("product", 2),
    ("productDate", 2 * 139),
    // Five activities at their facilities, two capitols and their activities in their states, an airport in its county.
    ("rel", 5 + 2 * 2 + 1),
];

/// Those of the world sample, which takes seconds to read.
static WORLD: LazyLock<Samples> = LazyLock::new(|| some_of(Size::World));

fn some_of(size: Size) -> Samples {
    let mut samples = Samples::read(size).unwrap();
    samples.keep(|feature: &Feature| SOME.contains(&feature.name.to_string().as_str()));
    samples
}

async fn load(cairn: &Cairn, samples: &Samples) -> (u64, u64) {
    let loaded = send(cairn, samples, &Progress::silent()).await;
    assert_eq!(loaded.refused, []);
    (loaded.made, loaded.present)
}

async fn send(cairn: &Cairn, samples: &Samples, progress: &Progress) -> Loaded {
    let token = cairn.token("sample", &["parks-admin"]).await;
    load_these(samples.clone(), cairn.url(), &token, progress).await.unwrap()
}

/// Loads until this number of requests is answered, then stops.
async fn break_off(cairn: &Cairn, samples: &Samples, after: usize) {
    let (enough, answered) = (Arc::new(Notify::new()), AtomicUsize::new(0));
    let tell = Arc::clone(&enough);
    let progress = Progress::new(move |event| {
        if matches!(event, Event::Advanced { .. }) && answered.fetch_add(1, Ordering::Relaxed) + 1 == after {
            tell.notify_one();
        }
    });
    tokio::select! {
        biased;
        () = enough.notified() => {}
        _ = send(cairn, samples, &progress) => panic!("it ended with fewer than {after} answers"),
    }
}

/// Returns the number of items of each kind in the table.
async fn items(cairn: &Cairn) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for pk in cairn.table().partitions().await {
        let kind = pk.split("::").next().unwrap().to_owned();
        if ITEMS.iter().any(|(name, _)| *name == kind) {
            *counts.entry(kind).or_default() += 1;
        }
    }
    counts
}

fn all_items() -> BTreeMap<String, usize> {
    ITEMS.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect()
}

async fn second_load_creates_nothing() {
    let (cairn, samples) = (Cairn::start().await, &*WORLD);
    let all: u64 = ITEMS.iter().map(|(_, count)| *count as u64).sum();
    assert_eq!(load(&cairn, samples).await, (all, 0));
    assert_eq!(items(&cairn).await, all_items());
    assert_eq!(load(&cairn, samples).await, (0, all));
    assert_eq!(items(&cairn).await, all_items());
    cairn.caught_up().await;
    let visitor = cairn.visitor();
    let found = visitor.search("open=2026-05-15/2026-06-14&entity=product").await;
    assert_eq!(found.total(), 2);
    assert_eq!(visitor.search("open=2026-05-14/2026-05-15&entity=product").await.total(), 0);
    assert_eq!(visitor.search("open=2026-09-30/2026-10-01&entity=product&openMatch=any").await.total(), 2);
    let states = visitor.get("/parks/geozones/us_states").await.is(200);
    let wyoming = states["items"].as_array().unwrap().iter().find(|state| state["displayName"] == "Wyoming").unwrap();
    let related = format!("/parks/relationships/geozone::us_states/{}?expand=true", wyoming["number"]);
    let wyoming = visitor.get(&related).await.is(200);
    let names: Vec<&str> = wyoming.each("item").iter().map(|item| item["displayName"].as_str().unwrap()).collect();
    assert_eq!(names, ["Visit: Capitol of Wyoming, Cheyenne", "Capitol of Wyoming, Cheyenne"]);
}

async fn deleted_sample_items_are_not_recreated() {
    let (cairn, samples) = (Cairn::start().await, &*WORLD);
    let (all, _) = load(&cairn, samples).await;
    let admin = cairn.administrator().await;
    let activities = admin.get("/parks/activities/iceland_travel?type=camping").await.is(200);
    let [one, other] = [0, 1].map(|at| activities["items"][at]["number"].as_u64().unwrap());
    let product = format!("/parks/products/iceland_travel/camping/{one}");
    let number = admin.get(&product).await.is(200)["items"][0]["number"].clone();
    admin.delete(&format!("{product}/{number}")).await.is(204);
    admin.delete(&format!("/parks/activities/iceland_travel/camping/{other}?cascade=true")).await.is(204);
    let airport = admin.get("/parks/facilities/us_west_airports").await.is(200)["items"][0]["number"].clone();
    let airport = format!("/parks/facilities/us_west_airports/accessPoint/{airport}");
    admin.delete(&format!("{airport}?cascade=true")).await.is(204);
    let (made, present) = load(&cairn, samples).await;
    // Neither product gets dates.
    assert_eq!((made, present), (0, all - 2 * 139));
    assert_eq!(admin.get(&airport).await.is(200)["isDeleted"], json!(true));
    assert_eq!(admin.get(&product).await.is(200)["items"], json!([]));
}

async fn items_of_a_deleted_collection_are_skipped() {
    let (cairn, samples) = (Cairn::start().await, &*WORLD);
    cairn.collection("iceland_travel", "Travel").await;
    cairn.administrator().await.delete("/parks/collections/iceland_travel").await.is(204);
    load(&cairn, samples).await;
    assert_eq!(items(&cairn).await["facility"], 6 - 3);
    load(&cairn, samples).await;
}

async fn interrupted_load_is_completed_by_the_next() {
    let (cairn, samples) = (Cairn::start().await, &*WORLD);
    // One response for each item, except the dates, which have one response for each product.
    let answers: usize = ITEMS.iter().map(|(_, count)| count).sum::<usize>() - 2 * 139 + 2;
    // The last requests are concurrent, and may all be answered before loading stops.
    for after in 1..=answers - 8 {
        break_off(&cairn, samples, after).await;
    }
    let (made, present) = load(&cairn, samples).await;
    let all: usize = ITEMS.iter().map(|(_, count)| count).sum();
    assert_eq!((made + present) as usize, all);
    assert_eq!(items(&cairn).await, all_items());
    assert_eq!(load(&cairn, samples).await, (0, all as u64));
}

async fn world_after_small_creates_the_missing_items() {
    let (cairn, small, world) = (Cairn::start().await, some_of(Size::Small), &*WORLD);
    let (of_small, _) = load(&cairn, &small).await;
    let all: u64 = ITEMS.iter().map(|(_, count)| *count as u64).sum();
    // The collections, two states, their capitols, a route, their activities, and the relationships of these.
    assert_eq!(of_small, 7 + 2 + 3 + 3 + 3 + 2 * 2);
    assert_eq!(load(&cairn, world).await, (all - of_small, of_small));
    assert_eq!(items(&cairn).await, all_items());
    assert_eq!(load(&cairn, &small).await, (0, of_small));
    assert_eq!(load(&cairn, world).await, (0, all));
}
