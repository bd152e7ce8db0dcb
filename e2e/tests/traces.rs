//! Traces: the trace id of a request is in its log line and in each of its requests to engines.

use http::HeaderMap;
use serde_json::json;
use table::{Trace, trace};

use crate::harness::lines::OF_THE_RUN;
use crate::harness::relay::{Relay, Seen};
use crate::harness::{Answer, Cairn, Front, Setup, User, engines};
use crate::parks::shapes::ellipse;
use crate::tests;

tests! { traces:
    trace_id_of_a_request_reaches_engines_and_log,
    request_without_a_trace_gets_one,
    concurrent_requests_keep_their_own_traces,
    each_event_batch_has_a_trace,
}

const ZONE: &str = "/parks/geozones/bcparks_1/1";
const BOUNDARY: &str = "/parks/geozones/bcparks_1/1/geometry/boundary";
const SEARCH: &str = "/parks/search?q=lakes";

/// Starts parks with a relay in front of each engine.
struct Relayed {
    front: Front,
    dynamodb: Relay,
    s3: Relay,
    search: Relay,
    administrator: User,
}

impl Relayed {
    /// Creates a geozone, "Lakes".
    async fn start() -> Self {
        let cairn = Cairn::with_strathcona().await;
        let zone = json!({ "displayName": "Lakes", "location": [-125.5, 49.5], "isVisible": true });
        cairn.administrator().await.post("/parks/geozones/bcparks_1", zone).await.is(201);
        cairn.caught_up().await;
        let mut config = cairn.engines().config.clone();
        let dynamodb = Relay::before(config.dynamodb.take().unwrap()).await;
        let s3 = Relay::before(config.s3.take().unwrap()).await;
        let search = Relay::before(config.search.clone()).await;
        config.dynamodb = Some(dynamodb.url.clone());
        config.s3 = Some(s3.url.clone());
        config.search = search.url.clone();
        let token = cairn.token("ada", &["parks-admin"]).await;
        let front = Front::of(cairn, config).await;
        let administrator = front.user("administrator", &token);
        Self { front, dynamodb, s3, search, administrator }
    }

    fn new_trace(&self) -> String {
        Trace::new(&self.front.cairn.clock).as_str().to_owned()
    }
}

/// Returns the trace id, which all requests of one operation share.
fn trace_of(headers: &HeaderMap) -> String {
    let values: Vec<&str> = headers.get_all(trace::HEADER).iter().map(|value| value.to_str().unwrap()).collect();
    assert_eq!(values.len(), 1, "{headers:?}");
    values[0].to_owned()
}

#[track_caller]
fn all_have(seen: &[Seen], trace: &str) {
    assert!(!seen.is_empty(), "nothing was asked of this engine");
    for seen in seen {
        assert_eq!(trace_of(&seen.headers), trace, "{}", seen.request);
    }
}

fn logged(answer: &Answer) -> String {
    OF_THE_RUN.of(answer.header("apigw-requestid")).trace
}

async fn trace_id_of_a_request_reaches_engines_and_log() {
    let relayed = Relayed::start().await;
    let admin = &relayed.administrator;
    let traces = ["", ";Parent=463ac35c9f6413ad;Sampled=1", ";CalledFrom=test"]
        .map(|more| format!("{}{more}", relayed.new_trace()));
    let [reading, attaching, searching] = &traces;

    let read = admin.get(ZONE).header("X-Amzn-Trace-Id", reading.as_str()).await.is(200);
    all_have(&relayed.dynamodb.seen(), reading);
    assert_eq!(logged(&read), *reading);

    let shape = format!(r#"{{"type":"Polygon","coordinates":[{}]}}"#, ellipse([-125.5, 49.6], [0.4, 0.25], 2000, 7));
    let call = admin.put(BOUNDARY, serde_json::from_str(&shape).unwrap());
    let attached = call.header("x-amzn-trace-id", attaching.as_str()).await.is(200);
    let stored = relayed.s3.seen();
    assert!(stored.iter().any(|seen| seen.request.starts_with("PUT ")), "{stored:?}");
    all_have(&stored, attaching);
    all_have(&relayed.dynamodb.seen(), attaching);
    assert_eq!(logged(&attached), *attaching);

    let found = admin.get(SEARCH).header("x-amzn-trace-id", searching.as_str()).await.is(200);
    all_have(&relayed.search.seen(), searching);
    assert_eq!(logged(&found), *searching);
}

async fn request_without_a_trace_gets_one() {
    let relayed = Relayed::start().await;
    let mut before = None;
    for sent in [None, Some("nonsense"), Some("Root=1-1-1"), Some("Root=1-67891233-abcdef012345678912345678;é")] {
        let call = relayed.administrator.get(ZONE);
        let call = sent.into_iter().fold(call, |call, sent| call.header("x-amzn-trace-id", sent));
        let trace = logged(&call.await.is(200));
        assert!(trace.len() == 40 && Trace::read(&trace).is_some(), "{trace}");
        all_have(&relayed.dynamodb.seen(), &trace);
        assert_ne!(before.replace(trace.clone()), Some(trace));
    }
}

async fn concurrent_requests_keep_their_own_traces() {
    let relayed = Relayed::start().await;
    let calls = (0..40).map(|number| {
        let trace = relayed.new_trace();
        let admin = &relayed.administrator;
        async move {
            let call = if number % 2 == 0 { admin.get(ZONE) } else { admin.get(SEARCH) };
            let answer = call.header("x-amzn-trace-id", trace.as_str()).await.is(200);
            assert_eq!(logged(&answer), trace);
            trace
        }
    });
    let mut sent = futures::future::join_all(calls).await;
    let seen = relayed.dynamodb.seen().into_iter().chain(relayed.search.seen());
    let mut seen: Vec<String> = seen.map(|seen| trace_of(&seen.headers)).collect();
    seen.sort();
    seen.dedup();
    sent.sort();
    assert_eq!(seen, sent);
}

async fn each_event_batch_has_a_trace() {
    let relay = Relay::before(engines::search().await).await;
    let cairn = Cairn::with(Setup { search: Some(relay.url.clone()), ..Setup::default() }).await;
    let mut traces = Vec::new();
    for collection in ["bcparks_1", "bcparks_2"] {
        relay.seen();
        cairn.collection(collection, "Strathcona Park").await;
        cairn.caught_up().await;
        let bulk = relay.seen().into_iter().find(|seen| seen.request.contains("/_bulk")).unwrap();
        let trace = trace_of(&bulk.headers);
        assert_eq!(OF_THE_RUN.of(&trace).operation, "mirror");
        traces.push(trace);
    }
    assert_ne!(traces[0], traces[1]);
}
