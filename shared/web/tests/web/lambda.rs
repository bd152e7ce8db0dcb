//! A function on Lambda: a process that gets invocations from a Runtime API. Here the Runtime API is a small server, and
//! the process is this test binary.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// The trace of every invocation.
const TRACE: &str = "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Parent=9a9197af755a6419;Sampled=1";

/// The result of an invocation: `response` or `error`, and the body.
type Outcome = (String, Value);

struct RuntimeApi {
    outcomes: mpsc::UnboundedReceiver<Outcome>,
    function: Child,
}

impl RuntimeApi {
    /// Starts the function with this handler and sends it these payloads in turn.
    async fn invoke(handler: &str, payloads: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (sender, outcomes) = mpsc::unbounded_channel();
        let waiting = Arc::new(Mutex::new(VecDeque::from(payloads)));
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (waiting, sender) = (Arc::clone(&waiting), sender.clone());
                let service = service_fn(move |request| respond(request, Arc::clone(&waiting), sender.clone()));
                let connection =
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                tokio::spawn(connection);
            }
        });
        Self { outcomes, function: start(handler, Some(&address)) }
    }

    async fn outcome(&mut self) -> Outcome {
        tokio::time::timeout(Duration::from_secs(30), self.outcomes.recv())
            .await
            .expect("no response of the function")
            .unwrap()
    }
}

impl RuntimeApi {
    /// Ends the function and returns its log lines.
    fn log_lines(mut self) -> Vec<Value> {
        self.function.kill().unwrap();
        let mut output = String::new();
        self.function.stdout.take().unwrap().read_to_string(&mut output).unwrap();
        // The test harness writes to the same output.
        output.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        let _ = self.function.kill();
        let _ = self.function.wait();
    }
}

async fn respond(
    request: Request<Incoming>,
    waiting: Arc<Mutex<VecDeque<Value>>>,
    sender: mpsc::UnboundedSender<Outcome>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    if path.ends_with("/invocation/next") {
        let next = waiting.lock().unwrap().pop_front();
        let Some(payload) = next else { return std::future::pending().await };
        let deadline = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() + 10_000;
        let response = Response::builder()
            .header("lambda-runtime-aws-request-id", "8476a536-e9f4-11e8-9739-2dfe598c3fcd")
            .header("lambda-runtime-deadline-ms", deadline.to_string())
            .header("lambda-runtime-trace-id", TRACE)
            .header("lambda-runtime-invoked-function-arn", "arn:aws:lambda:ca-central-1:1:function:zoo");
        return Ok(response.body(Full::new(Bytes::from(payload.to_string()))).unwrap());
    }
    let verb = path.rsplit('/').next().unwrap().to_owned();
    sender.send((verb, serde_json::from_slice(&body).unwrap())).unwrap();
    Ok(Response::builder().status(StatusCode::ACCEPTED).body(Full::default()).unwrap())
}

/// Starts this test binary as a function.
fn start(handler: &str, runtime_api: Option<&str>) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "lambda::function_process", "--nocapture"])
        .env("ZOO_FUNCTION", "yes")
        .env("_HANDLER", handler);
    match runtime_api {
        Some(address) => command.env("AWS_LAMBDA_RUNTIME_API", address),
        None => command.env_remove("AWS_LAMBDA_RUNTIME_API"),
    };
    command
        .env("AWS_LAMBDA_FUNCTION_NAME", "zoo")
        .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256")
        .env("AWS_LAMBDA_FUNCTION_VERSION", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The function that the other tests start. Without their environment it does nothing.
#[tokio::test]
async fn function_process() {
    if std::env::var_os("ZOO_FUNCTION").is_some() {
        let ended = web::lambda::run(crate::zoo::Zoo::open().app).await;
        println!("ended: {}", ended.unwrap_err());
        std::process::exit(1);
    }
}

fn get(path: &str) -> Value {
    json!({
        "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": "",
        "headers": { "accept": "*/*", "if-none-match": "\"6\"" },
        "requestContext": {
            "http": { "method": "GET", "path": path }, "requestId": "id-1", "stage": "$default",
        },
        "isBase64Encoded": false,
    })
}

#[tokio::test]
async fn function_of_a_route_serves_only_that_route() {
    let payloads = vec![get("/zoo/animals/aviary/1"), get("/zoo/animals/aviary/404"), get("/zoo/animals/aviary")];
    let mut api = RuntimeApi::invoke("getAnimal", payloads).await;

    let (verb, answer) = api.outcome().await;
    assert_eq!((verb.as_str(), &answer["statusCode"]), ("response", &json!(200)), "{answer}");
    assert_eq!(answer["body"], r#"{"number":1,"name":"Polly"}"#);
    assert_eq!(answer["headers"]["etag"], "\"8\"");
    assert_eq!(answer["headers"]["content-type"], "application/json");
    assert_eq!(answer["isBase64Encoded"], false);

    let (_, answer) = api.outcome().await;
    let problem: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
    assert_eq!((&problem["status"], &problem["instance"]), (&json!(404), &json!("id-1")));

    let (_, answer) = api.outcome().await;
    assert_eq!((&answer["statusCode"], &answer["body"]), (&json!(404), &json!(r#"{"message":"Not Found"}"#)));
}

#[tokio::test]
async fn function_of_an_event_handler_gets_the_unchanged_payload() {
    let payload = json!({ "Records": [{ "eventSource": "aws:dynamodb", "price": 1.50 }] });
    let mut api = RuntimeApi::invoke("mirror", vec![payload.clone()]).await;
    assert_eq!(api.outcome().await, ("response".into(), payload));
}

#[tokio::test]
async fn log_lines_have_the_trace_id_and_the_position_of_a_panic() {
    let mut api = RuntimeApi::invoke("getAnimal", vec![get("/zoo/animals/aviary/500")]).await;
    assert_eq!(api.outcome().await.1["statusCode"], 500);
    let lines = api.log_lines();
    let request = lines.iter().find(|line| line["message"] == "request").unwrap();
    assert_eq!((&request["trace.id"], &request["http.status"]), (&json!(TRACE), &json!(500)));
    let panic = lines.iter().find(|line| line["message"] == "panic").unwrap();
    assert_eq!((&panic["level"], &panic["panic.message"]), (&json!("ERROR"), &json!("secret of aviary")));
    assert!(panic["panic.place"].as_str().unwrap().contains("zoo.rs:"), "{panic}");
}

#[tokio::test]
async fn function_named_bootstrap_serves_the_whole_system() {
    let stream = json!({ "Records": [{ "eventSource": "aws:dynamodb" }] });
    let object = json!({ "Records": [{
        "eventSource": "aws:s3", "s3": { "bucket": { "name": "zoo" }, "object": { "key": "photos/1" } },
    }] });
    let schedule = json!({ "source": "aws.events", "resources": [] });
    let mut old = get("/zoo/health");
    old["version"] = json!("1.0");
    let queue = json!({ "Records": [{ "eventSource": "aws:sqs" }] });
    let deployment = json!({ "RequestType": "Create", "ResourceProperties": { "Gates": "7" } });
    let payloads = vec![get("/zoo/health"), stream.clone(), deployment, object, schedule, old, queue];
    let mut api = RuntimeApi::invoke("bootstrap", payloads).await;

    assert_eq!(api.outcome().await.1["body"], r#"{"status":"ok"}"#);
    assert_eq!(api.outcome().await, ("response".into(), stream));
    assert_eq!(api.outcome().await.1["Data"], json!({ "Open": "7" }));
    let failures: [(&str, &str); 4] = [
        ("EventFailure", "the handler panicked"),
        ("EventFailure", "the work is not done"),
        (
            "NotPayload2",
            "the payload is not an HTTP request in API Gateway's payload format 2.0: its `version` is not \"2.0\"",
        ),
        ("UnknownEvent", "the event is of no source that the system declares"),
    ];
    for (kind, message) in failures {
        assert_eq!(api.outcome().await, ("error".into(), json!({ "errorType": kind, "errorMessage": message })));
    }
}

#[tokio::test]
async fn function_with_unknown_handler_or_without_runtime_api_does_not_start() {
    let ended = start("getAnimals", Some("127.0.0.1:1")).wait_with_output().unwrap();
    let output = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(!ended.status.success());
    assert!(
        output.contains("the system `zoo` has no handler `getAnimals`; it has listAnimals, createAnimal"),
        "{output}"
    );

    let ended = start("getAnimal", None).wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&ended.stdout).contains("AWS_LAMBDA_RUNTIME_API"));
}
