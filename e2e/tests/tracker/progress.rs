//! How far imports and exports have come, as whoever waits for them reads it.

use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use serde_json::json;
use table::{Config, Engines};
use tokio::time::Instant;

use super::files::{announce, counts, new, put_by_hand};
use super::files_killed::{Worker, file, of_several_parts};
use super::fixture::Fixture;
use crate::harness::relay::pass_on;
use crate::harness::server::Server;
use crate::harness::{Answer, User};
use crate::tests;

tests! { tracker_progress:
    #[long] progress_of_an_import_never_decreases,
    #[long] progress_of_an_export_never_decreases,
}

/// Runs with time for a step or two.
const SHORT: Duration = Duration::from_secs(4);

/// On a machine that is busy with something else, a step may need more.
const LONG: Duration = Duration::from_secs(60);

/// A DynamoDB before which a user gets the job whenever its record was written, ahead of its worker's answer.
struct Asking {
    target: String,
    user: User,
    work: String,
    told: Mutex<Vec<Answer>>,
}

impl Asking {
    async fn pass(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Box<dyn Error + Send + Sync>> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let operation = parts.headers.get("x-amz-target").map(|target| target.as_bytes().to_vec()).unwrap_or_default();
        let record = format!("job-{}", self.work.rsplit('/').next().unwrap());
        let writes = operation.ends_with(b".TransactWriteItems") && String::from_utf8_lossy(&body).contains(&record);
        let answer = pass_on(self.target.clone(), parts, body).await?;
        if writes && answer.status().is_success() {
            let told = self.user.get(&self.work).await;
            self.told.lock().unwrap().push(told);
        }
        Ok(answer)
    }
}

/// Lets short runs go on with work until it has ended, each by a process of its own. No count is ever less than it was,
/// and no run that has time leaves all of them alike. Returns how often the work's record was written, and what it says at last.
async fn grows_to_its_end(fixture: &Fixture, work: &str) -> (usize, Answer) {
    let config = fixture.cairn.engines().config.clone();
    let asking = Arc::new(Asking {
        target: config.dynamodb.clone().unwrap(),
        user: fixture.ann.clone(),
        work: work.to_owned(),
        told: Mutex::default(),
    });
    let serving = Arc::clone(&asking);
    let server = Server::start(move |request| {
        let asking = Arc::clone(&serving);
        async move { asking.pass(request).await }
    })
    .await;
    let config = Config { dynamodb: Some(server.url.clone()), ..config };
    let Worker(clock) = Worker::ahead(fixture);
    let (mut times, mut time, mut last) = (0, SHORT, fixture.ann.get(work).await.is(200));
    while ["queued", "running"].contains(&last.text("status")) {
        clock.advance(Duration::from_secs(121));
        let app = ::tracker::app(Engines::new(config.clone(), clock.clone())).metrics_to(|_| {});
        // What is cut off at the end of its time the next run does again.
        let _ = app.event("runJobs", "{}".into(), Instant::now() + time).await;
        let told = std::mem::take(&mut *asking.told.lock().unwrap());
        let (before, written) = (last.clone(), told.len());
        for told in told {
            let grown = shown(&last).iter().zip(shown(&told)).all(|(before, now)| *before <= now);
            assert!(grown, "{} after {}", told.told(), last.told());
            last = told;
        }
        if written == 0 && time >= LONG {
            // A run that was cut off may have written the record, and the request that reads it was cut off, too.
            last = fixture.ann.get(work).await.is(200);
        }
        let moved = shown(&last) != shown(&before) || last["status"] != before["status"];
        assert!(moved || written == 0 || time < LONG, "a run has left it as it was: {}", last.told());
        time = if moved { SHORT } else { time * 2 };
        times += written;
    }
    (times, last)
}

fn shown(work: &Answer) -> [u64; 5] {
    let names = ["total", "done", "created", "updated", "failed"];
    names.map(|name| work["counts"][name].as_u64().unwrap_or_default())
}

async fn progress_of_an_import_never_decreases() {
    let fixture = Fixture::new().await;
    let project = fixture.project("Large").await;
    fixture.attribute(&project, "Weight", "int").await;
    fixture.attribute(&project, "Note", "text").await;
    let file = file(1500);
    let announced = announce(&fixture.ann, &project, new("create", "skip"), &file).await;
    put_by_hand(&fixture, &announced, &file);
    let (times, done) = grows_to_its_end(&fixture, announced.header("location")).await;
    assert_eq!((done.text("status"), &done["counts"]), ("succeeded", &counts(1500, 1485, 0, 15)), "{}", done.told());
    // The file has come, was looked at, and becomes issues in batches that double at most.
    assert!(times > 6, "{times}");
}

async fn progress_of_an_export_never_decreases() {
    let fixture = Fixture::new().await;
    let project = of_several_parts(&fixture).await;
    fixture.cairn.engines().wind_down();
    let begun = fixture.ann.post(&format!("{project}/exports"), json!({})).await.is(202);
    // On a machine that is slow enough a run that is not cut off does it all.
    let (_, done) = grows_to_its_end(&fixture, begun.header("location")).await;
    assert_eq!(
        (done.text("status"), &done["counts"]),
        ("succeeded", &json!({ "total": 250, "done": 250, "failed": 0 })),
        "{}",
        done.told()
    );
}
