//! The samples of tracker: the small part of one tenant, and a smaller project instead of its large one.

use local::Progress;
use local::identity::Person;
use local::sample::tracker::{Part, Project, TENANTS, Tenant, load_these};
use local::sample::{PEOPLE, Size};
use serde_json::{Value, json};

use crate::harness::{Cairn, Setup, User};
use crate::tests;

tests! { samples_tracker:
    #[long] second_load_creates_no_tenant,
    #[long] changed_sample_tenant_is_kept,
    deleted_sample_tenant_is_not_recreated,
    interrupted_load_of_tenants_is_completed,
    #[long] world_after_small_creates_the_missing_project,
    #[long] project_renamed_after_small_stays_renamed_in_world,
}

/// The tenant and its issues.
const ALL: u64 = 1 + 60;

const TENANT: &str = "Northern Bridges";
const PROJECT: &str = "Footbridge survey";

/// Loaded after the small part.
const PARTS: &[Part] = &[
    Part {
        size: Size::Small,
        members: &[("ada", "admin"), ("ann", "editor"), ("vic", "viewer")],
        projects: &[Project { name: PROJECT, attributes: 6, issues: 60 }],
    },
    Part {
        size: Size::World,
        members: &[("kim", "editor")],
        projects: &[Project { name: "Viaduct", attributes: 2, issues: 5 }],
    },
];

struct Stage {
    cairn: Cairn,
    /// The user who loads the samples: an administrator of the tenants.
    root: User,
    ada: User,
}

impl Stage {
    async fn new() -> Self {
        let cairn = Cairn::with(Setup::of("tracker")).await;
        let root = Person { roles: &["platform-admin"], ..Person::new("sample") };
        let root = cairn.person("root", root).await;
        Self { root, ada: cairn.person("ada", Person::new("ada")).await, cairn }
    }

    /// Returns the numbers of requests that created an item, and that found it.
    async fn load(&self) -> (u64, u64) {
        let tenant = TENANTS.iter().find(|tenant| tenant.name == TENANT).unwrap();
        self.load_tenant(*tenant, Size::Small).await
    }

    /// Returns the samples with a smaller project instead of the large one.
    async fn load_of(&self, size: Size) -> (u64, u64) {
        self.load_tenant(Tenant { name: TENANT, parts: PARTS }, size).await
    }

    async fn load_tenant(&self, tenant: Tenant, size: Size) -> (u64, u64) {
        let token = self.cairn.token("sample", &["platform-admin"]).await;
        load_these(&[tenant], size, self.cairn.url(), &token, &Progress::silent()).await.unwrap()
    }

    async fn projects(&self) -> Vec<String> {
        let all = self.root.get(&format!("{}/projects", self.tenant().await)).await.is(200);
        all.each("name").iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    }

    async fn tenant(&self) -> String {
        let all = self.root.get("/tracker/tenants").await.is(200);
        let [tenant] = all.each("id")[..] else { panic!("{}", all.told()) };
        format!("/tracker/tenants/{}", tenant.as_str().unwrap())
    }

    async fn project(&self) -> String {
        let list = format!("{}/projects", self.tenant().await);
        let all = self.root.get(&list).await.is(200);
        let [project] = all.each("id")[..] else { panic!("{}", all.told()) };
        format!("{list}/{}", project.as_str().unwrap())
    }

    async fn issues(&self) -> Value {
        let grid = format!("{}/grid?limit=1&count=true", self.project().await);
        self.root.get(&grid).await.is(200)["total"].clone()
    }
}

async fn second_load_creates_no_tenant() {
    let stage = Stage::new().await;
    assert_eq!(stage.load().await, (ALL, 0));
    assert_eq!(stage.load().await, (0, ALL));
    assert_eq!(stage.issues().await, json!({ "value": 60, "exact": true }));
    let project = stage.root.get(&stage.project().await).await.is(200);
    assert_eq!(project["attributes"].as_array().unwrap().len(), 6);

    // One person of each kind for which the local platform issues a token.
    for (kind, role) in [("tenant-admin", "admin"), ("tenant-editor", "editor"), ("tenant-viewer", "viewer")] {
        let (kind, person) = PEOPLE.into_iter().find(|(other, _)| *other == kind).unwrap();
        let mine = stage.cairn.person(kind, person).await.get("/tracker/me/tenants").await.is(200);
        assert_eq!((mine.each("name"), mine.each("role")), (vec![&json!(TENANT)], vec![&json!(role)]), "{kind}");
    }
}

async fn changed_sample_tenant_is_kept() {
    let stage = Stage::new().await;
    stage.load().await;
    let (tenant, project) = (stage.tenant().await, stage.project().await);
    stage.ada.delete(&format!("{tenant}/members/local:vic")).await.is(204);
    stage.ada.patch(&project, json!({ "name": "Survey" })).await.is(200);
    assert_eq!(stage.load().await, (0, ALL));
    stage.root.get(&format!("{tenant}/members/local:vic")).await.is(404);
    assert_eq!(stage.ada.get(&stage.project().await).await.is(200)["name"], "Survey");

    let deleted = stage.ada.delete(&format!("{project}?cascade=true")).await;
    assert!([202, 204].contains(&deleted.status), "{}", deleted.told());
    stage.ada.patch(&tenant, json!({ "name": "Southern Bridges" })).await.is(200);
    assert_eq!(stage.load().await, (0, ALL));
    assert_eq!(stage.ada.get(&stage.tenant().await).await.is(200)["name"], "Southern Bridges");
    assert_eq!(stage.ada.get(&format!("{tenant}/projects")).await.is(200)["items"], json!([]));
}

async fn deleted_sample_tenant_is_not_recreated() {
    let stage = Stage::new().await;
    stage.load().await;
    let tenant = stage.tenant().await;
    let deleted = stage.root.delete(&format!("{tenant}?cascade=true")).await;
    assert!([202, 204].contains(&deleted.status), "{}", deleted.told());
    assert_eq!(stage.load().await, (0, ALL));
    stage.root.get(&tenant).await.is(404);
    assert_eq!(stage.ada.get("/tracker/me/tenants").await.is(200)["items"], json!([]));
}

async fn interrupted_load_of_tenants_is_completed() {
    let stage = Stage::new().await;
    // A tenant, a project with one of its attributes, and an import without a file.
    stage.root.post("/tracker/tenants", json!({ "name": TENANT })).await.is(201);
    stage.root.post(&format!("{}/projects", stage.tenant().await), json!({ "name": PROJECT })).await.is(201);
    let project = stage.project().await;
    let due = json!({ "name": "Due", "type": "date" });
    stage.root.post(&format!("{project}/attributes"), due).await.is(201);
    let file = json!({ "bytes": 1000, "mode": "create", "onError": "stop" });
    stage.root.post(&format!("{project}/imports"), file).await.is(201);
    assert_eq!(stage.load().await, (ALL - 1, 1));
    assert_eq!(stage.issues().await, json!({ "value": 60, "exact": true }));
    stage.ada.get(&stage.tenant().await).await.is(200);
    assert_eq!(stage.load().await, (0, ALL));
}

async fn world_after_small_creates_the_missing_project() {
    let stage = Stage::new().await;
    assert_eq!(stage.load_of(Size::Small).await, (ALL, 0));
    assert_eq!(stage.projects().await, [PROJECT]);
    assert_eq!(stage.load_of(Size::World).await, (5, ALL));
    assert_eq!(stage.projects().await, [PROJECT, "Viaduct"]);
    assert_eq!(stage.load_of(Size::Small).await, (0, ALL));
    assert_eq!(stage.load_of(Size::World).await, (0, ALL + 5));
}

async fn project_renamed_after_small_stays_renamed_in_world() {
    let stage = Stage::new().await;
    stage.load_of(Size::Small).await;
    stage.ada.patch(&stage.project().await, json!({ "name": "Survey" })).await.is(200);
    stage.ada.patch(&stage.tenant().await, json!({ "name": "Southern Bridges" })).await.is(200);
    assert_eq!(stage.load_of(Size::World).await, (5, ALL));
    assert_eq!(stage.projects().await, ["Survey", "Viaduct"]);
    assert_eq!(stage.load_of(Size::World).await, (0, ALL + 5));
}
