//! The local S3: signed links, and events of stored objects.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_s3::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_s3::presigning::PresigningConfig;
use bytes::Bytes;
use local::engine::objects::{Objects, Stored};
use local::source::Function;
use local::source::objects::{Notification, resend, start};
use serde_json::Value;
use table::Clock;
use tokio::sync::{mpsc, watch};

fn client(endpoint: &str, secret: &str) -> aws_sdk_s3::Client {
    let config = aws_sdk_s3::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("local"))
        .endpoint_url(endpoint)
        .force_path_style(true)
        .credentials_provider(Credentials::new("local", secret, None, None, "test"));
    aws_sdk_s3::Client::from_conf(config.build())
}

#[tokio::test]
async fn signed_link_stores_an_object_once_and_sends_an_event() {
    let folder = tempfile::tempdir().unwrap();
    let (tell, mut told) = mpsc::unbounded_channel();
    let objects = Objects::start(folder.path(), ("local", "secret"), tell).await.unwrap();
    objects.create_bucket("toys").unwrap();
    let s3 = client(&objects.endpoint, "secret");
    let lifetime = || PresigningConfig::expires_in(Duration::from_secs(900)).unwrap();

    let put = s3.put_object().bucket("toys").key("uploads/a b").if_none_match("*").presigned(lifetime()).await.unwrap();
    let http = reqwest::Client::new();
    let send = || {
        let mut request = http.put(put.uri()).header("origin", "https://map.example").body("hello");
        for (name, value) in put.headers() {
            request = request.header(name, value);
        }
        request.send()
    };
    let answer = send().await.unwrap();
    assert_eq!(
        (answer.status().as_u16(), answer.headers()["access-control-allow-origin"].to_str().unwrap()),
        (200, "*")
    );
    let stored = told.recv().await.unwrap();
    assert_eq!((stored.bucket.as_str(), stored.key.as_str(), stored.size), ("toys", "uploads/a b", 5));
    assert_eq!(stored.entity_tag, "5d41402abc4b2a76b9719d911017c592");
    assert_eq!(send().await.unwrap().status(), 412);
    assert!(told.try_recv().is_err(), "a refused PUT was told of");

    let get = s3.get_object().bucket("toys").key("uploads/a b").presigned(lifetime()).await.unwrap();
    assert_eq!(http.get(get.uri()).send().await.unwrap().text().await.unwrap(), "hello");
    assert_eq!(http.get(get.uri().replace("a%20b", "c")).send().await.unwrap().status(), 403);
    let stranger = client(&objects.endpoint, "guess");
    assert!(stranger.put_object().bucket("toys").key("uploads/x").send().await.is_err());
    objects.stop().await;
}

#[tokio::test]
async fn page_may_get_and_put_only() {
    let folder = tempfile::tempdir().unwrap();
    let (tell, _told) = mpsc::unbounded_channel();
    let objects = Objects::start(folder.path(), ("local", "secret"), tell).await.unwrap();
    objects.create_bucket("toys").unwrap();
    let http = reqwest::Client::new();
    let url = format!("{}/toys/a", objects.endpoint);
    for (method, allowed) in [("GET", true), ("PUT", true), ("HEAD", false), ("DELETE", false)] {
        let preflight = http.request(reqwest::Method::OPTIONS, &url).header("origin", "https://map.example");
        let preflight = preflight.header("access-control-request-method", method).send().await.unwrap();
        assert_eq!(preflight.status().as_u16(), if allowed { 200 } else { 403 }, "{method}");
        assert_eq!(preflight.headers().contains_key("access-control-allow-origin"), allowed, "{method}");
    }
    for (method, origin, allowed) in [("GET", true, true), ("GET", false, false), ("HEAD", true, false)] {
        let mut request = http.request(method.parse().unwrap(), &url);
        if origin {
            request = request.header("origin", "https://map.example");
        }
        let answer = request.send().await.unwrap();
        assert_eq!(answer.headers().contains_key("access-control-allow-origin"), allowed, "{method} {origin}");
    }
    objects.stop().await;
}

#[tokio::test]
async fn metadata_of_a_deleted_object_is_deleted_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let (tell, _told) = mpsc::unbounded_channel();
    let objects = Objects::start(folder.path(), ("local", "local"), tell.clone()).await.unwrap();
    objects.create_bucket("toys").unwrap();
    let s3 = client(&objects.endpoint, "local");
    for key in ["uploads/kept", "uploads/å b"] {
        let put = s3.put_object().bucket("toys").key(key).content_type("text/plain");
        put.body(b"x".to_vec().into()).send().await.unwrap();
    }
    s3.delete_object().bucket("toys").key("uploads/å b").send().await.unwrap();
    objects.stop().await;
    let files = || std::fs::read_dir(folder.path()).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_file());
    let before = files().count();

    let objects = Objects::start(folder.path(), ("local", "local"), tell).await.unwrap();
    assert!(before > 0 && files().count() == before / 2, "{before} {}", files().count());
    let kept =
        client(&objects.endpoint, "local").head_object().bucket("toys").key("uploads/kept").send().await.unwrap();
    assert_eq!(kept.content_type(), Some("text/plain"));
    objects.stop().await;
}

/// A function that fails a given number of times.
struct Flaky {
    failures: Mutex<u32>,
    keys: Mutex<Vec<String>>,
}

impl Function for Flaky {
    async fn invoke(&self, handler: &'static str, payload: Bytes, _: Duration) -> Result<Bytes, String> {
        assert_eq!(handler, "checkUpload");
        let mut failures = self.failures.lock().unwrap();
        if *failures > 0 {
            *failures -= 1;
            return Err("not now".to_owned());
        }
        let event: Value = serde_json::from_slice(&payload).unwrap();
        let record = &event["Records"][0];
        assert_eq!(
            (record["eventSource"].as_str(), record["s3"]["bucket"]["name"].as_str()),
            (Some("aws:s3"), Some("toys"))
        );
        self.keys.lock().unwrap().push(record["s3"]["object"]["key"].as_str().unwrap().to_owned());
        Ok(Bytes::new())
    }
}

#[tokio::test]
async fn object_event_is_retried_after_a_failure_and_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let (tell, told) = mpsc::unbounded_channel();
    let objects = Objects::start(folder.path(), ("local", "local"), tell.clone()).await.unwrap();
    objects.create_bucket("toys").unwrap();
    let s3 = client(&objects.endpoint, "local");
    let function = Arc::new(Flaky { failures: Mutex::new(1), keys: Mutex::default() });
    let notification = || Notification {
        bucket: "toys".to_owned(),
        prefix: "uploads/",
        function: Arc::clone(&function),
        handler: "checkUpload",
    };
    let (stop, stopped) = watch::channel(false);
    let (pending, run) = start(vec![notification()], told, Clock::system(), stopped);
    let running = tokio::spawn(run);
    for key in ["uploads/1", "other/2"] {
        s3.put_object().bucket("toys").key(key).body(b"x".to_vec().into()).send().await.unwrap();
    }
    let keys = || function.keys.lock().unwrap().clone();
    tokio::time::timeout(Duration::from_secs(10), async {
        while keys().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
    .unwrap();
    pending.settled().await;
    assert_eq!(keys(), ["uploads/1"]);
    stop.send(true).unwrap();
    running.await.unwrap();

    let (again, mut told) = mpsc::unbounded_channel();
    assert_eq!(resend(&s3, &[notification()], &again).await.unwrap(), 1);
    let Stored { key, size, .. } = told.recv().await.unwrap();
    assert_eq!((key.as_str(), size), ("uploads/1", 1));
    objects.stop().await;
}

#[tokio::test]
async fn settled_waits_for_events_not_yet_received() {
    let (tell, told) = mpsc::unbounded_channel();
    let function = Arc::new(Flaky { failures: Mutex::new(0), keys: Mutex::default() });
    let notification = Notification {
        bucket: "toys".to_owned(),
        prefix: "uploads/",
        function: Arc::clone(&function),
        handler: "checkUpload",
    };
    let (stop, stopped) = watch::channel(false);
    let (pending, run) = start(vec![notification], told, Clock::system(), stopped);
    let running = tokio::spawn(run);
    let stored =
        |key: &str| Stored { bucket: "toys".to_owned(), key: key.to_owned(), size: 1, entity_tag: "t".to_owned() };
    for key in ["uploads/1", "uploads/2"] {
        tell.send(stored(key)).unwrap();
    }
    pending.settled().await;
    let mut keys = function.keys.lock().unwrap().clone();
    keys.sort();
    assert_eq!(keys, ["uploads/1", "uploads/2"]);
    stop.send(true).unwrap();
    running.await.unwrap();
    // The source has stopped.
    pending.settled().await;
}
