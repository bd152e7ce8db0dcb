//! The operators' commands for search, and the health of a system.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ::mirror::{AUDIT, HANDLER, Rebuild, SWEEP};
use aws_sdk_dynamodb::types::AttributeValue;
use local::systems;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::proxy::Proxy;
use crate::harness::table::text;
use crate::harness::{Cairn, Setup, engines, eventually_some};
use crate::mirror::{campground, copy};
use crate::tests;

tests! { operators:
    #[long] record_that_lambda_gave_up_is_redriven_by_one_command,
    redrive_repairs_what_is_in_quarantine_and_says_what_stays,
    item_with_a_too_long_key_is_in_quarantine_at_its_revision_while_it_exists,
    show_prints_item_document_version_and_marker_side_by_side,
    status_and_lag_tell_why_search_is_behind,
    readers_alias_of_another_index_is_reported_by_status_and_audit,
    invocation_that_fails_is_reported_by_status_and_health,
    #[long] lost_index_is_reported_with_the_command_that_repairs_it,
    create_index_needs_no_right_to_read_what_was_given_up,
    stale_markers_are_dismissed_at_once,
    sweep_by_hand_deletes_old_tombstones,
    sweep_command_tries_again_while_search_is_down,
    health_is_degraded_while_the_mirror_cannot_write_and_recovers,
    #[long] health_is_degraded_while_search_is_down,
    #[long] rebuild_command_tries_again_while_search_is_down_and_says_so,
}

const ID: &str = "facility::bcparks_1#campground::1";
const PATH: &str = "/parks/facilities/bcparks_1/campground/1";

/// Sets an attribute of the config item.
async fn set_config(cairn: &Cairn, path: &str, value: AttributeValue) {
    let engines = cairn.engines();
    let request = engines.dynamodb().update_item().table_name(engines.config.table("parks-mirror"));
    let request = request.key("pk", text("config")).key("sk", text("generations"));
    let request = request.update_expression(format!("SET {path} = :value"));
    request.expression_attribute_values(":value", value).send().await.unwrap();
}

/// Lets the mirror report every batch, as if a later release had created the index, or ends that.
async fn report_all(cairn: &Cairn, all: bool) {
    let own = mapping_version();
    let version = if all { own + 1 } else { own };
    set_config(cairn, "generations[0].mapping", AttributeValue::N(version.to_string())).await;
}

fn mapping_version() -> u32 {
    let parks = systems::ALL.iter().find(|served| served.system.name == "parks").unwrap();
    (parks.mapping)().version
}

/// Returns the objects with records that were given up.
fn given_up(cairn: &Cairn) -> Vec<PathBuf> {
    let mut folders = vec![cairn.bucket("parks-failures").join("aws")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found
}

async fn rename(cairn: &Cairn, name: &str) {
    cairn.administrator().await.patch(PATH, json!({ "displayName": name })).await.is(200);
}

async fn record_that_lambda_gave_up_is_redriven_by_one_command() {
    let cairn = Cairn::with_strathcona().await;
    campground(&cairn).await;
    report_all(&cairn, true).await;
    rename(&cairn, "Renamed").await;
    // The age of a record counts from when it was first read.
    let mut looks = 0;
    let object = eventually_some("a record is given up", async || {
        if looks % 100 == 0 {
            cairn.clock.advance(Duration::from_secs(21 * 3600));
        }
        looks += 1;
        given_up(&cairn).pop()
    })
    .await;
    report_all(&cairn, false).await;
    // The heartbeat is of the advanced clock, which the commands do not have.
    let heartbeat = cairn.engines().dynamodb().delete_item().table_name(cairn.engines().config.table("parks-mirror"));
    heartbeat.key("pk", text("heartbeat")).key("sk", text("parks")).send().await.unwrap();
    cairn.visitor().search("entity=facility").await.are(&["Model"]);
    assert_eq!(cairn.command(&["status", "parks", "--json"]).await.json(3)["status"], "given-up");

    // It is too young: an invocation that received the record may still be running.
    let young = cairn.command(&["redrive", "parks", "--json"]).await.json(3);
    assert_eq!((&young["waiting"], &young["objects"]), (&json!(1), &json!(0)));
    let earlier = SystemTime::now() - Duration::from_secs(21 * 60);
    std::fs::File::open(&object).unwrap().set_modified(earlier).unwrap();
    let dry = cairn.command(&["redrive", "parks", "--dry-run", "--json"]).await.json(3);
    assert_eq!((&dry["objects"], &dry["keys"], &dry["repairs"]["written"]), (&json!(1), &json!(1), &json!(0)));
    cairn.visitor().search("entity=facility").await.are(&["Model"]);

    let redriven = cairn.command(&["redrive", "parks", "--json"]).await.json(0);
    assert_eq!((&redriven["objects"], &redriven["repairs"]["written"]), (&json!(1), &json!(1)), "{redriven}");
    cairn.visitor().search("entity=facility").await.are(&["Renamed"]);
    assert_eq!(given_up(&cairn), Vec::<PathBuf>::new());
    let again = cairn.command(&["redrive", "parks"]).await.exited(0);
    assert!(again.starts_with("0 objects with 0 records"), "{again}");
    assert_eq!(cairn.command(&["status", "parks"]).await.exited(0), "parks  ok\n");

    // The function of an object that is no JSON is not known.
    let broken = cairn.bucket("parks-failures").join("broken");
    std::fs::write(&broken, "{").unwrap();
    std::fs::File::open(&broken).unwrap().set_modified(earlier).unwrap();
    assert_eq!(cairn.command(&["status", "parks", "--json"]).await.json(3)["status"], "given-up");
    let left = cairn.command(&["redrive", "parks", "--json"]).await.json(3);
    assert_eq!((&left["unreadable"], &left["unreadableObject"]), (&json!(1), &json!("broken")));
}

async fn redrive_repairs_what_is_in_quarantine_and_says_what_stays() {
    // No stream record is handled, so that the redrive alone repairs.
    let cairn = Cairn::with(Setup { without: vec![HANDLER], ..Setup::of("parks") }).await;
    cairn.collection("bcparks_1", "Strathcona Park").await;
    let item = campground(&cairn).await;
    for number in 2..12 {
        let poison = copy(&item, number, &[("displayName", AttributeValue::Bool(true))]);
        cairn.table().put(poison).await;
        cairn.repair("facility::bcparks_1", &format!("campground::{number}")).await;
    }
    assert_eq!(cairn.command(&["status", "parks", "--json"]).await.json(3)["quarantined"], 10);
    // All but one are fixed at their revision, as if another release could read them.
    for number in 2..11 {
        cairn.table().put(copy(&item, number, &[("displayName", text(&format!("Fixed {number}")))])).await;
    }
    let redriven = cairn.command(&["redrive", "parks", "--json"]).await.json(3);
    let repairs = &redriven["repairs"];
    assert_eq!((&repairs["written"], &repairs["quarantined"]), (&json!(9), &json!(1)), "{redriven}");
    assert_eq!(cairn.command(&["quarantine", "ls", "--system", "parks"]).await.exited(0).lines().count(), 1);
}

async fn item_with_a_too_long_key_is_in_quarantine_at_its_revision_while_it_exists() {
    // No stream record is handled, so that the commands alone set and clear markers.
    let cairn = Cairn::with(Setup { without: vec![HANDLER], ..Setup::of("parks") }).await;
    cairn.collection("bcparks_1", "Strathcona Park").await;
    let item = campground(&cairn).await;
    let pk = format!("facility::{}", "a".repeat(600));
    let id = format!("{pk}#campground::1");
    let listed = async || cairn.command(&["quarantine", "ls", "--system", "parks", "--json"]).await;
    assert_eq!(cairn.command(&["repair", &id, "--json"]).await.json(0)["outcome"], "nothing");
    assert_eq!(listed().await.exited(0), "");

    let long = copy(&item, 1, &[("pk", text(&pk))]);
    cairn.table().put(long.clone()).await;
    let repaired = cairn.command(&["repair", &id, "--json"]).await.json(1);
    assert_eq!((&repaired["outcome"], &repaired["code"]), (&json!("quarantined"), &json!("key-too-long")));
    let (entry, rev) = (listed().await.json(0), item["rev"].as_n().unwrap());
    assert_eq!((entry["rev"].to_string(), &entry["stale"]), (rev.clone(), &Value::Null));

    cairn.table().delete_item(&long).await;
    assert_eq!(cairn.command(&["redrive", "parks", "--json"]).await.json(0)["repairs"]["nothing"], 1);
    assert_eq!(listed().await.exited(0), "");
}

async fn show_prints_item_document_version_and_marker_side_by_side() {
    let cairn = Cairn::with_strathcona().await;
    let item = campground(&cairn).await;
    let rev: u64 = item["rev"].as_n().unwrap().parse().unwrap();
    let shown = cairn.command(&["show", ID, "--json"]).await.json(0);
    let one = &shown["generations"][0];
    assert_eq!((&shown["rev"], &one["version"], &one["marker"]), (&json!(rev), &json!(rev), &Value::Null));
    assert_eq!((&shown["item"]["displayName"]["S"], &one["document"]["rev"]), (&json!("Model"), &json!(rev)));
    let printed = cairn.command(&["show", ID]).await.exited(0);
    assert!(printed.contains(&format!("version {rev}, marker none, in ")), "{printed}");

    let poison = AttributeValue::N((rev + 2).to_string());
    cairn.table().put(copy(&item, 1, &[("displayName", AttributeValue::Bool(true)), ("rev", poison)])).await;
    cairn.caught_up().await;
    let shown = cairn.command(&["show", ID, "--json"]).await.json(3);
    let one = &shown["generations"][0];
    let expected = (&json!(rev + 2), &json!(rev + 1), &json!(rev + 2), &json!(true));
    assert_eq!((&shown["rev"], &one["version"], &one["marker"], &one["tombstone"]), expected);
    cairn.command(&["show", "stranger#1"]).await.exited(1);
    let repaired = cairn.command(&["repair", ID, "--json"]).await.json(1);
    assert_eq!((&repaired["outcome"], &repaired["code"]), (&json!("quarantined"), &json!("unfit")));
}

async fn status_and_lag_tell_why_search_is_behind() {
    let cairn = Cairn::with_strathcona().await;
    assert_eq!(cairn.command(&["status", "parks"]).await.exited(0), "parks  ok\n");
    let absent = cairn.command(&["status", "tracker", "--json"]).await.json(3);
    assert_eq!(absent["status"], "absent");
    cairn.caught_up().await;
    let lag = cairn.command(&["lag", "parks", "--json"]).await.json(0);
    assert_eq!((&lag["table"], &lag["lags"], &lag["refreshedMillis"]), (&json!("parks"), &json!(false), &json!(0)));
    assert!(lag["writtenMillis"].is_u64() && lag["receivedMillis"].is_u64(), "{lag}");
    assert!(cairn.command(&["lag", "parks"]).await.exited(0).starts_with("parks  received "));

    set_config(&cairn, "paused", AttributeValue::Bool(true)).await;
    let paused = cairn.command(&["status", "parks", "--json"]).await.json(3);
    assert_eq!((&paused["status"], &paused["paused"]), (&json!("rebuilding"), &json!(true)));
    set_config(&cairn, "paused", AttributeValue::Bool(false)).await;
    assert_eq!(cairn.command(&["status"]).await.code, Some(0));
    cairn.command(&["status", "park"]).await.exited(1);
    cairn.command(&["status", "--parks"]).await.exited(2);
}

async fn readers_alias_of_another_index_is_reported_by_status_and_audit() {
    let cairn = Cairn::with(Setup::of("parks")).await;
    let alias = cairn.engines().config.search_name("parks");
    let [right, other] = [1, 9].map(|number| format!("{alias}-{number:06}"));
    cairn.search_engine(Method::PUT, &format!("/{other}/_doc/a?refresh=true"), &json!({ "name": "Old" })).await;
    let change = async |actions: Value| {
        cairn.search_engine(Method::POST, "/_aliases", &json!({ "actions": actions })).await;
    };
    let remove = |index: &str| json!({ "remove": { "index": index, "alias": alias } });
    let filter = json!({ "bool": { "must_not": { "term": { "deleted": true } } } });
    let add = |index: &str| json!({ "add": { "index": index, "alias": alias, "filter": filter } });
    let unfiltered = json!({ "add": { "index": right, "alias": alias } });
    let (another, down) = (Some("search reads another index"), Some("search is down"));
    for (actions, expected, health) in [
        (json!([add(&other)]), format!("names {right} and {other} instead of {right}"), another),
        (json!([remove(&right)]), format!("names {other} instead of {right}"), another),
        (json!([remove(&other)]), "does not exist".to_owned(), down),
        (json!([unfiltered]), "has no filter, so searches find deleted items".to_owned(), None),
    ] {
        change(actions).await;
        assert_eq!(cairn.visitor().get("/parks/health").await.is(200).body["reason"].as_str(), health);
        let reason = format!("the readers' alias {alias} {expected}: `cairn rebuild start parks`");
        let status = cairn.command(&["status", "parks"]).await.exited(3);
        assert_eq!(status, format!("parks  down  {reason}\n"));
        let audit = cairn.command(&["audit", "parks", "--wait", "0"]).await.failed();
        assert!(audit.contains(&reason), "{audit}");
        let refused = cairn.event("parks", AUDIT, &json!({})).await.unwrap_err();
        assert!(refused.contains(&reason), "{refused}");
    }
    change(json!([add(&right)])).await;
    assert_eq!(cairn.command(&["status", "parks"]).await.exited(0), "parks  ok\n");
    cairn.command(&["audit", "parks", "--wait", "0"]).await.exited(0);
}

async fn invocation_that_fails_is_reported_by_status_and_health() {
    let cairn = Cairn::with(Setup::of("parks")).await;
    cairn.event("parks", HANDLER, &json!({ "Records": 7 })).await.unwrap_err();
    let status = cairn.command(&["status", "parks"]).await.exited(3);
    assert!(status.starts_with("parks  lagging  an invocation of the mirror failed before its table was known: "));
    let health = cairn.visitor().get("/parks/health").await.is(200).body;
    assert_eq!((&health["status"], &health["reason"]), (&json!("degraded"), &json!("search lags")));
    cairn.clock.advance(Duration::from_secs(240));
    let health = cairn.visitor().get("/parks/health").await.is(200).body;
    assert_eq!(health, json!({ "status": "ok" }));

    // The platform says so of an invocation that was stopped.
    ::mirror::save_failure(cairn.engines(), &::parks::SYSTEM, b"{}", "it was stopped").await;
    let health = cairn.visitor().get("/parks/health").await.is(200).body;
    assert_eq!(health["reason"], "search lags");
}

async fn stale_markers_are_dismissed_at_once() {
    let cairn = Cairn::with_strathcona().await;
    let generations = ::mirror::generations(&::parks::SYSTEM, cairn.engines()).await.unwrap().unwrap();
    let index = &generations.written[0].index;
    static STATE: table::schema::Table = ::mirror::schema::state_table("parks-mirror");
    for number in 1..=3 {
        let key = table::Key::new("facility::bcparks_1", format!("campground::{number}"));
        let subject = ::mirror::Subject::Item { table: "parks".to_owned(), key: key.clone() };
        let number = |number: &str| AttributeValue::N(number.to_owned());
        let marker = [
            ("pk", text(&format!("marker#{index}"))),
            ("sk", text(&subject.name())),
            ("table", text("parks")),
            ("itemPk", text(&key.pk)),
            ("itemSk", text(key.sk.as_ref().unwrap())),
            ("markedRev", number("4")),
            ("code", text("unfit")),
            ("reason", text("attribute `displayName` is no text")),
            ("object", text("quarantine/0.json")),
            ("since", number("1767225600000000")),
        ];
        let marker = marker.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        cairn.table_of(&STATE).put(marker).await;
    }
    let dry = cairn.command(&["quarantine", "dismiss", "--stale", "--dry-run", "--system", "parks"]).await.exited(3);
    assert_eq!(dry.lines().filter(|line| line.ends_with("would be dismissed")).count(), 3, "{dry}");
    let dismissed = cairn.command(&["quarantine", "dismiss", "--stale", "--json", "--system", "parks"]).await.exited(0);
    assert_eq!(dismissed.lines().count(), 3, "{dismissed}");
    assert_eq!(cairn.quarantined().await, []);
    assert_eq!(cairn.command(&["quarantine", "dismiss", "--stale", "--system", "parks"]).await.exited(0), "");
}

/// The documented permissions have none for S3.
async fn create_index_needs_no_right_to_read_what_was_given_up() {
    let cairn = Cairn::with(Setup::of("parks")).await;
    let without_s3 = [("CAIRN_S3_ENDPOINT", "http://127.0.0.1:1")];
    let created = cairn.command_with(&["create-index", "parks"], &without_s3).await.exited(0);
    assert_eq!(created, format!("{}-000001\n", cairn.engines().config.search_name("parks")));
}

/// Writes three tombstones that are to be swept by hand.
async fn write_old_tombstones(cairn: &Cairn) {
    // No scheduled sweep may be first. One that has begun ends meanwhile.
    cairn.engines().wind_down();
    cairn.event("parks", SWEEP, &json!({})).await.unwrap();
    let index = format!("{}-000001", cairn.engines().config.search_name("parks"));
    let old = cairn.clock.seconds() * 1000 - 26 * 3_600_000;
    for number in 0..3 {
        let path = format!("/{index}/_doc/old%23{number}?version=11&version_type=external&refresh=true");
        let tombstone = json!({ "pk": "old", "deleted": true, "deletedAt": old });
        cairn.search_engine(Method::PUT, &path, &tombstone).await;
    }
}

async fn sweep_by_hand_deletes_old_tombstones() {
    let cairn = Cairn::with(Setup::of("parks")).await;
    write_old_tombstones(&cairn).await;
    assert_eq!(cairn.command(&["sweep", "parks", "--dry-run", "--json"]).await.json(3)["deleted"], 3);
    assert_eq!(cairn.command(&["sweep", "parks", "--json"]).await.json(0)["deleted"], 3);
    assert_eq!(cairn.command(&["sweep", "parks", "--dry-run"]).await.exited(0), "would delete 0 tombstones\n");
}

async fn sweep_command_tries_again_while_search_is_down() {
    let engine = engines::search().await;
    let proxy = Proxy::before(engine.clone()).await;
    let cairn = Cairn::with(Setup { search: Some(proxy.url.clone()), ..Setup::of("parks") }).await;
    write_old_tombstones(&cairn).await;
    for (arguments, code, deleted) in [(&["--dry-run"][..], 3, 3), (&[], 0, 3), (&["--dry-run"], 0, 0)] {
        proxy.move_to("http://127.0.0.1:1".to_owned());
        let outage = async {
            proxy.fails().await;
            proxy.move_to(engine.clone());
        };
        let arguments = [&["sweep", "parks", "--json"][..], arguments].concat();
        let (swept, ()) = tokio::join!(cairn.command(&arguments), outage);
        assert_eq!(swept.json(code)["deleted"], deleted, "{arguments:?}");
    }
}

async fn lost_index_is_reported_with_the_command_that_repairs_it() {
    let cairn = Cairn::start().await;
    cairn.collection("bcparks_1", "Strathcona Park").await;
    cairn.caught_up().await;
    let rebuild = async |replaces: bool| {
        let order = Rebuild { begins: true, replaces, ..Rebuild::WITHOUT_WAIT };
        let parks = systems::ALL.iter().find(|served| served.system.name == "parks").unwrap();
        (parks.rebuild)(Arc::clone(cairn.engines()), order, Box::new(|_| ())).await.unwrap();
    };
    rebuild(false).await;
    let delete = async |number: u32| {
        let index = format!("/{}-{number:06}", cairn.engines().config.search_name("parks"));
        cairn.search_engine(Method::DELETE, &index, &Value::Null).await;
    };
    // The index before the rebuild is kept, and written.
    delete(1).await;
    let status = cairn.command(&["status", "parks"]).await.exited(3);
    assert!(status.ends_with("-000001 is lost: `cairn rebuild finish parks`\n"), "{status}");
    // The results of the other index are printed all the same.
    let audit = cairn.command(&["audit", "parks", "--json"]).await;
    let results: Vec<Value> = audit.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let tables: Vec<(&str, u64)> = results
        .iter()
        .map(|result| (result["table"].as_str().unwrap(), result["left"].as_u64().unwrap()))
        .filter(|(table, _)| *table != "?")
        .collect();
    assert_eq!(tables, [("parks", 0)]);
    assert!(results[0]["generation"].as_str().unwrap().ends_with("-000002"), "{}", results[0]);
    let failed = audit.failed();
    assert!(failed.contains("index_not_found_exception, no such index") && !failed.contains('{'), "{failed}");
    cairn.command(&["rebuild", "finish", "parks"]).await.exited(0);
    assert_eq!(cairn.command(&["status", "parks"]).await.exited(0), "parks  ok\n");

    delete(2).await;
    let create = cairn.command(&["create-index", "parks"]).await.failed();
    assert!(create.contains("-000002 is lost: `cairn rebuild start parks --replace`"), "{create}");
    rebuild(true).await;
    assert_eq!(cairn.command(&["status", "parks"]).await.exited(0), "parks  ok\n");
}

async fn health_is_degraded_while_the_mirror_cannot_write_and_recovers() {
    let cairn = Cairn::with_strathcona().await;
    campground(&cairn).await;
    let visitor = cairn.visitor();
    let health = async || visitor.get("/parks/health").await.is(200).body;
    assert_eq!(health().await, json!({ "status": "ok" }));
    // Nothing is written for hours.
    cairn.clock.advance(Duration::from_secs(5 * 3600));
    assert_eq!(health().await, json!({ "status": "ok" }));

    report_all(&cairn, true).await;
    rename(&cairn, "Renamed").await;
    cairn.clock.advance(Duration::from_secs(120));
    let degraded =
        eventually_some("health is degraded", async || Some(health().await).filter(|it| it["status"] != "ok")).await;
    assert_eq!((&degraded["status"], &degraded["reason"]), (&json!("degraded"), &json!("search lags")));
    assert!(degraded["searchAge"].as_u64().unwrap() >= 60, "{degraded}");
    // The clock of the command is not advanced.
    let lag = cairn.command(&["lag", "parks", "--json"]).await.stdout;
    assert!(lag.contains("of the mapping and this code has"), "{lag}");

    report_all(&cairn, false).await;
    cairn.caught_up().await;
    cairn.clock.advance(Duration::from_secs(20));
    assert_eq!(health().await, json!({ "status": "ok" }));
}

async fn health_is_degraded_while_search_is_down() {
    let engine = engines::search().await;
    let proxy = Proxy::before(engine.clone()).await;
    let cairn = Cairn::with(Setup { search: Some(proxy.url.clone()), ..Setup::default() }).await;
    cairn.collection("bcparks_1", "Strathcona Park").await;
    cairn.caught_up().await;
    let visitor = cairn.visitor();
    let health = async || visitor.get("/parks/health").await.is(200).body;
    assert_eq!(health().await, json!({ "status": "ok" }));
    proxy.move_to("http://127.0.0.1:1".to_owned());
    assert_eq!(health().await, json!({ "status": "degraded", "reason": "search is down" }));
    assert_eq!(cairn.command(&["status", "parks", "--json"]).await.json(3)["status"], "down");
    // The legs that need no search are printed before the failure.
    let lag = cairn.command(&["lag", "parks", "--json"]).await;
    assert!(lag.stdout.contains(r#""refreshedMillis":null"#), "{}", lag.stdout);
    assert!(lag.failed().contains("does not respond"));
    let repair = cairn.command(&["repair", "geozone::bcparks_1#1"]).await.failed();
    assert!(repair.contains("search: it does not respond"), "{repair}");
    proxy.move_to(engine);
    assert_eq!(health().await, json!({ "status": "ok" }));
}

async fn rebuild_command_tries_again_while_search_is_down_and_says_so() {
    let engine = engines::search().await;
    let proxy = Proxy::before(engine.clone()).await;
    let cairn = Cairn::with(Setup { search: Some(proxy.url.clone()), ..Setup::default() }).await;
    // An index that a former rebuild has left.
    let config = &cairn.engines().config;
    let left = AttributeValue::L(vec![text(&format!("{}-000009", config.search_name("parks")))]);
    let request = cairn.engines().dynamodb().update_item().table_name(config.table("parks-mirror"));
    let request = request.key("pk", text("config")).key("sk", text("generations"));
    let request = request.update_expression("SET dropping = :left").expression_attribute_values(":left", left);
    request.send().await.unwrap();
    let status = cairn.command(&["status", "parks"]).await.exited(3);
    assert!(status.contains("rebuilding") && status.contains("-000009 is not deleted yet"), "{status}");

    proxy.move_to("http://127.0.0.1:1".to_owned());
    let outage = async {
        proxy.fails().await;
        proxy.move_to(engine);
    };
    let (finished, ()) = tokio::join!(cairn.command(&["rebuild", "finish", "parks"]), outage);
    let lines = finished.stderr.lines().filter(|line| line.contains("trying again"));
    let expected = "search: it does not respond (connection closed); trying again for 90 min";
    assert_eq!(lines.collect::<Vec<_>>(), [expected], "{}", finished.stderr);
    assert!(!finished.exited(0).contains("dropping"));
}
