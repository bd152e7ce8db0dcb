//! The grid from the table.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::fixture::{Fixture, PROJECT, TENANT, entries, numbers};
use crate::harness::{Answer, sized};
use crate::tests;

tests! { tracker_grid:
    grid_of_the_seed_fixture_lists_as_specified,
    index_holds_exactly_the_specified_rows,
    decimals_and_long_texts_sort_and_filter,
    #[long] paging_during_writes_returns_each_issue_once,
    paging_by_a_choice_follows_the_option_order,
    page_by_a_choice_with_many_retired_options_ends_early,
    cursor_of_a_choice_with_999_options_fits_a_request,
    option_given_as_text_is_its_label,
    row_has_the_entity_tag_and_the_times_of_its_issue,
    cursor_is_refused_after_options_are_relabelled,
    each_faulty_filter_is_named,
    grid_faults_name_their_parameters,
}

async fn grid_of_the_seed_fixture_lists_as_specified() {
    the_fixture_is_shown(&Fixture::new().await).await;
}

pub async fn the_fixture_is_shown(fixture: &Fixture) {
    for (query, expected) in [
        ("sort=number", vec![1, 2, 3]),
        ("sort=xattrib-3812", vec![1, 2, 3]),
        ("sort=xattrib-3812&order=desc", vec![2, 1, 3]),
        ("sort=xattrib-3fe6", vec![3, 1, 2]),
        ("sort=xattrib-3fe6&order=desc", vec![3, 2, 1]),
        ("sort=xattrib-882a&filter=xattrib-882a:gte:2023-06-02", vec![2]),
        ("filter=state:eq:open&count=true", vec![1, 3]),
        ("sort=state", vec![1, 3, 2]),
        ("filter=xattrib-3812:empty", vec![3]),
        ("filter=number:gt:1&order=desc", vec![3, 2]),
        ("filter=number:in:3,1", vec![1, 3]),
        ("sort=xattrib-47e5&filter=xattrib-47e5:prefix:APP", vec![3]),
    ] {
        let page = fixture.ann.get(&format!("{PROJECT}/grid?{query}")).await.is(200);
        assert_eq!((numbers(&page), &page["servedBy"]), (expected, &json!("table")), "{query}");
        if query.contains("count") {
            assert_eq!(page["total"], json!({ "value": 2, "exact": true }));
        }
    }
    let page = fixture.ann.get(&format!("{PROJECT}/grid?columns=xattrib-3fe6,xattrib-3812")).await.is(200);
    assert_eq!(page["items"][0]["values"], json!({ "xattrib-3812": "2023-05-01" }));
    assert_eq!(page["items"][2]["values"], json!({ "xattrib-3fe6": "42" }));
    fixture.holds().await;
}

async fn index_holds_exactly_the_specified_rows() {
    let fixture = Fixture::new().await;
    for (partition, expected) in [
        (
            "directory",
            vec![("acme engineering␁ACME Engineering", "tenant-0807"), ("big media␁Big Media", "tenant-3cc8")],
        ),
        ("tenant-0807", vec![("forth rail bridge␁Forth Rail Bridge", "project-35e9")]),
        ("tenant-3cc8", vec![("the daily news␁The Daily News", "project-7b7e")]),
        ("project-35e9", vec![("p1301", "issue-020e"), ("p1302", "issue-67d1"), ("p1303", "issue-af34")]),
        ("project-7b7e", vec![("p1301", "issue-3544"), ("p1302", "issue-83a4")]),
        ("value-3812", vec![("2023-05-01␁p1301", "issue-020e"), ("2023-05-02␁p1302", "issue-67d1")]),
        ("value-882a", vec![("2023-06-01␁p1301", "issue-020e"), ("2023-06-02␁p1302", "issue-67d1")]),
        ("value-3fe6", vec![("p13142␁p1303", "issue-af34")]),
        ("value-47e5", vec![("approved␁p1303", "issue-af34")]),
        ("value-35e6", vec![]),
        ("blank-3812", vec![("p1303", "issue-af34")]),
        ("blank-3fe6", vec![("p1301", "issue-020e"), ("p1302", "issue-67d1")]),
        (
            "state-35e9",
            vec![("closed␁p1302", "issue-67d1"), ("open␁p1301", "issue-020e"), ("open␁p1303", "issue-af34")],
        ),
        ("state-7b7e", vec![("closed␁p1301", "issue-3544"), ("open␁p1302", "issue-83a4")]),
    ] {
        let found = entries(&fixture.cairn, partition).await;
        let found: Vec<_> = found.iter().map(|(data, pk)| (data.as_str(), pk.as_str())).collect();
        assert_eq!(found, expected, "{partition}");
    }
}

async fn decimals_and_long_texts_sort_and_filter() {
    decimals_and_long_texts(&Fixture::new().await).await;
}

pub async fn decimals_and_long_texts(fixture: &Fixture) {
    let project = fixture.project("Numbers").await;
    let decimal = fixture.attribute(&project, "Weight", "decimal").await;
    let text = fixture.attribute(&project, "Note", "text").await;
    let long = "é".repeat(1024);
    for place in 1..=7_usize {
        let mut values = serde_json::Map::new();
        let weights = ["10", "2", "-12.5", "0", "-12.25"];
        if let Some(weight) = weights.get(place - 1) {
            values.insert(decimal.clone(), json!(weight));
        }
        match place {
            1 | 2 => drop(values.insert(text.clone(), json!(long))),
            3 => drop(values.insert(text.clone(), json!("É".repeat(498)))),
            _ => {}
        }
        fixture.issue(&project, &format!("Issue {place}"), Value::Object(values)).await;
    }
    let by = |sort: &str, rest: &str| format!("sort={sort}{rest}");
    assert_eq!(fixture.numbers(&project, &by(&decimal, "")).await, [3, 5, 4, 2, 1, 6, 7]);
    assert_eq!(fixture.numbers(&project, &by(&decimal, "&order=desc")).await, [1, 2, 4, 5, 3, 7, 6]);
    let found = fixture.ann.get(&format!("{project}/numbers/1")).await.is(200);
    assert_eq!(found["values"][&text], json!(long));
    let with_text = format!("&filter={text}:notEmpty");
    assert_eq!(fixture.numbers(&project, &by(&text, &with_text)).await, [3, 1, 2]);
    let equal = format!("&filter={text}:eq:{}", "é".repeat(498));
    assert_eq!(fixture.numbers(&project, &by(&text, &equal)).await, [3]);
    fixture.holds().await;
}

async fn paging_during_writes_returns_each_issue_once() {
    a_walk_among_writers(&Fixture::new().await, sized(150, 1000)).await;
}

/// Three of five issues have a value. In each direction 50 are edited, as many are made, and some at the cursor deleted.
pub async fn a_walk_among_writers(fixture: &Fixture, count: usize) {
    let project = fixture.project("Walk").await;
    let weight = fixture.attribute(&project, "Weight", "int").await;
    let value = |place: usize| place as i64 * 37 % 50 - 25;
    let values = |place: usize| if place % 5 < 3 { json!({ &weight: value(place).to_string() }) } else { json!({}) };
    let issues = fixture.issues(&project, count, values).await;
    let mut deleted = BTreeSet::new();
    for order in ["asc", "desc"] {
        let (mut seen, mut cursor, mut edited) = (Vec::new(), None::<String>, BTreeSet::new());
        for round in 0_usize.. {
            let from = cursor.as_ref().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
            let grid = format!("{project}/grid?sort={weight}&order={order}&limit=7&columns={weight}{from}");
            let page = fixture.ann.get(&grid).await.is(200);
            let items = page["items"].as_array().unwrap().clone();
            seen.extend(items.iter().map(|item| (item["number"].as_u64().unwrap(), item["values"][&weight].clone())));
            cursor = page.next().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
            assert_eq!(items.len(), 7, "a page before the last is short");
            // Meanwhile: one more, one changed, and the one at the cursor gone.
            if round < 50 {
                fixture.issue(&project, "Meanwhile", json!({ &weight: "3" })).await;
                let other = &issues[round * 7 % issues.len()];
                let change = json!({ "value": (round as i64 * 11 % 40 - 20).to_string() });
                fixture.ann.put(&format!("{}/values/{weight}", other.header("location")), change).await;
                edited.insert(other["number"].as_u64().unwrap());
            }
            if round % 40 == 3 {
                let last = items.last().unwrap();
                fixture.ann.delete(&format!("{project}/issues/{}", last["id"].as_str().unwrap())).await.is(204);
                deleted.insert(last["number"].as_u64().unwrap());
            }
        }
        let untouched: BTreeSet<u64> = issues.iter().map(|issue| issue["number"].as_u64().unwrap()).collect();
        let untouched: BTreeSet<u64> = &(&untouched - &edited) - &deleted;
        assert!(untouched.len() + 60 > count, "{}", untouched.len());
        let mut walked: Vec<u64> = seen.iter().map(|(number, _)| *number).filter(|it| untouched.contains(it)).collect();
        walked.sort_unstable();
        assert_eq!(walked, untouched.iter().copied().collect::<Vec<_>>(), "each that nobody touched comes once");
        let first_blank = seen.iter().position(|(_, value)| value.is_null()).unwrap();
        let mut later = seen[first_blank..].iter().filter(|(number, _)| untouched.contains(number));
        assert!(later.all(|(_, value)| value.is_null()), "those without a value come last");
    }
    fixture.holds().await;
}

async fn paging_by_a_choice_follows_the_option_order() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Choice").await;
    let options = json!([{ "label": "High" }, { "label": "Mid" }, { "label": "Low" }]);
    let new = json!({ "name": "Priority", "type": "choice", "options": options });
    let made = fixture.ada.post(&format!("{project}/attributes"), new).await.is(201);
    let (id, ids) = (made.text("id").to_owned(), made["options"].clone());
    let high = json!({ "id": "001" });
    for value in [json!("Low"), json!("High"), json!({ "label": "mid" }), high, json!("Low")] {
        fixture.issue(&project, &value.to_string(), json!({ &id: value })).await;
    }
    fixture.issue(&project, "none", json!({})).await;
    let grid = format!("{project}/grid?sort={id}&limit=2");
    let first = fixture.ann.get(&grid).await.is(200);
    assert_eq!(numbers(&first), [2, 4]);
    let before = entries(&fixture.cairn, &format!("value-{}", id.trim_start_matches("xattrib-"))).await;

    let reversed = json!({ "options": [
        { "id": ids[2]["id"] }, { "id": ids[1]["id"] }, { "id": ids[0]["id"], "label": "Top" }
    ] });
    fixture.ada.patch(&format!("{project}/attributes/{id}"), reversed).await.is(200);
    let mut walked = numbers(&first);
    let mut cursor = first.next().map(str::to_owned);
    while let Some(from) = cursor {
        let page = fixture.ann.get(&format!("{grid}&cursor={from}")).await.is(200);
        walked.extend(numbers(&page));
        cursor = page.next().map(str::to_owned);
    }
    assert_eq!(walked, [2, 4, 3, 1, 5, 6], "the walk ends in the order with which it began");
    assert_eq!(fixture.numbers(&project, &format!("sort={id}")).await, [1, 5, 3, 2, 4, 6]);
    let found = fixture.ann.get(&format!("{project}/numbers/2")).await.is(200);
    assert_eq!(found["values"][&id], json!({ "id": "001", "label": "Top" }));
    let after = entries(&fixture.cairn, &format!("value-{}", id.trim_start_matches("xattrib-"))).await;
    assert_eq!(before, after, "no value row was written");
}

/// Labels may look like the ids of other options.
async fn page_by_a_choice_with_many_retired_options_ends_early() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Sprints").await;
    let options = |year: usize| -> Vec<Value> {
        (0..50).map(|sprint| json!({ "label": format!("Sprint {sprint} of {year}") })).collect()
    };
    let new = json!({ "name": "Sprint", "type": "choice", "options": options(2023) });
    let id = fixture.ada.post(&format!("{project}/attributes"), new).await.is(201).text("id").to_owned();
    for year in [2024, 2025, 2026] {
        let attribute = format!("{project}/attributes/{id}");
        fixture.ada.patch(&attribute, json!({ "options": options(year) })).await.is(200);
    }
    fixture.issue(&project, "Unplanned", json!({})).await;
    fixture.issue(&project, "Planned", json!({ &id: "Sprint 7 of 2026" })).await;
    let grid = format!("{project}/grid?sort={id}&limit=10");
    let (mut pages, mut cursor) = (Vec::new(), Some(String::new()));
    while let Some(from) = cursor {
        let page = fixture.ann.get(&format!("{grid}{from}")).await.is(200);
        pages.push(numbers(&page));
        cursor = page.next().map(|next| format!("&cursor={next}"));
    }
    assert_eq!(pages, [vec![2], vec![], vec![1]]);
}

/// A request line has at most 10 240 bytes together with the header values, and filters may take many of them.
async fn cursor_of_a_choice_with_999_options_fits_a_request() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Sprints").await;
    let options = |first: usize| -> Vec<Value> {
        (first..1000).take(50).map(|sprint| json!({ "label": format!("Sprint {sprint}") })).collect()
    };
    let new = json!({ "name": "Sprint", "type": "choice", "options": options(1) });
    let id = fixture.ada.post(&format!("{project}/attributes"), new).await.is(201).text("id").to_owned();
    fixture.issue(&project, "Old", json!({ &id: "Sprint 7" })).await;
    fixture.issue(&project, "Older", json!({ &id: "Sprint 6" })).await;
    for first in (51..1000).step_by(50) {
        let attribute = format!("{project}/attributes/{id}");
        fixture.ada.patch(&attribute, json!({ "options": options(first) })).await.is(200);
    }
    fixture.issue(&project, "New", json!({ &id: "Sprint 960" })).await;
    let sprints: Vec<String> = [6, 7].into_iter().chain(951..969).map(|sprint| format!("Sprint%20{sprint}")).collect();
    let filters = vec![format!("{id}:in:{}", sprints.join(",")); 10].join(",");
    let grid = format!("{project}/grid?sort={id}&limit=1&filter={filters}");
    let (mut walked, mut cursor) = (Vec::new(), Some(String::new()));
    while let Some(from) = cursor {
        let page = fixture.ann.get(&format!("{grid}{from}")).await.is(200);
        walked.extend(numbers(&page));
        cursor = page.next().map(|next| format!("&cursor={next}"));
    }
    assert_eq!(walked, [3, 2, 1]);
}

async fn option_given_as_text_is_its_label() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Rooms").await;
    let options = ["404", "001", "002"].map(|label| json!({ "label": label }));
    let room = json!({ "name": "Room", "type": "choice", "options": options });
    let room = fixture.ada.post(&format!("{project}/attributes"), room).await.is(201).text("id").to_owned();
    let issue = fixture.issue(&project, "Lamp", json!({ &room: "001" })).await;
    let value = format!("{}/values/{room}", issue.header("location"));
    let shown = async |id: &str, label: &str| {
        let read = fixture.ann.get(issue.header("location")).await.is(200);
        assert_eq!(read["values"][&room], json!({ "id": id, "label": label }));
    };
    shown("002", "001").await;
    fixture.ann.put(&value, json!({ "value": { "id": "001" } })).await.is(200);
    shown("001", "404").await;
    fixture.ann.put(&value, json!({ "value": { "label": "002" } })).await.is(200);
    shown("003", "002").await;
    for unknown in [json!("003"), json!({ "id": "004" }), json!({ "label": "003" }), json!(1)] {
        fixture.ann.put(&value, json!({ "value": unknown })).await.refused(422, "unknown-option");
    }
    for malformed in [json!({}), json!({ "id": "001", "label": "404" }), json!({ "ID": "001" }), json!([]), json!(true)]
    {
        assert_eq!(fixture.ann.put(&value, json!({ "value": malformed })).await.status, 400);
    }
    let other = format!("{}/values/{}", issue.header("location"), fixture.attribute(&project, "Note", "text").await);
    fixture.ann.put(&other, json!({ "value": { "label": "a" } })).await.refused(422, "wrong-type");
    let found = async |value: &str| fixture.numbers(&project, &format!("filter={room}:eq:{value}")).await;
    assert_eq!((found("002").await, found("001").await), (vec![1], vec![]));
    let by_id = |id: &str| format!("%7B%22id%22:%22{id}%22%7D");
    assert_eq!((found(&by_id("003")).await, found(&by_id("002")).await), (vec![1], vec![]));
    let unknown = format!("{project}/grid?filter={room}:eq:003");
    fixture.ann.get(&unknown).await.faulty(&["filter"]);
}

/// A client edits what it sees, without reading each issue.
async fn row_has_the_entity_tag_and_the_times_of_its_issue() {
    let fixture = Fixture::new().await;
    let made = fixture.issue(PROJECT, "Bolts", json!({})).await;
    let row = fixture.ann.get(&format!("{PROJECT}/grid?filter=number:eq:4")).await.is(200)["items"][0].clone();
    let etag = row["etag"].as_str().unwrap();
    assert_eq!(
        (etag, &row["createdAt"], &row["updatedAt"]),
        (made.tag().as_str(), &made["createdAt"], &made["updatedAt"])
    );
    let rename = |name: &str| fixture.ann.patch(made.header("location"), json!({ "name": name })).if_match(etag);
    rename("Nuts").await.is(200);
    rename("Screws").await.refused(412, "stale");
}

async fn cursor_is_refused_after_options_are_relabelled() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Relabelled").await;
    let options = ["High", "Mid", "Low"].map(|label| json!({ "label": label }));
    let level = json!({ "name": "Level", "type": "choice", "options": options });
    let level = fixture.ada.post(&format!("{project}/attributes"), level).await.is(201).text("id").to_owned();
    let made = fixture.issues(&project, 4, |place| json!({ &level: if place < 3 { "High" } else { "Low" } })).await;
    let high = format!("{project}/grid?filter={level}:eq:High&limit=1");
    let first = fixture.ann.get(&high).await.is(200);
    let second = format!("{high}&cursor={}", first.next().unwrap());
    assert_eq!(numbers(&fixture.ann.get(&second).await.is(200)).len(), 1);
    let other = |id: &str, label: &str| json!({ "id": id, "label": label });
    let relabelled = json!({ "options": [other("001", "Old"), other("002", "Mid"), other("003", "High")] });
    fixture.ada.patch(&format!("{project}/attributes/{level}"), relabelled).await.is(200);
    fixture.ann.get(&second).await.faulty(&["cursor"]);
    assert_eq!(numbers(&fixture.ann.get(&high).await.is(200)), [made[3]["number"].as_u64().unwrap()]);
}

async fn each_faulty_filter_is_named() {
    let fixture = Fixture::new().await;
    let elements = |answer: &Answer| -> Vec<String> {
        let detail = |fault: &Value| fault["detail"].as_str().unwrap().rsplit_once(" (").unwrap().1.to_owned();
        answer["errors"].as_array().unwrap().iter().map(detail).collect()
    };
    let query = "filter=state:eq:done,name:in:a,b,number:eq:x";
    let grid = fixture.ann.get(&format!("{PROJECT}/grid?{query}")).await.faulty(&["filter"]);
    assert_eq!(elements(&grid), ["element 1)", "element 3)"], "{}", grid.told());
    let search = fixture.ann.get(&format!("{TENANT}/search?q=girder&projectId=project-35e9&{query}")).await;
    assert_eq!(elements(&search.faulty(&["filter"])), ["element 1)", "element 3)"]);
    let export = |filter: Value| fixture.ann.post(&format!("{PROJECT}/exports"), json!({ "filter": filter }));
    export(json!(["state:eq:done", "name:in:a,b", "number:eq:x"])).await.faulty(&["/filter/0", "/filter/2"]);
    // An element of a body never continues the one before it.
    export(json!(["name:eq:a", "colour:eq:red"])).await.faulty(&["/filter/1"]);
    export(json!(["name:eq:a\\", "state:eq:done"])).await.faulty(&["/filter/1"]);
    export(json!(["name:eq:a", ""])).await.faulty(&["/filter/1"]);
}

async fn grid_faults_name_their_parameters() {
    let fixture = Fixture::new().await;
    let grid = |query: &str| fixture.ann.get(&format!("{PROJECT}/grid?{query}"));
    for query in ["sort=xattrib-0000", "sort=colour"] {
        grid(query).await.faulty(&["sort"]);
    }
    let long = format!("filter=xattrib-47e5:eq:{}", "x".repeat(998));
    for query in [
        "filter=xattrib-3812:eq:tomorrow",
        "filter=xattrib-3812:prefix:2",
        "filter=state:eq:done",
        "filter=state:lt:open",
        "filter=number:empty",
        "filter=xattrib-3fe6:gt",
        "filter=xattrib-3fe6",
        &long,
    ] {
        grid(query).await.faulty(&["filter"]);
    }
    let filters = |count: usize| vec!["number:gte:1"; count];
    let values = |count: usize| (1..=count).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    grid(&format!("filter={}", filters(10).join(","))).await.is(200);
    grid(&format!("filter={}", filters(11).join(","))).await.faulty(&["filter"]);
    grid(&format!("filter=number:in:{}", values(20))).await.is(200);
    grid(&format!("filter=number:in:{}", values(21))).await.faulty(&["filter"]);
    let export = |filter: &[&str]| fixture.ann.post(&format!("{PROJECT}/exports"), json!({ "filter": filter }));
    export(&filters(10)).await.is(202);
    export(&filters(11)).await.faulty(&["/filter"]);
    export(&[&filters(11).join(",")]).await.faulty(&["/filter"]);
    export(&[&format!("number:in:{}", values(21))]).await.faulty(&["/filter/0"]);
    assert_eq!(fixture.numbers(PROJECT, "filter=state:eq:Closed").await, [2]);
    let unknown = grid("columns=xattrib-3812,xattrib-0000").await.faulty(&["columns"]);
    assert!(unknown.body.to_string().contains("(element 2)"), "{}", unknown.told());
    grid("cursor=abc").await.faulty(&["cursor"]);
    assert_eq!(fixture.numbers(PROJECT, "sort=xattrib-47e5&filter=xattrib-47e5:eq:a,b").await, Vec::<u64>::new());
    assert_eq!(fixture.numbers(PROJECT, "filter=number:gt:5,number:lt:2").await, Vec::<u64>::new());
}
