//! The HTTP API of a system: one API description, in which each operation has its own function.

use web::cors;

use super::function::Function;
use super::names;
use super::node::{Map, Node, attribute, reference, sub};

/// Returns the API, its stage and its access log. CloudFormation refuses other properties of an API with a `Body`, such
/// as name and tags ("Redundant fields provided when either Body or BodyS3Location is not empty").
pub fn api(system: &str, functions: &[Function]) -> Map {
    vec![
        (
            "Api".to_owned(),
            map! {
                "Type" => "AWS::ApiGatewayV2::Api",
                "Properties" => map! {
                    "Body" => description(system, functions),
                    // Without it API Gateway would drop a route that it does not understand.
                    "FailOnWarnings" => true,
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

/// Returns the description from which API Gateway creates all routes and integrations, in the form of its exports. API
/// Gateway supports neither OpenAPI 3.1 nor schemas, so the API description for clients is another one.
fn description(system: &str, functions: &[Function]) -> Node {
    let methods: Vec<Node> = cors::METHODS.iter().map(|method| (*method).into()).collect();
    let texts = |names: &[&str]| names.iter().map(|name| Node::from(*name)).collect::<Vec<_>>();
    let mut paths: Map = Map::new();
    for function in functions {
        let Some((method, template)) = &function.route else { continue };
        let operation = (method.to_ascii_lowercase(), operation(function));
        match paths.iter_mut().find(|(path, _)| path == template) {
            Some((_, Node::Map(methods))) => methods.push(operation),
            _ => {
                paths.push((template.clone(), Node::Map(parameters(template).into_iter().chain([operation]).collect())))
            }
        }
    }
    map! {
        "openapi" => "3.0.1",
        "info" => map! { "title" => sub(format!("${{Prefix}}{system}")), "version" => "1" },
        "tags" => list![map! { "name" => names::TAG, "x-amazon-apigateway-tag-value" => system }],
        "x-amazon-apigateway-cors" => map! {
            "allowOrigins" => reference("CorsOrigins"),
            "allowMethods" => methods,
            "allowHeaders" => texts(cors::ALLOWED),
            "exposeHeaders" => texts(cors::EXPOSED),
            "maxAge" => u64::from(cors::MAX_AGE),
        },
        "paths" => paths,
    }
}

/// Returns the parameters of a path, which OpenAPI requires.
fn parameters(template: &str) -> Option<(String, Node)> {
    let names = template.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let parameter = |name: &str| {
        let schema = map! { "type" => "string" };
        map! { "name" => name, "in" => "path", "required" => true, "schema" => schema }
    };
    let parameters: Vec<Node> = names.map(parameter).collect();
    (!parameters.is_empty()).then(|| ("parameters".to_owned(), parameters.into()))
}

/// Returns an operation without `security`. The function verifies the token, since an authorizer's responses would not
/// be problem details. API Gateway waits for 30 s, its maximum, and the function responds before its own timeout.
fn operation(function: &Function) -> Node {
    map! {
        "responses" => map! { "default" => map! { "description" => "What the function answers." } },
        "x-amazon-apigateway-integration" => map! {
            "type" => "aws_proxy",
            "httpMethod" => "POST",
            "uri" => attribute(function.resource("Function"), "Arn"),
            "payloadFormatVersion" => "2.0",
        },
    }
}

/// Returns the format of the access log: one line of JSON per request, without the path, which may contain people's
/// names.
const ACCESS_LOG: &str = concat!(
    r#"{"request.id":"$context.requestId","route":"$context.routeKey","status":"$context.status","#,
    r#""latency.ms":"$context.responseLatency","integration.error":"$context.integrationErrorMessage"}"#
);

pub fn log_group(system: &str, name: &str) -> Node {
    let properties = map! {
        "LogGroupName" => sub(name),
        "RetentionInDays" => reference("LogRetentionDays"),
        "Tags" => names::tag_list(system),
    };
    map! { "Type" => "AWS::Logs::LogGroup", "Properties" => properties }
}

/// Allows API Gateway to invoke a function for its route only.
pub fn permission(function: &Function) -> Option<(String, Node)> {
    let (method, template) = function.route.as_ref()?;
    let path: Vec<&str> = template.split('/').map(|part| if part.starts_with('{') { "*" } else { part }).collect();
    let called = format!("{}:${{Api}}/*/{method}{}", names::regional("execute-api"), path.join("/"));
    let properties = map! {
        "FunctionName" => reference(function.resource("Function")),
        "Action" => "lambda:InvokeFunction",
        "Principal" => "apigateway.amazonaws.com",
        "SourceArn" => sub(called),
    };
    let permission = map! { "Type" => "AWS::Lambda::Permission", "Properties" => properties };
    Some((function.resource("Permission"), permission))
}

/// Returns the URL of the API.
pub fn outputs() -> Map {
    let url = map! { "Description" => "Where the API is.", "Value" => attribute("Api", "ApiEndpoint") };
    vec![("ApiUrl".to_owned(), url)]
}
