//! The queues of a system, each with one for its dead letters.

use table::schema::{DEAD_LETTER_DAYS, MAX_RECEIVES, dead_letter_queue, visibility_timeout};

use super::function::Function;
use super::names::{self, resource};
use super::node::{Map, Node, attribute, sub};

/// The seconds for which dead letters are kept.
pub const DEAD_LETTER_SECONDS: u64 = DEAD_LETTER_DAYS as u64 * 24 * 3600;

/// Returns a queue whose messages this function handles. SQS encrypts its messages with a key of its own.
pub fn queues(system: &str, queue: &str, function: &Function) -> Map {
    let dead = dead_letter_queue(queue);
    let redrive = map! {
        "deadLetterTargetArn" => attribute(resource(&dead, "Queue"), "Arn"),
        "maxReceiveCount" => u64::from(MAX_RECEIVES),
    };
    let properties = map! {
        "QueueName" => sub(names::queue(queue)),
        "SqsManagedSseEnabled" => true,
        "VisibilityTimeout" => visibility_timeout(function.timeout).as_secs(),
        "RedrivePolicy" => redrive,
        "Tags" => names::tag_list(system),
    };
    let dead_properties = map! {
        "QueueName" => sub(names::queue(&dead)),
        "SqsManagedSseEnabled" => true,
        "MessageRetentionPeriod" => DEAD_LETTER_SECONDS,
        "Tags" => names::tag_list(system),
    };
    vec![(resource(queue, "Queue"), of_type(properties)), (resource(&dead, "Queue"), of_type(dead_properties))]
}

fn of_type(properties: Node) -> Node {
    map! { "Type" => "AWS::SQS::Queue", "Properties" => properties }
}
