//! A post whose last run is still being deleted: readers see the new run already, and its users go on with the post. In
//! these tests search does not learn that a record was deleted, and the run waits for that.

use std::time::Duration;

use ::archive::keys::{PostKey, PostRunKey};
use ::archive::names::{PostId, RunNumber};
use serde_json::json;
use table::EntityKey;

use super::outages::{begin, by_hand, ended};
use super::publishing::{self, CENSUS, assert_nothing_is_left, ids, upload};
use super::stage::{Archive, attribute, listed};
use crate::harness::engines;
use crate::harness::proxy::Proxy;
use crate::tests;

tests! { archive_retiring:
    record_that_the_new_file_lacks_is_gone_at_once,
    #[long] post_that_is_deleted_while_its_last_run_is_deleted_leaves_nothing,
    #[long] post_that_is_unpublished_while_its_last_run_is_deleted_ends_as_a_draft,
    #[long] post_that_is_published_again_while_its_last_run_is_deleted_has_the_newest_records,
    #[long] record_that_is_taken_down_while_the_last_run_is_deleted_stays_counted_out,
    job_whose_post_is_not_there_ends_and_hides_nothing,
}

/// The longest pause of a run that waits for another or for search, at first.
const PAUSE: Duration = Duration::from_secs(2);

/// Returns a post that has been published twice. The second run waits with the deletion of the first. Returns also the path
/// of the second run.
async fn retiring(csv: &str) -> (Archive, Proxy, [String; 2]) {
    let proxy = Proxy::before(engines::search().await).await;
    let archive = by_hand(Some(proxy.url.clone())).await;
    let post = publishing::post(&archive).await;
    begin(&archive, &post, CENSUS).await;
    archive.finish().await;
    let first = &ids(&archive.records().await, "PK")[0];
    proxy.hold(&format!("{first}#record_post#{}", post.rsplit('/').next().unwrap()));
    let run = begin(&archive, &post, csv).await;
    for look in 0.. {
        assert!(look < 100, "the run is not published");
        archive.work(None).await;
        if archive.volunteer.get(&run).await.is(200)["phase"] == "retiring" {
            break;
        }
        archive.cairn.caught_up().await;
        archive.cairn.clock.advance(PAUSE);
    }
    proxy.holds().await;
    (archive, proxy, [post, run])
}

async fn finish(archive: &Archive, proxy: &Proxy) {
    // What was begun meanwhile waits, too.
    for _ in 0..3 {
        archive.work(None).await;
        archive.cairn.clock.advance(PAUSE);
    }
    proxy.release();
    archive.finish().await;
}

fn later() -> String {
    CENSUS.replace("Wm.", "Huw")
}

async fn record_that_the_new_file_lacks_is_gone_at_once() {
    let (archive, proxy, [post, run]) = retiring(&CENSUS.replace(",Jones,Wm.,Lodger,M,,\n", "")).await;
    let before = listed(&archive.visitor, &format!("{post}/records"), "id").await;
    let id = before[3].parse::<u64>().unwrap() + 1;
    let jones = format!("/archive/records/{id}");
    // The lines that earlier versions read.
    let work = archive.cairn.bucket("archive").join("work").join(post.rsplit('/').next().unwrap()).join("2");
    assert_eq!(std::fs::read_to_string(work.join("gone-00000.jsonl")).unwrap(), format!("\"{id}\"\n"));
    let gone = archive.visitor.get(&jones).await.refused(410, "withdrawn");
    assert_eq!(gone.text("detail"), "A later file of its post does not have the record any more.");
    finish(&archive, &proxy).await;
    assert_eq!(ended(&archive, &run).await["totals"]["gone"], 1);
    archive.visitor.get(&jones).await.refused(410, "withdrawn");
    archive.publishing_agrees().await;
}

async fn post_that_is_deleted_while_its_last_run_is_deleted_leaves_nothing() {
    let (archive, proxy, [post, _]) = retiring(&CENSUS.replace(",Jones,Wm.,Lodger,M,,\n", "")).await;
    archive.volunteer.delete(&post).await.is(202);
    archive.visitor.get(&format!("{post}/records")).await.refused(404, "not-found");
    finish(&archive, &proxy).await;
    archive.volunteer.get(&post).await.refused(404, "not-found");
    assert_nothing_is_left(&archive, &post).await;
}

async fn post_that_is_unpublished_while_its_last_run_is_deleted_ends_as_a_draft() {
    let (archive, proxy, [post, run]) = retiring(&later()).await;
    archive.volunteer.post(&format!("{post}/unpublish"), json!({})).await.is(202);
    finish(&archive, &proxy).await;
    assert_eq!(archive.volunteer.get(&post).await.is(200).text("status"), "draft");
    assert_eq!(ended(&archive, &run).await["status"], "withdrawn");
    assert!(archive.records().await.is_empty());
    archive.publishing_agrees().await;
}

async fn post_that_is_published_again_while_its_last_run_is_deleted_has_the_newest_records() {
    let (archive, proxy, [post, second]) = retiring(&later()).await;
    let permanent = ids(&archive.records().await, "permanentId");
    let third = begin(&archive, &post, &CENSUS.replace("Wm.", "Ivor")).await;
    finish(&archive, &proxy).await;
    assert_eq!(ended(&archive, &second).await["status"], "withdrawn");
    assert_eq!(ended(&archive, &third).await["status"], "published");
    let records = archive.records().await;
    assert_eq!((ids(&records, "permanentId"), records.len()), (permanent, 5));
    assert_eq!(records[&5]["values"].as_l().unwrap()[2].as_s().unwrap(), "Ivor");
    archive.publishing_agrees().await;
}

async fn record_that_is_taken_down_while_the_last_run_is_deleted_stays_counted_out() {
    let (archive, proxy, [post, run]) = retiring(&later()).await;
    let jones = &listed(&archive.visitor, &format!("{post}/records"), "id").await[4];
    archive.editor.delete(&format!("/archive/records/{jones}")).await.is(204);
    finish(&archive, &proxy).await;
    assert_eq!(ended(&archive, &run).await["totals"]["records"], 4);
    assert_eq!(archive.volunteer.get(&post).await.is(200)["recordCount"], 4);
    archive.publishing_agrees().await;
}

/// An earlier release let a post be deleted while a job worked on it.
async fn job_whose_post_is_not_there_ends_and_hides_nothing() {
    let archive = by_hand(None).await;
    let post = publishing::post(&archive).await;
    upload(&archive.volunteer, &post, CENSUS).await;
    archive.volunteer.post(&format!("{post}/publish"), json!({})).await.is(202);
    let id: PostId = post.rsplit('/').next().unwrap().parse().unwrap();
    for key in [PostRunKey { post: id, run: RunNumber(1) }.key(), PostKey { post: id }.key()] {
        archive.table().delete(&key.pk, key.sk.as_deref().unwrap()).await;
    }
    archive.finish().await;
    let items = archive.items().await;
    assert_eq!(items["hiddenRuns#hiddenRuns"].len(), 3, "{:?}", items["hiddenRuns#hiddenRuns"]);
    let job = items.values().find(|item| attribute(item, "SK") == "job").unwrap();
    assert_eq!(attribute(job, "status"), "succeeded");
}
