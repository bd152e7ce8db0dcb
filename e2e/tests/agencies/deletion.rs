//! Deletions: refused while there are members, or with all of them; killed anywhere, they come to the same end.

use std::collections::BTreeMap;
use std::time::Duration;

use ::agencies::schema::BY_PERSON;
use local::identity::Person;
use serde_json::{Value, json};
use table::{Config, Engines};
use tokio::time::Instant;

use super::detour::{Detour, Fate};
use super::stage::{Stage, idp, invitation, root};
use crate::harness::stopper::{Moment, Stopper, WRITES};
use crate::harness::table::{Item, text};
use crate::harness::{eventually, sized};
use crate::tests;

tests! { agency_deletion:
    agency_with_members_is_deleted_only_with_cascade,
    #[long] deletion_killed_half_way_is_finished_by_the_same_request,
    #[long] deletion_killed_at_each_write_is_resumed,
    run_jobs_finishes_the_deletion_of_a_dead_request,
    #[long] run_stops_before_its_deadline,
    #[long] step_stops_before_the_end_of_its_lease,
    failed_deletion_does_not_block_others,
    ten_failing_deletions_do_not_block_the_next,
    marked_agency_is_deleted_after_any_failure,
    unfinished_deletion_returns_its_job,
    unfinished_deletions_are_listed,
    two_deletions_at_once_have_one_job,
    member_accepting_during_a_deletion_leaves_no_item,
}

/// Longer than the lease of a worker that has died.
const LEASE: Duration = Duration::from_secs(121);

/// How many items of an agency are left.
async fn left(stage: &Stage, agency: &str) -> usize {
    let items = stage.table().items().await;
    items.iter().filter(|item| item["PK"].as_s().unwrap().ends_with(&format!("#{agency}"))).count()
}

/// The people of an agency.
async fn people(stage: &Stage, agency: &str) -> Vec<String> {
    let of = format!("AGENCY#{agency}#MEMBER#");
    let items = stage.items().await;
    items.keys().filter_map(|key| key.strip_prefix(&of)).map(str::to_owned).collect()
}

/// The index of people, past the platform, has none of them.
async fn are_in_no_agency(stage: &Stage, people: &[String]) {
    for person in people {
        assert_eq!(stage.listed(BY_PERSON, person).await, Vec::<String>::new(), "{person}");
    }
}

/// The documents that can be found, by their ids.
async fn documents(stage: &Stage) -> BTreeMap<String, Value> {
    stage.cairn.caught_up().await;
    let query = json!({ "query": { "bool": { "must_not": [{ "term": { "deleted": true } }] } }, "size": 100 });
    let alias = stage.cairn.engines().config.search_name("agencies");
    let found = stage.cairn.search_engine(reqwest::Method::POST, &format!("/{alias}/_search"), &query).await;
    let hits = found["hits"]["hits"].as_array().unwrap();
    assert_eq!(found["hits"]["total"]["value"], hits.len(), "{found}");
    hits.iter().map(|hit| (hit["_id"].as_str().unwrap().to_owned(), hit["_source"].clone())).collect()
}

/// Every item but the jobs, which have all succeeded.
async fn items(stage: &Stage) -> BTreeMap<String, Item> {
    let (jobs, items): (BTreeMap<_, _>, _) =
        stage.items().await.into_iter().partition(|(key, _)| key.starts_with("JOB#"));
    for (key, job) in jobs {
        assert!(job.get("status").is_some_and(|status| *status == text("succeeded")), "{key}: {job:?}");
        assert!(job.contains_key("expires"), "{key}: {job:?}");
    }
    items
}

/// Goes on with deletions as a worker that dies where it is told to. Returns how many writes it sent.
async fn worker(stage: &Stage, dies: Option<(usize, Moment)>) -> usize {
    // The lease of the one before has ended.
    stage.cairn.clock.advance(LEASE);
    let config = stage.cairn.engines().config.clone();
    let stopper = Stopper::of(WRITES, config.dynamodb.clone().unwrap(), dies).await;
    let config = Config { dynamodb: Some(stopper.url.clone()), ..config };
    let app = ::agencies::app(Engines::new(config, stage.cairn.clock.clone())).metrics_to(|_| {});
    let run = tokio::spawn(async move {
        let deadline = Instant::now() + Duration::from_secs(120);
        app.event("runJobs", "{}".into(), deadline).await.unwrap();
    });
    let abort = run.abort_handle();
    tokio::select! {
        done = run => done.unwrap(),
        () = stopper.stopped() => abort.abort(),
    }
    stopper.writes()
}

async fn agency_with_members_is_deleted_only_with_cascade() {
    let stage = Stage::new().await;
    let read = stage.root.get("/agencies/n").await.is(200);
    let refused = stage.root.delete("/agencies/n").await.refused(409, "has-dependents");
    assert_eq!(refused["counts"], json!({ "members": 2 }));
    stage.root.delete("/agencies/n?cascade=true").if_match("\"2\"").await.refused(412, "stale");
    assert_eq!(stage.root.get("/agencies/n").await.is(200).tag(), read.tag());
    for person in ["ann", "bob"] {
        stage.root.delete(&format!("/agencies/n/members/idp:{person}")).await.is(204);
    }
    stage.root.delete("/agencies/n").await.is(204);
    stage.root.delete("/agencies/n").await.refused(404, "not-found");
    assert_eq!(left(&stage, "n").await, 0, "its invitation is left");
    stage.dee.post("/agencies/me/invitations/n/accept", json!({})).await.refused(404, "not-found");
    assert_eq!(stage.dee.get("/agencies/me/invitations").await.is(200)["items"], json!([]));
}

async fn deletion_killed_half_way_is_finished_by_the_same_request() {
    let stage = Stage::new().await;
    let agency = stage.agency_of(999).await;
    let path = format!("/agencies/{agency}");
    stage.cairn.caught_up().await;
    stage.root.delete(&path).await.refused(409, "has-dependents");
    // The platform's own worker leaves it to the others of this test.
    stage.cairn.engines().wind_down();
    let conflicts = stage.cairn.conflicts(0.2);
    let adding = (0..10).map(|client| {
        let (root, path) = (stage.root.clone(), path.clone());
        tokio::spawn(async move {
            let mut marked = false;
            for number in 0..200 {
                let new = json!({ "idpid": format!("idp:new{client}-{number}") });
                let answer = root.post(&format!("{path}/members"), new).await;
                assert!(answer.status == 404 || (answer.status == 201 && !marked), "{}", answer.told());
                marked = marked || answer.status == 404;
                if marked {
                    break;
                }
            }
            assert!(marked, "the agency was never deleted");
        })
    });
    let adding: Vec<_> = adding.collect();
    eventually("a conflict occurs", async || conflicts.count() > 0).await;
    stage.root.delete(&format!("{path}?cascade=true")).await.is(202);
    stage.root.get(&path).await.refused(404, "not-found");
    let listed = stage.root.pages("/agencies", 100).await;
    assert!(!listed.iter().flat_map(|page| page.each("agencyId")).any(|id| *id == json!(agency)));
    for client in adding {
        client.await.unwrap();
    }
    assert!(left(&stage, &agency).await > 900);
    let people = people(&stage, &agency).await;
    assert!(people.len() > 999, "{}", people.len());
    worker(&stage, Some((12, Moment::AfterItIsDone))).await;
    let half = left(&stage, &agency).await;
    assert!(half > 2 && half < 1000, "{half}");
    worker(&stage, None).await;
    assert_eq!(left(&stage, &agency).await, 0);
    stage.root.delete(&format!("{path}?cascade=true")).await.refused(404, "not-found");
    are_in_no_agency(&stage, &people).await;
    let found = documents(&stage).await;
    assert!(found.values().all(|document| document["agencyId"] != agency.as_str()), "{found:?}");
    stage.adds_up().await;
}

async fn deletion_killed_at_each_write_is_resumed() {
    let members = sized(99, 299);
    let stage = Stage::new().await;
    stage.cairn.engines().wind_down();
    let delete = async || {
        let agency = stage.agency_of(members).await;
        let people = people(&stage, &agency).await;
        stage.root.delete(&format!("/agencies/{agency}?cascade=true")).await.is(202);
        (agency, people)
    };
    let (agency, people) = delete().await;
    assert_eq!(people.len(), members + 1);
    let writes = worker(&stage, None).await;
    assert!(writes > members / 25, "{writes}");
    assert_eq!(left(&stage, &agency).await, 0);
    are_in_no_agency(&stage, &people).await;
    let uninterrupted = (items(&stage).await, documents(&stage).await);
    assert_eq!(uninterrupted.1.len(), 7);
    for held in 0..writes {
        for moment in [Moment::BeforeItIsSent, Moment::AfterItIsDone] {
            delete().await;
            assert_eq!(worker(&stage, Some((held, moment))).await, held + 1, "{moment:?}");
            worker(&stage, None).await;
            assert_eq!(items(&stage).await, uninterrupted.0, "{moment:?} of write {held}");
        }
    }
    // In each agency they had the same names.
    are_in_no_agency(&stage, &people).await;
    assert_eq!(documents(&stage).await, uninterrupted.1);
    stage.adds_up().await;
}

async fn run_jobs_finishes_the_deletion_of_a_dead_request() {
    let stage = Stage::new().await;
    let agency = stage.agency_of(120).await;
    let config = stage.cairn.engines().config.clone();
    // The mark is written, and nothing after it.
    let held = Some((1, Moment::BeforeItIsSent));
    let stopper = Stopper::of(WRITES, config.dynamodb.clone().unwrap(), held).await;
    let config = Config { dynamodb: Some(stopper.url.clone()), ..config };
    let app = ::agencies::app(Engines::new(config, stage.cairn.clock.clone())).metrics_to(|_| {});
    let token = stage.cairn.token("pat", &["platform-admin"]).await;
    let request = http::Request::delete(format!("/agencies/{agency}?cascade=true"));
    let request = request.header("authorization", format!("Bearer {token}")).body(bytes::Bytes::new()).unwrap();
    let run = tokio::spawn(async move { app.handle(request).await });
    stopper.stopped().await;
    run.abort();
    assert!(run.await.unwrap_err().is_cancelled());
    stage.root.get(&format!("/agencies/{agency}")).await.refused(404, "not-found");
    assert!(left(&stage, &agency).await > 120);
    stage.cairn.event("agencies", "runJobs", &json!({})).await.unwrap();
    assert!(left(&stage, &agency).await > 120, "the request has the lease");
    stage.cairn.clock.advance(LEASE);
    // The platform's schedule may be faster than this run, which then finds nothing.
    stage.cairn.event("agencies", "runJobs", &json!({})).await.unwrap();
    eventually("the deletion has ended", async || left(&stage, &agency).await == 0).await;
    stage.adds_up().await;
}

async fn run_stops_before_its_deadline() {
    let stage = Stage::new().await;
    stage.cairn.engines().wind_down();
    let agency = stage.agency_of(999).await;
    stage.root.delete(&format!("/agencies/{agency}?cascade=true")).await.is(202);
    // A step takes more than half a second, and all of them together six.
    let detour = Detour::of(&stage, &["BatchWriteItem"], |_| Fate::Late(Duration::from_millis(150))).await;
    let deadline = Instant::now() + Duration::from_secs(6);
    detour.app.event("runJobs", "{}".into(), deadline).await.unwrap();
    let rest = left(&stage, &agency).await;
    assert!(rest > 2 && rest < 1002, "{rest}");
    worker(&stage, None).await;
    assert_eq!(left(&stage, &agency).await, 0);
}

async fn step_stops_before_the_end_of_its_lease() {
    let stage = Stage::new().await;
    stage.cairn.engines().wind_down();
    let agency = stage.agency_of(3).await;
    stage.root.delete(&format!("/agencies/{agency}?cascade=true")).await.is(202);
    // The attempts of one call take 24 s and then fail, but another worker could have the lease before.
    let lease = Duration::from_secs(20);
    let detour = Detour::leasing(&stage, lease, &["BatchWriteItem"], |_| Fate::Held).await;
    let deadline = Instant::now() + lease * 3;
    detour.app.event("runJobs", "{}".into(), deadline).await.unwrap();
    assert!(left(&stage, &agency).await > 0);
    worker(&stage, None).await;
    assert_eq!(left(&stage, &agency).await, 0);
}

async fn failed_deletion_does_not_block_others() {
    let stage = Stage::new().await;
    stage.cairn.engines().wind_down();
    let agencies = [stage.agency_of(3).await, stage.agency_of(3).await];
    for agency in &agencies {
        stage.root.delete(&format!("/agencies/{agency}?cascade=true")).await.is(202);
    }
    // Each of them is one batch.
    let fate = |number: usize| if number == 0 { Fate::Refused } else { Fate::Passes };
    let detour = Detour::of(&stage, &["BatchWriteItem"], fate).await;
    let deadline = Instant::now() + Duration::from_secs(60);
    let failure = detour.app.event("runJobs", "{}".into(), deadline).await.unwrap_err();
    assert_eq!(failure.to_string(), "1 of 2 due jobs failed; the next run retries them");
    let mut rest = [left(&stage, &agencies[0]).await, left(&stage, &agencies[1]).await];
    rest.sort_unstable();
    assert_eq!(rest, [0, 6]);
    worker(&stage, None).await;
    assert_eq!(left(&stage, &agencies[0]).await + left(&stage, &agencies[1]).await, 0);
    stage.adds_up().await;
}

async fn ten_failing_deletions_do_not_block_the_next() {
    let stage = Stage::new().await;
    stage.cairn.engines().wind_down();
    let mut agencies = Vec::new();
    for _ in 0..11 {
        let agency = stage.agency_of(1).await;
        stage.root.delete(&format!("/agencies/{agency}?cascade=true")).await.is(202);
        agencies.push(agency);
    }
    // Each of them is one batch.
    let fate = |number: usize| if number < 10 { Fate::Refused } else { Fate::Passes };
    let detour = Detour::of(&stage, &["BatchWriteItem"], fate).await;
    let deadline = Instant::now() + Duration::from_secs(60);
    let failure = detour.app.event("runJobs", "{}".into(), deadline).await.unwrap_err();
    assert_eq!(failure.to_string(), "10 of 11 due jobs failed; the next run retries them");
    let mut rest = Vec::new();
    for agency in &agencies {
        rest.push(left(&stage, agency).await);
    }
    assert_eq!(rest.iter().filter(|rest| **rest == 0).count(), 1, "{rest:?}");
    worker(&stage, None).await;
    for agency in &agencies {
        assert_eq!(left(&stage, agency).await, 0);
    }
    stage.adds_up().await;
}

async fn marked_agency_is_deleted_after_any_failure() {
    let stage = Stage::new().await;
    stage.cairn.engines().wind_down();
    let detour = Detour::of(&stage, &["Query"], |_| Fate::Refused).await;
    let pat = detour.user("root", root());
    pat.delete("/agencies/n?cascade=true").await.is(202);
    stage.root.get("/agencies/n").await.refused(404, "not-found");
    pat.delete("/agencies/n?cascade=true").await.is(202);
    assert!(left(&stage, "n").await > 2);
    worker(&stage, None).await;
    assert_eq!(left(&stage, "n").await, 0);
    stage.root.delete("/agencies/n?cascade=true").await.refused(404, "not-found");
}

async fn unfinished_deletion_returns_its_job() {
    let stage = Stage::new().await;
    stage.cairn.engines().wind_down();
    let delete = async || stage.root.delete("/agencies/n?cascade=true").await.is(202);
    let accepted = delete().await;
    let (id, path) = (accepted.text("id").to_owned(), accepted.header("location").to_owned());
    assert_eq!(path, format!("/agencies/jobs/{id}"));
    let job = json!({
        "id": id,
        "kind": "deleteAgency",
        "agencyId": "n",
        "status": "running",
        "counts": { "total": 0, "done": 0, "failed": 0 },
        "createdAt": accepted.text("createdAt"),
        "createdBy": "idp:root",
    });
    assert_eq!(accepted.body, job);
    let again = delete().await;
    assert_eq!((again.header("location"), &again.body), (path.as_str(), &job));
    let read = stage.root.get(&path).await.is(200);
    assert_eq!((read.header("retry-after"), &read.body), ("1", &job));
    stage.ann.get(&path).await.refused(403, "forbidden");
    stage.root.get("/agencies/jobs/019e0000-0000-7000-8000-000000000001").await.refused(404, "not-found");
    worker(&stage, None).await;
    let read = stage.root.get(&path).await.is(200);
    assert!(!read.headers.contains_key("retry-after"));
    assert_eq!((read.text("status"), &read["endedAt"].is_string()), ("succeeded", &true));
    assert_eq!(read["counts"], json!({ "total": 3, "done": 3, "failed": 0 }), "its members and its invitation");
    stage.root.delete("/agencies/n?cascade=true").await.refused(404, "not-found");
    stage.cairn.clock.advance(Duration::from_secs(30 * 24 * 3600 + 60));
    stage.cairn.person("root", root()).await.get(&path).await.refused(404, "not-found");
}

async fn unfinished_deletions_are_listed() {
    let stage = Stage::new().await;
    stage.cairn.engines().wind_down();
    let listed = async || stage.root.get("/agencies/jobs").await.is(200);
    assert_eq!(listed().await["items"], json!([]));
    let mut accepted = Vec::new();
    for agency in ["c", "n", "s"] {
        accepted.push(stage.root.delete(&format!("/agencies/{agency}?cascade=true")).await.is(202));
    }
    let bodies: Vec<&Value> = accepted.iter().map(|answer| &answer.body).collect();
    assert_eq!(listed().await["items"], json!(bodies));
    let pages = stage.root.pages("/agencies/jobs", 1).await;
    assert_eq!(pages.iter().flat_map(|page| page.each("agencyId")).collect::<Vec<_>>(), ["c", "n", "s"]);
    stage.ann.get("/agencies/jobs").await.refused(403, "forbidden");
    worker(&stage, None).await;
    assert_eq!(listed().await["items"], json!([]));
}

async fn two_deletions_at_once_have_one_job() {
    let stage = Stage::new().await;
    stage.cairn.engines().wind_down();
    // Both have read the agency before either writes its mark.
    let detour = Detour::holding(&stage, WRITES, 0..2).await;
    detour.app.engines().wind_down();
    let pat = detour.user("root", root());
    let delete = || pat.delete("/agencies/n?cascade=true").into_future();
    let (one, other, ()) = tokio::join!(delete(), delete(), detour.once_held(async {}));
    let (one, other) = (one.is(202), other.is(202));
    assert_eq!(one.header("location"), other.header("location"));
    worker(&stage, None).await;
    assert_eq!(left(&stage, "n").await, 0);
    assert_eq!(items(&stage).await.len(), 6, "those of the other agencies");
    assert_eq!(stage.items().await.keys().filter(|key| key.starts_with("JOB#")).count(), 1);
    stage.adds_up().await;
}

async fn member_accepting_during_a_deletion_leaves_no_item() {
    let stage = Stage::new().await;
    stage.ann.post("/agencies/n/invitations", invitation("ann@example.org")).await.is(201);
    let accepting = Detour::holding(&stage, WRITES, 0..1).await;
    // By its first batch the deletion has listed all items.
    let deleting = Detour::holding(&stage, &["BatchWriteItem"], 0..1).await;
    let ann = accepting.user("ann", Person { address: Some("ann@example.org"), ..idp("ann") });
    let accepted = tokio::spawn(ann.post("/agencies/me/invitations/n/accept", json!({})).into_future());
    accepting.held().await;
    let root = deleting.user("root", root());
    let deleted = tokio::spawn(root.delete("/agencies/n?cascade=true").into_future());
    deleting.held().await;
    accepting.let_go();
    accepted.await.unwrap().refused(404, "not-found");
    deleting.let_go();
    deleted.await.unwrap().is(204);
    assert_eq!(left(&stage, "n").await, 0);
}
