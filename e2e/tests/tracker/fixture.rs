//! The fixture: a small tracker, put into the table as its writers would have left it.

use std::time::Duration;

use futures::{StreamExt, stream};
use serde_json::{Value, json};
use table::access::{AccessPattern, Call, TableAction};
use table::{Access, Action, Key};
use tracker::audit::Audit;
use tracker::items::{
    AttributeItem, Directory, Gate, Issue, Member, Project, Role, State, Status, Tenant, Value as Kept,
};
use tracker::keys::{AttributeKey, CounterKey, DirectoryKey, GateKey, IssueKey, MemberKey, ProjectKey, TenantKey};
use tracker::listed;
use tracker::names::{AttributeId, GateNumber, IssueId, ProjectId, TenantId};
use tracker::project::Attribute;
use tracker::rows::rows;
use tracker::schema::TRACKER;
use tracker::values::{Type, number_key};

use super::rule::Project as Checked;
use crate::harness::{Answer, Cairn, Setup, User};

/// Past the platform.
const WRITE: AccessPattern = AccessPattern {
    name: "fixture",
    calls: &[
        Call::Table { table: "tracker", action: TableAction::PutItem },
        Call::Table { table: "tracker", action: TableAction::UpdateItem },
    ],
};

pub const TENANT: &str = "/tracker/tenants/tenant-0807";
pub const PROJECT: &str = "/tracker/tenants/tenant-0807/projects/project-35e9";

/// A platform with the fixture; ann is an editor, ada an administrator of both its tenants.
pub struct Fixture {
    pub cairn: Cairn,
    pub ada: User,
    pub ann: User,
}

impl Fixture {
    pub async fn new() -> Self {
        Self::with(Setup::of("tracker")).await
    }

    pub async fn with(setup: Setup) -> Self {
        let cairn = Cairn::with(setup).await;
        write(&cairn).await;
        let (ada, ann) = (person(&cairn, "ada").await, person(&cairn, "ann").await);
        Self { cairn, ada, ann }
    }

    /// A project of ada's tenant, empty; its path.
    pub async fn project(&self, name: &str) -> String {
        let made = self.ada.post(&format!("{TENANT}/projects"), json!({ "name": name })).await.is(201);
        made.header("location").to_owned()
    }

    /// An attribute of a project; its id.
    pub async fn attribute(&self, project: &str, name: &str, of: &str) -> String {
        let new = json!({ "name": name, "type": of });
        self.ada.post(&format!("{project}/attributes"), new).await.is(201).text("id").to_owned()
    }

    pub async fn issue(&self, project: &str, name: &str, values: Value) -> Answer {
        self.ann.post(&format!("{project}/issues"), json!({ "name": name, "values": values })).await.is(201)
    }

    /// This many issues with these values, in the order of their places; several are made at once.
    pub async fn issues(&self, project: &str, count: usize, values: impl Fn(usize) -> Value) -> Vec<Answer> {
        let make = |place| {
            let (name, values) = (format!("Issue {place}"), values(place));
            async move { self.issue(project, &name, values).await }
        };
        stream::iter(0..count).map(make).buffered(8).collect().await
    }

    /// The numbers on a page of the grid, all of it in one page.
    pub async fn numbers(&self, project: &str, query: &str) -> Vec<u64> {
        let page = self.ann.get(&format!("{project}/grid?{query}")).await.is(200);
        assert!(page.next().is_none(), "{}", page.told());
        numbers(&page)
    }

    /// Moves the clock on until this much is done: work waits for the index, and leases for their end.
    pub async fn until(&self, done: impl AsyncFn() -> bool) {
        let began = tokio::time::Instant::now();
        while !done().await {
            assert!(began.elapsed() < Duration::from_secs(120), "the work does not come to its end");
            // A worker of a busy machine may need more than the 40 ms that its lease lasts at first.
            let (step, pause) = match began.elapsed() < Duration::from_secs(30) {
                true => (Duration::from_secs(61), Duration::from_millis(20)),
                false => (Duration::from_mins(21), Duration::from_secs(2)),
            };
            self.cairn.clock.advance(step);
            tokio::time::sleep(pause).await;
        }
    }

    /// Waits until this much is so, and leaves the clock where it is.
    pub async fn until_still(&self, done: impl AsyncFn() -> bool) {
        let end = tokio::time::Instant::now() + Duration::from_secs(60);
        while !done().await {
            assert!(tokio::time::Instant::now() < end, "it does not come to rest");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Until all jobs of the tenant have ended, except imports that wait for their files.
    pub async fn settled(&self) {
        self.until(async || {
            let work = self.ada.get(&format!("{TENANT}/jobs?limit=100")).await.is(200);
            !has_work(&work)
        })
        .await;
    }

    /// The table is what its issues and attributes make of it.
    pub async fn holds(&self) -> Checked {
        super::rule::check(&self.cairn).await
    }
}

pub fn numbers(page: &Answer) -> Vec<u64> {
    page.each("number").iter().map(|number| number.as_u64().unwrap()).collect()
}

pub async fn person(cairn: &Cairn, subject: &'static str) -> User {
    let token = cairn.token(subject, &[]).await;
    cairn.user(subject, &format!("Bearer {token}"))
}

pub async fn platform_admin(cairn: &Cairn) -> User {
    let token = cairn.token("pat", &["platform-admin"]).await;
    cairn.user("pat", &format!("Bearer {token}"))
}

fn id<T: TryFrom<String, Error: std::fmt::Debug>>(text: &str) -> T {
    T::try_from(text.to_owned()).unwrap()
}

async fn write(cairn: &Cairn) {
    let access = Access::new(std::sync::Arc::clone(cairn.engines()), &[&WRITE]);
    for action in actions() {
        access.write(&WRITE, action).await.unwrap();
    }
}

fn create<T: serde::Serialize>(key: impl Into<Key>, item: &T) -> Action {
    Action::create(&TRACKER, key, item).unwrap()
}

fn actions() -> Vec<Action> {
    let mut actions = Vec::new();
    let tenants = [("tenant-0807", "ACME Engineering"), ("tenant-3cc8", "Big Media")];
    for (tenant, name) in tenants {
        let tenant: TenantId = id(tenant);
        let audit = Audit::default();
        let item = Tenant { name: name.to_owned(), projects: 1, admins: 1, deleting: None, audit };
        actions.push(create(TenantKey { tenant }, &item));
        actions.push(create(DirectoryKey { tenant }, &Directory { data: listed::entry(name) }));
        for (user, role) in [("local:ada", Role::Admin), ("local:ann", Role::Editor), ("local:vic", Role::Viewer)] {
            // Ada and her colleagues are in the first tenant only; in the second there are others.
            let user = if tenant == id("tenant-0807") { user.to_owned() } else { format!("{user}2") };
            let member = Member {
                data: "2023-01-01T00:00:00.000000Z".to_owned(),
                role,
                name: String::new(),
                audit: Audit::default(),
            };
            actions.push(create(MemberKey { tenant, user: user.parse().unwrap() }, &member));
        }
    }
    actions.extend(project(
        "tenant-0807",
        "project-35e9",
        "Forth Rail Bridge",
        &bridge(),
        &[
            ("issue-020e", "Needs Painting", State::Open, &[("3812", "2023-05-01"), ("882a", "2023-06-01")]),
            ("issue-67d1", "Check for rust", State::Closed, &[("3812", "2023-05-02"), ("882a", "2023-06-02")]),
            ("issue-af34", "Girder needs replacing", State::Open, &[("3fe6", "42"), ("47e5", "Approved")]),
        ],
    ));
    actions.extend(project(
        "tenant-3cc8",
        "project-7b7e",
        "The Daily News",
        &[],
        &[
            ("issue-3544", "Launch new newspaper!", State::Closed, &[]),
            ("issue-83a4", "Hire reporter for showbiz desk", State::Open, &[]),
        ],
    ));
    actions
}

fn bridge() -> Vec<Attribute> {
    let attribute = |(num, (text, name, of)): (u8, (&str, &str, Type))| Attribute {
        id: id::<AttributeId>(text),
        item: AttributeItem {
            name: name.to_owned(),
            num: f64::from(num),
            of,
            slot: num - 1,
            status: Status::Ready,
            options: Default::default(),
            audit: Audit::default(),
        },
    };
    let all = [
        ("xattrib-3812", "Start", Type::Date),
        ("xattrib-882a", "End", Type::Date),
        ("xattrib-3fe6", "Num Items", Type::Int),
        ("xattrib-47e5", "Sign Off", Type::Text),
    ];
    (1..).zip(all).map(attribute).collect()
}

type Sample<'a> = (&'a str, &'a str, State, &'a [(&'a str, &'a str)]);

fn project(tenant: &str, text: &str, name: &str, attributes: &[Attribute], issues: &[Sample<'_>]) -> Vec<Action> {
    let (tenant, project): (TenantId, ProjectId) = (id(tenant), id(text));
    let item = Project {
        data: Some(listed::entry(name)),
        attrib_rev: 0,
        schema_rev: 0,
        deleting: None,
        audit: Audit::default(),
    };
    let counter = table::Sequence::counting(CounterKey { project }, "Last");
    let mut actions =
        vec![create(ProjectKey { project, tenant }, &item), Action::create_sequence(&TRACKER, counter.clone())];
    actions.push(Action::raise_sequence(&TRACKER, counter, issues.len() as u64));
    for attribute in attributes {
        actions.push(create(AttributeKey { project, attribute: attribute.id }, &attribute.item));
    }
    let open = issues.iter().filter(|(_, _, state, _)| *state == State::Open).count() as i64;
    for (place, gate) in GateNumber::all().enumerate() {
        let (live, open) = if place == 0 { (issues.len() as i64, open) } else { (0, 0) };
        actions.push(create(GateKey { project, gate }, &Gate { schema_rev: 0, live, open, closed: None }));
    }
    for (num, (text, name, state, values)) in (1..).zip(issues) {
        let issue: IssueId = id(text);
        let kept = |(attribute, value): &(&str, &str)| {
            let of = attributes.iter().find(|known| known.id.to_string() == *attribute).unwrap();
            let kept = Kept { slot: of.item.slot, of: of.item.of, value: (*value).to_owned() };
            ((*attribute).to_owned(), kept)
        };
        let item = Issue {
            data: number_key(num),
            name: (*name).to_owned(),
            state: *state,
            num,
            tenant,
            values: values.iter().map(kept).collect(),
            import: None,
            unsettled: None,
            audit: Audit::default(),
        };
        actions.push(create(IssueKey { issue, project }, &item));
        for (key, data) in rows(issue, project, &item, attributes) {
            actions.push(tracker::rows::put(&key, &data));
        }
    }
    actions
}

/// All that the index holds in a partition: `Data` with its special characters shown, and the partition key.
pub async fn entries(cairn: &Cairn, partition: &str) -> Vec<(String, String)> {
    let engines = cairn.engines();
    let answer = engines
        .dynamodb()
        .query()
        .table_name(engines.config.table("tracker"))
        .index_name("SK-Data")
        .key_condition_expression("SK = :sk")
        .expression_attribute_values(":sk", aws_sdk_dynamodb::types::AttributeValue::S(partition.to_owned()))
        .send()
        .await
        .unwrap();
    let text = |item: &std::collections::HashMap<String, aws_sdk_dynamodb::types::AttributeValue>, name: &str| {
        item[name].as_s().unwrap().replace('\u{1}', "␁").replace('\u{2}', "␂")
    };
    answer.items().iter().map(|item| (text(item, "Data"), text(item, "PK"))).collect()
}

/// Whether one of these jobs has not ended, except imports that wait for their files.
pub fn has_work(jobs: &Answer) -> bool {
    let works = |job: &Value| job["status"] == "running" || (job["status"] == "queued" && job["kind"] != "import");
    jobs["items"].as_array().unwrap().iter().any(works)
}

/// Whether a job has not ended.
pub fn is_open(job: &Answer) -> bool {
    ["queued", "running"].contains(&job.text("status"))
}
