//! The operator's commands for the quarantine: `cairn quarantine ls`, `show` and `dismiss`.

mod flood;

use std::collections::HashMap;

use ::mirror::Subject;
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use table::Key;

use crate::harness::stopper::{Moment, Stopper, WRITES};
use crate::harness::table::text;
use crate::harness::{Cairn, CommandOutput};
use crate::mirror::{campground, copy};
use crate::tests;
use flood::refused_items_delay_no_others_and_are_redriven_after_the_next_release;

tests! { quarantine:
    ls_and_show_print_each_item_with_its_reason,
    show_and_dismiss_read_only_the_entry_with_the_name,
    dismiss_removes_a_marker_that_no_write_clears,
    dismiss_removes_the_marker_of_a_table_of_another_release,
    dismiss_refuses_a_valid_marker,
    dismiss_removes_the_stale_marker_of_an_item_that_is_gone,
    marker_that_is_written_again_while_it_is_dismissed_stays,
    refused_items_delay_no_others_and_are_redriven_after_the_next_release,
}

static STATE: table::schema::Table = ::mirror::schema::state_table("parks-mirror");

const POISON: &str = "parks/facility::bcparks_1#campground::1";
const STRANGER: &str = "parks/stranger#1";

/// Runs a command about the quarantine of parks.
async fn quarantine(cairn: &Cairn, arguments: &[&str]) -> CommandOutput {
    cairn.caught_up().await;
    cairn.command(&[&["quarantine", "--system", "parks"], arguments].concat()).await
}

/// Runs a command that must succeed. Returns its output.
async fn printed(cairn: &Cairn, arguments: &[&str]) -> String {
    quarantine(cairn, arguments).await.exited(0)
}

/// Starts a platform with a campground whose name is not a string, and an item whose key fits no template.
async fn with_poison() -> Cairn {
    let cairn = Cairn::with_strathcona().await;
    let item = campground(&cairn).await;
    let rev: u64 = item["rev"].as_n().unwrap().parse().unwrap();
    let rev = AttributeValue::N((rev + 2).to_string());
    let poison = copy(&item, 1, &[("displayName", AttributeValue::Bool(true)), ("rev", rev)]);
    cairn.table().put(poison).await;
    cairn.table().put(copy(&item, 1, &[("pk", text("stranger")), ("sk", text("1"))])).await;
    cairn
}

async fn ls_and_show_print_each_item_with_its_reason() {
    let cairn = Cairn::with_strathcona().await;
    assert_eq!(printed(&cairn, &["ls"]).await, "The quarantine is empty.\n");
    assert_eq!(printed(&cairn, &["ls", "--json"]).await, "");

    let cairn = with_poison().await;
    let listed = printed(&cairn, &["ls"]).await;
    let line = |name: &str| listed.lines().find(|line| line.split("  ").next() == Some(name)).unwrap().to_owned();
    assert_eq!(listed.lines().count(), 2, "{listed}");
    let (poison, stranger) = (line(POISON), line(STRANGER));
    assert!(poison.contains("  unfit: ") && poison.contains("displayName"), "{poison}");
    assert!(!poison.contains("dismiss"), "{poison}");
    let cleared = "(cleared only by the delete of its item or by `cairn quarantine dismiss`)";
    assert!(stranger.contains("  unknown-key: ") && stranger.ends_with(cleared), "{stranger}");

    let objects: Vec<Value> =
        printed(&cairn, &["ls", "--json"]).await.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: HashMap<&str, (&Value, &Value, &Value)> = objects
        .iter()
        .map(|one| (one["name"].as_str().unwrap(), (&one["code"], &one["clearedByWrites"], &one["stale"])))
        .collect();
    assert_eq!(told[POISON], (&json!("unfit"), &json!(true), &json!(null)));
    assert_eq!(told[STRANGER], (&json!("unknown-key"), &json!(false), &json!(null)));

    let shown: Value = serde_json::from_str(&printed(&cairn, &["show", POISON]).await).unwrap();
    assert_eq!((&shown["pk"], &shown["sk"]), (&json!("facility::bcparks_1"), &json!("campground::1")));
    assert!(shown["record"].is_object() && shown["reason"].as_str().unwrap().contains("displayName"), "{shown}");
}

/// An entry that cannot be read fails the list, which reads all entries.
async fn show_and_dismiss_read_only_the_entry_with_the_name() {
    let cairn = with_poison().await;
    cairn.caught_up().await;
    let generations = ::mirror::generations(&::parks::SYSTEM, cairn.engines()).await.unwrap().unwrap();
    let pk = format!("marker#{}", generations.written[0].index);
    let unreadable = [("pk", text(&pk)), ("sk", text("unreadable"))];
    let unreadable = unreadable.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    cairn.table_of(&STATE).put(unreadable).await;
    let failed = quarantine(&cairn, &["ls"]).await.failed();
    assert!(failed.contains("cannot be read"), "{failed}");

    let shown: Value = serde_json::from_str(&printed(&cairn, &["show", POISON]).await).unwrap();
    assert_eq!(shown["pk"], "facility::bcparks_1");
    assert!(printed(&cairn, &["dismiss", STRANGER]).await.ends_with("  dismissed\n"));
    for name in [STRANGER, "parks/facility::bcparks_1#campground::2", "record/0", "trees/1", "trees"] {
        let failed = quarantine(&cairn, &["show", name]).await.failed();
        assert!(failed.contains(&format!("`{name}` is not in quarantine")), "{failed}");
    }
}

async fn dismiss_removes_a_marker_that_no_write_clears() {
    let cairn = with_poison().await;
    assert!(printed(&cairn, &["dismiss", STRANGER]).await.ends_with("  dismissed\n"));
    let listed = printed(&cairn, &["ls"]).await;
    assert!(listed.starts_with(POISON) && listed.lines().count() == 1, "{listed}");
    let complaint = quarantine(&cairn, &["dismiss", STRANGER]).await.failed();
    assert!(complaint.contains("is not in quarantine") && complaint.contains("cairn quarantine ls"), "{complaint}");
}

async fn dismiss_removes_the_marker_of_a_table_of_another_release() {
    let cairn = Cairn::with_strathcona().await;
    cairn.caught_up().await;
    mark(&cairn, "trees", "unknown-key", "1767225600000000").await;
    let name = "trees/facility::bcparks_1#campground::1";
    let listed = printed(&cairn, &["ls"]).await;
    assert!(listed.starts_with(&format!("{name}  ")) && listed.lines().count() == 1, "{listed}");
    assert!(printed(&cairn, &["dismiss", name]).await.ends_with("  dismissed\n"));
    assert_eq!(printed(&cairn, &["ls"]).await, "The quarantine is empty.\n");
}

async fn dismiss_refuses_a_valid_marker() {
    let cairn = with_poison().await;
    let complaint = quarantine(&cairn, &["dismiss", POISON]).await.failed();
    assert!(complaint.contains("Dismissing") && complaint.contains("fix it"), "{complaint}");
    assert_eq!(cairn.quarantined().await.len(), 2);
    // After the fix, the item's next write clears the marker.
    let name = json!({ "displayName": "Mended" });
    cairn.administrator().await.patch("/parks/facilities/bcparks_1/campground/1", name).await.is(200);
    let listed = printed(&cairn, &["ls"]).await;
    assert!(listed.starts_with(STRANGER) && listed.lines().count() == 1, "{listed}");
}

/// Writes the marker of an item that does not exist, as of this time in microseconds since 1970-01-01T00:00:00Z.
async fn mark_missing_item(cairn: &Cairn, since: &str) {
    mark(cairn, "parks", "unfit", since).await;
}

/// Writes a marker of parks whose item is in this table.
async fn mark(cairn: &Cairn, table: &str, code: &str, since: &str) {
    let generations = ::mirror::generations(&::parks::SYSTEM, cairn.engines()).await.unwrap().unwrap();
    let index = &generations.written[0].index;
    let key = Key::new("facility::bcparks_1", "campground::1");
    let subject = Subject::Item { table: table.to_owned(), key };
    let number = |number: &str| AttributeValue::N(number.to_owned());
    let marker = [
        ("pk", text(&format!("marker#{index}"))),
        ("sk", text(&subject.name())),
        ("table", text(table)),
        ("itemPk", text("facility::bcparks_1")),
        ("itemSk", text("campground::1")),
        ("markedRev", number("4")),
        ("code", text(code)),
        ("reason", text("attribute `displayName` is no text")),
        ("object", text(&format!("quarantine/{index}/0.json"))),
        ("since", number(since)),
    ];
    let marker = marker.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    cairn.table_of(&STATE).put(marker).await;
}

/// A function that is killed may leave a marker after another one has handled the item's deletion.
async fn dismiss_removes_the_stale_marker_of_an_item_that_is_gone() {
    let cairn = Cairn::with_strathcona().await;
    mark_missing_item(&cairn, "1767225600000000").await;
    let listed = printed(&cairn, &["ls"]).await;
    assert!(listed.starts_with(POISON) && listed.ends_with("  (stale: its item is deleted)\n"), "{listed}");
    let listed: Value = serde_json::from_str(&printed(&cairn, &["ls", "--json"]).await).unwrap();
    assert_eq!(listed["stale"], "gone");
    printed(&cairn, &["dismiss", POISON]).await;
    assert_eq!(printed(&cairn, &["ls"]).await, "The quarantine is empty.\n");
}

async fn marker_that_is_written_again_while_it_is_dismissed_stays() {
    let cairn = Cairn::with_strathcona().await;
    cairn.caught_up().await;
    mark_missing_item(&cairn, "1767225600000000").await;
    let target = cairn.engines().config.dynamodb.clone().unwrap();
    let stopper = Stopper::of(WRITES, target, Some((0, Moment::BeforeItIsSent))).await;
    let variables = [("CAIRN_DYNAMODB_ENDPOINT", stopper.url.as_str())];
    let dismiss = cairn.command_with(&["quarantine", "--system", "parks", "dismiss", POISON], &variables);
    let write_again = async {
        stopper.stopped().await;
        mark_missing_item(&cairn, "1767225600000001").await;
        stopper.resume();
    };
    let (dismissed, ()) = tokio::join!(dismiss, write_again);
    let said = dismissed.exited(3);
    assert!(said.ends_with("  stays, since it was written again after it was listed\n"), "{said}");
    assert_eq!(printed(&cairn, &["ls"]).await.lines().count(), 1);
    assert!(printed(&cairn, &["dismiss", POISON]).await.ends_with("  dismissed\n"));
    assert_eq!(printed(&cairn, &["ls"]).await, "The quarantine is empty.\n");
}
