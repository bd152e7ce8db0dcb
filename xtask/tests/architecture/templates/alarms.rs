//! Who is woken, by what, and at which price.

use super::{members, of_type, systems, text};

/// With the defaults three systems cost at most one USD a month at rest: ten alarms are free in an account, and each
/// further one is USD 0.10.
#[test]
fn a_system_has_six_alarms_unless_each_route_is_to_have_one() {
    for (system, template) in systems() {
        let of_all = members(&template["Resources"]).filter(|(_, it)| text(&it["Type"]) == "AWS::CloudWatch::Alarm");
        let always: Vec<_> = of_all.filter(|(_, it)| it["Condition"].is_null()).map(|(name, _)| name).collect();
        let mirror = ["GivenUp", "Lag", "Quarantine", "Throttles"].map(|name| format!("Mirror{name}"));
        let expected = [&["ApiServerErrors".to_owned()], &mirror[..], &["RunWorkErrors".to_owned()]].concat();
        assert_eq!(always, expected.iter().map(|name| format!("{name}Alarm")).collect::<Vec<_>>(), "{system}");
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
/// given up, and those of what polls by errors in three periods in a row, which what is called more rarely never has.
#[test]
fn no_alarm_waits_for_what_cannot_be() {
    for (system, template) in systems() {
        let alarm = |name: &str| &template["Resources"][format!("{name}Alarm")]["Properties"];
        let mut rare = 0;
        for (name, rule) in of_type(&template, "AWS::Events::Rule") {
            let rate = text(&rule["ScheduleExpression"]);
            let minutes: u64 = rate.split(['(', ' ']).nth(1).unwrap().parse().unwrap();
            let handler = name.strip_suffix("Schedule").unwrap();
            let seconds = alarm(&format!("{handler}Errors"))["Period"].as_u64();
            assert_eq!(seconds.is_some(), minutes < 60, "{system}: {handler} at {rate}");
            assert!(seconds.is_none_or(|seconds| minutes * 60 <= seconds), "{system}: {handler} at {rate}");
            rare += u32::from(minutes >= 60);
        }
        assert!(rare > 0, "{system}");
        let [bucket, _] = alarm("MirrorGivenUp")["Dimensions"].as_array().unwrap().as_slice() else { panic!() };
        for (name, asynchronous) in of_type(&template, "AWS::Lambda::EventInvokeConfig") {
            let to = &asynchronous["DestinationConfig"]["OnFailure"]["Destination"]["Fn::GetAtt"][0];
            let failures = &template["Resources"][text(to)]["Properties"]["BucketName"];
            assert_eq!(failures, &bucket["Value"], "{system}: {name}");
        }
        for (name, mapping) in of_type(&template, "AWS::Lambda::EventSourceMapping") {
            let function = &template["Resources"][text(&mapping["FunctionName"]["Ref"])]["Properties"]["FunctionName"];
            assert_eq!(&alarm("MirrorLag")["Dimensions"][0]["Value"], function, "{system}: {name}");
        }
    }
}
