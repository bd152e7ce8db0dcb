//! Grids and questions that search answers: scenario 12.

use serde_json::{Value, json};

use super::fixture::{Fixture, TENANT, numbers};
use crate::tests;

tests! { tracker_search:
    scenario_12_grids_of_several_columns_equal_a_naive_filter,
    issues_are_found_by_their_words,
    a_platform_administrator_finds_tenants_by_their_words,
}

/// An issue's number and its values: a day, a count, a kind.
type Made = (u64, Option<String>, Option<i64>, Option<&'static str>);

async fn scenario_12_grids_of_several_columns_equal_a_naive_filter() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Searched").await;
    let day = fixture.attribute(&project, "Day", "date").await;
    let count = fixture.attribute(&project, "Count", "int").await;
    let new = json!({ "name": "Kind", "type": "choice", "options": [{ "label": "A" }, { "label": "B" }] });
    let kind = fixture.ada.post(&format!("{project}/attributes"), new).await.is(201).text("id").to_owned();
    let mut issues: Vec<Made> = Vec::new();
    for place in 0..60_i64 {
        let mut values = serde_json::Map::new();
        let on = (place % 3 > 0).then(|| format!("2023-05-{:02}", place * 7 % 11 + 1));
        let many = (place % 4 > 0).then_some(place * 13 % 17 - 8);
        let of = (place % 5 > 0).then_some(if place % 2 == 0 { "A" } else { "B" });
        values.extend(on.clone().map(|on| (day.clone(), json!(on))));
        values.extend(many.map(|many| (count.clone(), json!(many.to_string()))));
        values.extend(of.map(|of| (kind.clone(), json!(of))));
        let made = fixture.issue(&project, &format!("Issue {place}"), Value::Object(values)).await;
        issues.push((made["number"].as_u64().unwrap(), on, many, of));
    }
    fixture.cairn.caught_up().await;
    for turn in 0..40_i64 {
        let (low, high) = (turn % 9 - 6, turn % 7 + 1);
        let of = ["A", "B"][turn as usize % 2];
        let backward = turn % 3 == 0;
        let mut expected: Vec<_> = issues
            .iter()
            .filter(|(_, _, many, is)| many.is_some_and(|many| low <= many && many < high) && *is == Some(of))
            .collect();
        expected.sort_by_key(|(number, on, ..)| (on.clone(), *number));
        if backward {
            expected.reverse();
        }
        // Those without a day come last, whatever the direction.
        expected.sort_by_key(|(_, on, ..)| on.is_none());
        let order = if backward { "desc" } else { "asc" };
        let filter = format!("filter={kind}:eq:{of},{count}:gte:{low},{count}:lt:{high}");
        let grid = format!("{project}/grid?sort={day}&order={order}&{filter}&limit=4");
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = fixture.ann.get(&format!("{grid}{cursor}")).await.is(200);
            assert_eq!(page["servedBy"], "search");
            found.extend(numbers(&page));
            match page.next() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(found, expected.iter().map(|(number, ..)| *number).collect::<Vec<_>>(), "{grid}");
    }
    let counted =
        fixture.ann.get(&format!("{project}/grid?sort=name&filter={kind}:empty&count=true&limit=3")).await.is(200);
    assert_eq!((&counted["servedBy"], &counted["total"]), (&json!("search"), &json!({ "value": 12, "exact": false })));
    // By name, as people read it: `Issue 10` comes before `Issue 2`.
    assert_eq!(counted.each("name"), ["Issue 0", "Issue 10", "Issue 15"]);
}

async fn issues_are_found_by_their_words() {
    let fixture = Fixture::new().await;
    fixture.cairn.caught_up().await;
    let search = |query: &str| fixture.ann.get(&format!("{TENANT}/search?{query}"));
    let found = search("q=girdr").await.is(200);
    assert_eq!(found["items"][0]["issue"]["id"], "issue-af34", "{}", found.told());
    assert_eq!(found["items"][0]["highlights"]["name"][0][0], json!({ "text": "Girder", "hit": true }));
    assert_eq!(found["total"], json!({ "value": 1, "exact": true }));
    let needs: Vec<Value> = search("q=needs").await.is(200).each("issue").into_iter().cloned().collect();
    assert_eq!(needs.len(), 2);
    let approved = search("q=approved&state=open").await.is(200);
    assert_eq!(approved["items"][0]["issue"]["number"], 3);
    let numbered = search("q=2&projectId=project-35e9").await.is(200);
    assert_eq!(numbered["items"][0]["issue"]["id"], "issue-67d1");
    let filtered = search("q=needs&projectId=project-35e9&filter=xattrib-3fe6:gt:41").await.is(200);
    assert_eq!(filtered.each("issue").len(), 1);
    search("q=needs&filter=xattrib-3fe6:gt:41").await.faulty(&["filter"]);
    let projects = search("q=rail&entity=project").await.is(200);
    assert_eq!(projects["items"][0]["project"], json!({ "id": "project-35e9", "name": "Forth Rail Bridge" }));
    for words in ["newspaper", "showbiz", "reporter", "daily"] {
        assert_eq!(search(&format!("q={words}")).await.is(200)["total"]["value"], 0, "{words} is another tenant's");
        assert_eq!(search(&format!("q={words}&entity=project")).await.is(200)["total"]["value"], 0);
    }
}

async fn a_platform_administrator_finds_tenants_by_their_words() {
    let fixture = Fixture::new().await;
    let pat = super::fixture::platform_admin(&fixture.cairn).await;
    let zoo = pat.post("/tracker/tenants", json!({ "name": "Media of the Zoo" })).await.is(201);
    fixture.cairn.caught_up().await;
    let found = async |query: &str| {
        let page = pat.get(&format!("/tracker/tenants?{query}")).await.is(200);
        (page.each("name").into_iter().cloned().collect::<Vec<_>>(), page.next().map(str::to_owned))
    };
    assert_eq!(found("q=enginering").await, (vec![json!("ACME Engineering")], None));
    // The last word alone is worth something, too.
    assert_eq!(found("q=zoo+media").await.0, ["Media of the Zoo", "Big Media"]);
    let (first, next) = found("q=media&limit=1").await;
    let (second, end) = found(&format!("q=media&limit=1&cursor={}", next.unwrap())).await;
    let mut both = [first, second].concat();
    both.sort_by_key(ToString::to_string);
    assert_eq!((both, end), (vec![json!("Big Media"), json!("Media of the Zoo")], None));
    pat.get("/tracker/tenants?q=a&prefix=b&order=desc").await.faulty(&["order", "prefix"]);
    fixture.ada.get("/tracker/tenants?q=media").await.refused(403, "forbidden");
    pat.delete(zoo.header("location")).await.is(204);
    fixture.cairn.caught_up().await;
    assert_eq!(found("q=zoo").await, (Vec::new(), None));
}
