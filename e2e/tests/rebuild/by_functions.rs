//! Rebuilds of the raised release by executions of the state machine, whose calls have little time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use ::mirror::{CREATE_INDEX, Goal, Phase, Rebuild, rebuild_progress};
use ::shelf::schema::SYSTEM;
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};

use super::{BOOKS, Stage, WAIT, book, phases, read, write};
use crate::harness::state_machine::StateMachine;
use crate::tests;

tests! { rebuild:
    #[long] functions_rebuild_the_index_while_people_write_and_search,
    #[long] second_execution_does_no_harm,
    #[long] refusal_ends_the_execution_with_its_reason,
    #[long] calls_whose_answers_are_lost_are_repeated,
}

/// The time of each call. A part of it is left for the end.
const TIME: Duration = Duration::from_secs(3);

impl Stage {
    /// Executes the state machine. Returns its output, or the cause of its failure.
    async fn execute(&self, order: Value) -> Result<Value, String> {
        let call = async |input| self.cairn.event_within(TIME, "shelf", CREATE_INDEX, &input).await;
        StateMachine::of(&SYSTEM, WAIT).execute(order, call).await
    }

    /// Moves searches to the index, as an operator's command does. Returns the index's number.
    async fn move_searches(&self) -> u32 {
        let state = self.carry_out(Rebuild { begins: false, ..Self::order(Goal::Serve) }).await;
        let [(1, "kept"), (number, "serving")] = phases(&state)[..] else { panic!("{state:?}") };
        number
    }
}

fn done(output: &Value) -> bool {
    output["next"] == "done" && output["serves"] == false
}

/// Reads the progress of the rebuild until it has ended. Returns the most documents that the new index had meanwhile.
async fn watch(stage: &Stage, ended: &AtomicBool) -> u64 {
    let mut most = 0;
    while !ended.load(Ordering::SeqCst) {
        let seen = rebuild_progress(&SYSTEM, stage.cairn.engines()).await.unwrap();
        assert_eq!(seen.documents.is_some(), seen.generations.of(Phase::Filling).is_some());
        most = most.max(seen.documents.unwrap_or_default());
    }
    most
}

async fn functions_rebuild_the_index_while_people_write_and_search() {
    let stage = Stage::new().await;
    let (ended, writes) = (AtomicBool::new(false), AtomicUsize::new(0));
    let rebuilt = async {
        let output = stage.execute(json!({ "begin": true })).await.unwrap();
        assert!(done(&output), "{output}");
        assert_eq!(stage.phases().await, [(1, "serving"), (2, "audited")]);
        assert_eq!(stage.move_searches().await, 2);
        ended.store(true, Ordering::SeqCst);
    };
    let ((), (), searches, most) =
        tokio::join!(rebuilt, write(&stage, &ended, &writes), read(&stage, &ended), watch(&stage, &ended));
    assert!(writes.load(Ordering::SeqCst) > 10 && searches > 3);
    assert!(most > BOOKS as u64 / 2, "{most} documents were seen");
    stage.shows_the_table(true).await;
}

/// The audit of one execution ends that of the other. So either execution may fail, or both, and a command then finishes
/// the rebuild.
async fn second_execution_does_no_harm() {
    let stage = Stage::new().await;
    let (first, second) =
        tokio::join!(stage.execute(json!({ "begin": true })), stage.execute(json!({ "begin": true })));
    for (output, other) in [(&first, &second), (&second, &first)] {
        match output {
            Ok(output) => assert!(done(output), "{output}"),
            // The other execution has audited the index before this one has read its phase.
            Err(cause) if cause.contains("another call has finished it") => assert!(other.is_ok(), "{other:?}"),
            Err(cause) => assert!(cause.contains("another audit of") && cause.contains("has taken over"), "{cause}"),
        }
    }
    // Both may have created an index, under different names. One of them is published.
    assert!([2, 3].contains(&stage.move_searches().await));
    stage.shows_the_table(true).await;
}

async fn refusal_ends_the_execution_with_its_reason() {
    let stage = Stage::new().await;
    let refused = stage.execute(json!({ "replaces": true })).await.unwrap_err();
    assert!(refused.contains("the input is not an order of a rebuild: unknown field `replaces`"), "{refused}");
    let mut poisoned = book("Poisoned");
    poisoned.insert("author".to_owned(), AttributeValue::Bool(true));
    stage.table().put(poisoned.clone()).await;
    let refused = stage.execute(json!({ "begin": true })).await.unwrap_err();
    assert!(refused.contains("at least 1 of its items are in quarantine"), "{refused}");
    stage.table().delete_item(&poisoned).await;
    stage.cairn.caught_up().await;
    let output = stage.execute(json!({})).await.unwrap();
    assert!(done(&output), "{output}");
    assert_eq!(stage.move_searches().await, 2);
    stage.shows_the_table(true).await;
    let refused = stage.execute(json!({ "begin": true })).await.unwrap_err();
    assert!(refused.contains("is still kept: finish or roll back first"), "{refused}");
}

/// Each call is made twice, and its first answer is lost.
async fn calls_whose_answers_are_lost_are_repeated() {
    let stage = Stage::new().await;
    let calls = AtomicUsize::new(0);
    let call = async |input: Value| {
        let output = stage.cairn.event_within(TIME, "shelf", CREATE_INDEX, &input).await;
        if calls.fetch_add(1, Ordering::SeqCst).is_multiple_of(2) { Err("no answer".to_owned()) } else { output }
    };
    let output = StateMachine::of(&SYSTEM, WAIT).execute(json!({ "begin": true }), call).await.unwrap();
    assert!(done(&output), "{output}");
    assert_eq!(stage.move_searches().await, 2);
    stage.shows_the_table(true).await;
}
