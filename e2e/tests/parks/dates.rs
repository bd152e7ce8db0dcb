//! The dates of a product: made, listed, changed and deleted, and who may see them.

use serde_json::{Value, json};

use crate::harness::{Answer, Cairn, User};
use crate::tests;

tests! { dates:
    dates_are_created_updated_and_deleted_by_range,
    weekdays_limit_the_dates_of_a_request,
    invalid_or_reversed_date_ranges_are_refused,
    dates_of_product_1_exclude_those_of_product_10,
    dates_list_in_order_without_short_pages,
    page_of_dates_with_long_notes_ends_before_its_limit,
    dates_are_visible_exactly_with_their_product,
    notes_of_dates_are_for_administrators_only,
    update_of_a_date_honours_if_match,
    patch_of_a_range_updates_every_existing_date,
    patch_of_a_range_splits_what_exceeds_a_transaction,
}

const PRODUCTS: &str = "/parks/products/bcparks_1/dayuse/1";
const PASS: &str = "/parks/products/bcparks_1/dayuse/1/1";
const DATES: &str = "/parks/products/bcparks_1/dayuse/1/1/dates";

/// Activity dayuse 1 with product 1, whose range is 2025-12-01 to 2026-11-30, both visible.
pub async fn with_product() -> (Cairn, User, User) {
    let cairn = Cairn::with_strathcona().await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let new =
        json!({ "activityType": "dayuse", "displayName": "Day use", "location": [-125.5, 49.6], "isVisible": true });
    admin.post("/parks/activities/bcparks_1", new).await.is(201);
    admin.post(PRODUCTS, product("Day pass")).await.is(201);
    (cairn, admin, visitor)
}

fn product(name: &str) -> Value {
    json!({ "displayName": name, "rangeStart": "2025-12-01", "rangeEnd": "2026-11-30", "isVisible": true })
}

pub fn seed(from: &str, to: &str, status: &str) -> Value {
    json!({ "from": from, "to": to, "status": status })
}

fn days(pages: &[Answer]) -> Vec<String> {
    let days = pages.iter().flat_map(|page| page.each("date"));
    days.map(|day| day.as_str().unwrap().to_owned()).collect()
}

async fn dates_are_created_updated_and_deleted_by_range() {
    let (_cairn, admin, visitor) = with_product().await;
    let winter = seed("2025-12-01", "2026-01-31", "open");
    let seeded = admin.post(DATES, winter.clone()).await.is(200);
    assert_eq!(seeded.body, json!({ "created": 62, "existing": 0 }));
    let eve = visitor.get(&format!("{DATES}/2025-12-31")).await.is(200);
    assert_eq!((eve.text("pk"), eve.text("sk")), ("productDate::bcparks_1::dayuse::1", "1::2025-12-31"));
    assert_eq!((eve.text("entity"), eve.text("status")), ("productDate", "open"));
    assert_eq!(admin.post(DATES, winter).await.is(200).body, json!({ "created": 0, "existing": 62 }));
    let january = format!("{DATES}?from=2026-01-01&to=2026-01-31");
    assert_eq!(admin.delete(&january).await.is(200).body, json!({ "deleted": 31 }));
    assert_eq!(admin.delete(&january).await.is(200).body, json!({ "deleted": 0 }));
    assert_eq!(visitor.get(PASS).await.is(200)["openRanges"], json!(["2025-12-01/2025-12-31"]));
    assert_eq!(days(&visitor.pages(DATES, 10).await).len(), 31);
}

async fn weekdays_limit_the_dates_of_a_request() {
    let (_cairn, admin, visitor) = with_product().await;
    let mut weekends = seed("2025-12-01", "2025-12-31", "open");
    weekends["weekdays"] = json!(["saturday", "sunday"]);
    weekends["reason"] = json!("weekend");
    assert_eq!(admin.post(DATES, weekends.clone()).await.is(200).body, json!({ "created": 8, "existing": 0 }));
    let expected = ["06", "07", "13", "14", "20", "21", "27", "28"].map(|day| format!("2025-12-{day}"));
    let listed = visitor.get(DATES).await.is(200);
    assert_eq!(days(std::slice::from_ref(&listed)), expected);
    assert!(listed.each("reason").iter().all(|reason| *reason == "weekend"));
    // The rest is made, and what is there is left alone.
    assert_eq!(
        admin.post(DATES, seed("2025-12-01", "2025-12-31", "closed")).await.is(200).body,
        json!({ "created": 23, "existing": 8 })
    );
    assert_eq!(visitor.get(&format!("{DATES}/2025-12-06")).await.is(200)["status"], "open");
    let ranges =
        ["06/2025-12-07", "13/2025-12-14", "20/2025-12-21", "27/2025-12-28"].map(|days| format!("2025-12-{days}"));
    assert_eq!(visitor.get(PASS).await.is(200)["openRanges"], json!(ranges));
    for (bad, place) in [(json!([]), "/weekdays"), (json!(["Saturday"]), "/weekdays/0"), (json!("sunday"), "/weekdays")]
    {
        weekends["weekdays"] = bad;
        admin.post(DATES, weekends.clone()).await.faulty(&[place]);
    }
}

async fn invalid_or_reversed_date_ranges_are_refused() {
    let (_cairn, admin, visitor) = with_product().await;
    for (from, to, places) in [
        ("2026-02-29", "2026-03-01", vec!["/from"]),
        ("2025-12-1", "20251224", vec!["/from", "/to"]),
        ("1899-12-31", "2025-12-01", vec!["/from"]),
        ("2025-12-02", "2025-12-01", vec!["/to"]),
        ("2025-12-01", "2026-12-02", vec!["/to"]),
    ] {
        admin.post(DATES, seed(from, to, "open")).await.faulty(&places);
        let query = format!("{DATES}?from={from}&to={to}");
        let parameters: Vec<&str> = places.iter().map(|place| &place[1..]).collect();
        admin.patch(&query, json!({ "status": "open" })).await.faulty(&parameters);
        admin.delete(&query).await.faulty(&parameters);
    }
    for (from, to, places) in [
        ("2025-11-30", "2025-12-01", vec!["/from"]),
        ("2026-11-30", "2026-12-01", vec!["/to"]),
        ("2025-11-30", "2026-11-29", vec!["/from"]),
        ("2027-01-01", "2027-01-02", vec!["/from", "/to"]),
    ] {
        admin.post(DATES, seed(from, to, "open")).await.refused(422, "unprocessable").at(&places);
        let query = format!("{DATES}?from={from}&to={to}");
        let parameters: Vec<&str> = places.iter().map(|place| &place[1..]).collect();
        admin.patch(&query, json!({ "status": "open" })).await.refused(422, "unprocessable").at(&parameters);
        admin.delete(&query).await.refused(422, "unprocessable").at(&parameters);
    }
    for (body, places) in [
        (json!({}), vec!["/from", "/to", "/status"]),
        (json!({ "from": "2025-12-01", "to": "2025-12-02", "status": "shut" }), vec!["/status"]),
        (json!({ "from": "2025-12-01", "to": "2025-12-02", "status": "open", "state": 1 }), vec!["/state"]),
    ] {
        admin.post(DATES, body).await.faulty(&places);
    }
    admin.delete(DATES).await.faulty(&["from", "to"]);
    for day in ["2026-02-29", "2025-12-1", "2199-13-01", "today"] {
        visitor.get(&format!("{DATES}/{day}")).await.faulty(&["date"]);
    }
    visitor.get(&format!("{DATES}?from=2026-02-29")).await.faulty(&["from"]);
    visitor.get(&format!("{DATES}?from=2026-01-02&to=2026-01-01")).await.faulty(&["to"]);
    visitor.get(&format!("{DATES}/2025-12-31")).await.refused(404, "not-found");
    for unknown in [format!("{PRODUCTS}/2/dates"), format!("{PRODUCTS}/01/dates")] {
        visitor.get(&unknown).await.refused(404, "not-found");
        admin.post(&unknown, seed("2025-12-01", "2025-12-02", "open")).await.refused(404, "not-found");
    }
    visitor.post(DATES, seed("2025-12-01", "2025-12-02", "open")).await.refused(401, "not-signed-in");
    assert!(visitor.get(DATES).await.is(200)["items"].as_array().unwrap().is_empty());
}

async fn dates_of_product_1_exclude_those_of_product_10() {
    let (_cairn, admin, visitor) = with_product().await;
    for number in 2..=10 {
        admin.post(PRODUCTS, product("Pass")).await.is(201);
        admin.post(&format!("{PRODUCTS}/{number}/dates"), seed("2025-12-01", "2025-12-05", "open")).await.is(200);
    }
    admin.post(DATES, seed("2025-12-04", "2025-12-06", "open")).await.is(200);
    let expected = ["2025-12-04", "2025-12-05", "2025-12-06"];
    for query in ["", "?order=desc", "?from=2025-12-01", "?to=2026-11-30"] {
        let mut listed = days(&visitor.pages(&format!("{DATES}{query}"), 2).await);
        listed.sort();
        assert_eq!(listed, expected, "{query}");
    }
    let deleted = admin.delete(&format!("{DATES}?from=2025-12-01&to=2026-11-30")).await.is(200);
    assert_eq!(deleted["deleted"], 3);
    assert_eq!(days(&[visitor.get(&format!("{PRODUCTS}/10/dates")).await.is(200)]).len(), 5);
    assert_eq!(visitor.get(&format!("{PRODUCTS}/10")).await.is(200)["openRanges"], json!(["2025-12-01/2025-12-05"]));
}

async fn dates_list_in_order_without_short_pages() {
    let (_cairn, admin, visitor) = with_product().await;
    admin.post(DATES, seed("2025-12-01", "2026-01-31", "open")).await.is(200);
    admin.delete(&format!("{DATES}?from=2025-12-10&to=2025-12-20")).await.is(200);
    for user in [&admin, &visitor] {
        let forward = days(&user.pages(DATES, 10).await);
        assert_eq!((forward.len(), forward.is_sorted()), (51, true));
        let mut backward = days(&user.pages(&format!("{DATES}?order=desc"), 17).await);
        backward.reverse();
        assert_eq!(backward, forward);
        let some = days(&user.pages(&format!("{DATES}?from=2025-12-09&to=2025-12-22"), 2).await);
        assert_eq!(some, ["2025-12-09", "2025-12-21", "2025-12-22"]);
    }
    let cursor = visitor.get(&format!("{DATES}?limit=3")).await.is(200).next().unwrap().to_owned();
    visitor.get(&format!("{DATES}?limit=3&from=2025-12-01&cursor={cursor}")).await.faulty(&["cursor"]);
    admin.get(&format!("{DATES}?cursor={cursor}")).await.faulty(&["cursor"]);
    admin.post(PRODUCTS, product("Pass")).await.is(201);
    visitor.get(&format!("{PRODUCTS}/2/dates?cursor={cursor}")).await.faulty(&["cursor"]);
}

/// In the response of a function, a control character takes seven bytes.
async fn page_of_dates_with_long_notes_ends_before_its_limit() {
    let (_cairn, admin, visitor) = with_product().await;
    admin.post(DATES, seed("2025-12-01", "2026-03-10", "open")).await.is(200);
    let notes = json!({ "adminNotes": "\u{1}".repeat(10_000) });
    admin.patch(&format!("{DATES}?from=2025-12-01&to=2026-03-10"), notes).await.is(200);
    let first = admin.get(&format!("{DATES}?limit=100")).await.is(200);
    assert!(first.bytes.len() < 4_000_000, "{}", first.bytes.len());
    let rest = admin.get(&format!("{DATES}?limit=100&cursor={}", first.next().unwrap())).await.is(200);
    assert!(rest.next().is_none());
    let listed = days(&[first, rest]);
    assert_eq!(listed.len(), 100);
    assert!(listed.is_sorted_by(|one, next| one < next), "{listed:?}");
    // A page ends by the size of its items, also if a caller does not see all of them.
    let first = visitor.get(&format!("{DATES}?limit=100")).await.is(200);
    let rest = visitor.get(&format!("{DATES}?limit=100&cursor={}", first.next().unwrap())).await.is(200);
    assert_eq!(days(&[first, rest]), listed);
}

async fn dates_are_visible_exactly_with_their_product() {
    let (_cairn, admin, visitor) = with_product().await;
    admin.post(DATES, seed("2025-12-01", "2025-12-03", "open")).await.is(200);
    let (one, absent) = (format!("{DATES}/2025-12-02"), format!("{PRODUCTS}/9/dates"));
    admin.patch(PASS, json!({ "isVisible": false })).await.is(200);
    let told = |answer: Answer| answer.body["detail"].clone();
    let unknown = told(visitor.get(&absent).await.refused(404, "not-found"));
    for path in [DATES, &one] {
        assert_eq!(told(visitor.get(path).await.refused(404, "not-found")), unknown);
        admin.get(path).await.is(200);
        admin.get(&format!("{path}?view=public")).await.refused(404, "not-found");
    }
    admin.patch(PASS, json!({ "isVisible": true })).await.is(200);
    visitor.get(&one).await.is(200);

    // With their product they go out of reach, and come back.
    admin.delete(PASS).await.is(204);
    for path in [DATES, &one] {
        visitor.get(path).await.refused(404, "not-found");
        admin.get(path).await.refused(404, "not-found");
    }
    admin.post(DATES, seed("2025-12-01", "2025-12-03", "open")).await.refused(404, "not-found");
    admin.patch(&one, json!({ "status": "closed" })).await.refused(404, "not-found");
    admin.delete(&one).await.refused(404, "not-found");
    admin.delete(&format!("{DATES}?from=2025-12-01&to=2025-12-03")).await.refused(404, "not-found");
    let restored = admin.post(&format!("{PASS}/restore"), json!({})).await.is(200);
    assert_eq!(restored["openRanges"], json!(["2025-12-01/2025-12-03"]));
    assert_eq!(days(&[visitor.get(DATES).await.is(200)]).len(), 3);
}

async fn notes_of_dates_are_for_administrators_only() {
    let (_cairn, admin, visitor) = with_product().await;
    admin.post(DATES, seed("2025-12-01", "2025-12-03", "open")).await.is(200);
    let one = format!("{DATES}/2025-12-02");
    let before = visitor.get(&one).await.is(200);
    let noted = admin.patch(&one, json!({ "adminNotes": "ranger away" })).await.is(200);
    assert_eq!(noted["adminNotes"], "ranger away");
    for answer in [
        visitor.get(&one).await.is(200),
        visitor.get(DATES).await.is(200),
        admin.get(&format!("{one}?view=public")).await.is(200),
    ] {
        assert!(!answer.told().contains("ranger") && !answer.told().contains("adminNotes"), "{}", answer.told());
        assert_eq!(answer.header("cache-control"), "public, max-age=30");
    }
    // Nothing but the tag tells of it.
    let after = visitor.get(&one).await.is(200);
    assert_eq!(after.body, before.body);
    assert_ne!(after.tag(), before.tag());
    visitor.get(&one).if_none_match(&after.tag()).await.is(304);
    assert_eq!(admin.get(DATES).await.is(200)["items"][1]["adminNotes"], "ranger away");
    visitor.search("q=ranger").await.is_nothing();
}

async fn update_of_a_date_honours_if_match() {
    let (_cairn, admin, visitor) = with_product().await;
    admin.post(DATES, seed("2025-12-01", "2025-12-03", "open")).await.is(200);
    let (one, product) = (format!("{DATES}/2025-12-02"), admin.get(PASS).await.is(200));
    let read = admin.get(&one).await.is(200);
    let said =
        admin.patch(&one, json!({ "reason": "storm", "displayName": "Storm day" })).if_match(&read.tag()).await.is(200);
    assert_eq!((said.text("reason"), said.text("displayName")), ("storm", "Storm day"));
    assert!(said.rev() > read.rev());
    // No day has opened or closed: the product has not changed.
    assert_eq!(admin.get(PASS).await.is(200).tag(), product.tag());
    assert_eq!(admin.patch(&one, json!({ "reason": "storm" })).await.is(200).tag(), said.tag());
    admin.patch(&one, json!({ "status": "closed" })).if_match(&read.tag()).await.refused(412, "stale");
    assert_eq!(visitor.get(PASS).await.is(200)["openRanges"], json!(["2025-12-01/2025-12-03"]));
    let closed = admin.patch(&one, json!({ "status": "closed", "reason": null })).if_match(&said.tag()).await.is(200);
    assert_eq!(closed.body.get("reason"), None);
    let split = admin.get(PASS).await.is(200);
    assert_eq!(split["openRanges"], json!(["2025-12-01/2025-12-01", "2025-12-03/2025-12-03"]));
    assert!(split.rev() > product.rev());

    for (bad, place) in [
        (json!({ "status": null }), "/status"),
        (json!({ "date": "2025-12-05" }), "/date"),
        (json!({ "reason": "x".repeat(501) }), "/reason"),
        (json!({ "isVisible": true }), "/isVisible"),
    ] {
        admin.patch(&one, bad).await.faulty(&[place]);
    }
    admin.delete(&one).if_match(&said.tag()).await.refused(412, "stale");
    admin.delete(&one).if_match(&closed.tag()).await.is(204);
    admin.delete(&one).await.refused(404, "not-found");
    assert_eq!(admin.get(PASS).await.is(200).tag(), split.tag());
    for day in ["01", "03"] {
        admin.delete(&format!("{DATES}/2025-12-{day}")).await.is(204);
    }
    assert_eq!(admin.get(PASS).await.is(200).body.get("openRanges"), None);
}

async fn patch_of_a_range_updates_every_existing_date() {
    let (_cairn, admin, visitor) = with_product().await;
    admin.post(DATES, seed("2025-12-01", "2026-04-30", "open")).await.is(200);
    admin.delete(&format!("{DATES}?from=2025-12-05&to=2025-12-05")).await.is(200);
    let product = admin.get(PASS).await.is(200);
    // More than one transaction.
    let fire = json!({ "status": "closed", "reason": "wildfire" });
    let query = format!("{DATES}?from=2025-12-04&to=2026-04-01");
    assert_eq!(admin.patch(&query, fire.clone()).if_match(&product.tag()).await.is(200)["changed"], 118);
    assert_eq!(admin.patch(&query, fire.clone()).await.is(200)["changed"], 0);
    admin.patch(&query, json!({ "status": "open" })).if_match(&product.tag()).await.refused(412, "stale");
    admin.delete(&query).if_match(&product.tag()).await.refused(412, "stale");
    admin.post(DATES, seed("2025-12-05", "2025-12-05", "open")).if_match(&product.tag()).await.refused(412, "stale");
    let seen = visitor.get(PASS).await.is(200);
    assert_eq!(seen["openRanges"], json!(["2025-12-01/2025-12-03", "2026-04-02/2026-04-30"]));
    visitor.get(&format!("{DATES}/2025-12-05")).await.refused(404, "not-found");
    assert_eq!(visitor.get(&format!("{DATES}/2026-01-01")).await.is(200)["reason"], "wildfire");
    // What opens no day leaves the product's tag.
    let tag = admin.get(PASS).await.is(200).tag();
    assert_eq!(admin.patch(&query, json!({ "reason": null })).await.is(200)["changed"], 118);
    assert_eq!(admin.get(PASS).await.is(200).tag(), tag);
    let whole =
        admin.patch(&format!("{DATES}?from=2025-12-01&to=2026-11-30"), json!({ "status": "open" })).await.is(200);
    assert_eq!(whole["changed"], 118);
}

/// DynamoDB limits the items of a transaction to 4 MB.
async fn patch_of_a_range_splits_what_exceeds_a_transaction() {
    let (_cairn, admin, _) = with_product().await;
    assert_eq!(admin.post(DATES, seed("2025-12-01", "2026-03-31", "open")).await.is(200)["created"], 121);
    let long = |letters| "\u{1f600}".repeat(letters);
    let patch = json!({ "adminNotes": long(10_000), "reason": long(500) });
    let changed = admin.patch(&format!("{DATES}?from=2025-12-01&to=2026-03-31"), patch.clone()).await.is(200);
    assert_eq!(changed["changed"], 121);
    assert_eq!(admin.get(&format!("{DATES}/2026-03-31")).await.is(200)["adminNotes"], patch["adminNotes"]);
}
