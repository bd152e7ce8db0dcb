//! WebSocket APIs, shown by a system that exists only here, and second readers of streams.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use table::access::{AccessPattern, OnSocket};
use table::schema::{Entity, EventSource, Search, System, Table};
use table::{Clock, Config, Engines};
use web::{App, Event, EventFailure, EventHandler};
use xtask::infra::system;

use super::{members, of_type, own_statements, stream_mappings, text, texts};

static SHIPS: Table = table("harbour-Ships", Search::Document);
static VISITORS: Table = table("harbour-Visitors", Search::Never);

const fn table(name: &'static str, search: Search) -> Table {
    let entities: &[Entity] = match search {
        Search::Document => &[Entity { name: "ship", pk: "SHIP#{name}", sk: None, search: Search::Document }],
        Search::Never => &[Entity { name: "visitor", pk: "VISITOR#{id}", sk: None, search: Search::Never }],
    };
    Table { name, pk: "PK", sk: None, indexes: &[], entities, stream: true }
}

static SYSTEM: System = System {
    name: "harbour",
    tables: &[&SHIPS, &VISITORS],
    secrets: &[],
    buckets: &[],
    sources: &[
        EventSource::Streams { handler: "mirror", filtered: false },
        EventSource::Records { handler: "tell", filtered: false },
        EventSource::Socket { connect: "connect", disconnect: "disconnect", receive: "receive" },
    ],
};

const TELL: AccessPattern = AccessPattern::new("tell", &[OnSocket.post()]);
const END: AccessPattern = AccessPattern::new("end", &[OnSocket.post(), OnSocket.close()]);

async fn nothing(_: Event) -> Result<bytes::Bytes, EventFailure> {
    Ok(bytes::Bytes::new())
}

fn app() -> App {
    let engines: Arc<Engines> = Engines::new(Config::new("ca-central-1", ""), Clock::system());
    let handlers = vec![
        EventHandler::new("mirror", nothing),
        EventHandler::new("tell", nothing).patterns(&[&TELL]),
        EventHandler::new("connect", nothing),
        EventHandler::new("disconnect", nothing),
        EventHandler::new("receive", nothing).patterns(&[&END]),
    ];
    App::new(engines, &SYSTEM, Vec::new(), handlers)
}

fn template() -> Value {
    serde_json::to_value(system::node(&app())).unwrap()
}

/// The function and the key of each route of a WebSocket API.
pub fn socket_routes(template: &Value) -> impl Iterator<Item = (String, String)> {
    of_type(template, "AWS::ApiGatewayV2::Route").map(move |(name, route)| {
        assert_eq!(route["ApiId"]["Ref"], "SocketApi", "{name}");
        let target = text(&route["Target"]);
        let integration = target.strip_prefix("integrations/${").unwrap().strip_suffix('}').unwrap();
        let uri = text(&template["Resources"][integration]["Properties"]["IntegrationUri"]);
        let function = uri.rsplit("${").next().unwrap().strip_suffix(".Arn}/invocations").unwrap();
        (function.to_owned(), text(&route["RouteKey"]))
    })
}

#[test]
fn each_route_of_a_socket_calls_its_own_function() {
    let template = template();
    let routes: BTreeSet<(String, String)> = socket_routes(&template).collect();
    let expected = [("Connect", "$connect"), ("Disconnect", "$disconnect"), ("Receive", "$default")];
    assert_eq!(routes, expected.map(|(name, key)| (format!("{name}Function"), key.to_owned())).into());
    let resources = &template["Resources"];
    assert_eq!(resources["SocketApi"]["Properties"]["ProtocolType"], "WEBSOCKET");
    for (name, key) in expected {
        let integration = &resources[format!("{name}Integration")]["Properties"];
        assert_eq!(
            (&integration["IntegrationType"], &integration["ApiId"]["Ref"]),
            (&json!("AWS_PROXY"), &json!("SocketApi"))
        );
        let permission = &resources[format!("{name}Permission")]["Properties"];
        assert!(text(&permission["SourceArn"]).ends_with(&format!(":${{SocketApi}}/*/{key}")), "{permission}");
        assert_eq!(permission["FunctionName"]["Ref"], format!("{name}Function"));
    }
    let stage = &resources["SocketStage"]["Properties"];
    assert_eq!((&stage["StageName"], &stage["AutoDeploy"]), (&json!("live"), &json!(true)));
}

/// A credential in a query string may not be logged.
#[test]
fn access_log_of_a_socket_has_no_query_string_and_is_off_by_default() {
    let template = template();
    let settings = &template["Resources"]["SocketStage"]["Properties"]["AccessLogSettings"]["Fn::If"];
    assert_eq!((&settings[0], &settings[2]), (&json!("HasSocketLogs"), &json!({ "Ref": "AWS::NoValue" })));
    let format = text(&settings[1]["Format"]);
    let format: Value = serde_json::from_str(&format).unwrap();
    for (name, value) in members(&format) {
        assert!(!text(value).to_lowercase().contains("query") && !text(value).contains("path"), "{name}");
    }
    assert_eq!(format["request.id"], "$context.requestId");
    assert_eq!(template["Parameters"]["SocketLogs"]["Default"], "false");
    let group = &template["Resources"]["SocketAccessLogs"]["Properties"]["LogGroupName"]["Fn::Sub"];
    assert!(text(group).starts_with("/aws/vendedlogs/"));
}

#[test]
fn function_manages_connections_as_it_declares() {
    let template = template();
    let granted = |function: &str| -> BTreeSet<(Vec<String>, String)> {
        let statements = own_statements(&template["Resources"][format!("{function}Role")]);
        let statements = statements.map(|statement| (texts(&statement["Action"]), text(&statement["Resource"])));
        statements.filter(|(actions, _)| actions[0].starts_with("execute-api:")).collect()
    };
    let statement = |method: &str| {
        let arn = "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${SocketApi}/live";
        (vec!["execute-api:ManageConnections".to_owned()], format!("{arn}/{method}/@connections/*"))
    };
    assert_eq!(granted("Tell"), [statement("POST")].into());
    assert_eq!(granted("Receive"), [statement("POST"), statement("DELETE")].into());
    for function in ["Mirror", "Connect", "Disconnect"] {
        assert_eq!(granted(function), BTreeSet::new(), "{function}");
    }
}

#[test]
fn functions_and_clients_are_told_the_urls_of_the_socket() {
    let template = template();
    let variables = &template["Globals"]["Function"]["Environment"]["Variables"];
    let host = "${SocketApi}.execute-api.${AWS::Region}.${AWS::URLSuffix}/live";
    assert_eq!(text(&variables["CAIRN_SOCKET_ENDPOINT"]), format!("https://{host}"));
    assert_eq!(text(&variables["CAIRN_SOCKET_URL"]), format!("wss://{host}"));
    assert_eq!(text(&template["Outputs"]["SocketUrl"]["Value"]), format!("wss://{host}"));
}

#[test]
fn second_reader_has_mappings_of_its_own_for_every_stream() {
    let template = template();
    let read = |function: &str| -> Vec<(String, u64, u64)> {
        let own = stream_mappings(&template).filter(|(_, mapping)| mapping["FunctionName"]["Ref"] == function);
        let settings = own.map(|(_, mapping)| {
            let number = |name: &str| mapping[name].as_u64().unwrap();
            let table = text(&mapping["EventSourceArn"]["Fn::GetAtt"][0]);
            (table, number("BatchSize"), number("ParallelizationFactor"))
        });
        settings.collect()
    };
    assert_eq!(read("MirrorFunction"), [("HarbourShipsTable".to_owned(), 1000, 2)]);
    let tables = ["HarbourShipsTable", "HarbourVisitorsTable"];
    assert_eq!(read("TellFunction"), tables.map(|table| (table.to_owned(), 100, 1)));
    let streams = |function: &str| -> usize {
        let statements = own_statements(&template["Resources"][format!("{function}Role")]);
        statements.filter(|statement| texts(&statement["Action"]).iter().any(|it| it == "dynamodb:GetRecords")).count()
    };
    assert_eq!((streams("Mirror"), streams("Tell")), (1, 2));
    let alarms: Vec<&str> = of_type(&template, "AWS::CloudWatch::Alarm").map(|(name, _)| name).collect();
    for expected in ["TellLagAlarm", "TellExpiryAlarm", "TellThrottlesAlarm", "ConnectErrorsAlarm"] {
        assert!(alarms.contains(&expected), "{alarms:?}");
    }
}
