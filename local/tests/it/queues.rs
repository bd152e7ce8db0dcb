//! The local SQS: the SDK's requests, and messages that are delivered to a handler.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_sqs::error::ProvideErrorMetadata;
use aws_sdk_sqs::types::QueueAttributeName;
use bytes::Bytes;
use local::engine::queues::Queues;
use local::engine::queues::messages::{Count, DeadLetters, RETENTION, Settings};
use local::source::Function;
use local::source::queue::{self, Queue};
use serde_json::Value;
use table::schema::MAX_RECEIVES;
use table::{Clock, Config, Engines};
use tokio::sync::watch;
use tokio::task::JoinHandle;

const HIDDEN: Duration = Duration::from_secs(1800);

/// A queue with its dead letters, and engines that reach them.
struct Bench {
    queues: Queues,
    engines: Arc<Engines>,
}

impl Bench {
    async fn open(folder: &Path) -> Self {
        let clock = Clock::system();
        let queues = Queues::start(&folder.join("queues.sqlite"), clock.clone()).await.unwrap();
        let dead_letters = Some(DeadLetters { queue: "toys-dead-letters".to_owned(), max_receives: MAX_RECEIVES });
        let settings = Settings { visibility_timeout: HIDDEN, retention: RETENTION, dead_letters };
        queues.messages.create("toys", settings.clone());
        queues.messages.create("toys-dead-letters", Settings { dead_letters: None, ..settings });
        let config = Config {
            sqs: Some(queues.endpoint.clone()),
            queues: Some(queues.urls()),
            credentials: Some(("local".to_owned(), "local".to_owned())),
            ..Config::new("local", "http://127.0.0.1:1")
        };
        Self { queues, engines: Engines::new(config, clock) }
    }

    fn url(&self, queue: &str) -> String {
        self.engines.config.queue_url(queue).unwrap()
    }

    async fn send(&self, body: &str) -> String {
        let sent = self.engines.sqs().send_message().queue_url(self.url("toys")).message_body(body).send().await;
        sent.unwrap().message_id.unwrap()
    }

    async fn count(&self, queue: &str) -> Count {
        self.queues.messages.count(queue).await.unwrap()
    }

    fn deliver(&self, function: &Arc<Fragile>) -> (watch::Sender<bool>, JoinHandle<()>) {
        let (stop, stopped) = watch::channel(false);
        let (messages, function) = (Arc::clone(&self.queues.messages), Arc::clone(function));
        let queue = Queue { messages, name: "toys".to_owned(), function, handler: "build" };
        (stop, tokio::spawn(queue::run(queue, Arc::clone(&self.engines), stopped)))
    }
}

/// A function that fails on one body, and records the bodies and receive counts of all.
#[derive(Default)]
struct Fragile {
    poison: Mutex<Option<&'static str>>,
    seen: Mutex<Vec<(String, String)>>,
}

impl Fragile {
    fn seen(&self) -> Vec<(String, String)> {
        self.seen.lock().unwrap().clone()
    }
}

impl Function for Fragile {
    async fn invoke(&self, handler: &'static str, payload: Bytes, _: Duration) -> Result<Bytes, String> {
        assert_eq!(handler, "build");
        let event: Value = serde_json::from_slice(&payload).unwrap();
        let [record] = event["Records"].as_array().unwrap().as_slice() else { panic!("{event}") };
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        assert_eq!(record["eventSource"], "aws:sqs");
        assert_eq!(record["eventSourceARN"], "arn:aws:sqs:local:000000000000:toys");
        let body = text(&record["body"]);
        self.seen.lock().unwrap().push((body.clone(), text(&record["attributes"]["ApproximateReceiveCount"])));
        match *self.poison.lock().unwrap() {
            Some(poison) if poison == body => Err("broken".to_owned()),
            _ => Ok(Bytes::from_static(b"{}")),
        }
    }
}

/// Waits for a condition, with a deadline.
async fn until(condition: impl AsyncFn() -> bool) {
    let end = tokio::time::Instant::now() + Duration::from_secs(20);
    while !condition().await {
        assert!(tokio::time::Instant::now() < end, "the condition does not come true");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn invalid_number_of_messages_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::open(folder.path()).await;
    for number in [0, 11] {
        let receive = bench.engines.sqs().receive_message().queue_url(bench.url("toys"));
        let refused = receive.max_number_of_messages(number).send().await.unwrap_err();
        assert_eq!(refused.message(), Some("MaxNumberOfMessages must be from 1 to 10"), "{number}");
    }
    bench.queues.stop().await;
}

#[tokio::test]
async fn sdk_sends_receives_hides_and_deletes_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::open(folder.path()).await;
    let (sqs, url) = (bench.engines.sqs(), bench.url("toys"));
    let id = bench.send("kite").await;
    let receive = || sqs.receive_message().queue_url(&url).send();
    let received = receive().await.unwrap().messages.unwrap().pop().unwrap();
    assert_eq!((received.message_id.as_ref(), received.body.as_deref()), (Some(&id), Some("kite")));
    assert_eq!(received.md5_of_body.as_deref(), Some("4781ac9273d3335229ca90e8e00a1c71"));
    assert_eq!(receive().await.unwrap().messages.unwrap_or_default(), []);

    let visible = sqs.change_message_visibility().queue_url(&url).visibility_timeout(0);
    visible.receipt_handle(received.receipt_handle.unwrap()).send().await.unwrap();
    let again = receive().await.unwrap().messages.unwrap().pop().unwrap();
    sqs.delete_message().queue_url(&url).receipt_handle(again.receipt_handle.unwrap()).send().await.unwrap();
    assert_eq!(bench.count("toys").await, Count::default());

    let found = sqs.get_queue_url().queue_name("toys").send().await.unwrap();
    assert_eq!(found.queue_url.as_ref(), Some(&url));
    let attributes = sqs.get_queue_attributes().queue_url(&url).attribute_names(QueueAttributeName::All).send().await;
    let attributes = attributes.unwrap().attributes.unwrap();
    assert_eq!(attributes[&QueueAttributeName::VisibilityTimeout], "1800");
    let redrive: Value = serde_json::from_str(&attributes[&QueueAttributeName::RedrivePolicy]).unwrap();
    assert_eq!(redrive["maxReceiveCount"], MAX_RECEIVES);
    let missing = sqs.send_message().queue_url(bench.url("balls")).message_body("red").send().await.unwrap_err();
    assert!(missing.as_service_error().unwrap().is_queue_does_not_exist(), "{:?}", missing.code());
    bench.queues.stop().await;
}

#[tokio::test]
async fn message_is_delivered_at_once_and_deleted_after_success() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::open(folder.path()).await;
    let function = Arc::<Fragile>::default();
    let (stop, running) = bench.deliver(&function);
    bench.send("kite").await;
    until(async || bench.count("toys").await == Count::default()).await;
    assert_eq!(function.seen(), [("kite".to_owned(), "1".to_owned())]);
    stop.send(true).unwrap();
    running.await.unwrap();
    bench.queues.stop().await;
}

#[tokio::test]
async fn failed_message_is_delivered_again_after_its_visibility_timeout_only() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::open(folder.path()).await;
    let function = Arc::<Fragile>::default();
    *function.poison.lock().unwrap() = Some("kite");
    let (stop, running) = bench.deliver(&function);
    bench.send("kite").await;
    until(async || function.seen().len() == 1).await;
    // Other messages are not blocked, and the failed one stays hidden.
    bench.send("ball").await;
    until(async || function.seen().len() == 2).await;
    until(async || bench.count("toys").await == Count { visible: 0, hidden: 1 }).await;
    *function.poison.lock().unwrap() = None;
    bench.engines.clock.advance(HIDDEN);
    until(async || bench.count("toys").await == Count::default()).await;
    let expected = [("kite", "1"), ("ball", "1"), ("kite", "2")];
    assert_eq!(function.seen(), expected.map(|(body, receives)| (body.to_owned(), receives.to_owned())));
    stop.send(true).unwrap();
    running.await.unwrap();
    bench.queues.stop().await;
}

#[tokio::test]
async fn poisonous_message_goes_to_the_dead_letters_after_five_deliveries() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::open(folder.path()).await;
    let function = Arc::<Fragile>::default();
    *function.poison.lock().unwrap() = Some("kite");
    let (stop, running) = bench.deliver(&function);
    bench.send("kite").await;
    for receives in 1..=MAX_RECEIVES as usize {
        until(async || function.seen().len() == receives).await;
        assert_eq!(bench.count("toys-dead-letters").await, Count::default());
        bench.engines.clock.advance(HIDDEN);
    }
    until(async || bench.count("toys-dead-letters").await == Count { visible: 1, hidden: 0 }).await;
    assert_eq!(function.seen().len(), MAX_RECEIVES as usize);
    assert_eq!(bench.count("toys").await, Count::default());
    stop.send(true).unwrap();
    running.await.unwrap();
    bench.queues.stop().await;
}

#[tokio::test]
async fn process_that_winds_down_receives_no_message() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::open(folder.path()).await;
    let function = Arc::<Fragile>::default();
    bench.engines.wind_down();
    let (stop, running) = bench.deliver(&function);
    bench.send("kite").await;
    stop.send(true).unwrap();
    running.await.unwrap();
    assert_eq!(function.seen(), []);
    assert_eq!(bench.count("toys").await, Count { visible: 1, hidden: 0 });
    bench.queues.stop().await;
}
