//! Faults of search: after them, search shows exactly the items of the table.

use std::future::IntoFuture;

use ::mirror::Code;
use serde_json::{Value, json};

use crate::harness::proxy::{Fault, Proxy};
use crate::harness::{Cairn, Setup, engines, metrics, temporary};
use crate::parks::shapes::rectangle;
use crate::tests;

tests! { faults:
    refused_document_is_quarantined_and_recovers,
    #[long] refusals_throttling_and_lost_responses_lose_no_write,
    #[long] bulk_request_that_is_too_large_is_split,
    redrive_leaves_a_document_that_alone_is_too_large_in_quarantine,
    deletes_survive_search_faults,
    partial_search_result_is_reported_as_unavailable,
    #[long] search_outage_affects_only_search,
}

const ZONES: &str = "/parks/geozones/bcparks_1";

/// Starts a platform whose search engine fails on demand.
pub async fn with_proxy() -> (Cairn, Proxy) {
    let proxy = Proxy::before(engines::search().await).await;
    let cairn = Cairn::with(Setup { search: Some(proxy.url.clone()), ..Setup::default() }).await;
    cairn.collection("bcparks_1", "Strathcona Park").await;
    cairn.caught_up().await;
    (cairn, proxy)
}

fn zone(name: &str) -> Value {
    json!({ "displayName": name, "location": [-125.5, 49.5], "isVisible": true })
}

async fn refused_document_is_quarantined_and_recovers() {
    let (cairn, proxy) = with_proxy().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    // The envelope of the triangle is larger than the triangle.
    let triangle = json!({ "type": "Polygon", "coordinates": [[[10, 10], [12, 10], [10, 12], [10, 10]]] });
    for name in ["Before", "Refused", "After"] {
        admin.post(ZONES, zone(name)).await.is(201);
    }
    cairn.caught_up().await;
    proxy.refuse("geozone::bcparks_1#2", "boundary", 2);
    // Three concurrent changes, which are in one batch.
    let describe =
        |number: u32| admin.patch(&format!("{ZONES}/{number}"), json!({ "description": "changed" })).into_future();
    let attach = admin.put(&format!("{ZONES}/2/geometry/boundary"), triangle).into_future();
    let (first, attached, third) = tokio::join!(describe(1), attach, describe(3));
    first.is(200);
    attached.is(200);
    third.is(200);
    let found = visitor.search("q=refused").await;
    found.are(&["Refused"]);
    assert_eq!(found[0]["boundaryStatus"], "envelope");
    visitor.search("bbox=11.8,11.8,11.9,11.9").await.are(&["Refused"]);
    visitor.search("bbox=12.1,12.1,12.2,12.2").await.is_nothing();
    visitor.search("q=changed").await.are(&["Before", "After"]);
    // No other shape is refused in the whole run.
    assert_eq!(metrics::shapes_degraded(), 2);
    assert_eq!(cairn.quarantined().await, Vec::new());
}

async fn refusals_throttling_and_lost_responses_lose_no_write() {
    let (cairn, proxy) = with_proxy().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let faults = [Fault::Busy, Fault::HalfBusy, Fault::Unavailable, Fault::LostBefore, Fault::LostAfter, Fault::Short];
    for (tree, fault) in ["alder", "birch", "cedar", "dogwood", "elder", "fir"].into_iter().zip(&faults) {
        proxy.fail_next(&[fault.clone(), fault.clone()]);
        let names: Vec<String> = (0..4).map(|number| format!("{tree} {number}")).collect();
        for name in &names {
            admin.post(ZONES, zone(name)).await.is(201);
        }
        visitor.search(&format!("q={tree}")).await.are(&names.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(proxy.left(), 0, "{fault:?}");
    }
    // All of them are created concurrently.
    proxy.fail_next(&faults);
    for number in 0..20 {
        admin.patch(&format!("{ZONES}/{}", number + 1), json!({ "description": "changed" })).await.is(200);
    }
    assert_eq!(visitor.search("q=changed").await.total(), 20);
    assert_eq!(cairn.quarantined().await, Vec::new());
}

async fn bulk_request_that_is_too_large_is_split() {
    let (cairn, proxy) = with_proxy().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    // The limit is larger than one of these documents and smaller than all of them.
    proxy.take_at_most(25_000);
    let long = "lorem ".repeat(1600);
    let writes = (0..40).map(|number| {
        let mut new = zone(&format!("Large {number}"));
        new["description"] = json!(long);
        admin.post(ZONES, new).into_future()
    });
    for made in futures::future::join_all(writes).await {
        made.is(201);
    }
    assert_eq!(visitor.search("q=lorem").await.total(), 40);
    assert!(proxy.too_large() > 0);
    assert_eq!(cairn.quarantined().await, Vec::new());
}

async fn redrive_leaves_a_document_that_alone_is_too_large_in_quarantine() {
    let (cairn, proxy) = with_proxy().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    proxy.take_at_most(6_000);
    let mut large = zone("Large");
    large["description"] = json!("lorem ".repeat(1600));
    for new in [zone("Small"), large] {
        admin.post(ZONES, new).await.is(201);
    }
    visitor.search("q=small").await.are(&["Small"]);
    visitor.search("q=lorem").await.is_nothing();
    let codes = async || cairn.quarantined().await.into_iter().map(|marker| marker.code).collect::<Vec<_>>();
    assert_eq!(codes().await, [Code::TooLarge]);

    let left = cairn.command(&["redrive", "parks", "--json"]).await.json(3);
    assert_eq!((&left["repairs"]["quarantined"], &left["repairs"]["failed"]), (&json!(1), &json!(0)), "{left}");
    assert_eq!(codes().await, [Code::TooLarge]);

    proxy.take_at_most(usize::MAX);
    let redriven = cairn.command(&["redrive", "parks", "--json"]).await.json(0);
    assert_eq!(redriven["repairs"]["written"], 1, "{redriven}");
    visitor.search("q=lorem").await.are(&["Large"]);
    assert_eq!(codes().await, []);
}

async fn deletes_survive_search_faults() {
    let (cairn, proxy) = with_proxy().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    for number in 1..=12 {
        admin.post(ZONES, zone(&format!("Fleeting {number}"))).await.is(201);
    }
    assert_eq!(visitor.search("q=fleeting").await.total(), 12);
    proxy.fail_next(&[
        Fault::LostAfter,
        Fault::HalfBusy,
        Fault::Busy,
        Fault::Short,
        Fault::LostBefore,
        Fault::LostAfter,
    ]);
    for number in 1..=12 {
        admin.delete(&format!("{ZONES}/{number}")).await.is(204);
        if number % 4 == 0 {
            admin.post(&format!("{ZONES}/{number}/restore"), json!({})).await.is(200);
        }
    }
    visitor.search("q=fleeting").await.are(&["Fleeting 4", "Fleeting 8", "Fleeting 12"]);
    assert_eq!(proxy.left(), 0);
}

async fn partial_search_result_is_reported_as_unavailable() {
    let (cairn, proxy) = with_proxy().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    admin.post(ZONES, zone("Lakes")).await.is(201);
    visitor.search("q=lakes").await.are(&["Lakes"]);
    proxy.searches_are_partial(true);
    for call in [
        visitor.get("/parks/search?q=lakes"),
        visitor.get("/parks/suggest?q=lakes"),
        visitor.post("/parks/search", json!({ "shape": rectangle(1.0, 1.0, 2.0, 2.0) })),
    ] {
        let refused = call.may_fail().await.refused(503, "search-unavailable");
        assert!(!refused.header("retry-after").is_empty(), "{}", refused.told());
    }
    proxy.searches_are_partial(false);
    visitor.search("q=lakes").await.are(&["Lakes"]);
}

async fn search_outage_affects_only_search() {
    let folder = temporary::folder();
    let (process, url) = engines::own_search(folder.path()).await;
    let cairn = Cairn::with(Setup { search: Some(url), ..Setup::default() }).await;
    cairn.collection("bcparks_1", "Strathcona Park").await;
    process.stop().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let made = admin.post(ZONES, zone("Lakes")).await.is(201);
    let url = made.header("location").to_owned();
    admin.patch(&url, json!({ "description": "x" })).await.is(200);
    admin.put(&format!("{url}/geometry/boundary"), rectangle(1.0, 1.0, 2.0, 2.0)).await.is(200);
    visitor.get(&url).await.is(200);
    visitor.get(ZONES).await.is(200);
    visitor.get(&format!("{url}/geometry/boundary")).await.is(200);
    admin.delete(&url).await.is(204);
    for path in ["/parks/search?q=lakes", "/parks/suggest?q=lakes"] {
        let refused = visitor.get(path).may_fail().await.refused(503, "search-unavailable");
        assert!(!refused.header("retry-after").is_empty(), "{}", refused.told());
        assert!(!refused.told().contains("127.0.0.1"), "{}", refused.told());
    }
    // An invalid query is still answered with its faults.
    visitor.get("/parks/search?lat=1").await.faulty(&["lat"]);
}
