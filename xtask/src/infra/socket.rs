//! The WebSocket API of a system, with one function for each of its three routes.

use table::schema::{EventSource, SOCKET_STAGE, System};

use super::api::log_group;
use super::function::{Function, resource};
use super::names;
use super::node::{Map, Node, attribute, reference, sub};

/// A route of a system's WebSocket API with the handler that it calls.
struct Route {
    key: &'static str,
    handler: &'static str,
}

/// Returns the API with its routes, stage and access log, if the system has a socket.
pub fn api(system: &System) -> Map {
    let routes = routes(system);
    if routes.is_empty() {
        return Map::new();
    }
    let api = map! {
        "Name" => sub(format!("${{Prefix}}{}-socket", system.name)),
        "ProtocolType" => "WEBSOCKET",
        // CloudFormation requires one. Messages of any form reach `$default`, as there is no route for an action.
        "RouteSelectionExpression" => "$request.body.action",
        "Tags" => names::tags(system.name),
    };
    let log = map! { "DestinationArn" => attribute("SocketAccessLogs", "Arn"), "Format" => ACCESS_LOG };
    let stage = map! {
        "ApiId" => reference("SocketApi"),
        "StageName" => SOCKET_STAGE,
        "AutoDeploy" => true,
        "DefaultRouteSettings" => map! {
            "ThrottlingRateLimit" => reference("ThrottleRate"),
            "ThrottlingBurstLimit" => reference("ThrottleBurst"),
        },
        "AccessLogSettings" => map! { "Fn::If" => list!["HasSocketLogs", log, reference("AWS::NoValue")] },
        "Tags" => names::tags(system.name),
    };
    let mut resources = vec![
        ("SocketApi".to_owned(), of_type("AWS::ApiGatewayV2::Api", api)),
        ("SocketStage".to_owned(), of_type("AWS::ApiGatewayV2::Stage", stage)),
        ("SocketAccessLogs".to_owned(), log_group(system.name, &names::socket_log_group(system.name))),
    ];
    for Route { key, handler } in routes {
        let function = format!("${{{}.Arn}}", resource(handler, "Function"));
        let uri = "arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions";
        let integration = map! {
            "ApiId" => reference("SocketApi"),
            "IntegrationType" => "AWS_PROXY",
            "IntegrationUri" => sub(format!("{uri}/{function}/invocations")),
        };
        let route = map! {
            "ApiId" => reference("SocketApi"),
            "RouteKey" => key,
            // The function verifies the client, as in the HTTP API.
            "AuthorizationType" => "NONE",
            "Target" => sub(format!("integrations/${{{}}}", resource(handler, "Integration"))),
        };
        resources.extend([
            (resource(handler, "Integration"), of_type("AWS::ApiGatewayV2::Integration", integration)),
            (resource(handler, "Route"), of_type("AWS::ApiGatewayV2::Route", route)),
        ]);
    }
    resources
}

fn routes(system: &System) -> Vec<Route> {
    let socket = system.sources.iter().find_map(|source| match *source {
        EventSource::Socket { connect, disconnect, receive } => Some([connect, disconnect, receive]),
        _ => None,
    });
    let keys = ["$connect", "$disconnect", "$default"];
    keys.into_iter().zip(socket.into_iter().flatten()).map(|(key, handler)| Route { key, handler }).collect()
}

fn of_type(kind: &str, properties: Node) -> Node {
    map! { "Type" => kind, "Properties" => properties }
}

/// Allows API Gateway to invoke a function for its route of the WebSocket API only.
pub fn permission(system: &System, function: &Function) -> Map {
    let own = routes(system).into_iter().filter(|route| route.handler == function.name);
    own.map(|Route { key, .. }| {
        let properties = map! {
            "FunctionName" => reference(function.resource("Function")),
            "Action" => "lambda:InvokeFunction",
            "Principal" => "apigateway.amazonaws.com",
            "SourceArn" => sub(format!("{}:${{SocketApi}}/*/{key}", names::regional("execute-api"))),
        };
        (function.resource("Permission"), of_type("AWS::Lambda::Permission", properties))
    })
    .collect()
}

/// Returns the environment variables with the URLs of the socket, if the system has one.
pub fn variables(system: &System) -> Map {
    if routes(system).is_empty() {
        return Map::new();
    }
    vec![
        ("CAIRN_SOCKET_ENDPOINT".to_owned(), sub(names::socket_url("https"))),
        ("CAIRN_SOCKET_URL".to_owned(), sub(names::socket_url("wss"))),
    ]
}

/// Returns the outputs of the socket, if the system has one.
pub fn outputs(system: &System) -> Map {
    if routes(system).is_empty() {
        return Map::new();
    }
    let url = map! { "Description" => "Where clients open the socket.", "Value" => sub(names::socket_url("wss")) };
    vec![("SocketUrl".to_owned(), url)]
}

/// Returns the format of the access log: one line of JSON per event, without the query string, which may contain a
/// credential.
const ACCESS_LOG: &str = concat!(
    r#"{"request.id":"$context.requestId","route":"$context.routeKey","connection.id":"$context.connectionId","#,
    r#""status":"$context.status","latency.ms":"$context.integrationLatency","#,
    r#""integration.error":"$context.integrationErrorMessage"}"#
);
