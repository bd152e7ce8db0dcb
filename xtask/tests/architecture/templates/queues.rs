//! Queues: what they lose, who sends and who receives.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{members, of_type, own_statements, queue_mappings, systems, text, texts};

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

/// Only the handler of a queue receives, and a function that names no queue in its patterns sends to none.
#[test]
fn queue_is_read_by_its_handler_alone_and_written_as_declared() {
    for (declared, (system, template)) in xtask::systems::all().iter().zip(systems()) {
        let (mut receive, mut send) = (BTreeSet::new(), BTreeSet::new());
        for (role, resource) in members(&template["Resources"]).filter(|(_, it)| it["Type"] == "AWS::IAM::Role") {
            for statement in own_statements(resource) {
                let actions = texts(&statement["Action"]);
                if !actions.iter().any(|action| action.starts_with("sqs:")) {
                    continue;
                }
                let target = text(&statement["Resource"]);
                if actions == ["sqs:SendMessage"] {
                    send.insert((role.replace("Role", ""), target));
                } else {
                    assert_eq!(
                        actions,
                        ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
                        "{role}"
                    );
                    receive.insert((role.replace("Role", "Function"), target));
                }
            }
        }
        let expected = queue_mappings(&template)
            .map(|(_, mapping)| (text(&mapping["FunctionName"]["Ref"]), text(&mapping["EventSourceArn"])));
        assert_eq!(receive, expected.collect(), "{system}");

        let routes = declared.app.routes().map(|route| (route.name(), route.declared_patterns()));
        let handlers = declared.app.event_handlers().iter().map(|own| (own.name(), own.declared_patterns()));
        let mut senders = BTreeSet::new();
        for (name, patterns) in routes.chain(handlers) {
            for call in patterns.iter().flat_map(|pattern| pattern.calls) {
                if let table::Call::Queue { queue } = call {
                    let (first, rest) = name.split_at(1);
                    let arn =
                        format!("arn:${{AWS::Partition}}:sqs:${{AWS::Region}}:${{AWS::AccountId}}:${{Prefix}}{queue}");
                    senders.insert((format!("{}{rest}", first.to_uppercase()), arn));
                }
            }
        }
        assert_eq!(send, senders, "{system}");
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
