//! Event sources: streams, objects, queues, schedules, deployments, state machines and sockets.

use table::filter::KeyPattern;
use table::schema::{EventSource, QUEUE_CONCURRENCY, RECORDS_BATCH, System, Table, failures_bucket};

use super::function::Function;
use super::names::{self, resource};
use super::node::{Map, Node, attribute, reference, sub};
use super::policy::allow;
use super::{socket, state_machine};

/// Returns the event source of a function with its permission. `checked` are the parameters that a deployment's function
/// checks.
pub fn sources(system: &System, function: &Function, checked: &[&str]) -> Map {
    let own = system.sources.iter().filter(|source| source.calls(function.name));
    own.flat_map(|source| match source {
        EventSource::Streams { filtered, .. } => mirror_streams(system, function, *filtered),
        EventSource::Records { filtered, .. } => record_streams(system, function, *filtered),
        EventSource::Objects { bucket, .. } => objects(system, function, bucket),
        EventSource::Queue { name, .. } => queue(function, name),
        EventSource::Schedule { every_minutes, .. } => schedule(system, function, *every_minutes),
        EventSource::Deployment { .. } => deployment(system, function, checked),
        EventSource::StateMachine { name, definition, .. } => state_machine::of(system, function, name, definition),
        EventSource::Socket { .. } => socket::permission(system, function),
    })
    .collect()
}

/// Returns the permissions of a function's role that its event source needs to read and to store discarded records.
pub fn statements(system: &System, function: &Function) -> Vec<Node> {
    if let Some(queue) = function.queue(system) {
        let receive = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"];
        let arn = attribute(resource(queue, "Queue"), "Arn");
        return vec![allow(&format!("Receive{}", resource(queue, "")), &receive, arn, None)];
    }
    let mut own = system.sources.iter().filter(|source| source.calls(function.name));
    let read = own.find_map(|source| match source {
        EventSource::Streams { .. } => Some(system.mirrored().collect()),
        EventSource::Records { .. } => Some(system.streams().collect()),
        EventSource::Objects { .. } => Some(Vec::new()),
        EventSource::Queue { .. }
        | EventSource::Schedule { .. }
        | EventSource::Deployment { .. }
        | EventSource::StateMachine { .. }
        | EventSource::Socket { .. } => None,
    });
    let Some(tables) = read else { return Vec::new() };
    let mut statements: Vec<Node> = tables
        .into_iter()
        .flat_map(|table| {
            let name = resource(table.name, "");
            let read = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"];
            let arn = attribute(resource(table.name, "Table"), "StreamArn");
            let every = sub(format!("{}/stream/*", names::table_arn(table.name)));
            [
                allow(&format!("Stream{name}"), &read, arn, None),
                allow(&format!("Streams{name}"), &["dynamodb:ListStreams"], every, None),
            ]
        })
        .collect();
    let failures = names::bucket_arn(&failures_bucket(system.name));
    statements.push(allow("GivenUp", &["s3:PutObject"], sub(format!("{failures}/*")), None));
    statements.push(allow("GivenUpBucket", &["s3:ListBucket"], sub(failures), None));
    statements
}

/// Returns one mapping for each table that is mirrored, by the mirror's rules.
fn mirror_streams(system: &System, function: &Function, filtered: bool) -> Map {
    system.mirrored().map(|table| stream(system, function, table, (BATCH_RECORDS, PARALLEL), filtered)).collect()
}

/// Returns one mapping for each table with a stream, for a reader beside the mirror.
fn record_streams(system: &System, function: &Function, filtered: bool) -> Map {
    let settings = (u64::from(RECORDS_BATCH), 1);
    system.streams().map(|table| stream(system, function, table, settings, filtered)).collect()
}

/// Returns the mapping of a table's stream with the settings that all readers share, its batch size and its concurrent
/// invocations per shard. `filtered` drops records of keys that never have documents.
fn stream(
    system: &System,
    function: &Function,
    table: &Table,
    (batch, parallel): (u64, u64),
    filtered: bool,
) -> (String, Node) {
    let mut properties = map! {
        "FunctionName" => reference(function.resource("Function")),
        "EventSourceArn" => attribute(resource(table.name, "Table"), "StreamArn"),
        "StartingPosition" => "TRIM_HORIZON",
        "BatchSize" => batch,
        "ParallelizationFactor" => parallel,
        "FunctionResponseTypes" => list!["ReportBatchItemFailures"],
        "BisectBatchOnFunctionError" => true,
        // The limit is an age below the 24 h of a stream's retention, not a number of attempts.
        "MaximumRecordAgeInSeconds" => GIVEN_UP_SECONDS,
        "DestinationConfig" => put_aside(system),
        // The alarm on a mapping that does not poll watches `PolledEventCount`.
        "MetricsConfig" => map! { "Metrics" => list!["EventCount"] },
    };
    if filtered && let Some(members) = properties.members() {
        let pattern = |pattern: &KeyPattern| map! { "Pattern" => pattern.filter(table).to_string() };
        let filters = table.documents().iter().map(pattern).collect();
        members.push(("FilterCriteria".to_owned(), map! { "Filters" => Node::List(filters) }));
    }
    (mapping_name(function, table), map! { "Type" => "AWS::Lambda::EventSourceMapping", "Properties" => properties })
}

/// Returns the name of the resource that maps a table's stream to a function.
pub fn mapping_name(function: &Function, table: &Table) -> String {
    format!("{}{}", function.resource(""), resource(table.name, "Source"))
}

/// The maximum number of stream records in one invocation of the mirror. The other limit is 6 MB.
const BATCH_RECORDS: u64 = 1000;

/// The concurrent invocations of the mirror per shard. Records of one partition key stay in order.
const PARALLEL: u64 = 2;

/// The maximum age of a stream record.
pub const GIVEN_UP_SECONDS: u64 = 20 * 3600;

/// Returns the destination of discarded records.
fn put_aside(system: &System) -> Node {
    let failures = attribute(resource(&failures_bucket(system.name), "Bucket"), "Arn");
    map! { "OnFailure" => map! { "Destination" => failures } }
}

/// Returns the retry settings of asynchronous events. The bucket itself has the notification. A dropped object event is
/// not sent again, so it is stored, too. A schedule repeats by itself.
fn objects(system: &System, function: &Function, bucket: &str) -> Map {
    let properties = map! {
        "FunctionName" => reference(function.resource("Function")),
        "Qualifier" => "$LATEST",
        "MaximumRetryAttempts" => 2,
        "MaximumEventAgeInSeconds" => EVENT_GIVEN_UP_SECONDS,
        "DestinationConfig" => put_aside(system),
    };
    vec![
        permission(function, "s3.amazonaws.com", sub(names::bucket_arn(bucket)), Some(reference("AWS::AccountId"))),
        (
            function.resource("Invocations"),
            map! { "Type" => "AWS::Lambda::EventInvokeConfig", "Properties" => properties },
        ),
    ]
}

/// The maximum time for which Lambda queues an event.
const EVENT_GIVEN_UP_SECONDS: u64 = 6 * 3600;

/// Returns the mapping of a queue. A batch has one message, so that a failure concerns no other message.
fn queue(function: &Function, queue: &str) -> Map {
    let properties = map! {
        "FunctionName" => reference(function.resource("Function")),
        "EventSourceArn" => attribute(resource(queue, "Queue"), "Arn"),
        "BatchSize" => 1,
        "ScalingConfig" => map! { "MaximumConcurrency" => u64::from(QUEUE_CONCURRENCY) },
    };
    let name = format!("{}{}", function.resource(""), resource(queue, "Source"));
    vec![(name, map! { "Type" => "AWS::Lambda::EventSourceMapping", "Properties" => properties })]
}

fn schedule(system: &System, function: &Function, minutes: u32) -> Map {
    let rate = if minutes == 1 { "rate(1 minute)".to_owned() } else { format!("rate({minutes} minutes)") };
    let rule = function.resource("Schedule");
    let properties = map! {
        "Name" => sub(names::function(system.name, function.name)),
        "ScheduleExpression" => rate,
        "Targets" => list![map! { "Id" => function.name, "Arn" => attribute(function.resource("Function"), "Arn") }],
        "Tags" => names::tag_list(system.name),
    };
    vec![
        (rule.clone(), map! { "Type" => "AWS::Events::Rule", "Properties" => properties }),
        permission(function, "events.amazonaws.com", attribute(rule, "Arn"), None),
    ]
}

/// Returns a custom resource that the function creates after its other resources. Only CloudFormation calls it, with
/// the permissions of the deployment.
///
/// The parameters that the functions check are properties of it. So an update that changes one calls the function, which
/// refuses what is not valid, and CloudFormation rolls the update back.
fn deployment(system: &System, function: &Function, checked: &[&str]) -> Map {
    let tables = system.tables.iter().map(|table| resource(table.name, "Table"));
    let buckets = system.buckets.iter().map(|bucket| resource(bucket.name, "Bucket"));
    let after: Vec<Node> = tables.chain(buckets).chain(["Logs".to_owned()]).map(Node::from).collect();
    let mut properties = vec![
        ("ServiceToken".to_owned(), attribute(function.resource("Function"), "Arn")),
        ("ServiceTimeout".to_owned(), DEPLOYMENT_SECONDS.into()),
    ];
    properties.extend(checked.iter().map(|parameter| ((*parameter).to_owned(), reference(*parameter))));
    let custom = map! {
        "Type" => format!("Custom::{}", function.resource("")),
        "DependsOn" => after,
        "Properties" => properties,
    };
    vec![(function.resource("Resource"), custom)]
}

/// How long a deployment waits for the function. It is CloudFormation's maximum, in which Lambda makes three attempts.
const DEPLOYMENT_SECONDS: u64 = 3600;

/// Returns a permission to invoke the function. `account` is for sources whose ARN has no account, such as buckets.
/// EventBridge needs a permission without it ("My rule ran but my Lambda function wasn't invoked", Amazon EventBridge
/// User Guide).
fn permission(function: &Function, principal: &str, source: Node, account: Option<Node>) -> (String, Node) {
    let mut properties = vec![
        ("FunctionName".to_owned(), reference(function.resource("Function"))),
        ("Action".to_owned(), "lambda:InvokeFunction".into()),
        ("Principal".to_owned(), principal.into()),
        ("SourceArn".to_owned(), source),
    ];
    properties.extend(account.map(|account| ("SourceAccount".to_owned(), account)));
    (function.resource("Permission"), map! { "Type" => "AWS::Lambda::Permission", "Properties" => properties })
}
