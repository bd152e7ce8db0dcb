//! Grids and searches that OpenSearch answers.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use reqwest::Method;
use serde_json::{Value, json};
use table::{Config, Engines};
use web::App;

use super::fixture::{Fixture, PROJECT, TENANT, numbers};
use super::questions::{Column, Kind, Naive};
use super::{concurrent, grid, issues};
use crate::harness::proxy::Proxy;
use crate::harness::relay::pass_on;
use crate::harness::server::Server;
use crate::harness::{Setup, engines, seed, sized};
use crate::tests;

tests! { tracker_search:
    #[long] random_queries_equal_a_naive_filter,
    groups_show_their_values_in_order,
    times_sort_and_filter,
    #[long] everything_but_search_works_while_search_is_stopped,
    search_for_a_number_beyond_range_finds_nothing,
    #[long] page_of_stale_hits_ends_with_a_cursor_that_has_moved,
    issues_are_found_by_words,
    issue_that_no_longer_matches_the_filters_is_not_found,
    reopened_issue_is_found_while_reads_show_it_closed,
    reopened_issues_are_on_the_grid_while_reads_show_them_closed,
    issues_of_a_project_that_is_being_deleted_are_not_found,
    platform_administrator_searches_tenants_by_name,
}

/// What the issues' names and notes are; their case says nothing.
const TEXTS: [&str; 7] = ["apple", "Apple pie", "applesauce", "banana split", "Élan", "Issue 10", "Issue 2"];

async fn random_queries_equal_a_naive_filter() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Searched").await;
    let (seed, mut random) = (seed::of_the_run(), seed::random("tracker_search"));
    let naive = asked_about(&fixture, &project, &mut random).await;
    fixture.cairn.caught_up().await;
    let (mut by_search, queries) = (0, sized(50, 200));
    for _ in 0..queries {
        let (question, limit) = (naive.question(&mut random), random.usize(2..30));
        let grid = format!("{project}/grid?{}&limit={limit}&count=true", naive.query(&question));
        let expected = naive.answer(&question);
        let mut pages = expected.chunks(limit);
        let mut cursor = String::new();
        loop {
            let page = fixture.ann.get(&format!("{grid}{cursor}")).await.is(200);
            assert_eq!(numbers(&page), pages.next().unwrap_or_default(), "CAIRN_SEED={seed}: {grid}");
            assert_eq!(page["total"]["value"], expected.len(), "CAIRN_SEED={seed}: {grid}");
            by_search += u32::from(cursor.is_empty() && page["servedBy"] == "search");
            match page.next() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(pages.next(), None, "CAIRN_SEED={seed}: {grid}");
        let grouping = naive.grouping(&mut random);
        let grouped = format!("{grid}&groupBy={}", naive.column(grouping));
        let groups = &fixture.ann.get(&grouped).await.is(200)["groups"];
        let mut counts: Vec<u64> =
            groups["values"].as_array().unwrap().iter().map(|group| group["count"].as_u64().unwrap()).collect();
        counts.sort_unstable();
        let found = (counts, groups["without"].as_u64().unwrap());
        assert_eq!(found, naive.groups(&question, grouping), "CAIRN_SEED={seed}: {grouped}");
        assert_eq!(groups["others"], 0);
    }
    assert!(by_search > queries * 2 / 5, "search has answered {by_search} only");
}

async fn groups_show_their_values_in_order() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Board").await;
    let weight = fixture.attribute(&project, "Weight", "decimal").await;
    let day = fixture.attribute(&project, "Day", "date").await;
    let note = fixture.attribute(&project, "Note", "text").await;
    let options = json!([{ "label": "To do" }, { "label": "Doing" }, { "label": "Done" }]);
    let new = json!({ "name": "Stage", "type": "choice", "options": options });
    let stage = fixture.ada.post(&format!("{project}/attributes"), new).await.is(201);
    let ids: Vec<&str> =
        stage["options"].as_array().unwrap().iter().map(|option| option["id"].as_str().unwrap()).collect();
    let stage = stage.text("id").to_owned();
    for (place, label) in ["Done", "To do", "Done", "Done", "To do"].into_iter().enumerate() {
        let values =
            json!({ &stage: { "label": label }, &weight: if place < 3 { "-1.50" } else { "2e3" }, &note: "n" });
        fixture.issue(&project, "Card", values).await;
    }
    let last = fixture.issue(&project, "Without", json!({ &day: "2026-01-02" })).await;
    fixture.ann.patch(last.header("location"), json!({ "state": "closed" })).await.is(200);
    fixture.cairn.caught_up().await;
    let groups = async |query: &str| {
        let page = fixture.ann.get(&format!("{project}/grid?limit=1&{query}")).await.is(200);
        page["groups"].clone()
    };
    let of = |value: Value, count: u64| json!({ "value": value, "count": count });
    let option = |place: usize, label: &str| json!({ "id": ids[place], "label": label });
    let all = json!({
        "values": [of(option(0, "To do"), 2), of(option(2, "Done"), 3)], "without": 1, "others": 0
    });
    assert_eq!(groups(&format!("groupBy={stage}")).await, all);
    let light = groups(&format!("groupBy={stage}&filter={weight}:lt:0")).await;
    assert_eq!(light["values"], json!([of(option(0, "To do"), 1), of(option(2, "Done"), 2)]));
    let weights = groups(&format!("groupBy={weight}")).await;
    assert_eq!(weights["values"], json!([of(json!("-1.5"), 3), of(json!("2000"), 2)]));
    assert_eq!(groups(&format!("groupBy={day}")).await["values"], json!([of(json!("2026-01-02"), 1)]));
    let states = groups("groupBy=state").await;
    assert_eq!(states, json!({ "values": [of(json!("open"), 5), of(json!("closed"), 1)], "without": 0, "others": 0 }));
    assert_eq!(groups("count=true").await, Value::Null);
    for column in ["number", "name", "createdAt", "xattrib-0001", &note, ""] {
        fixture.ann.get(&format!("{project}/grid?groupBy={column}")).await.faulty(&["groupBy"]);
    }
}

/// 60 issues with values of each kind in a project, some alike and some absent, and what may be asked about them.
async fn asked_about(fixture: &Fixture, project: &str, random: &mut fastrand::Rng) -> Naive {
    let count = fixture.attribute(project, "Count", "int").await;
    let weight = fixture.attribute(project, "Weight", "decimal").await;
    let day = fixture.attribute(project, "Day", "date").await;
    let note = fixture.attribute(project, "Note", "text").await;
    let options = ["A", "B", "C"].map(|label| json!({ "label": label }));
    let new = json!({ "name": "Level", "type": "choice", "options": options });
    let level = fixture.ada.post(&format!("{project}/attributes"), new).await.is(201).text("id").to_owned();
    // In another order than that of their ids.
    let turned = json!({ "options": [{ "id": "003" }, { "id": "001" }, { "id": "002" }] });
    fixture.ada.patch(&format!("{project}/attributes/{level}"), turned).await.is(200);
    let columns = vec![
        Column::new("number", Kind::Number, (0..65).map(|number| number.to_string())),
        Column::new("name", Kind::Name, TEXTS),
        Column::new("state", Kind::State, ["open", "closed"]),
        Column::new(count, Kind::Whole, ["-12", "-7", "0", "2", "3", "10", "42"]),
        Column::new(weight, Kind::Decimal, ["-12.5", "-12.25", "-0.001", "0", "0.5", "2", "10"]),
        Column::new(day, Kind::Date, (1..12).map(|day| format!("2023-05-{day:02}"))),
        Column::new(note, Kind::Text, TEXTS),
        Column::new(level, Kind::Choice, ["C", "A", "B"]),
    ];
    let mut issues = Vec::new();
    for _ in 0..60 {
        let mut new = json!({ "name": columns[1].value(random), "state": columns[2].value(random), "values": {} });
        for column in &columns[3..] {
            if random.u8(..4) > 0 {
                new["values"][column.name()] = json!(column.value(random));
            }
        }
        let made = fixture.ann.post(&format!("{project}/issues"), new).await.is(201);
        issues.push(fixture.ann.get(made.header("location")).await.is(200).body);
    }
    Naive::new(columns, &issues)
}

async fn times_sort_and_filter() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Timed").await;
    let mut made = Vec::new();
    for _ in 0..6 {
        fixture.cairn.clock.advance(Duration::from_secs(3));
        made.push(fixture.issue(&project, "An issue", json!({})).await);
    }
    let third = made[2].text("createdAt").to_owned();
    for number in [5, 1, 4] {
        fixture.cairn.clock.advance(Duration::from_secs(3));
        let closed = json!({ "state": "closed" });
        fixture.ann.patch(made[number - 1].header("location"), closed).await.is(200);
    }
    fixture.cairn.caught_up().await;
    let grid = async |query: &str| fixture.ann.get(&format!("{project}/grid?{query}")).await.is(200);
    for (query, expected) in [
        ("sort=createdAt".to_owned(), vec![1, 2, 3, 4, 5, 6]),
        ("sort=createdAt&order=desc&limit=100".to_owned(), vec![6, 5, 4, 3, 2, 1]),
        ("sort=updatedAt".to_owned(), vec![2, 3, 6, 5, 1, 4]),
        ("sort=updatedAt&order=desc".to_owned(), vec![4, 1, 5, 6, 3, 2]),
        (format!("filter=createdAt:lte:{third}"), vec![1, 2, 3]),
        (format!("filter=createdAt:eq:{third}"), vec![3]),
        (format!("sort=updatedAt&filter=updatedAt:gt:{third},createdAt:lt:{third},state:eq:closed"), vec![1]),
    ] {
        let page = grid(&query).await;
        assert_eq!((numbers(&page), &page["servedBy"]), (expected, &json!("search")), "{query}");
    }
    let mut walk = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = grid(&format!("sort=updatedAt&limit=2{cursor}")).await;
        walk.extend(numbers(&page));
        match page.next() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(walk, [2, 3, 6, 5, 1, 4]);
    // The times of the fixture's issues are empty.
    assert_eq!(fixture.numbers(PROJECT, "sort=createdAt").await, [1, 2, 3]);
    assert_eq!(fixture.numbers(PROJECT, "filter=updatedAt:gt:2000-01-01T00:00:00Z").await, [0; 0]);
    for filter in ["createdAt:gt:2023-05-01", "createdAt:gt:noon", "updatedAt:prefix:2023", "createdAt:empty"] {
        fixture.ann.get(&format!("{project}/grid?filter={filter}")).await.faulty(&["filter"]);
    }
}

/// Paging during writes, with 100 issues.
async fn everything_but_search_works_while_search_is_stopped() {
    let proxy = Proxy::before(engines::search().await).await;
    let fixture = Fixture::with(Setup { search: Some(proxy.url.clone()), ..Setup::of("tracker") }).await;
    fixture.cairn.caught_up().await;
    // No server listens on this port.
    proxy.move_to("http://127.0.0.1:1".to_owned());
    grid::the_fixture_is_shown(&fixture).await;
    grid::decimals_and_long_texts(&fixture).await;
    concurrent::a_hundred_create(&fixture).await;
    grid::a_walk_among_writers(&fixture, 100).await;
    issues::all_or_nothing(&fixture).await;
    concurrent::two_edit_one_issue(&fixture).await;
    issues::a_hundred_attributes(&fixture).await;

    let grid = |query: &str| fixture.ann.get(&format!("{PROJECT}/grid?{query}"));
    let several = "sort=xattrib-3812&filter=xattrib-3fe6:gt:1,xattrib-882a:notEmpty";
    let refused = grid(several).may_fail().await.refused(503, "search-unavailable");
    assert!(!refused.header("retry-after").is_empty(), "{}", refused.told());
    let search = fixture.ann.get(&format!("{TENANT}/search?q=girder")).may_fail();
    search.await.refused(503, "search-unavailable");
    let page = grid("sort=xattrib-3fe6&filter=xattrib-3fe6:gt:1&count=true").await.is(200);
    assert_eq!((&page["servedBy"], page.body.get("total")), (&json!("table"), Some(&Value::Null)), "{}", page.told());
    let page = grid("groupBy=state").await.is(200);
    assert_eq!((page.each("number").len(), page.body.get("groups")), (3, Some(&Value::Null)), "{}", page.told());
    // What was written meanwhile is found once search is there again.
    proxy.move_to(engines::search().await);
    fixture.cairn.caught_up().await;
    let found = fixture.ann.get(&format!("{TENANT}/search?q=wider")).await.is(200);
    assert_eq!(found["total"]["value"], 0, "{}", found.told());
    assert_eq!(grid(several).await.is(200)["servedBy"], "search");
}

async fn search_for_a_number_beyond_range_finds_nothing() {
    let fixture = Fixture::new().await;
    fixture.cairn.caught_up().await;
    let counted = fixture.ann.get(&format!("{PROJECT}/grid?filter=number:gt:9999999999&count=true")).await.is(200);
    assert_eq!((&counted["items"], &counted["total"]["value"]), (&json!([]), &json!(0)));
    let below = format!("{PROJECT}/grid?sort=name&filter=number:lte:9999999999,state:eq:open");
    assert_eq!(fixture.ann.get(&below).await.is(200).each("number").len(), 2);
    let project = PROJECT.rsplit('/').next().unwrap();
    let words = format!("{TENANT}/search?q=girder&projectId={project}&filter=number:eq:9999999999");
    assert_eq!(fixture.ann.get(&words).await.is(200)["items"], json!([]));
    // Values that are being rewritten have no filter.
    fixture.cairn.engines().wind_down();
    let text = json!({ "type": "text" });
    fixture.ada.post(&format!("{PROJECT}/attributes/xattrib-3fe6/retype"), text).await.is(202);
    let busy = format!("{TENANT}/search?q=girder&projectId={project}&filter=xattrib-3fe6:eq:42");
    fixture.ann.get(&busy).await.refused(409, "attribute-busy");
}

/// The mirror may be far behind a table in which many issues were deleted.
async fn page_of_stale_hits_ends_with_a_cursor_that_has_moved() {
    let fixture = Fixture::new().await;
    fixture.cairn.caught_up().await;
    let index = format!("{}-000001", fixture.cairn.engines().config.search_name("tracker"));
    let project = PROJECT.rsplit('/').next().unwrap();
    for number in 4..=203 {
        let (id, name) = (format!("issue-00000000-0000-7000-8000-{number:012x}"), format!("a stale hit {number}"));
        let document = json!({
            "pk": id, "sk": project, "entity": "issue", "tenantId": "tenant-0807", "projectId": project,
            "number": number, "state": "open", "name": name, "nameKey": name,
        });
        let refresh = if number == 203 { "&refresh=true" } else { "" };
        let path = format!("/{index}/_doc/{id}%23{project}?version=10&version_type=external{refresh}");
        fixture.cairn.search_engine(Method::PUT, &path, &document).await;
    }
    let grid = format!("{PROJECT}/grid?sort=name&filter=state:eq:open&limit=1");
    let (mut found, mut pages, mut cursor) = (Vec::new(), 0, String::new());
    loop {
        let page = fixture.ann.get(&format!("{grid}{cursor}")).await.is(200);
        assert_eq!(page["servedBy"], "search");
        found.extend(numbers(&page));
        pages += 1;
        match page.next() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(found, [3, 1]);
    // Of 200 stale hits no page passes over all.
    assert!((3..10).contains(&pages), "{pages}");
}

async fn issues_are_found_by_words() {
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

/// The issue was closed, and the mirror has not written that yet.
async fn issue_that_no_longer_matches_the_filters_is_not_found() {
    let fixture = Fixture::new().await;
    fixture.cairn.caught_up().await;
    let index = format!("{}-000001", fixture.cairn.engines().config.search_name("tracker"));
    let document = json!({
        "pk": "issue-67d1", "sk": "project-35e9", "entity": "issue", "tenantId": "tenant-0807",
        "projectId": "project-35e9", "number": 2, "state": "open", "name": "Check for rust",
        "nameKey": "check for rust",
    });
    let version = i64::MAX / 2;
    let path = format!("/{index}/_doc/issue-67d1%23project-35e9?version={version}&version_type=external&refresh=true");
    fixture.cairn.search_engine(Method::PUT, &path, &document).await;
    let found = async |filters: &str| {
        let page = fixture.ann.get(&format!("{TENANT}/search?q=rust{filters}")).await.is(200);
        (page.each("issue").len(), page["total"]["value"].clone())
    };
    assert_eq!(found("").await, (1, json!(1)));
    assert_eq!(found("&state=open").await, (0, json!(1)));
    assert_eq!(found("&projectId=project-35e9&filter=state:eq:open").await, (0, json!(1)));
}

/// A tracker of its own, whose eventually consistent batches are so old that they show open issues as closed.
struct OldReads {
    app: App,
    authorization: String,
    /// Whether an open issue was shown as closed.
    was_old: Arc<AtomicBool>,
    _server: Server,
}

impl OldReads {
    async fn of(fixture: &Fixture) -> Self {
        let config = fixture.cairn.engines().config.clone();
        let target = config.dynamodb.clone().unwrap();
        let was_old = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&was_old);
        let server = Server::start(move |request: Request<Incoming>| {
            let (target, seen) = (target.clone(), Arc::clone(&seen));
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await?.to_bytes();
                let is_batch = parts.headers["x-amz-target"].as_bytes().ends_with(b".BatchGetItem");
                let is_consistent = String::from_utf8_lossy(&body).contains(r#""ConsistentRead":true"#);
                let answer = pass_on(target, parts, body).await?;
                if !is_batch || is_consistent {
                    return Ok::<_, Box<dyn Error + Send + Sync>>(answer);
                }
                let found = String::from_utf8(answer.into_body().collect().await?.to_bytes().to_vec())?;
                let old = found.replace(r#"{"S":"open"}"#, r#"{"S":"closed"}"#);
                seen.fetch_or(old != found, Ordering::Relaxed);
                let old = Full::new(Bytes::from(old));
                Ok(Response::builder().header("content-type", "application/x-amz-json-1.0").body(old)?)
            }
        })
        .await;
        let config = Config { dynamodb: Some(server.url.clone()), ..config };
        let app = ::tracker::app(Engines::new(config, fixture.cairn.clock.clone())).metrics_to(|_| {});
        let authorization = format!("Bearer {}", fixture.cairn.token("ann", &[]).await);
        Self { app, authorization, was_old, _server: server }
    }

    /// What it answers to ann, after it has shown an open issue as closed.
    async fn get(&self, path: &str) -> Value {
        self.was_old.store(false, Ordering::Relaxed);
        let request = Request::get(path).header("authorization", &self.authorization).body(Bytes::new()).unwrap();
        let answer = self.app.handle(request).await;
        assert_eq!(answer.status(), 200, "{answer:?}");
        assert!(self.was_old.load(Ordering::Relaxed), "no issue was read");
        serde_json::from_slice(answer.body()).unwrap()
    }
}

/// Search has the issue as open, and so has the table, but an eventually consistent read is older.
async fn reopened_issue_is_found_while_reads_show_it_closed() {
    let fixture = Fixture::new().await;
    fixture.cairn.caught_up().await;
    let old = OldReads::of(&fixture).await;
    for filters in ["state=open", "projectId=project-35e9&filter=state:eq:open"] {
        let page = old.get(&format!("{TENANT}/search?q=girder&{filters}")).await;
        assert_eq!(page["items"][0]["issue"]["state"], "open", "{page}");
    }
}

/// Both the index and search have the issues as open.
async fn reopened_issues_are_on_the_grid_while_reads_show_them_closed() {
    let fixture = Fixture::new().await;
    fixture.cairn.caught_up().await;
    let old = OldReads::of(&fixture).await;
    for (query, served_by, expected) in [
        ("filter=state:eq:open", "table", [1, 3]),
        ("sort=state&filter=state:eq:open&order=desc", "table", [3, 1]),
        ("sort=name&filter=state:eq:open", "search", [3, 1]),
    ] {
        let page = old.get(&format!("{PROJECT}/grid?{query}")).await;
        let rows = page["items"].as_array().unwrap().iter();
        let rows: Vec<_> = rows.map(|row| (row["number"].clone(), row["state"].clone())).collect();
        assert_eq!(page["servedBy"], served_by, "{page}");
        assert_eq!(rows, expected.map(|number| (json!(number), json!("open"))), "{page}");
    }
}

async fn issues_of_a_project_that_is_being_deleted_are_not_found() {
    let fixture = Fixture::new().await;
    fixture.cairn.caught_up().await;
    let found = async |query: &str| {
        let page = fixture.ann.get(&format!("{TENANT}/search?{query}")).await.is(200);
        page["items"].as_array().unwrap().len()
    };
    assert_eq!((found("q=girder").await, found("q=rail&entity=project").await), (1, 1));
    // A request gives the job back, as one does that has no time left.
    fixture.cairn.engines().wind_down();
    fixture.ada.delete(&format!("{PROJECT}?cascade=true")).await.is(202);
    assert_eq!((found("q=girder").await, found("q=rail&entity=project").await), (0, 0));
}

async fn platform_administrator_searches_tenants_by_name() {
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
    let hits = pat.get("/tracker/tenants?q=media&limit=1").await.is(200);
    assert_eq!((hits.each("name").len(), &hits["total"]), (1, &json!({ "value": 2, "exact": true })));
    let hits = pat.get("/tracker/tenants?q=enginering").await.is(200);
    let name = json!([[{ "text": "ACME ", "hit": false }, { "text": "Engineering", "hit": true }]]);
    assert_eq!(hits["items"][0]["highlights"], json!({ "name": name }), "{}", hits.told());
    assert_eq!((&hits["items"][0]["score"], &hits["total"]["value"]), (&json!(1), &json!(1)));
    let listed = pat.get("/tracker/tenants").await.is(200);
    assert_eq!((listed.body.get("total"), listed["items"][0].get("highlights")), (None, None));
    pat.get("/tracker/tenants?q=a&prefix=b&order=desc").await.faulty(&["order", "prefix"]);
    fixture.ada.get("/tracker/tenants?q=media").await.refused(403, "forbidden");
    pat.delete(zoo.header("location")).await.is(204);
    fixture.cairn.caught_up().await;
    assert_eq!(found("q=zoo").await, (Vec::new(), None));
}
