//! The alarms of a system, optionally with that of its routes.

use table::schema::{EventSource, System, Table, dead_letter_queue};
use web::metrics::NAMESPACE;

use super::function::Function;
use super::names;
use super::node::{Map, Node, reference, sub};
use super::sources::{GIVEN_UP_SECONDS, mapping_name};

const ALARM: &str = "AWS::CloudWatch::Alarm";

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
    let rare = functions.iter().filter_map(|function| Some((function, function.rare_interval(system)?)));
    // The audit has an alarm of its own, `audit is overdue`. A failed run of another handler is made up for by the next
    // one.
    for (handler, minutes) in rare.filter(|(handler, _)| handler.name != mirror::AUDIT) {
        alarms.push((
            handler.resource("ErrorsAlarm"),
            Alarm {
                name: format!("{name} {} fails", handler.name),
                about: "Invocations failed or ran out of time in two consecutive periods; what they were to do may \
                        not be done.",
                namespace: "AWS/Lambda",
                metric: "Errors",
                dimensions: of_handler(handler),
                period: u64::from(minutes) * MINUTE,
                periods: 2,
                ..base
            },
        ));
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
        let tables: Vec<&Table> = if of_mirror { system.mirrored().collect() } else { system.streams().collect() };
        // A mapping that does not poll calls no function, so no metric of the reader tells. One that polls reports how
        // many records it found, 0 of an idle table.
        alarms.extend(tables.into_iter().map(|table| {
            let mapping = mapping_name(reader, table);
            let alarm = Alarm {
                name: format!("{name} {} does not poll {}", reader.name, table.name),
                about: "Lambda has not read the stream of the table for ten minutes.",
                namespace: "AWS/Lambda",
                metric: "PolledEventCount",
                dimensions: vec![("EventSourceMappingUUID".to_owned(), reference(&mapping))],
                // Only a period without data.
                rings: Rings::Below(0),
                periods: 2,
                ..base
            };
            (format!("{mapping}SilentAlarm"), alarm)
        }));
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
    alarms.into_iter().map(|(resource, alarm)| (resource, alarm.resource(name))).collect()
}

/// Returns the alarm of the routes of a system. It is optional because of its cost. CloudWatch keeps a state for each route
/// ("Create an alarm based on a Multi Time Series Metrics Insights query"), so an alarm for each route as a resource of
/// its own is not needed.
pub fn routes(system: &str) -> (String, Node) {
    let query = format!(
        "SELECT SUM(\"ServerErrors\") FROM SCHEMA(\"{NAMESPACE}\", \"System\", \"Operation\") \
         WHERE \"System\" = '${{Prefix}}{system}' GROUP BY \"Operation\" ORDER BY SUM() DESC"
    );
    let query = map! { "Id" => "errors", "Expression" => sub(query), "Period" => 5 * MINUTE, "ReturnData" => true };
    let watched = vec![("Metrics".to_owned(), list![query])];
    let rings = Rings::Above(0).properties(1);
    let (name, about) = (format!("{system} a route answers 5xx"), "The routes that answered 5xx are its contributors.");
    let resource = map! {
        "Type" => ALARM,
        "Condition" => "HasRouteAlarms",
        "Properties" => properties(system, &name, about, [watched, rings].concat()),
    };
    ("RoutesAlarm".to_owned(), resource)
}

/// Returns the dimensions of Cairn's own metrics.
fn of_operation(system: &str, name: &str) -> Map {
    vec![("System".to_owned(), sub(format!("${{Prefix}}{system}"))), ("Operation".to_owned(), name.into())]
}

impl Alarm<'_> {
    fn resource(self, system: &str) -> Node {
        let dimensions: Vec<Node> =
            self.dimensions.into_iter().map(|(name, value)| map! { "Name" => name, "Value" => value }).collect();
        let watched = vec![
            ("Namespace".to_owned(), self.namespace.into()),
            ("MetricName".to_owned(), self.metric.into()),
            ("Dimensions".to_owned(), dimensions.into()),
            ("Statistic".to_owned(), self.statistic.into()),
            ("Period".to_owned(), self.period.into()),
        ];
        let rings = self.rings.properties(self.periods);
        let properties = properties(system, &self.name, self.about, [watched, rings].concat());
        map! { "Type" => ALARM, "Properties" => properties }
    }
}

impl Rings {
    fn properties(self, periods: u64) -> Map {
        let (comparison, threshold, missing) = match self {
            Self::Above(limit) => ("GreaterThanThreshold", limit, "notBreaching"),
            Self::Below(limit) => ("LessThanThreshold", limit, "breaching"),
        };
        vec![
            ("EvaluationPeriods".to_owned(), periods.into()),
            ("Threshold".to_owned(), threshold.into()),
            ("ComparisonOperator".to_owned(), comparison.into()),
            ("TreatMissingData".to_owned(), missing.into()),
        ]
    }
}

/// Returns the properties of an alarm, with those of what it watches.
fn properties(system: &str, name: &str, about: &str, watched: Map) -> Node {
    let actions = map! { "Fn::If" => list!["HasAlarmTopic", list![reference("AlarmTopicArn")], list![]] };
    let first = [("AlarmName", sub(format!("${{Prefix}}{name}"))), ("AlarmDescription", about.into())];
    let last = [("AlarmActions", actions), ("Tags", names::tag_list(system))];
    let [first, last] = [first, last].map(|own| own.map(|(name, value)| (name.to_owned(), value)));
    Node::Map(first.into_iter().chain(watched).chain(last).collect())
}
