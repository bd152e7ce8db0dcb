//! Alarms, per system and optionally per route.

use table::schema::{EventSource, System, dead_letter_queue};
use web::metrics::NAMESPACE;

use super::function::Function;
use super::names;
use super::node::{Map, Node, reference, sub};
use super::sources::GIVEN_UP_SECONDS;

/// An alarm on the sum or the maximum of one metric.
struct Alarm<'a> {
    name: String,
    about: &'a str,
    namespace: &'a str,
    metric: &'a str,
    dimensions: Map,
    statistic: &'a str,
    rings: Rings,
    /// The seconds of a period, and the number of consecutive periods that raise the alarm.
    period: u64,
    periods: u64,
}

/// When a period counts towards an alarm.
#[derive(Clone, Copy)]
enum Rings {
    /// A period without data is good.
    Above(u64),
    /// A period without data is bad.
    Below(u64),
}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const MILLIS: u64 = 1000;

/// Returns the alarms of a system.
pub fn system(system: &System, functions: &[Function]) -> Map {
    let name = system.name;
    let base = Alarm {
        name: String::new(),
        about: "",
        namespace: NAMESPACE,
        metric: "",
        dimensions: Map::new(),
        statistic: "Sum",
        rings: Rings::Above(0),
        period: 5 * MINUTE,
        periods: 1,
    };
    let of_handler = |handler: &Function| vec![("FunctionName".to_owned(), sub(names::function(name, handler.name)))];
    let mut alarms = vec![(
        "ApiServerErrorsAlarm".to_owned(),
        Alarm {
            name: format!("{name} answers 5xx"),
            about: "The API answered 5xx: a function failed, was throttled or ran out of time.",
            namespace: "AWS/ApiGateway",
            metric: "5xx",
            dimensions: vec![("ApiId".to_owned(), reference("Api"))],
            ..base
        },
    )];
    // The mirror's failures show as lag, a failing object event is dropped within minutes, and a deployment fails by
    // itself.
    // Handlers that run once an hour or less only clean up, and the next run does what is left. The dashboard shows
    // them.
    for handler in functions.iter().filter(|function| function.is_polling(system)) {
        alarms.extend([
            (
                handler.resource("ErrorsAlarm"),
                Alarm {
                    name: format!("{name} {} fails", handler.name),
                    about: "Invocations failed or ran out of time; what they were to do waits for the next.",
                    namespace: "AWS/Lambda",
                    metric: "Errors",
                    dimensions: of_handler(handler),
                    periods: 3,
                    ..base
                },
            ),
            (
                handler.resource("NotInvokedAlarm"),
                Alarm {
                    name: format!("{name} {} is not invoked", handler.name),
                    about: "EventBridge has not invoked it for ten minutes: no job makes progress.",
                    namespace: "AWS/Lambda",
                    metric: "Invocations",
                    dimensions: of_handler(handler),
                    rings: Rings::Below(1),
                    periods: 2,
                    ..base
                },
            ),
        ]);
    }
    for handler in functions.iter().filter(|function| function.hears_of_objects(system)) {
        alarms.push((
            handler.resource("DroppedEventsAlarm"),
            Alarm {
                name: format!("{name} {} dropped an event", handler.name),
                about: "An event about a file failed three times or waited for six hours. It is in the bucket of \
                        failures.",
                namespace: "AWS/Lambda",
                metric: "AsyncEventsDropped",
                dimensions: of_handler(handler),
                ..base
            },
        ));
    }
    for (handler, queue) in functions.iter().filter_map(|function| Some((function, function.queue(system)?))) {
        let dead = sub(names::queue(&dead_letter_queue(queue)));
        alarms.push((
            handler.resource("DeadLettersAlarm"),
            Alarm {
                name: format!("{name} {} has dead letters", handler.name),
                about: "A message failed five times: see the queue of dead letters.",
                namespace: "AWS/SQS",
                metric: "ApproximateNumberOfMessagesVisible",
                dimensions: vec![("QueueName".to_owned(), dead)],
                statistic: "Maximum",
                ..base
            },
        ));
    }
    let mirrors = system.sources.iter().filter(|source| matches!(source, EventSource::Streams { .. }));
    for mirror in mirrors.filter_map(|source| functions.iter().find(|function| source.calls(function.name))) {
        alarms.extend([
            (
                mirror.resource("LagAlarm"),
                // Lambda's own metric grows as long as a batch is retried, whatever the cause.
                Alarm {
                    name: format!("{name} search lags"),
                    about: "Records of the tables have waited for the mirror for more than a minute, for ten minutes.",
                    namespace: "AWS/Lambda",
                    metric: "IteratorAge",
                    dimensions: of_handler(mirror),
                    statistic: "Maximum",
                    rings: Rings::Above(MINUTE * MILLIS),
                    periods: 2,
                    ..base
                },
            ),
            (
                mirror.resource("QuarantineAlarm"),
                Alarm {
                    name: format!("{name} quarantines"),
                    about: "Items cannot be indexed: see cairn quarantine ls.",
                    metric: "Quarantined",
                    dimensions: of_operation(name, mirror.name),
                    ..base
                },
            ),
        ]);
    }
    if let Some(audit) = functions.iter().find(|function| function.name == mirror::AUDIT) {
        alarms.push((
            audit.resource("OverdueAlarm"),
            Alarm {
                name: format!("{name} audit is overdue"),
                about: "No audit of search has ended for 26 hours.",
                metric: "Audits",
                dimensions: of_operation(name, audit.name),
                rings: Rings::Below(1),
                // CloudWatch looks back over at most seven days, in periods of an hour or more.
                period: HOUR,
                periods: 26,
                ..base
            },
        ));
        alarms.push((
            audit.resource("DifferencesAlarm"),
            Alarm {
                name: format!("{name} search differed"),
                about: "An audit found differences between the tables and search: see cairn audit SYSTEM --last.",
                metric: "Differences",
                dimensions: of_operation(name, audit.name),
                ..base
            },
        ));
        if audit.reads_objects() {
            alarms.push((
                audit.resource("ShapesAlarm"),
                Alarm {
                    name: format!("{name} lacks shapes"),
                    about: "Objects of shapes do not exist: see cairn audit SYSTEM --last.",
                    metric: "ShapesMissing",
                    dimensions: of_operation(name, audit.name),
                    ..base
                },
            ));
        }
    }
    let records = system.sources.iter().filter(|source| matches!(source, EventSource::Records { .. }));
    for reader in records.filter_map(|source| functions.iter().find(|function| source.calls(function.name))) {
        alarms.push((
            reader.resource("LagAlarm"),
            Alarm {
                name: format!("{name} {} lags", reader.name),
                about: "Records of the tables have waited for this reader for more than a minute, for ten minutes.",
                namespace: "AWS/Lambda",
                metric: "IteratorAge",
                dimensions: of_handler(reader),
                statistic: "Maximum",
                rings: Rings::Above(MINUTE * MILLIS),
                periods: 2,
                ..base
            },
        ));
    }
    let is_stream = |source: &&EventSource| matches!(source, EventSource::Streams { .. } | EventSource::Records { .. });
    for source in system.sources.iter().filter(is_stream) {
        let Some(reader) = functions.iter().find(|function| source.calls(function.name)) else { continue };
        let of_mirror = matches!(source, EventSource::Streams { .. });
        alarms.extend([
            (
                reader.resource("ThrottlesAlarm"),
                Alarm {
                    name: format!("{name} {} is throttled", reader.name),
                    about: if of_mirror {
                        "The account has no concurrency left for the mirror."
                    } else {
                        "The account has no concurrency left for this reader of the streams."
                    },
                    namespace: "AWS/Lambda",
                    metric: "Throttles",
                    dimensions: of_handler(reader),
                    periods: 3,
                    ..base
                },
            ),
            (
                reader.resource("ExpiryAlarm"),
                // The alarm comes while the job can still be stopped.
                Alarm {
                    name: if of_mirror {
                        format!("{name} stream records expire soon")
                    } else {
                        format!("{name} stream records of {} expire soon", reader.name)
                    },
                    about: "Lambda discards records of the tables within the hour and writes them to the bucket of \
                            failures.",
                    namespace: "AWS/Lambda",
                    metric: "IteratorAge",
                    dimensions: of_handler(reader),
                    statistic: "Maximum",
                    rings: Rings::Above((GIVEN_UP_SECONDS - HOUR) * MILLIS),
                    ..base
                },
            ),
        ]);
    }
    let sockets = system.sources.iter().filter(|source| matches!(source, EventSource::Socket { .. }));
    for handler in sockets.flat_map(EventSource::handlers) {
        let Some(handler) = functions.iter().find(|function| function.name == handler) else { continue };
        alarms.push((
            handler.resource("ErrorsAlarm"),
            Alarm {
                name: format!("{name} {} fails", handler.name),
                about: "Events of the socket failed or ran out of time. API Gateway does not repeat them.",
                namespace: "AWS/Lambda",
                metric: "Errors",
                dimensions: of_handler(handler),
                periods: 3,
                ..base
            },
        ));
    }
    alarms.into_iter().map(|(resource, alarm)| (resource, alarm.resource(name, None))).collect()
}

/// Returns the alarm of a route. It is optional because of its cost.
pub fn route(system: &str, function: &Function) -> (String, Node) {
    let alarm = Alarm {
        name: format!("{system} {} answers 5xx", function.name),
        about: "The route answered 5xx.",
        namespace: NAMESPACE,
        metric: "ServerErrors",
        dimensions: of_operation(system, function.name),
        statistic: "Sum",
        rings: Rings::Above(0),
        period: 5 * MINUTE,
        periods: 1,
    };
    (function.resource("Alarm"), alarm.resource(system, Some("HasRouteAlarms")))
}

/// Returns the dimensions of Cairn's own metrics.
fn of_operation(system: &str, name: &str) -> Map {
    vec![("System".to_owned(), sub(format!("${{Prefix}}{system}"))), ("Operation".to_owned(), name.into())]
}

impl Alarm<'_> {
    fn resource(self, system: &str, condition: Option<&str>) -> Node {
        let dimensions: Vec<Node> =
            self.dimensions.into_iter().map(|(name, value)| map! { "Name" => name, "Value" => value }).collect();
        let (comparison, threshold, missing) = match self.rings {
            Rings::Above(limit) => ("GreaterThanThreshold", limit, "notBreaching"),
            Rings::Below(limit) => ("LessThanThreshold", limit, "breaching"),
        };
        let actions = map! { "Fn::If" => list!["HasAlarmTopic", list![reference("AlarmTopicArn")], list![]] };
        let properties = map! {
            "AlarmName" => sub(format!("${{Prefix}}{}", self.name)),
            "AlarmDescription" => self.about,
            "Namespace" => self.namespace,
            "MetricName" => self.metric,
            "Dimensions" => dimensions,
            "Statistic" => self.statistic,
            "Period" => self.period,
            "EvaluationPeriods" => self.periods,
            "Threshold" => threshold,
            "ComparisonOperator" => comparison,
            "TreatMissingData" => missing,
            "AlarmActions" => actions,
            "Tags" => names::tag_list(system),
        };
        let mut resource: Map = vec![("Type".to_owned(), "AWS::CloudWatch::Alarm".into())];
        resource.extend(condition.map(|condition| ("Condition".to_owned(), condition.into())));
        resource.push(("Properties".to_owned(), properties));
        Node::Map(resource)
    }
}
