//! Log lines and metrics lines: one of each per request and event, with fixed names and without secrets.

use std::io::{Result, Write};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use crate::zoo::Zoo;
use bytes::Bytes;
use http::Request;
use serde_json::{Value, json};
use table::{Config, Trace};
use tokio::time::Instant;
use web::RequestId;

/// The log of this process. Tests run concurrently, so each looks for its own lines.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

static LOG: LazyLock<Log> = LazyLock::new(|| {
    let log = Log::default();
    let writer = log.clone();
    let lines = tracing_subscriber::fmt().json().flatten_event(true).with_writer(move || writer.clone());
    lines.init();
    log
});

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Log {
    /// Returns the lines whose field has this value.
    fn lines(&self, field: &str, value: &str) -> Vec<Value> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line[field] == value).collect()
    }
}

fn metric_names(line: &Value) -> Vec<&str> {
    let metrics = line["_aws"]["CloudWatchMetrics"][0]["Metrics"].as_array().unwrap();
    metrics.iter().map(|metric| metric["Name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn request_writes_one_log_line_and_one_metrics_line() {
    let log = LazyLock::force(&LOG);
    let zoo = Zoo::open();
    let token = zoo.keeper();
    let request = Request::get("/zoo/animals/aviary?limit=1").header("authorization", format!("Bearer {token}"));
    zoo.send(request.extension(RequestId("id-of-one".into())).body(Bytes::new()).unwrap()).await;

    let [line] = <[Value; 1]>::try_from(log.lines("request.id", "id-of-one")).unwrap();
    let expected = json!({
        "level": "INFO", "message": "request", "system": "zoo", "operation": "listAnimals", "request.id": "id-of-one",
        "http.method": "GET", "http.route": "/zoo/animals/{enclosure}", "http.status": 200, "consumed.read": 1.5,
        "consumed.write": 0.0, "consumed.patterns": "listAnimals 1.5 R", "principal.hash": "79d137e4ccecc3ea", "problem.slug": "", "problem.cause": "",
        "target": "web::log",
    });
    let mut fields = line.as_object().unwrap().clone();
    assert!(fields.remove("latency.ms").unwrap().as_f64().unwrap() > 0.0);
    assert!(fields.remove("timestamp").is_some());
    assert!(Trace::read(fields.remove("trace.id").unwrap().as_str().unwrap()).is_some());
    assert_eq!(Value::Object(fields), expected);
    assert!(!line.to_string().contains(&token) && !line.to_string().contains("user#1"));

    let [line] = <[Value; 1]>::try_from(zoo.metrics()).unwrap();
    assert_eq!(metric_names(&line), ["Latency", "ReadUnits", "WriteUnits", "ClientErrors", "ServerErrors"]);
    let values = ["System", "Status", "ReadUnits", "ClientErrors"].map(|name| &line[name]);
    assert_eq!(values, [&json!("zoo"), &json!(200), &json!(1.5), &json!(0)]);
    let directive = &line["_aws"]["CloudWatchMetrics"][0];
    assert_eq!((&directive["Namespace"], &directive["Dimensions"]), (&json!("Cairn"), &json!([["System"]])));
    assert_eq!(line["Operation"], "listAnimals", "a property, to search for");
}

#[tokio::test]
async fn route_metrics_add_the_operation_dimension() {
    let zoo = Zoo::with(|config| Config { route_metrics: true, ..config });
    zoo.send(Request::get("/zoo/animals/aviary?limit=1").body(Bytes::new()).unwrap()).await;
    let [line] = <[Value; 1]>::try_from(zoo.metrics()).unwrap();
    assert_eq!(line["_aws"]["CloudWatchMetrics"][0]["Dimensions"], json!([["System", "Operation"]]));
}

#[tokio::test]
async fn cause_of_a_failure_is_logged_and_not_sent() {
    let log = LazyLock::force(&LOG);
    let zoo = Zoo::open();
    let request = Request::get("/zoo/animals/aviary/500").extension(RequestId("id-of-panic".into()));
    let response = zoo.send(request.body(Bytes::new()).unwrap()).await;
    let [line] = <[Value; 1]>::try_from(log.lines("request.id", "id-of-panic")).unwrap();
    assert_eq!((&line["problem.slug"], &line["problem.cause"]), (&json!("internal"), &json!("the handler panicked")));
    assert!(!String::from_utf8_lossy(response.body()).contains("panicked"));
}

#[tokio::test]
async fn long_cause_is_truncated_in_the_log() {
    let log = LazyLock::force(&LOG);
    let request = Request::get("/zoo/animals/aviary/501").extension(RequestId("id-of-long".into()));
    Zoo::open().send(request.body(Bytes::new()).unwrap()).await;
    let [line] = <[Value; 1]>::try_from(log.lines("request.id", "id-of-long")).unwrap();
    assert_eq!(line["problem.cause"], "é".repeat(2048));
    assert!(line.to_string().len() < 5000);
}

#[tokio::test]
async fn batch_writes_one_log_line_and_one_metrics_line() {
    let log = LazyLock::force(&LOG);
    let zoo = Zoo::open();
    let soon = Instant::now() + Duration::from_secs(10);
    let trace = Trace::new(&zoo.clock);
    trace.clone().scope(zoo.app.event("mirror", Bytes::from_static(b"{}"), soon)).await.unwrap();
    let [line] = <[Value; 1]>::try_from(log.lines("trace.id", trace.as_str())).unwrap();
    let fields = ["message", "operation", "batch.records", "batch.retried", "failure"].map(|name| &line[name]);
    assert_eq!(fields, [&json!("event"), &json!("mirror"), &json!(3), &json!(1), &json!("")]);

    let [line] = <[Value; 1]>::try_from(zoo.metrics()).unwrap();
    let expected = [
        "Latency",
        "ReadUnits",
        "WriteUnits",
        "Failures",
        "Records",
        "Applied",
        "Superseded",
        "Stamped",
        "Ignored",
        "Quarantined",
        "Retried",
        "ShapesDegraded",
        "ShapesMissing",
        "Bytes",
        "Lag",
    ];
    assert_eq!(metric_names(&line), expected);
    assert_eq!((&line["Records"], &line["Applied"], &line["Retried"]), (&json!(3), &json!(2), &json!(1)));
    assert_eq!(line["_aws"]["CloudWatchMetrics"][0]["Dimensions"], json!([["System", "Operation"]]));
}

#[tokio::test]
async fn idle_event_writes_no_line_unless_it_fails() {
    let log = LazyLock::force(&LOG);
    let zoo = Zoo::open();
    let soon = Instant::now() + Duration::from_secs(10);
    let trace = Trace::new(&zoo.clock);
    let idle = zoo.app.event("runJobs", Bytes::from_static(b"{}"), soon);
    trace.clone().scope(idle).await.unwrap();
    let levels: Vec<Value> = log.lines("trace.id", trace.as_str()).iter().map(|line| line["level"].clone()).collect();
    assert!(!levels.contains(&json!("INFO")), "{levels:?}");
    assert_eq!(zoo.metrics(), Vec::<Value>::new());
    zoo.app.event("runJobs", Bytes::from_static(b"[]"), soon).await.unwrap_err();
    let [line] = <[Value; 1]>::try_from(zoo.metrics()).unwrap();
    assert_eq!((&line["Operation"], &line["Failures"]), (&json!("runJobs"), &json!(1)));
}

#[tokio::test(start_paused = true)]
async fn failed_or_panicked_event_is_reported_to_its_source() {
    let log = LazyLock::force(&LOG);
    let zoo = Zoo::open();
    let soon = Instant::now() + Duration::from_secs(10);
    let failed = async |handler: &str, payload: &'static [u8]| {
        // Other tests write lines of the same handlers into the same log.
        let trace = Trace::new(&zoo.clock);
        let event = zoo.app.event(handler, Bytes::from_static(payload), soon);
        let failure = trace.clone().scope(event).await.unwrap_err();
        let mut lines = log.lines("trace.id", trace.as_str());
        lines.retain(|line| line["operation"] == handler);
        (failure.to_string(), lines.into_iter().map(|line| line["failure"].clone()).collect::<Vec<_>>())
    };
    for (handler, payload, expected) in
        [("runJobs", b"[]".as_slice(), "the work is not done"), ("checkPhoto", b"", "the handler panicked")]
    {
        assert_eq!(failed(handler, payload).await, (expected.to_owned(), vec![json!(expected)]));
    }
    let expected = "the system `zoo` has no event handler `nothing`".to_owned();
    assert_eq!(failed("nothing", b"").await, (expected, Vec::new()));
}
