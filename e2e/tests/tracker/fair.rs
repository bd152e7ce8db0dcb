//! Background work of many tenants: they take turns, and nobody begins more than there is room for.

use std::time::Duration;

use serde_json::json;
use table::item::{number, text, to_item};
use tokio::time::Instant;
use tracker::audit::Audit;
use tracker::items::{Issue, State};
use tracker::keys::IssueKey;
use tracker::names::{IssueId, ProjectId, TenantId};
use tracker::values::number_key;

use super::crashes::work_dies;
use super::files::{announce, new};
use super::fixture::{Fixture, PROJECT, TENANT, person, platform_admin};
use crate::harness::stopper::Moment;
use crate::harness::table::Item;
use crate::harness::{Answer, Cairn, User, fetch, sized};
use crate::tests;

tests! { tracker_fair:
    #[long] exports_of_one_tenant_do_not_delay_another,
    #[long] jobs_of_many_tenants_take_turns,
    killed_runs_do_every_job_exactly_once,
    #[long] imports_waiting_for_files_delay_no_job,
    #[long] open_imports_and_exports_are_limited,
    last_free_job_slot_is_given_once,
    #[long] ended_job_frees_its_slot,
}

const OTHER_PROJECT: &str = "/tracker/tenants/tenant-3cc8/projects/project-7b7e";

const PEOPLE: [&str; 11] = ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10"];

/// So many viewers of the first tenant.
async fn viewers(fixture: &Fixture, count: usize) -> Vec<User> {
    let mut viewers = Vec::new();
    for subject in PEOPLE.into_iter().take(count) {
        let new = json!({ "idpid": format!("local:{subject}"), "role": "viewer" });
        fixture.ada.post(&format!("{TENANT}/members"), new).await.is(201);
        viewers.push(person(&fixture.cairn, subject).await);
    }
    viewers
}

/// A project of ada's with so many issues, put into the table at once: an import would take longer than what is measured.
async fn filled(fixture: &Fixture, tenant: &str, name: &str, rows: u64) -> String {
    let made = fixture.ada.post(&format!("{tenant}/projects"), json!({ "name": name })).await.is(201);
    let path = made.header("location").to_owned();
    let project = ProjectId::parse_id(path.rsplit('/').next().unwrap()).unwrap();
    let tenant = TenantId::parse_id(tenant.rsplit('/').next().unwrap()).unwrap();
    let rev = number(fixture.cairn.clock.micros() * 2);
    let item = |num: u64| -> Item {
        let issue = Issue {
            data: number_key(num),
            name: format!("Row {num}"),
            state: State::Open,
            num,
            tenant,
            values: Default::default(),
            import: None,
            unsettled: None,
            audit: Audit::default(),
        };
        let key = IssueKey { issue: IssueId::new(), project };
        let key: table::Key = key.into();
        let mut item = to_item(&issue).unwrap();
        item.insert("PK".to_owned(), text(key.pk));
        item.insert("SK".to_owned(), text(key.sk.unwrap()));
        item.insert("rev".to_owned(), rev.clone());
        item
    };
    fixture.cairn.table_of(&::tracker::schema::TRACKER).put_all((1..=rows).map(item).collect()).await;
    path
}

async fn begin(user: &User, project: &str) -> Answer {
    user.post(&format!("{project}/exports"), json!({})).await
}

/// Exports the other project, and waits for the end.
async fn export(user: &User) {
    let began = Instant::now();
    let work = begin(user, OTHER_PROJECT).await.is(202).header("location").to_owned();
    while user.get(&work).await.is(200).text("status") != "succeeded" {
        assert!(began.elapsed() < Duration::from_secs(600), "it never ends");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The work of ada's tenant that goes on.
async fn open(fixture: &Fixture) -> usize {
    let work = fixture.ada.get(&format!("{TENANT}/jobs?limit=100")).await.is(200);
    work.each("status").iter().filter(|status| ["queued", "running"].contains(&status.as_str().unwrap())).count()
}

async fn exports_of_one_tenant_do_not_delay_another() {
    let fixture = Fixture::new().await;
    let (exports, rows) = sized((9, 5_000), (24, 20_000));
    let people = viewers(&fixture, exports / 3).await;
    let mut projects = Vec::new();
    for place in 0..exports.div_ceil(10) {
        projects.push(filled(&fixture, TENANT, &format!("Busy {place}"), rows).await);
    }
    let other = person(&fixture.cairn, "ada2").await;
    for place in 0..4 {
        let new = json!({ "name": format!("Issue {place}") });
        other.post(&format!("{OTHER_PROJECT}/issues"), new).await.is(201);
    }
    for place in 0..exports {
        begin(&people[place / 3], &projects[place % projects.len()]).await.is(202);
    }
    // One may be done by a single turn, so nobody need ever see half of it.
    fixture
        .until_still(async || {
            let work = fixture.ada.get(&format!("{TENANT}/jobs?limit=100")).await.is(200);
            work.each("counts").iter().any(|counts| counts["done"] != json!(0))
        })
        .await;
    for _ in 0..3 {
        export(&other).await;
    }
    // Done in the order in which they began, the others would have ended before.
    let left = open(&fixture).await;
    assert!(2 * left >= exports, "only {left} of {exports} exports are left");
}

/// Though there are more of them than a run works for at once, and each has work for several turns.
async fn jobs_of_many_tenants_take_turns() {
    let fixture = Fixture::new().await;
    let (tenants, rows) = sized((6_u64, 1_000_u64), (12, 6_000));
    let pat = platform_admin(&fixture.cairn).await;
    let mut projects = Vec::new();
    for place in 0..tenants {
        let new = json!({ "name": format!("Tenant {place}"), "admin": "local:ada" });
        let made = pat.post("/tracker/tenants", new).await.is(201);
        projects.push(filled(&fixture, made.header("location"), "Large", rows).await);
    }
    fixture.cairn.engines().wind_down();
    let mut works = Vec::new();
    for project in &projects {
        works.push(begin(&fixture.ada, project).await.is(202).header("location").to_owned());
    }
    let app = platform_of_its_own(&fixture.cairn);
    // Three seconds are left of a run when it ends, and each turn is one. A busy machine makes longer ones.
    let mut time = Duration::from_secs(3 + 1 + tenants.div_ceil(4));
    loop {
        app.event("runJobs", "{}".into(), Instant::now() + time).await.unwrap();
        let mut told = Vec::new();
        for work in &works {
            told.push(fixture.ada.get(work).await.is(200));
        }
        let done = |work: &Answer| work["counts"]["done"].as_u64().unwrap();
        let begun = told.iter().filter(|work| done(work) > 0).count();
        if told.iter().all(|work| work.text("status") == "succeeded") {
            assert!(told.iter().all(|work| done(work) == rows));
            break;
        }
        let ended = told.iter().filter(|work| work.text("status") == "succeeded").count();
        println!("{begun} of {tenants} have had a turn, {ended} have ended in {time:?}");
        assert!(begun == told.len() || ended == 0, "{ended} have ended before each has had a turn");
        time *= 2;
    }
    for work in &works {
        let text = fetch(fixture.ada.get(work).await.is(200).text("link")).await.is(200);
        assert_eq!(String::from_utf8(text.bytes.to_vec()).unwrap().lines().count() as u64, rows + 1);
    }
}

/// Each dies at one of its first transactions, with work of two tenants in its hands; in the end two go on at once.
async fn killed_runs_do_every_job_exactly_once() {
    let fixture = Fixture::new().await;
    fixture.cairn.engines().wind_down();
    let (vic, other) = (person(&fixture.cairn, "vic").await, person(&fixture.cairn, "ada2").await);
    let mut works = Vec::new();
    for _ in 0..3 {
        for (user, project) in [(&fixture.ann, PROJECT), (&vic, PROJECT), (&other, OTHER_PROJECT)] {
            works.push((user, begin(user, project).await.is(202).header("location").to_owned()));
        }
    }
    let mut died = 0;
    for (place, moment) in (0..4).flat_map(|place| Moment::BOTH.map(|moment| (place, moment))) {
        died += u32::from(work_dies(&fixture, (place, moment)).await);
    }
    assert!(died >= 4, "{died}");
    fixture.cairn.clock.advance(Duration::from_secs(121));
    let (one, two) = (platform_of_its_own(&fixture.cairn), platform_of_its_own(&fixture.cairn));
    let deadline = Instant::now() + Duration::from_secs(60);
    let (one, two) =
        tokio::join!(one.event("runJobs", "{}".into(), deadline), two.event("runJobs", "{}".into(), deadline));
    one.and(two).unwrap();
    for (user, work) in &works {
        let done = user.get(work).await.is(200);
        assert_eq!(done.text("status"), "succeeded", "{}", done.told());
        let text = fetch(done.text("link")).await.is(200);
        let rows = done["counts"]["done"].as_u64().unwrap();
        assert_eq!(String::from_utf8(text.bytes.to_vec()).unwrap().lines().count() as u64, rows + 1);
    }
    assert_eq!(places(&fixture).await, 0);
    fixture.holds().await;
}

/// They are looked for in vain at each look, however many they are.
async fn imports_waiting_for_files_delay_no_job() {
    let fixture = Fixture::new().await;
    let people = viewers(&fixture, 10).await;
    let mut projects = Vec::new();
    for place in 0..3 {
        projects.push(fixture.project(&format!("Announced {place}")).await);
    }
    for (place, subject) in PEOPLE.iter().enumerate().take(10) {
        fixture.ada.patch(&format!("{TENANT}/members/local:{subject}"), json!({ "role": "editor" })).await.is(200);
        for project in &projects {
            announce(&people[place], project, new("create", "stop"), "Name\na\n").await;
        }
    }
    // All of them are looked for, and an export that is due after them is done before the clock moves again.
    let other = person(&fixture.cairn, "ada2").await;
    fixture.cairn.engines().wind_down();
    let work = begin(&other, OTHER_PROJECT).await.is(202).header("location").to_owned();
    fixture.cairn.clock.advance(Duration::from_secs(21 * 60));
    let app = platform_of_its_own(&fixture.cairn);
    app.event("runJobs", "{}".into(), Instant::now() + Duration::from_secs(60)).await.unwrap();
    assert_eq!(other.get(&work).await.is(200).text("status"), "succeeded");
    let waiting = super::fixture::entries(&fixture.cairn, "due").await;
    let now = table::clock::rfc3339(fixture.cairn.clock.now());
    assert_eq!(waiting.len(), 30);
    assert!(waiting.iter().all(|(data, _)| data.starts_with("~upload ") && *data > format!("~upload {now}")));
}

/// A worker whose engines do not wind down.
pub fn platform_of_its_own(cairn: &Cairn) -> web::App {
    let config = cairn.engines().config.clone();
    ::tracker::app(table::Engines::new(config, cairn.clock.clone())).metrics_to(|_| {})
}

async fn open_imports_and_exports_are_limited() {
    let fixture = Fixture::new().await;
    // What is begun stays begun.
    fixture.cairn.engines().wind_down();
    let people = viewers(&fixture, 11).await;
    let mut projects = Vec::new();
    for place in 0..4 {
        projects.push(fixture.project(&format!("Project {place}")).await);
    }
    let told = |refused: &Answer, whose: &str| {
        assert!(refused.text("detail").starts_with(whose), "{}", refused.told());
    };
    // An import that waits for its file counts.
    announce(&fixture.ann, &projects[3], new("create", "stop"), "Name\n").await;
    begin(&fixture.ann, &projects[3]).await.is(202);
    let third = begin(&fixture.ann, PROJECT).await.is(202);
    told(&begin(&fixture.ann, PROJECT).await.refused(409, "too-many-jobs"), "You have 3 ");
    let refused =
        fixture.ann.post(&format!("{PROJECT}/imports"), json!({ "bytes": 5, "mode": "create", "onError": "stop" }));
    told(&refused.await.refused(409, "too-many-jobs"), "You have 3 ");
    // Who cancels one has room for another.
    fixture.ann.delete(third.header("location")).await.is(204);
    let again = begin(&fixture.ann, PROJECT).await.is(202);
    fixture.ann.delete(again.header("location")).await.is(204);

    for user in people.iter().take(9) {
        for project in projects.iter().take(3) {
            begin(user, project).await.is(202);
        }
    }
    begin(&people[9], &projects[0]).await.is(202);
    told(&begin(&people[9], &projects[0]).await.refused(409, "too-many-jobs"), "The project has 10 ");
    told(&begin(&people[10], &projects[1]).await.refused(409, "too-many-jobs"), "The tenant has 30 ");
    // What a change needs is never refused.
    fixture.ada.delete(&format!("{}?cascade=true", projects[3])).await;
    fixture.ada.post(&format!("{PROJECT}/attributes"), json!({ "name": "Height", "type": "int" })).await.is(201);
    // Another tenant has places of its own.
    begin(&person(&fixture.cairn, "ada2").await, OTHER_PROJECT).await.is(202);
}

async fn last_free_job_slot_is_given_once() {
    let fixture = Fixture::new().await;
    fixture.cairn.engines().wind_down();
    let answers = futures::future::join_all((0..12).map(|_| begin(&fixture.ann, PROJECT))).await;
    let begun = answers.iter().filter(|answer| answer.status == 202).count();
    let refused =
        answers.iter().filter(|answer| answer.status == 409 && answer["type"] == "urn:cairn:problem:too-many-jobs");
    assert_eq!((begun, refused.count()), (3, 9));
    let vic = person(&fixture.cairn, "vic").await;
    let once = async || vic.post(&format!("{PROJECT}/exports"), json!({})).once("k").await.is(202);
    for _ in 0..2 {
        begin(&vic, PROJECT).await.is(202);
    }
    // One request that comes several times takes one place, and is answered as before when there is no other.
    let same = futures::future::join_all((0..6).map(|_| once())).await;
    assert!(same.iter().all(|answer| answer.header("location") == same[0].header("location")));
    assert_eq!(places(&fixture).await, 3 * 6);
}

/// However a job ends, its places are free.
async fn ended_job_frees_its_slot() {
    let fixture = Fixture::new().await;
    for turn in 0..4 {
        let begun = begin(&fixture.ann, PROJECT).await.is(202);
        super::files::ended(&fixture.ann, begun.header("location")).await;
        let rejected = super::files::import(&fixture.ann, PROJECT, new("create", "stop"), "Nothing\n1\n").await;
        assert_eq!(rejected.text("status"), "failed", "{turn}");
    }
    assert_eq!(places(&fixture).await, 0);
    let gone = fixture.project("Gone").await;
    announce(&fixture.ann, &gone, new("create", "stop"), "Name\n").await;
    fixture.ada.delete(&gone).await.is(204);
    fixture.cairn.clock.advance(Duration::from_hours(6));
    fixture.until(async || places(&fixture).await == 0).await;
}

async fn places(fixture: &Fixture) -> usize {
    let items = fixture.cairn.table_of(&::tracker::schema::TRACKER).partitions().await;
    items.iter().filter(|pk| pk.starts_with("jobs-")).count()
}
