//! The parameters of a deployment.

use table::schema::System;
use web::App;

use super::function::Function;
use super::names;
use super::node::{Map, Node};

/// Returns the parameters of a system's template.
pub fn system(app: &App, functions: &[Function]) -> Node {
    let Node::Map(mut all) = common() else { return common() };
    if app.own_issuer().is_some() {
        all.push((
            OWN_LOGIN.to_owned(),
            flag("Whether people register and log in here; if not, the issuers sign them in.", true),
        ));
    }
    if !app.declared_limits().is_empty() {
        let description = "Limits that differ from those of the docs, such as `register=20,logIn=50`.";
        all.push((
            LIMITS.to_owned(),
            text(description, "", "^([A-Za-z]+=[1-9][0-9]{0,6}(,[A-Za-z]+=[1-9][0-9]{0,6})*)?$"),
        ));
    }
    if functions.iter().any(Function::puts_events) {
        let description = "The event bus of EventBridge that receives an event for each change.";
        all.push((EVENT_BUS.to_owned(), text(description, table::config::EVENT_BUS, "^[A-Za-z0-9._/-]{1,256}$")));
    }
    if app.system().has_socket() {
        let description = "Whether the WebSocket API writes an access log. API Gateway needs a role for it in the \
                           settings of the account.";
        all.push(("SocketLogs".to_owned(), flag(description, false)));
    }
    Node::Map(all)
}

/// The parameter of systems that issue tokens themselves.
pub const OWN_LOGIN: &str = "OwnLogin";

/// The parameter of systems that put events on the event bus.
pub const EVENT_BUS: &str = "EventBus";

/// The parameter of systems with limits.
pub const LIMITS: &str = "Limits";

fn common() -> Node {
    map! {
        "Prefix" => prefix(),
        "Architecture" => one_of("Of the functions; the zips must be built for it.", &["arm64", "x86_64"]),
        "MemoryClass" => one_of("Multiplies the memory of each function by 1, 2 or 4, and its share of a processor with it.", &["small", "medium", "large"]),
        "LogRetentionDays" => log_retention(),
        // The type Number would allow a fraction, which the functions refuse.
        "TombstoneRetentionHours" => text("How long search remembers deletes, in hours: 25 or more.", "25", "^(2[5-9]|[3-9][0-9]|[1-9][0-9]{2,4})$"),
        "ThrottleRate" => number("Requests a second of each route in the long run; what is above is answered 429.", 100),
        "ThrottleBurst" => number("Requests of each route at one moment.", 200),
        "CorsOrigins" => map! {
            "Type" => "CommaDelimitedList",
            "Description" => "The origins whose pages may call the API.",
            "Default" => "*",
        },
        // Lambda allows 4 KB for all variables of a function.
        "Issuers" => map! {
            "Type" => "String",
            "Description" => "Whose bearer tokens are taken: a JSON list of {\"name\", \"issuer\", \"audience\"} with \"jwks\" (the key set's URL) or \"keys\".",
            "Default" => "[]",
            "AllowedPattern" => "^\\[[\\s\\S]*\\]$",
            "MaxLength" => 3000,
        },
        "CursorSecrets" => map! {
            "Type" => "String",
            "Description" => "Secrets that encrypt cursors, with commas between; the first encrypts, all decrypt.",
            "NoEcho" => true,
            "MinLength" => 32,
        },
        "SearchEndpoint" => kept("Where the shared stack keeps the URL of OpenSearch, by its prefix.", "endpoint"),
        "SearchDomainArn" => kept("Where it keeps the ARN of that domain.", "arn"),
        "DeletionProtection" => flag("Whether DynamoDB refuses to delete the tables.", true),
        "RouteMetrics" => flag("Whether each route has metrics of its own (USD 1.50 a month for each route that is called).", false),
        "RouteAlarms" => flag("Whether an alarm watches the 5xx of each route (USD 0.10 a month for each), which then has metrics.", false),
        "AlarmTopicArn" => text("The SNS topic that alarms tell; none if empty.", "", "^(arn:[a-z-]+:sns:.+)?$"),
    }
}

pub fn prefix() -> Node {
    let description = "Stands before every name, so that several deployments share an account.";
    text(description, PREFIX, "^([a-z][a-z0-9-]{0,14})?$")
}

const PREFIX: &str = "cairn-";

/// Returns the parameter of the log retention, with the periods of CloudWatch Logs (PutRetentionPolicy).
pub fn log_retention() -> Node {
    let days: Vec<Node> = LOG_RETENTION_DAYS.iter().map(|days| days.to_string().into()).collect();
    map! { "Type" => "Number", "Description" => "How long logs are kept, in days.", "Default" => "30", "AllowedValues" => days }
}

const LOG_RETENTION_DAYS: [u64; 22] =
    [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653];

pub fn conditions(system: &System) -> Node {
    let mut conditions = map! {
        "HasRouteAlarms" => equals("RouteAlarms", "true"),
        "HasRouteMetrics" => map! {
            "Fn::Or" => list![equals("RouteMetrics", "true"), equals("RouteAlarms", "true")],
        },
        "HasAlarmTopic" => map! { "Fn::Not" => list![equals("AlarmTopicArn", "")] },
    };
    if let (true, Some(members)) = (system.has_socket(), conditions.members()) {
        members.push(("HasSocketLogs".to_owned(), equals("SocketLogs", "true")));
    }
    conditions
}

/// Returns a parameter with the value in Parameter Store at the time of deployment.
fn kept(description: &str, name: &str) -> Node {
    let default = names::kept(name).replace("${Prefix}", PREFIX);
    map! { "Type" => "AWS::SSM::Parameter::Value<String>", "Description" => description, "Default" => default }
}

pub fn equals(parameter: &str, value: &str) -> Node {
    map! { "Fn::Equals" => list![super::node::reference(parameter), value] }
}

/// Returns the memory of each declared size in each class, in MB.
pub fn memory(functions: &[Function]) -> Node {
    let mut sizes: Vec<u64> = functions.iter().map(|function| function.memory).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let class = |name: &str, times: u64| {
        let sizes: Map = sizes.iter().map(|size| (format!("Mb{size}"), Node::from(size * times))).collect();
        (name.to_owned(), Node::Map(sizes))
    };
    map! { "Memory" => vec![class("small", 1), class("medium", 2), class("large", 4)] }
}

pub fn text(description: &str, default: &str, pattern: &str) -> Node {
    map! { "Type" => "String", "Description" => description, "Default" => default, "AllowedPattern" => pattern }
}

pub fn number(description: &str, default: u64) -> Node {
    map! { "Type" => "Number", "Description" => description, "Default" => default, "MinValue" => 1 }
}

pub fn flag(description: &str, default: bool) -> Node {
    let default = default.to_string();
    map! { "Type" => "String", "Description" => description, "Default" => default, "AllowedValues" => list!["true", "false"] }
}

/// Returns a parameter with these values, the first of which is the default.
pub fn one_of(description: &str, values: &[&str]) -> Node {
    let default = values.first().copied().unwrap_or_default();
    let values: Vec<Node> = values.iter().map(|value| (*value).into()).collect();
    map! { "Type" => "String", "Description" => description, "Default" => default, "AllowedValues" => values }
}
