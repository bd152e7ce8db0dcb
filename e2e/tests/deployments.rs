//! The first index of a deployment: CloudFormation calls the function and receives its result.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::mirror::{CREATE_INDEX, Goal, Phase, Rebuild};
use aws_sdk_dynamodb::types::AttributeValue;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use local::systems;
use reqwest::Method;
use serde_json::{Value, json};
use table::Config;
use tokio::time::Instant;

use crate::faults::with_proxy;
use crate::harness::relay::pass_on;
use crate::harness::server::Server;
use crate::harness::state_machine::StateMachine;
use crate::harness::{Cairn, Setup};
use crate::mirror::{campground, copy};
use crate::tests;

tests! { deployments:
    first_deployment_creates_and_fills_the_index,
    #[long] deployment_creates_the_index_of_each_system,
    #[long] state_machine_creates_another_index_of_each_system,
    alias_leaves_the_index_of_an_earlier_deployment,
    deployment_keeps_an_index_that_serves,
    deployment_waits_for_search_to_start,
    deployment_after_a_cancelled_index_fails_at_once_and_says_what_to_do,
}

/// The server to which functions send their responses for CloudFormation.
pub struct CloudFormation {
    server: Server,
    told: Arc<Mutex<Vec<Value>>>,
}

impl CloudFormation {
    pub async fn start() -> Self {
        let told = Arc::<Mutex<Vec<Value>>>::default();
        let keep = Arc::clone(&told);
        let server = Server::start(move |request: Request<Incoming>| {
            let keep = Arc::clone(&keep);
            async move {
                assert_eq!(request.method(), "PUT");
                assert_eq!(request.uri().query(), Some("signed=yes"));
                // The link is signed for a request without a content type.
                assert_eq!(request.headers().get("content-type"), None);
                let body = request.into_body().collect().await.unwrap().to_bytes();
                keep.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::new())))
            }
        })
        .await;
        Self { server, told }
    }

    /// Calls the function for a resource that is created, changed or deleted. Returns its response to CloudFormation.
    async fn asks(&self, cairn: &Cairn, system: &str, kind: &str) -> Value {
        let answer = cairn.event(system, CREATE_INDEX, &self.request(kind)).await.unwrap();
        assert_eq!(self.told(), std::slice::from_ref(&answer));
        answer
    }

    /// Returns the event of a resource that is created, changed or deleted.
    pub fn request(&self, kind: &str) -> Value {
        json!({
            "RequestType": kind, "RequestId": "request-1", "StackId": "stack-1", "ResourceType": "Custom::CreateIndex",
            "LogicalResourceId": "CreateIndexResource", "ResponseURL": format!("{}/answer?signed=yes", self.server.url),
            "ResourceProperties": { "ServiceToken": "arn:aws:lambda:r:1:function:f", "ServiceTimeout": "3600" },
        })
    }

    /// Returns the responses since the last call.
    pub fn told(&self) -> Vec<Value> {
        std::mem::take(&mut *self.told.lock().unwrap())
    }
}

fn success(data: &Value) -> Value {
    json!({
        "Status": "SUCCESS", "Reason": "", "PhysicalResourceId": "CreateIndexResource", "StackId": "stack-1",
        "RequestId": "request-1", "LogicalResourceId": "CreateIndexResource", "Data": data,
    })
}

/// Restores the state before the first deployment: no index and no config item.
async fn forget(cairn: &Cairn, system: &str) -> String {
    forget_state(cairn, system).await;
    let index = index(cairn, system, 1);
    cairn.search_engine(Method::DELETE, &format!("/{index}"), &Value::Null).await;
    index
}

/// Restores the state after a deployment that was rolled back: the tables are empty, and the search domain is kept.
pub async fn forget_state(cairn: &Cairn, system: &str) {
    let tables = systems::named(system).unwrap().system.tables;
    let state = tables.iter().find(|table| table.name == format!("{system}-mirror")).unwrap();
    let state = cairn.table_of(state);
    for item in state.items().await {
        state.delete_item(&item).await;
    }
}

fn index(cairn: &Cairn, system: &str, number: u32) -> String {
    format!("{}-{number:06}", cairn.engines().config.search_name(system))
}

/// Returns the indexes of the readers' alias, with their filters.
async fn behind(cairn: &Cairn, system: &str) -> Vec<(String, Value)> {
    let alias = cairn.engines().config.search_name(system);
    let behind = cairn.search_engine(Method::GET, &format!("/{alias}/_alias"), &Value::Null).await;
    let filter = |aliases: &Value| aliases["aliases"][&alias]["filter"].clone();
    behind.as_object().unwrap().iter().map(|(index, aliases)| (index.clone(), filter(aliases))).collect()
}

/// Readers see no tombstones.
fn visible() -> Value {
    json!({ "bool": { "must_not": { "term": { "deleted": true } } } })
}

async fn first_deployment_creates_and_fills_the_index() {
    let (cairn, proxy) = with_proxy().await;
    let item = campground(&cairn).await;
    let table = cairn.table();
    table.put(copy(&item, 2, &[("displayName", AttributeValue::Bool(true))])).await;
    let mut unstamped = copy(&item, 3, &[("displayName", AttributeValue::S("Unstamped".to_owned()))]);
    unstamped.remove("rev");
    cairn.caught_up().await;
    // The mirror stops at this item, which is deleted before the deployment reads the table.
    let last = copy(&item, 4, &[]);
    proxy.hold("facility::bcparks_1#campground::4");
    table.put(last.clone()).await;
    proxy.holds().await;
    table.delete_item(&last).await;
    table.put(unstamped).await;
    let index = forget(&cairn, "parks").await;

    let cloud_formation = CloudFormation::start().await;
    let answer = cloud_formation.asks(&cairn, "parks", "Create").await;
    proxy.release();
    assert_eq!(answer, success(&json!({ "Index": index })));
    let visitor = cairn.visitor();
    visitor.search("q=model").await.are(&["Model"]);
    visitor.search("q=unstamped").await.are(&["Unstamped"]);
    let document = cairn.document("parks", "facility::bcparks_1#campground::1").await.unwrap();
    assert_eq!(document["boundaryStatus"], "full");
    let markers = cairn.quarantined().await;
    assert_eq!(markers.len(), 1, "{markers:?}");
    // Its stream record is also applied to the new index.
    let admin = cairn.administrator().await;
    admin.patch("/parks/facilities/bcparks_1/campground/1", json!({ "displayName": "Renamed" })).await.is(200);
    visitor.search("q=renamed").await.are(&["Renamed"]);
    visitor.search("q=model").await.is_nothing();
}

async fn deployment_creates_the_index_of_each_system() {
    for served in systems::ALL {
        let system = served.system.name;
        let cairn = Cairn::with(Setup::of(system)).await;
        cairn.caught_up().await;
        let index = forget(&cairn, system).await;
        let cloud_formation = CloudFormation::start().await;
        let answer = cloud_formation.asks(&cairn, system, "Create").await;
        assert_eq!(answer, success(&json!({ "Index": index })));
        assert_eq!(behind(&cairn, system).await, [(index, visible())]);
    }
}

async fn state_machine_creates_another_index_of_each_system() {
    for served in systems::ALL {
        let system = served.system.name;
        let cairn = Cairn::with(Setup::of(system)).await;
        cairn.caught_up().await;
        // Nothing is written, so no invocation from before the publication is left.
        let machine = StateMachine::of(served.system, Duration::ZERO);
        let call = async |input| cairn.event(system, CREATE_INDEX, &input).await;
        let lost = index(&cairn, system, 2);
        let without_index = async |input: Value| {
            if input["share"] == 0 {
                cairn.search_engine(Method::DELETE, &format!("/{lost}"), &Value::Null).await;
            }
            call(input).await
        };
        let refused = machine.execute(json!({ "begin": true }), without_index).await.unwrap_err();
        assert!(refused.contains("was deleted: cancel the rebuild and start it again"), "{refused}");
        let cancel = Rebuild { goal: Goal::Cancel, ..Rebuild::WITHOUT_WAIT };
        (served.rebuild)(Arc::clone(cairn.engines()), cancel, Box::new(|_| ())).await.unwrap();

        let output = machine.execute(json!({ "begin": true }), call).await.unwrap();
        assert_eq!((&output["next"], &output["serves"]), (&json!("done"), &json!(false)));
        let state = ::mirror::generations(served.system, cairn.engines()).await.unwrap().unwrap();
        assert_eq!(state.written.iter().map(|one| one.phase).collect::<Vec<_>>(), [Phase::Serving, Phase::Audited]);
        // Only an operator moves searches.
        assert_eq!(behind(&cairn, system).await, [(index(&cairn, system, 1), visible())]);
    }
}

async fn alias_leaves_the_index_of_an_earlier_deployment() {
    let cairn = Cairn::with_strathcona().await;
    campground(&cairn).await;
    // An item with a lost shape can still be found.
    std::fs::remove_dir_all(cairn.bucket("parks").join("geometries")).unwrap();
    forget_state(&cairn, "parks").await;
    let cloud_formation = CloudFormation::start().await;
    let second = index(&cairn, "parks", 2);
    let answer = cloud_formation.asks(&cairn, "parks", "Create").await;
    assert_eq!(answer, success(&json!({ "Index": second })));
    assert_eq!(behind(&cairn, "parks").await, [(second.clone(), visible())]);
    cairn.visitor().search("q=strathcona").await.are(&["Strathcona Park"]);
    let found = cairn.visitor().search("q=model").await;
    found.are(&["Model"]);
    assert_eq!(found[0]["boundaryStatus"], "missing");
    cairn.search_engine(Method::DELETE, &format!("/{second}"), &Value::Null).await;
}

async fn deployment_keeps_an_index_that_serves() {
    let cairn = Cairn::with_strathcona().await;
    cairn.caught_up().await;
    let index = index(&cairn, "parks", 1);
    let cloud_formation = CloudFormation::start().await;
    for kind in ["Create", "Update", "Delete"] {
        let answer = cloud_formation.asks(&cairn, "parks", kind).await;
        let data = if kind == "Delete" { json!({}) } else { json!({ "Index": index }) };
        assert_eq!(answer, success(&data), "{kind}");
        cairn.visitor().search("q=strathcona").await.are(&["Strathcona Park"]);
    }
    let answer = cairn.event("parks", CREATE_INDEX, &json!({ "RequestType": "Rename" })).await;
    assert_eq!(answer.unwrap_err(), "`RequestType` must be Create, Update or Delete, not `Rename`");
    // An operator calls the function, so that there is no URL for a response.
    let answer = cairn.event("parks", CREATE_INDEX, &json!({ "RequestType": "Create" })).await.unwrap();
    assert_eq!((&answer["Status"], &answer["Data"]), (&json!("SUCCESS"), &json!({ "Index": index })));
}

/// The event has less time than a deployment waits for progress.
async fn deployment_after_a_cancelled_index_fails_at_once_and_says_what_to_do() {
    let cairn = Cairn::with_strathcona().await;
    cairn.caught_up().await;
    ::mirror::abandon_indexes(&::parks::SYSTEM, cairn.engines()).await.unwrap();
    let answer = CloudFormation::start().await.asks(&cairn, "parks", "Create").await;
    let reason = "mirror: no index is written any more: create another one with `cairn rebuild start parks`";
    assert_eq!((&answer["Status"], &answer["Reason"]), (&json!("FAILED"), &json!(reason)));
}

/// A new role takes effect after some time.
async fn deployment_waits_for_search_to_start() {
    let cairn = Cairn::with_strathcona().await;
    cairn.caught_up().await;
    let index = forget(&cairn, "parks").await;
    let (search, asked) = (cairn.engines().config.search.clone(), Arc::<AtomicUsize>::default());
    let counter = Arc::clone(&asked);
    let forbidding = Server::start(move |request: Request<Incoming>| {
        let (counter, search) = (Arc::clone(&counter), search.clone());
        async move {
            if counter.fetch_add(1, Ordering::SeqCst) == 0 {
                return Ok(Response::builder().status(403).body(Full::default()).unwrap());
            }
            let (parts, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            pass_on(format!("{search}{}", parts.uri), parts, body).await
        }
    })
    .await;
    let config = Config { search: forbidding.url.clone(), ..cairn.engines().config.clone() };
    let app = ::parks::app(cairn.engines().at(config));
    let deadline = Instant::now() + Duration::from_secs(60);
    let answer = app.event(CREATE_INDEX, r#"{"RequestType": "Create"}"#.into(), deadline).await.unwrap();
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!((&answer["Status"], &answer["Data"]), (&json!("SUCCESS"), &json!({ "Index": index })));
    assert!(asked.load(Ordering::SeqCst) > 1);
    cairn.visitor().search("q=strathcona").await.are(&["Strathcona Park"]);
}
