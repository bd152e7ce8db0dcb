//! Who is woken, by what, and at which price.

use std::collections::BTreeSet;

use serde_json::json;

use super::sockets::socket_routes;
use super::{members, of_type, queue_mappings, stream_mappings, systems, text};

/// The schedule of the audit, whose silence has an alarm.
const AUDIT: &str = "AuditIndexSchedule";

/// Ten alarms are free in an account, and each further one is USD 0.10 a month.
#[test]
fn a_system_has_one_alarm_for_its_api_and_those_of_its_event_sources() {
    for (system, template) in systems() {
        let of_all = members(&template["Resources"]).filter(|(_, it)| text(&it["Type"]) == "AWS::CloudWatch::Alarm");
        let always: BTreeSet<String> =
            of_all.filter(|(_, it)| it["Condition"].is_null()).map(|(name, _)| name.to_owned()).collect();
        let readers = stream_mappings(&template).flat_map(|(_, mapping)| {
            let function = text(&mapping["FunctionName"]["Ref"]);
            ["Expiry", "Lag", "Throttles"].map(|name| function.replace("Function", &format!("{name}Alarm")))
        });
        let polling =
            of_type(&template, "AWS::Events::Rule").filter(|(_, it)| it["ScheduleExpression"] == "rate(1 minute)");
        let polling = polling.map(|(name, _)| name.replace("Schedule", "NotInvokedAlarm"));
        let scheduled = of_type(&template, "AWS::Events::Rule").map(|(name, _)| name);
        let scheduled = scheduled.filter(|name| *name != AUDIT).map(|name| name.replace("Schedule", "ErrorsAlarm"));
        let mut expected = BTreeSet::from(["ApiServerErrorsAlarm", "MirrorQuarantineAlarm"].map(str::to_owned));
        expected.extend(readers.chain(polling).chain(scheduled));
        expected.extend(stream_mappings(&template).map(|(name, _)| format!("{name}SilentAlarm")));
        expected.extend(["AuditIndexOverdueAlarm", "AuditIndexDifferencesAlarm"].map(str::to_owned));
        if system == "parks" {
            // Only its documents have shapes.
            expected.insert("AuditIndexShapesAlarm".to_owned());
        }
        expected.extend(socket_routes(&template).map(|(function, _)| function.replace("Function", "ErrorsAlarm")));
        let files = of_type(&template, "AWS::Lambda::EventInvokeConfig");
        expected.extend(files.map(|(name, _)| name.replace("Invocations", "DroppedEventsAlarm")));
        let handlers = queue_mappings(&template).map(|(_, mapping)| text(&mapping["FunctionName"]["Ref"]));
        expected.extend(handlers.map(|function| function.replace("Function", "DeadLettersAlarm")));
        assert_eq!(always, expected, "{system}");
    }
}

/// A function that is never invoked has no errors: its silence needs an alarm of its own.
#[test]
fn a_schedule_that_invokes_nothing_rings() {
    for (system, template) in systems() {
        for (name, rule) in of_type(&template, "AWS::Events::Rule") {
            if rule["ScheduleExpression"] != "rate(1 minute)" {
                continue;
            }
            let alarm = &template["Resources"][name.replace("Schedule", "NotInvokedAlarm")]["Properties"];
            let function = &template["Resources"][name.replace("Schedule", "Function")]["Properties"]["FunctionName"];
            assert_eq!(&alarm["Dimensions"][0]["Value"], function, "{system}: {name}");
            let rings = (&alarm["MetricName"], &alarm["ComparisonOperator"], &alarm["TreatMissingData"]);
            assert_eq!(rings, (&"Invocations".into(), &"LessThanThreshold".into(), &"breaching".into()), "{system}");
            assert_eq!(alarm["Threshold"], 1, "{system}");
        }
    }
}

/// A mapping that does not poll reports no metric, and the function that it does not call has none either. CloudWatch also
/// looks at some periods before those that are evaluated, and counts missing values once none of them has one ("Configuring
/// how CloudWatch alarms treat missing data").
#[test]
fn a_stream_that_is_not_polled_rings_within_half_an_hour() {
    for (system, template) in systems() {
        for (name, mapping) in stream_mappings(&template) {
            assert_eq!(mapping["MetricsConfig"], json!({ "Metrics": ["EventCount"] }), "{system}: {name}");
            let alarm = &template["Resources"][format!("{name}SilentAlarm")]["Properties"];
            let watched = (&alarm["MetricName"], &alarm["Dimensions"]);
            let dimension = json!([{ "Name": "EventSourceMappingUUID", "Value": { "Ref": name } }]);
            assert_eq!(watched, (&json!("PolledEventCount"), &dimension), "{system}: {name}");
            let rings = (&alarm["Threshold"], &alarm["ComparisonOperator"], &alarm["TreatMissingData"]);
            assert_eq!(rings, (&json!(0), &json!("LessThanThreshold"), &json!("breaching")), "{system}: {name}");
            let number = |property: &str| alarm[property].as_u64().unwrap();
            // A period that has begun ends first, and the evaluation begins up to two periods earlier.
            assert!((number("EvaluationPeriods") + 3) * number("Period") <= 1800, "{system}: {name}");
        }
    }
}

/// A resource for each route would fill the stack of a large system. CloudWatch keeps a state for each route only if the
/// query both groups and orders.
#[test]
fn one_alarm_watches_each_route_if_asked_for() {
    for (system, template) in systems() {
        assert_eq!(template["Parameters"]["RouteAlarms"]["Default"], "false", "{system}");
        let optional = of_type(&template, "AWS::CloudWatch::Alarm").filter(|(_, alarm)| alarm.get("Metrics").is_some());
        let [(_, alarm)] = optional.collect::<Vec<_>>().try_into().unwrap();
        assert_eq!(template["Resources"]["RoutesAlarm"]["Condition"], "HasRouteAlarms", "{system}");
        let query = text(&alarm["Metrics"][0]["Expression"]["Fn::Sub"]);
        assert!(query.contains(&format!("WHERE \"System\" = '${{Prefix}}{system}'")), "{system}: {query}");
        assert!(query.ends_with("GROUP BY \"Operation\" ORDER BY SUM() DESC"), "{system}: {query}");
    }
}

/// A metric is USD 0.30 a month, and each route that is called would have five.
#[test]
fn routes_have_metrics_of_their_own_if_asked_for_or_if_their_alarms_need_them() {
    for (system, template) in systems() {
        assert_eq!(template["Parameters"]["RouteMetrics"]["Default"], "false", "{system}");
        let chosen = ["RouteMetrics", "RouteAlarms"].map(|name| json!({ "Fn::Equals": [{ "Ref": name }, "true"] }));
        assert_eq!(template["Conditions"]["HasRouteMetrics"], json!({ "Fn::Or": chosen }), "{system}");
        let variables = &template["Globals"]["Function"]["Environment"]["Variables"];
        let told = json!({ "Fn::If": ["HasRouteMetrics", "true", "false"] });
        assert_eq!(variables["CAIRN_ROUTE_METRICS"], told, "{system}");
    }
}

/// X-Ray samples the first request of each second, and so each call of what a clock calls every minute: USD 0.22 a month.
#[test]
fn what_polls_is_not_traced() {
    for (system, template) in systems() {
        assert_eq!(template["Globals"]["Function"]["Tracing"], "Active", "{system}");
        for (name, function) in of_type(&template, "AWS::Serverless::Function") {
            let schedule = &template["Resources"][name.replace("Function", "Schedule")]["Properties"];
            let expected = (schedule["ScheduleExpression"] == "rate(1 minute)").then_some("PassThrough");
            assert_eq!(function["Tracing"].as_str(), expected, "{system}: {name}");
        }
    }
}

/// An alarm must be one that can ring: the mirror's failures are told by the age of its records, objects' by what was
/// given up, and those of schedules by errors in consecutive periods, each of which has a run. CloudWatch looks back over
/// at most seven days.
#[test]
fn no_alarm_waits_for_what_cannot_be() {
    for (system, template) in systems() {
        let alarm = |name: &str| &template["Resources"][format!("{name}Alarm")]["Properties"];
        let mut rare = 0;
        for (name, rule) in of_type(&template, "AWS::Events::Rule") {
            let rate = text(&rule["ScheduleExpression"]);
            let minutes: u64 = rate.split(['(', ' ']).nth(1).unwrap().parse().unwrap();
            let handler = name.strip_suffix("Schedule").unwrap();
            if name == AUDIT {
                continue;
            }
            let errors = alarm(&format!("{handler}Errors"));
            let (period, periods) = (errors["Period"].as_u64().unwrap(), errors["EvaluationPeriods"].as_u64().unwrap());
            assert!(minutes * 60 <= period && period * periods <= 7 * 86_400, "{system}: {handler} at {rate}");
            rare += u32::from(minutes >= 60);
        }
        assert!(rare > 0, "{system}");
        for (name, asynchronous) in of_type(&template, "AWS::Lambda::EventInvokeConfig") {
            let handler = name.strip_suffix("Invocations").unwrap();
            let dropped = alarm(&format!("{handler}DroppedEvents"));
            assert_eq!(dropped["MetricName"], "AsyncEventsDropped", "{system}: {name}");
            let function =
                &template["Resources"][text(&asynchronous["FunctionName"]["Ref"])]["Properties"]["FunctionName"];
            assert_eq!(&dropped["Dimensions"][0]["Value"], function, "{system}: {name}");
        }
        for (name, mapping) in stream_mappings(&template) {
            let function = &template["Resources"][text(&mapping["FunctionName"]["Ref"])]["Properties"]["FunctionName"];
            // The first rings within minutes, the second while there is an hour left to do something.
            let limit = mapping["MaximumRecordAgeInSeconds"].as_u64().unwrap() * 1000;
            let handler = text(&mapping["FunctionName"]["Ref"]).replace("Function", "");
            let (lag, expiry) = (alarm(&format!("{handler}Lag")), alarm(&format!("{handler}Expiry")));
            for (alarm, limit) in [(lag, 60_000), (expiry, limit - 3_600_000)] {
                assert_eq!(&alarm["Dimensions"][0]["Value"], function, "{system}: {name}");
                assert_eq!(alarm["MetricName"], "IteratorAge", "{system}: {name}");
                assert_eq!(alarm["Threshold"], limit, "{system}: {name}");
            }
        }
    }
}
