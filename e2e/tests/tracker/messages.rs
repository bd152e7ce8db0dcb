//! Jobs that begin by a message, and what becomes of messages that are lost, repeated, late or poisonous.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use aws_sdk_sqs::types::{MessageSystemAttributeName, QueueAttributeName};
use serde_json::{Value, json};
use table::schema::{MAX_RECEIVES, dead_letter_queue};
use tracker::schema::{QUEUE, TRACKER};

use super::files::{STALLED, announce, arrived, counts, ended, new, put_by_hand};
use super::fixture::{Fixture, PROJECT, TENANT};
use crate::harness::table::text;
use crate::harness::{Cairn, Setup, fetch};
use crate::tests;

tests! { tracker_messages:
    export_begins_by_its_message_without_the_schedule,
    export_whose_message_is_lost_is_found_by_the_schedule,
    repeated_or_late_message_changes_nothing,
    message_delivered_twice_at_once_runs_the_job_once,
    message_of_a_dead_handler_is_delivered_again_after_its_visibility_timeout,
    rest_of_an_import_is_resumed_by_messages,
    #[long] import_that_has_begun_to_write_is_resumed_by_a_message,
    import_without_its_file_is_ended_by_a_message,
    poisonous_message_goes_to_the_dead_letters,
    export_is_accepted_while_the_queue_is_not_available,
    export_continues_with_the_rows_that_another_run_has_stored,
}

/// The id of no job.
const UNKNOWN: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

/// A little longer than the visibility timeout: six times the 300 seconds of the handler.
const VISIBLE_AGAIN: Duration = Duration::from_secs(1801);

/// Lambda's event of the message of a job.
pub fn message(job: &str) -> Value {
    event_of(&json!({ "job": job }).to_string())
}

fn event_of(body: &str) -> Value {
    json!({ "Records": [{
        "messageId": UNKNOWN,
        "body": body,
        "eventSource": "aws:sqs",
        "eventSourceARN": format!("arn:aws:sqs:local:000000000000:{QUEUE}"),
    }] })
}

async fn fixture_without(handlers: &[&'static str]) -> Fixture {
    Fixture::with(Setup { without: handlers.to_vec(), ..Setup::of("tracker") }).await
}

/// The path of a new export of open issues by name, which asks search and the index.
async fn begin_export(fixture: &Fixture) -> String {
    fixture.cairn.caught_up().await;
    let new = json!({ "sort": "name", "filter": ["state:eq:open", "name:prefix:Girder"] });
    let begun = fixture.ann.post(&format!("{PROJECT}/exports"), new).await.is(202);
    begun.header("location").to_owned()
}

async fn status(fixture: &Fixture, job: &str) -> String {
    fixture.ann.get(job).await.is(200).text("status").to_owned()
}

fn id_of(job: &str) -> &str {
    job.rsplit('/').next().unwrap()
}

fn url(cairn: &Cairn, queue: &str) -> String {
    cairn.engines().config.queue_url(queue).unwrap()
}

/// The visible and the hidden messages of a queue.
async fn messages(cairn: &Cairn, queue: &str) -> (u64, u64) {
    let asked = cairn.engines().sqs().get_queue_attributes().queue_url(url(cairn, queue));
    let told = asked.attribute_names(QueueAttributeName::All).send().await.unwrap().attributes.unwrap();
    let number = |name| told[&name].parse().unwrap();
    let hidden = number(QueueAttributeName::ApproximateNumberOfMessagesNotVisible);
    (number(QueueAttributeName::ApproximateNumberOfMessages), hidden)
}

async fn export_begins_by_its_message_without_the_schedule() {
    let fixture = fixture_without(&["runJobs"]).await;
    let job = begin_export(&fixture).await;
    let done = ended(&fixture.ann, &job).await;
    assert_eq!((done.text("status"), &done["counts"]["done"]), ("succeeded", &json!(1)), "{}", done.told());
    let file = fetch(done.text("link")).await.is(200);
    let text = String::from_utf8(file.bytes.to_vec()).unwrap();
    assert!(text.contains("\r\n3,Girder needs replacing,open,") && text.matches("\r\n").count() == 2, "{text}");
    fixture.until_still(async || messages(&fixture.cairn, QUEUE).await == (0, 0)).await;
}

async fn export_whose_message_is_lost_is_found_by_the_schedule() {
    let fixture = fixture_without(&["runJob"]).await;
    let job = begin_export(&fixture).await;
    assert_eq!(ended(&fixture.ann, &job).await.text("status"), "succeeded");
    assert_eq!(messages(&fixture.cairn, QUEUE).await, (1, 0), "nothing has received the message");
}

async fn repeated_or_late_message_changes_nothing() {
    let fixture = fixture_without(&["runJobs"]).await;
    let job = begin_export(&fixture).await;
    let done = ended(&fixture.ann, &job).await;
    let waiting = announce(&fixture.ann, PROJECT, new("create", "stop"), "Name\na\n").await;
    for id in [id_of(&job), id_of(&job), waiting.text("id"), UNKNOWN] {
        fixture.cairn.event("tracker", "runJob", &message(id)).await.unwrap();
    }
    let mut later = fixture.ann.get(&job).await.is(200);
    // Each response has a new signed link.
    later.body["link"] = done["link"].clone();
    assert_eq!(later.body, done.body);
    assert_eq!(status(&fixture, waiting.header("location")).await, "queued");
    fixture.until_still(async || messages(&fixture.cairn, QUEUE).await == (0, 0)).await;
}

async fn message_delivered_twice_at_once_runs_the_job_once() {
    let fixture = fixture_without(&["runJob", "runJobs"]).await;
    let job = begin_export(&fixture).await;
    let message = message(id_of(&job));
    let deliver = || fixture.cairn.event("tracker", "runJob", &message);
    let (one, two) = tokio::join!(deliver(), deliver());
    assert_eq!((one, two), (Ok(json!({})), Ok(json!({}))));
    let done = fixture.ann.get(&job).await.is(200);
    assert_eq!((done.text("status"), &done["counts"]["done"]), ("succeeded", &json!(1)), "{}", done.told());
}

/// The test is the event source: its first handler dies, and deletes no message.
async fn message_of_a_dead_handler_is_delivered_again_after_its_visibility_timeout() {
    let fixture = fixture_without(&["runJob", "runJobs"]).await;
    let (cairn, job) = (&fixture.cairn, begin_export(&fixture).await);
    let receive = async || {
        let asked = cairn.engines().sqs().receive_message().queue_url(url(cairn, QUEUE));
        let asked = asked.message_system_attribute_names(MessageSystemAttributeName::All);
        asked.send().await.unwrap().messages.unwrap_or_default().pop()
    };
    let first = receive().await.unwrap();
    let body = event_of(first.body.as_ref().unwrap());
    cairn.event_within(Duration::ZERO, "tracker", "runJob", &body).await.unwrap_err();
    assert_eq!(receive().await, None);
    cairn.clock.advance(VISIBLE_AGAIN);
    let second = receive().await.unwrap();
    assert_eq!((&second.message_id, &second.body), (&first.message_id, &first.body));
    assert_eq!(second.attributes.unwrap()[&MessageSystemAttributeName::ApproximateReceiveCount], "2");
    cairn.event("tracker", "runJob", &body).await.unwrap();
    assert_eq!(status(&fixture, &job).await, "succeeded");
}

/// The function of the file's event has no time for a step.
async fn rest_of_an_import_is_resumed_by_messages() {
    let fixture = fixture_without(&["startImport", "runJobs"]).await;
    let file = "Number,Name,Num Items\n3,Girder,43\n,New,1\n,,2\n2,Rust,x\n";
    let announced = announce(&fixture.ann, PROJECT, new("upsert", "skip"), file).await;
    put_by_hand(&fixture, &announced, file);
    let (short, arrived) = (Duration::from_secs(2), arrived(announced.text("id")));
    fixture.cairn.event_within(short, "tracker", "startImport", &arrived).await.unwrap();
    let done = ended(&fixture.ann, announced.header("location")).await;
    assert_eq!((done.text("status"), &done["counts"]), ("succeeded", &counts(4, 1, 1, 2)), "{}", done.told());
    fixture.until_still(async || messages(&fixture.cairn, QUEUE).await == (0, 0)).await;
    fixture.holds().await;
}

/// The function of the file's event has time for a part of the records: at most 1024 after its first half second.
async fn import_that_has_begun_to_write_is_resumed_by_a_message() {
    const RECORDS: u64 = 2000;
    let fixture = fixture_without(&["startImport", "runJobs"]).await;
    let records: String = (0..RECORDS).map(|record| format!("{},x\n", 1000 + record)).collect();
    let file = format!("Number,Name\n{records}");
    let announced = announce(&fixture.ann, PROJECT, new("create", "stop"), &file).await;
    put_by_hand(&fixture, &announced, &file);
    let (some, arrived) = (Duration::from_millis(3900), arrived(announced.text("id")));
    if fixture.cairn.event_within(some, "tracker", "startImport", &arrived).await.is_err() {
        // A slow engine takes longer for a step. The schedule resumes the job of a function that was stopped, after the
        // end of its lease.
        fixture.cairn.clock.advance(STALLED);
        fixture.cairn.event("tracker", "runJobs", &json!({})).await.unwrap();
    }
    let done = ended(&fixture.ann, announced.header("location")).await;
    let all = counts(RECORDS, RECORDS, 0, 0);
    assert_eq!((done.text("status"), &done["counts"]), ("succeeded", &all), "{}", done.told());
    fixture.holds().await;
}

async fn import_without_its_file_is_ended_by_a_message() {
    let fixture = fixture_without(&["startImport", "runJobs"]).await;
    let announced = announce(&fixture.ann, PROJECT, new("create", "stop"), "Name\na\n").await;
    let (short, arrived) = (Duration::from_secs(2), arrived(announced.text("id")));
    fixture.cairn.event_within(short, "tracker", "startImport", &arrived).await.unwrap();
    let done = ended(&fixture.ann, announced.header("location")).await;
    assert_eq!(done.text("reason"), "the file was deleted before all of it was read");
}

async fn poisonous_message_goes_to_the_dead_letters() {
    let fixture = fixture_without(&["runJobs"]).await;
    let (cairn, dead) = (&fixture.cairn, dead_letter_queue(QUEUE));
    let sent = cairn.engines().sqs().send_message().queue_url(url(cairn, QUEUE));
    let id = sent.message_body(r#"{"job":"none"}"#).send().await.unwrap().message_id;
    for _ in 0..MAX_RECEIVES {
        fixture.until_still(async || messages(cairn, QUEUE).await == (0, 1)).await;
        assert_eq!(messages(cairn, &dead).await, (0, 0));
        cairn.clock.advance(VISIBLE_AGAIN);
    }
    fixture.until_still(async || messages(cairn, &dead).await == (1, 0)).await;
    assert_eq!(messages(cairn, QUEUE).await, (0, 0));
    let received = cairn.engines().sqs().receive_message().queue_url(url(cairn, &dead)).send().await.unwrap();
    assert_eq!(received.messages.unwrap()[0].message_id, id);
    // It blocks no other message.
    let job = begin_export(&fixture).await;
    assert_eq!(ended(&fixture.ann, &job).await.text("status"), "succeeded");
}

async fn export_is_accepted_while_the_queue_is_not_available() {
    let fixture = fixture_without(&["runJobs"]).await;
    let config = fixture.cairn.engines().config.clone();
    let dead = table::Config { sqs: Some("http://127.0.0.1:1".to_owned()), ..config };
    let app = ::tracker::app(fixture.cairn.engines().at(dead)).metrics_to(|_| {});
    let token = fixture.cairn.token("ann", &[]).await;
    let request = http::Request::post(format!("{PROJECT}/exports")).header("authorization", format!("Bearer {token}"));
    let request = request.header("content-type", "application/json").body("{}".into()).unwrap();
    let answer = app.handle(request).await;
    assert_eq!(answer.status(), 202);
    let jobs = fixture.ann.get(&format!("{TENANT}/jobs")).await.is(200);
    assert_eq!(jobs.each("status"), [&json!("queued")]);
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    app.event("runJobs", "{}".into(), deadline).await.unwrap();
    let jobs = fixture.ann.get(&format!("{TENANT}/jobs")).await.is(200);
    assert_eq!(jobs.each("status"), [&json!("succeeded")]);
}

/// The stored rows are the header of the file. Without them the export begins again.
async fn export_continues_with_the_rows_that_another_run_has_stored() {
    let fixture = fixture_without(&["runJob", "runJobs"]).await;
    let cairn = &fixture.cairn;
    for handler in ["runJob", "runJobs"] {
        let whole = exported(&fixture, handler, &begin_export(&fixture).await).await;
        let header = whole.split_inclusive(|byte| *byte == b'\n').next().unwrap();
        for are_there in [true, false] {
            let job = begin_export(&fixture).await;
            let rows = format!("{}-1.part", id_of(&job));
            if are_there {
                std::fs::write(cairn.bucket("tracker").join("exports").join(&rows), header).unwrap();
            }
            let jobs = cairn.table_of(&TRACKER);
            let mut item = jobs.get("tenant-0807", &format!("job-{}", id_of(&job))).await.unwrap();
            let Some(AttributeValue::M(checkpoint)) = item.get_mut("checkpoint") else { panic!("no checkpoint") };
            checkpoint.insert("kept".to_owned(), text(&rows));
            jobs.put(item).await;
            assert_eq!(exported(&fixture, handler, &job).await, whole, "{handler}, stored rows: {are_there}");
        }
    }
}

/// Calls a handler for the job of an export, and returns the file.
async fn exported(fixture: &Fixture, handler: &str, job: &str) -> Vec<u8> {
    fixture.cairn.event("tracker", handler, &message(id_of(job))).await.unwrap();
    let done = fixture.ann.get(job).await.is(200);
    assert_eq!((done.text("status"), &done["counts"]["done"]), ("succeeded", &json!(1)), "{}", done.told());
    fetch(done.text("link")).await.is(200).bytes.to_vec()
}
