//! The program of a system as Lambda runs it: before its first event, with an event, and with an unknown handler.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use ::mirror::CREATE_INDEX;
use serde_json::{Value, json};
use table::{Trace, trace};

use crate::deployments::CloudFormation;
use crate::harness::relay::{Relay, Seen};
use crate::harness::runtime_api::Function;
use crate::harness::{Cairn, engines};
use crate::tests;

tests! { functions:
    function_connects_to_its_engines_before_its_first_event,
    the_first_event_takes_the_connections_that_are_there,
    function_of_a_whole_system_opens_no_connection_at_start,
    unreachable_engine_at_start_does_not_block_events,
    each_invocation_has_its_trace,
    each_request_to_search_is_signed_as_the_role,
    function_with_unknown_handler_fails_to_start,
    function_with_invalid_environment_fails_each_event_with_the_reason,
}

fn request(path: &str) -> Value {
    json!({
        "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": "",
        "headers": { "accept": "*/*" },
        "requestContext": {
            "http": { "method": "GET", "path": path }, "requestId": "id-1", "stage": "$default",
        },
        "isBase64Encoded": false,
    })
}

/// The session token of a function's role.
const SESSION: &str = "session-of-the-role";

/// The engines of a platform, each behind a relay.
struct Relayed {
    cairn: Cairn,
    dynamodb: Relay,
    s3: Relay,
    search: Relay,
    /// The configured URL of the issuer's keys.
    issuer: Relay,
}

impl Relayed {
    async fn open() -> Self {
        let cairn = Cairn::with_strathcona().await;
        cairn.caught_up().await;
        let config = &cairn.engines().config;
        let dynamodb = Relay::before(config.dynamodb.clone().unwrap()).await;
        let s3 = Relay::before(config.s3.clone().unwrap()).await;
        let search = Relay::before(config.search.clone()).await;
        let issuer = Relay::before(config.search.clone()).await;
        Self { cairn, dynamodb, s3, search, issuer }
    }

    async fn function(&self, handler: &str) -> Function {
        self.start(handler, ["CAIRN_DYNAMODB_ENDPOINT", "CAIRN_S3_ENDPOINT"]).await
    }

    /// Returns the environment of a function on AWS, with the role's session.
    async fn function_with_role(&self, handler: &str) -> Function {
        self.start(handler, ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"]).await
    }

    async fn start(&self, handler: &str, [dynamodb, s3]: [&str; 2]) -> Function {
        let jwks = format!("{}/jwks", self.issuer.url);
        let issuers = json!([{ "name": "a", "issuer": "https://a.test", "audience": "x", "jwks": jwks }]).to_string();
        let environment = [
            ("AWS_REGION", "local"),
            ("AWS_ACCESS_KEY_ID", local::platform::CREDENTIALS.0),
            ("AWS_SECRET_ACCESS_KEY", local::platform::CREDENTIALS.1),
            ("AWS_SESSION_TOKEN", SESSION),
            ("CAIRN_PREFIX", &self.cairn.engines().config.prefix),
            (dynamodb, &self.dynamodb.url),
            (s3, &self.s3.url),
            ("CAIRN_SEARCH_ENDPOINT", &self.search.url),
            ("CAIRN_CURSOR_SECRETS", "secret"),
            ("CAIRN_ISSUERS", &issuers),
        ];
        Function::start("parks", handler, &environment).await
    }

    /// Returns the requests to the engines and to the issuer since the last call.
    fn asked(&self) -> Vec<String> {
        let relays = [&self.dynamodb, &self.s3, &self.search, &self.issuer];
        relays.iter().flat_map(|relay| relay.seen()).map(|seen| seen.request).collect()
    }
}

/// Returns the remote addresses of a process's TCP and UDP sockets, from `/proc`.
fn sockets(process: u32) -> Vec<String> {
    let folder = Path::new("/proc").join(process.to_string());
    let open = std::fs::read_dir(folder.join("fd")).unwrap();
    let open = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    let open = open.filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()));
    let open: BTreeSet<String> = open.collect();
    let mut remote = Vec::new();
    for family in ["tcp", "tcp6", "udp", "udp6"] {
        let table = std::fs::read_to_string(folder.join("net").join(family)).unwrap_or_default();
        for row in table.lines().skip(1) {
            let columns: Vec<&str> = row.split_whitespace().collect();
            if open.contains(columns[9]) {
                let (_, port) = columns[2].rsplit_once(':').unwrap();
                remote.push(format!("{family} {}", u16::from_str_radix(port, 16).unwrap()));
            }
        }
    }
    remote
}

fn lines(output: &str) -> Vec<Value> {
    output.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"))).collect()
}

async fn function_connects_to_its_engines_before_its_first_event() {
    let relayed = Relayed::open().await;
    let bucket = format!("OPTIONS /{}/any", relayed.cairn.engines().config.bucket("parks"));
    let (dynamodb, search) = ("GET /ping", "HEAD /");
    let cases: [(&str, &[&str]); 8] = [
        ("getApiDescription", &[]),
        ("getHealth", &[dynamodb, search]),
        ("listCollections", &[dynamodb]),
        ("suggest", &[search]),
        ("search", &[dynamodb, &bucket, search]),
        ("createCollection", &[dynamodb, "GET /jwks"]),
        ("checkUpload", &[dynamodb, &bucket]),
        ("mirror", &[dynamodb, &bucket, search]),
    ];
    for (handler, expected) in cases {
        let mut function = relayed.function(handler).await;
        function.ready().await;
        let mut asked = relayed.asked();
        asked.sort();
        let mut expected: Vec<String> = expected.iter().map(|request| (*request).to_owned()).collect();
        expected.sort();
        assert_eq!(asked, expected, "{handler}");
    }
}

async fn the_first_event_takes_the_connections_that_are_there() {
    let relayed = Relayed::open().await;
    for (handler, path, engines) in [("listCollections", "/parks/collections", 1), ("search", "/parks/search", 3)] {
        let mut function = relayed.function(handler).await;
        function.ready().await;
        relayed.asked();
        let own = format!("tcp {}", function.runtime_api.address.port());
        let of_engines = |process| sockets(process).into_iter().filter(|socket| *socket != own).collect::<Vec<_>>();
        let before = of_engines(function.id());
        let answer = function.invoke(request(path), "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700").await;
        assert_eq!(answer["statusCode"], 200, "{answer}");
        assert!(!relayed.asked().is_empty(), "{handler}");
        if cfg!(target_os = "linux") {
            assert_eq!(before.len(), engines, "{handler}: {before:?}");
            assert_eq!(of_engines(function.id()), before, "{handler}: another connection was opened");
        }
    }
}

/// Starts a function as `cargo lambda watch` does, which may receive requests of any route.
async fn function_of_a_whole_system_opens_no_connection_at_start() {
    let relayed = Relayed::open().await;
    let mut function = relayed.function("bootstrap").await;
    function.ready().await;
    let port = function.runtime_api.address.port();
    if cfg!(target_os = "linux") {
        assert_eq!(sockets(function.id()), [format!("tcp {port}")], "only its invocations are asked for");
    }
    assert_eq!(relayed.asked(), Vec::<String>::new());
    let answer = function.invoke(request("/parks/search"), "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700").await;
    assert_eq!(answer["statusCode"], 200, "{answer}");
    assert!(!relayed.asked().is_empty());
}

async fn unreachable_engine_at_start_does_not_block_events() {
    // The server accepts connections and does not respond.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}", listener.local_addr().unwrap());
    for dead in [silent.as_str(), "http://127.0.0.1:1"] {
        let issuers = json!([{ "name": "a", "issuer": "https://a.test", "audience": "x", "jwks": dead }]).to_string();
        let environment = [
            ("AWS_REGION", "local"),
            ("CAIRN_DYNAMODB_ENDPOINT", dead),
            ("CAIRN_S3_ENDPOINT", dead),
            ("CAIRN_SEARCH_ENDPOINT", dead),
            ("CAIRN_CURSOR_SECRETS", "secret"),
            ("CAIRN_ISSUERS", &issuers),
        ];
        let mut function = Function::start("parks", "listJobs", &environment).await;
        let begun = Instant::now();
        function.ready().await;
        // Lambda ends a start that takes longer.
        assert!(begun.elapsed() < Duration::from_secs(10), "{dead}: {:?}", begun.elapsed());
        let answer = function.invoke(request("/parks/jobs"), "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700").await;
        assert_eq!(answer["statusCode"], 401, "{dead}: {answer}");
    }
}

async fn each_invocation_has_its_trace() {
    let relayed = Relayed::open().await;
    let mut function = relayed.function("bootstrap").await;
    let traces = [(); 3].map(|()| format!("{};Sampled=1", Trace::new(&relayed.cairn.clock).as_str()));
    let paths = ["/parks/collections", "/parks/search", "/parks/collections"];
    for (path, given) in paths.into_iter().zip(&traces) {
        let answer = function.invoke(request(path), given).await;
        assert_eq!(answer["statusCode"], 200, "{answer}");
        let seen = [relayed.dynamodb.seen(), relayed.search.seen()].concat();
        assert!(!seen.is_empty(), "{path} asked no engine");
        for seen in seen {
            // The client of AWS reads the region from the process's environment, and must not set it again.
            let told: Vec<&str> =
                seen.headers.get_all(trace::HEADER).iter().map(|told| told.to_str().unwrap()).collect();
            assert_eq!(told, [given], "{}", seen.request);
        }
    }
    let (said, complained) = function.end().await;
    let lines = lines(&said);
    let logged: Vec<&Value> =
        lines.iter().filter(|line| line["message"] == "request").map(|line| &line["trace.id"]).collect();
    assert_eq!(logged, traces.iter().collect::<Vec<_>>());
    let metrics = lines.iter().filter(|line| line["_aws"].is_object()).count();
    assert_eq!((metrics, complained.as_str()), (3, ""));
}

/// The local OpenSearch also accepts unsigned requests. A domain answers them 403.
async fn each_request_to_search_is_signed_as_the_role() {
    let relayed = Relayed::open().await;
    let table = format!(":table/{}/", relayed.cairn.engines().config.table("parks"));
    let records = include_str!("../../events/parks/mirror.json").replace(":table/parks/", &table);
    let records = serde_json::from_str(&records).unwrap();
    for (handler, event, asked) in [("search", request("/parks/search"), "/_search?"), ("mirror", records, "/_bulk?")] {
        let mut function = relayed.function_with_role(handler).await;
        function.ready().await;
        let answer = function.invoke(event, "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700").await;
        let seen = relayed.search.seen();
        assert!(seen.iter().any(|seen| seen.request.contains(asked)), "{handler}: {answer}: {seen:?}");
        for Seen { request, headers } in seen {
            let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
            let credential = format!("AWS4-HMAC-SHA256 Credential={}/", local::platform::CREDENTIALS.0);
            let signature = header("authorization");
            assert!(
                signature.starts_with(&credential) && signature.contains("/local/es/aws4_request"),
                "{request}: {signature}"
            );
            assert!(
                signature.contains("x-amz-security-token") && signature.contains("Signature="),
                "{request}: {signature}"
            );
            assert_eq!(header("x-amz-security-token"), SESSION, "{request}");
        }
    }
}

async fn function_with_unknown_handler_fails_to_start() {
    let environment = [
        ("AWS_REGION", "local"),
        ("CAIRN_DYNAMODB_ENDPOINT", "http://127.0.0.1:1"),
        ("CAIRN_SEARCH_ENDPOINT", "http://127.0.0.1:1"),
        ("CAIRN_CURSOR_SECRETS", "secret"),
    ];
    let (well, (said, complained)) = Function::start("parks", "getGeozones", &environment).await.ended().await;
    assert!(!well, "it starts");
    let told = lines(&said);
    let told: Vec<&str> = told.iter().filter_map(|line| line["error"].as_str()).collect();
    assert!(
        told.len() == 1 && told[0].contains("the system `parks` has no handler `getGeozones`; it has "),
        "{told:?}"
    );
    assert_eq!(complained, "");
}

/// CloudFormation would wait for an hour for the response of a function that exits.
async fn function_with_invalid_environment_fails_each_event_with_the_reason() {
    let search = engines::search().await;
    let environment = [
        ("AWS_REGION", "local"),
        ("CAIRN_DYNAMODB_ENDPOINT", "http://127.0.0.1:1"),
        ("CAIRN_SEARCH_ENDPOINT", search.as_str()),
        ("CAIRN_CURSOR_SECRETS", "secret"),
    ];
    let wrong_issuer = [("CAIRN_ISSUERS", r#"[{"name":"a","issuer":"https://a.test","audience":"x"}]"#)];
    let cases = [
        (environment[..3].to_vec(), "CAIRN_CURSOR_SECRETS is not set"),
        ([&environment[..], &wrong_issuer].concat(), "issuer `a` needs `keys`, a JWK set, or `jwks`"),
    ];
    for (environment, expected) in cases {
        let mut function = Function::start("parks", "getGeozone", &environment).await;
        let failed = function.invoke(request("/parks/geozones"), "").await;
        assert!(failed["errorMessage"].as_str().unwrap().contains(expected), "{failed}");
        let (said, complained) = function.end().await;
        let told = lines(&said);
        let told: Vec<&str> = told.iter().filter_map(|line| line["error"].as_str()).collect();
        assert!(told.len() == 1 && told[0].contains(expected), "{told:?}");
        assert_eq!(complained, "");

        let cloudformation = CloudFormation::start().await;
        for (kind, status) in [("Create", "FAILED"), ("Update", "FAILED"), ("Delete", "SUCCESS")] {
            let mut function = Function::start("parks", CREATE_INDEX, &environment).await;
            let answer = function.invoke(cloudformation.request(kind), "").await;
            assert_eq!(cloudformation.told(), std::slice::from_ref(&answer));
            assert_eq!(answer["Status"], status, "{answer}");
            assert_eq!(answer["Reason"].as_str().unwrap().contains(expected), status == "FAILED", "{answer}");
        }
    }
}
