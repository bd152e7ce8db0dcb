//! The HTTP API of a system: explicit routes, each to a function of its own.

use web::cors;

use super::function::Function;
use super::names;
use super::node::{Map, Node, attribute, reference, sub};

/// The API itself, its stage, and the log of who called.
pub fn api(system: &str) -> Map {
    let methods: Vec<Node> = cors::METHODS.iter().map(|method| (*method).into()).collect();
    let texts = |names: &[&str]| names.iter().map(|name| Node::from(*name)).collect::<Vec<_>>();
    vec![
        (
            "Api".to_owned(),
            map! {
                "Type" => "AWS::ApiGatewayV2::Api",
                "Properties" => map! {
                    "Name" => sub(format!("${{Prefix}}{system}")),
                    "ProtocolType" => "HTTP",
                    "CorsConfiguration" => map! {
                        "AllowOrigins" => reference("CorsOrigins"),
                        "AllowMethods" => methods,
                        "AllowHeaders" => texts(cors::ALLOWED),
                        "ExposeHeaders" => texts(cors::EXPOSED),
                        "MaxAge" => u64::from(cors::MAX_AGE),
                    },
                    "Tags" => names::tags(system),
                },
            },
        ),
        (
            "ApiStage".to_owned(),
            map! {
                "Type" => "AWS::ApiGatewayV2::Stage",
                "Properties" => map! {
                    "ApiId" => reference("Api"),
                    "StageName" => "$default",
                    "AutoDeploy" => true,
                    "DefaultRouteSettings" => map! {
                        "ThrottlingRateLimit" => reference("ThrottleRate"),
                        "ThrottlingBurstLimit" => reference("ThrottleBurst"),
                    },
                    "AccessLogSettings" => map! {
                        "DestinationArn" => attribute("AccessLogs", "Arn"),
                        "Format" => ACCESS_LOG,
                    },
                    "Tags" => names::tags(system),
                },
            },
        ),
        ("AccessLogs".to_owned(), log_group(system, &names::access_log_group(system))),
        ("Logs".to_owned(), log_group(system, &names::log_group(system))),
    ]
}

/// One line of JSON a request. The path is left out: it may hold names of people.
const ACCESS_LOG: &str = concat!(
    r#"{"request.id":"$context.requestId","route":"$context.routeKey","status":"$context.status","#,
    r#""latency.ms":"$context.responseLatency","integration.error":"$context.integrationErrorMessage"}"#
);

fn log_group(system: &str, name: &str) -> Node {
    let properties = map! {
        "LogGroupName" => sub(name),
        "RetentionInDays" => reference("LogRetentionDays"),
        "Tags" => names::tag_list(system),
    };
    map! { "Type" => "AWS::Logs::LogGroup", "Properties" => properties }
}

/// What API Gateway needs to hand a route's requests to its function.
pub fn route(function: &Function) -> Map {
    let Some((method, template)) = &function.route else { return Map::new() };
    let (lambda, integration) = (function.resource("Function"), function.resource("Integration"));
    let path: Vec<&str> = template.split('/').map(|part| if part.starts_with('{') { "*" } else { part }).collect();
    let called = format!("{}:${{Api}}/*/{method}{}", names::regional("execute-api"), path.join("/"));
    vec![
        (
            integration.clone(),
            map! {
                "Type" => "AWS::ApiGatewayV2::Integration",
                "Properties" => map! {
                    "ApiId" => reference("Api"),
                    "IntegrationType" => "AWS_PROXY",
                    "IntegrationUri" => attribute(lambda.clone(), "Arn"),
                    "PayloadFormatVersion" => "2.0",
                    // The function answers for itself before its own timeout.
                    "TimeoutInMillis" => LONGEST_MILLIS,
                },
            },
        ),
        (
            function.resource("Route"),
            map! {
                "Type" => "AWS::ApiGatewayV2::Route",
                "Properties" => map! {
                    "ApiId" => reference("Api"),
                    "RouteKey" => format!("{method} {template}"),
                    // The function verifies the token: an authorizer's answers would be no problem details.
                    "AuthorizationType" => "NONE",
                    "Target" => sub(format!("integrations/${{{integration}}}")),
                },
            },
        ),
        (
            function.resource("Permission"),
            map! {
                "Type" => "AWS::Lambda::Permission",
                "Properties" => map! {
                    "FunctionName" => reference(lambda),
                    "Action" => "lambda:InvokeFunction",
                    "Principal" => "apigateway.amazonaws.com",
                    "SourceArn" => sub(called),
                },
            },
        ),
    ]
}

/// The longest that an HTTP API waits for a function.
const LONGEST_MILLIS: u64 = 30_000;

/// Where the API is.
pub fn outputs() -> Node {
    map! {
        "ApiUrl" => map! { "Description" => "Where the API is.", "Value" => attribute("Api", "ApiEndpoint") },
    }
}
