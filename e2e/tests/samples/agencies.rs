//! The samples of agencies: some of those with few members.

use std::collections::BTreeMap;

use local::Progress;
use local::identity::Person;
use local::sample::agencies::{Planned, load_these, planned};
use local::sample::{PEOPLE, Size};
use serde_json::{Value, json};

use crate::harness::{Cairn, Setup, User};
use crate::tests;

tests! { samples_agencies:
    second_load_creates_no_agency,
    #[long] changed_sample_agencies_are_kept,
    interrupted_load_of_agencies_is_completed,
    world_after_small_creates_the_missing_agencies,
}

/// The first three have an administrator and a member each, and Moorland has an invitation.
const SOME: [(&str, &str); 4] = [
    ("Foothills Rescue", "inactive"),
    ("Moorland Avalanche Service", "active"),
    ("Peninsula Patrol", "pending"),
    ("Foothills First Aid", "inactive"),
];

const ALL: u64 = 3 + 4 + 3 + 1;

struct Stage {
    cairn: Cairn,
    root: User,
}

impl Stage {
    async fn new() -> Self {
        let cairn = Cairn::with(Setup::of("agencies")).await;
        let root = Person { roles: &["platform-admin"], ..Person::new("root") };
        Self { root: cairn.person("root", root).await, cairn }
    }

    /// Returns the numbers of requests that created an item, and that found it.
    async fn load(&self) -> (u64, u64) {
        self.load_of(Size::World).await
    }

    async fn load_of(&self, size: Size) -> (u64, u64) {
        let wanted = |agency: &Planned| SOME.iter().any(|(name, _)| *name == agency.name);
        let some: Vec<Planned> = planned(size).into_iter().filter(wanted).collect();
        let token = self.cairn.token("sample", &["platform-admin"]).await;
        load_these(&some, self.cairn.url(), &token, &Progress::silent()).await.unwrap()
    }

    /// Returns the agencies by their names.
    async fn agencies(&self) -> BTreeMap<String, Value> {
        let all = self.root.get("/agencies?limit=100").await.is(200);
        let named = |agency: &Value| (agency["name"].as_str().unwrap().to_owned(), agency.clone());
        all["items"].as_array().unwrap().iter().map(named).collect()
    }

    async fn path(&self, name: &str) -> String {
        format!("/agencies/{}", self.agencies().await[name]["agencyId"].as_str().unwrap())
    }

    async fn statuses_are(&self, expected: &[(&str, &str)]) {
        let agencies = self.agencies().await;
        let statuses: Vec<(&str, &str)> =
            agencies.iter().map(|(name, agency)| (name.as_str(), agency["status"].as_str().unwrap())).collect();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(statuses, expected);
    }

    /// Returns the numbers of members and administrators.
    async fn counts(&self, path: &str) -> (u64, u64) {
        let read = self.root.get(path).await.is(200);
        (read["members"].as_u64().unwrap(), read["admins"].as_u64().unwrap())
    }

    async fn sample_person(&self, wanted: &'static str) -> User {
        let (kind, person) = PEOPLE.into_iter().find(|(kind, _)| *kind == wanted).unwrap();
        self.cairn.person(kind, person).await
    }
}

async fn second_load_creates_no_agency() {
    let stage = Stage::new().await;
    assert_eq!(stage.load().await, (ALL, 0));
    stage.statuses_are(&SOME).await;
    let before = stage.agencies().await;
    assert_eq!(stage.load().await, (0, ALL));
    assert_eq!(stage.agencies().await, before);

    // One person of each kind for which the local platform issues a token.
    let moorland = stage.path("Moorland Avalanche Service").await;
    assert_eq!(stage.counts(&moorland).await, (2, 1));
    for (kind, role) in [("agency-admin", "admin"), ("agency-member", "member")] {
        let read = stage.sample_person(kind).await.get(&moorland).await.is(200);
        assert_eq!(read["role"], role);
    }
    let invited = stage.sample_person("agency-invitee").await.get("/agencies/me/invitations").await.is(200);
    assert_eq!(invited.each("name"), [&json!("Moorland Avalanche Service")]);
    stage.sample_person("platform-admin").await.get("/agencies").await.is(200);
}

async fn changed_sample_agencies_are_kept() {
    let stage = Stage::new().await;
    stage.load().await;
    let root = &stage.root;
    let rescue = stage.path("Foothills Rescue").await;
    root.patch(&rescue, json!({ "name": "Valley Rescue" })).await.is(200);
    root.post(&format!("{rescue}/activate"), json!({})).await.is(200);
    let moorland = stage.path("Moorland Avalanche Service").await;
    let invitee = stage.sample_person("agency-invitee").await;
    let invitation = moorland.replace("/agencies/", "/agencies/me/invitations/");
    invitee.post(&format!("{invitation}/decline"), json!({})).await.is(200);
    root.post(&format!("{moorland}/deactivate"), json!({})).await.is(200);
    let patrol = stage.path("Peninsula Patrol").await;
    root.delete(&format!("{patrol}/members/local:volunteer-0495")).await.is(204);
    root.delete(&stage.path("Foothills First Aid").await).await.is(204);

    let before = stage.agencies().await;
    assert_eq!(stage.load().await, (0, ALL));
    assert_eq!(stage.agencies().await, before);
    let expected =
        [("Valley Rescue", "active"), ("Moorland Avalanche Service", "inactive"), ("Peninsula Patrol", "pending")];
    stage.statuses_are(&expected).await;
    assert_eq!(stage.counts(&patrol).await, (1, 1));
    let invitations = root.get(&format!("{moorland}/invitations")).await.is(200);
    assert_eq!(invitations.each("status"), [&json!("declined")]);
}

async fn interrupted_load_of_agencies_is_completed() {
    let stage = Stage::new().await;
    // Loading stops before any member has joined, before the administrator has joined, and before the status is set.
    for name in ["Moorland Avalanche Service", "Peninsula Patrol", "Foothills First Aid"] {
        stage.root.post("/agencies", json!({ "name": name })).await.is(201);
    }
    let patrol = stage.path("Peninsula Patrol").await;
    let member = json!({ "idpid": "local:volunteer-0495", "role": "member" });
    stage.root.post(&format!("{patrol}/members"), member).await.is(201);
    assert_eq!(stage.load().await, (ALL - 4, 4));
    stage.statuses_are(&SOME).await;
    assert_eq!(stage.counts(&patrol).await, (2, 1));
    assert_eq!(stage.counts(&stage.path("Moorland Avalanche Service").await).await, (2, 1));
    assert_eq!(stage.load().await, (0, ALL));
}

async fn world_after_small_creates_the_missing_agencies() {
    let stage = Stage::new().await;
    assert_eq!(stage.load_of(Size::Small).await, (4, 0));
    stage.statuses_are(&[("Moorland Avalanche Service", "active")]).await;
    assert_eq!(stage.load_of(Size::World).await, (ALL - 4, 4));
    stage.statuses_are(&SOME).await;
    assert_eq!(stage.load_of(Size::Small).await, (0, 4));
    assert_eq!(stage.load_of(Size::World).await, (0, ALL));
}
