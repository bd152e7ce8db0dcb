//! Queues: what they lose, who sends and who receives.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use table::Call;

use super::{declared_calls, of_type, queue_mappings, statements_on, systems, text, texts};

/// Six times the timeout is AWS's recommendation, and so are five deliveries.
#[test]
fn message_that_fails_is_delivered_five_times_and_kept_for_14_days() {
    let mut mapped = 0;
    for (system, template) in systems() {
        let mut known = BTreeSet::new();
        for (name, mapping) in queue_mappings(&template) {
            mapped += 1;
            assert_eq!(mapping["BatchSize"], 1, "{name}: a failure concerns one message");
            assert!(mapping["ScalingConfig"]["MaximumConcurrency"].as_u64().unwrap() >= 2, "{name}");
            let (queue, own) = queue_of(&template, mapping);
            let function = text(&mapping["FunctionName"]["Ref"]);
            let timeout = template["Resources"][&function]["Properties"]["Timeout"].as_u64().unwrap();
            assert_eq!(own["VisibilityTimeout"], 6 * timeout, "{system}: {queue}");
            assert!(own["RedrivePolicy"]["maxReceiveCount"].as_u64().unwrap() >= 5, "{system}: {queue}");
            let dead = text(&own["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0]);
            let dead_queue = &template["Resources"][&dead]["Properties"];
            assert_eq!(dead_queue["MessageRetentionPeriod"], 14 * 24 * 3600, "{system}: {dead}");
            let alarm = &template["Resources"][function.replace("Function", "DeadLettersAlarm")]["Properties"];
            assert_eq!(alarm["Dimensions"][0]["Value"], dead_queue["QueueName"], "{system}: {dead}");
            let rings = (&alarm["MetricName"], &alarm["Threshold"], &alarm["Statistic"]);
            assert_eq!(
                rings,
                (&json!("ApproximateNumberOfMessagesVisible"), &json!(0), &json!("Maximum")),
                "{system}: {dead}"
            );
            known.extend([queue, dead]);
        }
        let all: BTreeSet<String> = of_type(&template, "AWS::SQS::Queue").map(|(name, _)| name.to_owned()).collect();
        assert_eq!(all, known, "{system}: a queue that no function reads");
        for (name, queue) in of_type(&template, "AWS::SQS::Queue") {
            assert_eq!(queue["SqsManagedSseEnabled"], true, "{system}: {name} is encrypted");
        }
    }
    assert!(mapped > 0);
}

/// A handler may send the next message to its own queue. Lambda would stop such a chain after about 16 messages.
#[test]
fn handler_of_a_queue_may_continue_by_another_message() {
    for (system, template) in systems() {
        let handlers: BTreeSet<String> =
            queue_mappings(&template).map(|(_, mapping)| text(&mapping["FunctionName"]["Ref"])).collect();
        for (name, function) in of_type(&template, "AWS::Serverless::Function") {
            let expected = if handlers.contains(name) { json!("Allow") } else { Value::Null };
            assert_eq!(function.get("RecursiveLoop").unwrap_or(&Value::Null), &expected, "{system}: {name}");
        }
    }
}

/// Only the handler of a queue receives, and a function that names no queue in its patterns sends to none.
#[test]
fn queue_is_read_by_its_handler_alone_and_written_as_declared() {
    for (declared, (system, template)) in xtask::systems::all().iter().zip(systems()) {
        let (mut receive, mut send) = (BTreeSet::new(), BTreeSet::new());
        for (function, statement) in statements_on(&template, "sqs:") {
            let (actions, target) = (texts(&statement["Action"]), text(&statement["Resource"]));
            if actions == ["sqs:SendMessage"] {
                send.insert((function, target));
            } else {
                let expected = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"];
                assert_eq!(actions, expected, "{function}");
                receive.insert((format!("{function}Function"), target));
            }
        }
        let expected = queue_mappings(&template)
            .map(|(_, mapping)| (text(&mapping["FunctionName"]["Ref"]), text(&mapping["EventSourceArn"])));
        assert_eq!(receive, expected.collect(), "{system}");

        let senders = declared_calls(&declared.app).filter_map(|(function, call)| match call {
            Call::Queue { queue } => {
                let queues = "arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:${Prefix}";
                Some((function, format!("{queues}{queue}")))
            }
            _ => None,
        });
        assert_eq!(send, senders.collect(), "{system}");
        let url = &template["Globals"]["Function"]["Environment"]["Variables"]["CAIRN_QUEUES"];
        assert_eq!(url.is_null(), send.is_empty(), "{system}");
    }
}

/// The name and the properties of the queue that a mapping reads.
fn queue_of<'a>(template: &'a Value, mapping: &Value) -> (String, &'a Value) {
    let name = text(&mapping["EventSourceArn"]["Fn::GetAtt"][0]);
    let properties = &template["Resources"][&name]["Properties"];
    (name, properties)
}
