//! The stream event source on dynoxide: batches, partial responses, bisection, discarded records, checkpoints.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use bytes::Bytes;
use local::aws;
use local::engine::dynoxide::Dynoxide;
use local::engine::objects::Objects;
use local::source::given_up::{GivenUp, PREFIX};
use local::source::stream::{Reach, Stream};
use local::source::{Function, Settings};
use serde_json::{Value, json};
use table::schema::{Entity, Search, System, Table};
use table::{Clock, Config, Engines, create_tables};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

static TOYS: Table = Table {
    name: "toys",
    pk: "pk",
    sk: None,
    indexes: &[],
    entities: &[Entity { name: "toy", pk: "{toy}", sk: None, search: Search::Document }],
    stream: true,
};
pub static SYSTEM: System = System { name: "toys", tables: &[&TOYS], buckets: &[], secrets: &[], sources: &[] };

/// A key and its record's sequence number.
type Delivered = (String, String);
type Answer = dyn Fn(&[Delivered]) -> Result<String, String> + Send + Sync;

/// A function that keeps its invocations and answers by the keys of a batch.
struct Recorder {
    batches: Mutex<Vec<Vec<String>>>,
    answer: Box<Answer>,
}

impl Recorder {
    fn new(answer: impl Fn(&[Delivered]) -> Result<String, String> + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { batches: Mutex::default(), answer: Box::new(answer) })
    }

    fn batches(&self) -> Vec<Vec<String>> {
        self.batches.lock().unwrap().clone()
    }
}

impl Function for Recorder {
    async fn invoke(&self, handler: &'static str, payload: Bytes, _: Duration) -> Result<Bytes, String> {
        assert_eq!(handler, "mirror");
        let event: Value = serde_json::from_slice(&payload).unwrap();
        let record = |record: &Value| {
            let change = &record["dynamodb"];
            let key = change["Keys"]["pk"]["S"].as_str().unwrap().to_owned();
            (key, change["SequenceNumber"].as_str().unwrap().to_owned())
        };
        let records: Vec<_> = event["Records"].as_array().unwrap().iter().map(record).collect();
        self.batches.lock().unwrap().push(records.iter().map(|(key, _)| key.clone()).collect());
        (self.answer)(&records).map(Bytes::from)
    }
}

/// A table on its own engine, and the folder of its checkpoints.
struct World {
    engines: Arc<Engines>,
    objects: Objects,
    folder: tempfile::TempDir,
    dynoxide: Dynoxide,
}

impl World {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::on(Dynoxide::start(None).await.unwrap(), folder).await
    }

    async fn on(dynoxide: Dynoxide, folder: tempfile::TempDir) -> Self {
        let credentials = ("local".to_owned(), "local".to_owned());
        let (stored, _) = mpsc::unbounded_channel();
        let objects = Objects::start(&folder.path().join("objects"), ("local", "local"), stored).await.unwrap();
        objects.create_bucket("toys").unwrap();
        let config = Config {
            dynamodb: Some(dynoxide.endpoint.clone()),
            s3: Some(objects.endpoint.clone()),
            credentials: Some(credentials),
            cursor_secrets: vec!["secret".to_owned()],
            ..Config::new("local", "http://127.0.0.1:1")
        };
        let engines = Engines::new(config, Clock::system());
        create_tables(engines.dynamodb(), &engines.config, &SYSTEM).await.unwrap();
        Self { engines, objects, folder, dynoxide }
    }

    async fn put(&self, key: &str) {
        let put = self.engines.dynamodb().put_item().table_name("toys");
        put.item("pk", AttributeValue::S(key.to_owned())).send().await.unwrap();
    }

    async fn source(&self, function: &Arc<Recorder>, settings: Settings) -> Source {
        let stream_arn = aws::stream_arn(self.engines.dynamodb(), "toys").await.unwrap();
        let stream = Stream {
            client: aws::streams(&self.engines.config),
            table: "toys".to_owned(),
            stream_arn,
            function: Arc::clone(function),
            handler: "mirror",
            filter: None,
            arrivals: self.dynoxide.arrivals("toys"),
            given_up: GivenUp {
                client: self.engines.s3().clone(),
                bucket: "toys".to_owned(),
                function: "toys-mirror".to_owned(),
            },
            settings,
            clock: self.engines.clock.clone(),
        };
        let (stop, stopped) = watch::channel(false);
        let (reach, run) = stream.start(self.folder.path(), stopped).unwrap();
        Source { reach, stop, task: tokio::spawn(run) }
    }
}

struct Source {
    reach: Reach,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Source {
    async fn caught_up(&self) {
        tokio::time::timeout(Duration::from_secs(20), self.reach.caught_up()).await.unwrap();
    }

    async fn stop(self) {
        self.stop.send(true).unwrap();
        self.task.await.unwrap();
    }
}

fn quick() -> Settings {
    let quick = Duration::from_millis(5);
    Settings { poll: quick, retry: quick, retry_at_most: quick, ..Settings::default() }
}

fn ok() -> Result<String, String> {
    Ok(json!({"batchItemFailures": []}).to_string())
}

#[tokio::test]
async fn every_write_is_delivered_once_in_order_across_a_restart() {
    let world = World::new().await;
    let function = Recorder::new(|_| ok());
    for key in ["a", "b", "c"] {
        world.put(key).await;
    }
    let source = world.source(&function, quick()).await;
    source.caught_up().await;
    assert_eq!(function.batches().concat(), ["a", "b", "c"]);
    source.stop().await;

    world.put("d").await;
    let again = Recorder::new(|_| ok());
    let source = world.source(&again, quick()).await;
    source.caught_up().await;
    assert_eq!(again.batches().concat(), ["d"]);
    source.stop().await;
}

#[tokio::test]
async fn arrival_of_each_record_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let dynoxide = Dynoxide::start(Some(&folder.path().join("dynamodb.sqlite"))).await.unwrap();
    let world = World::on(dynoxide, folder).await;
    let mut arrivals = world.dynoxide.arrivals("toys").unwrap();
    let mut last = None;
    for key in ["a", "b"] {
        world.put(key).await;
        let told = arrivals.wait_for(|number| *number > last);
        last = *tokio::time::timeout(Duration::from_secs(30), told).await.unwrap().unwrap();
    }
    assert!(last.is_some());
}

#[tokio::test]
async fn partial_response_redelivers_records_from_the_first_failure() {
    let world = World::new().await;
    let tried = Mutex::new(0);
    let function = Recorder::new(move |records| {
        let mut tried = tried.lock().unwrap();
        *tried += 1;
        match records.iter().find(|(key, _)| key == "c") {
            Some((_, number)) if *tried < 3 => {
                Ok(json!({"batchItemFailures": [{"itemIdentifier": number}]}).to_string())
            }
            _ => ok(),
        }
    });
    for key in ["a", "b", "c", "d"] {
        world.put(key).await;
    }
    let source = world.source(&function, quick()).await;
    source.caught_up().await;
    let tail = vec!["c".to_owned(), "d".to_owned()];
    assert_eq!(function.batches(), [vec!["a".into(), "b".into(), "c".into(), "d".into()], tail.clone(), tail]);
    source.stop().await;
}

#[tokio::test]
async fn response_with_an_unknown_record_bisects_the_batch() {
    let world = World::new().await;
    let function = Recorder::new(|records| match records {
        [_] => ok(),
        _ => Ok(json!({"batchItemFailures": [{"itemIdentifier": ""}]}).to_string()),
    });
    for key in ["a", "b"] {
        world.put(key).await;
    }
    let source = world.source(&function, quick()).await;
    source.caught_up().await;
    assert_eq!(function.batches(), [vec!["a", "b"], vec!["a"], vec!["b"]]);
    source.stop().await;
}

#[tokio::test]
async fn failing_batch_is_bisected_and_its_failing_record_is_discarded_into_the_bucket() {
    let world = World::new().await;
    let function = Recorder::new(|records| {
        if records.iter().any(|(key, _)| key == "poison") { Err("it panicked".to_owned()) } else { ok() }
    });
    let keys: Vec<String> =
        (0..16).map(|number| if number == 9 { "poison".to_owned() } else { format!("k{number}") }).collect();
    for key in &keys {
        world.put(key).await;
    }
    // dynoxide gives creation times in whole seconds, so a record looks up to a second old at once.
    let settings = Settings { maximum_age: Duration::from_secs(2), ..quick() };
    let source = world.source(&function, settings).await;
    source.caught_up().await;
    source.stop().await;

    let healthy: BTreeSet<String> =
        function.batches().into_iter().filter(|batch| !batch.contains(&"poison".to_owned())).flatten().collect();
    assert_eq!(healthy.len(), 15);
    assert!(function.batches().contains(&vec!["poison".to_owned()]), "it was never tried alone");

    let s3 = world.engines.s3();
    let listed = s3.list_objects_v2().bucket("toys").prefix(PREFIX).send().await.unwrap().contents.unwrap();
    let [object] = listed.as_slice() else { panic!("{listed:?}") };
    let body = s3.get_object().bucket("toys").key(object.key().unwrap()).send().await.unwrap().body;
    let kept: Value = serde_json::from_slice(&body.collect().await.unwrap().into_bytes()).unwrap();
    assert_eq!(kept["DDBStreamBatchInfo"]["batchSize"], 1);
    let event: Value = serde_json::from_str(kept["payload"].as_str().unwrap()).unwrap();
    assert_eq!(event["Records"][0]["dynamodb"]["NewImage"]["pk"]["S"], "poison");
    world.objects.stop().await;
}

#[tokio::test]
async fn unfinished_records_are_redelivered_after_a_restart() {
    let world = World::new().await;
    let down = Recorder::new(|_| Err("search is down".to_owned()));
    world.put("a").await;
    let source = world.source(&down, quick()).await;
    tokio::time::timeout(Duration::from_secs(10), async {
        while down.batches().len() < 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .unwrap();
    source.stop().await;
    assert!(is_empty(world.folder.path()), "a checkpoint passed what was not done");

    let function = Recorder::new(|_| ok());
    let source = world.source(&function, quick()).await;
    source.caught_up().await;
    assert_eq!(function.batches().concat(), ["a"]);
    source.stop().await;
}

fn is_empty(folder: &Path) -> bool {
    !folder.join("toys.json").exists()
}
