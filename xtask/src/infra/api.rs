//! The HTTP API of a system: one API description, whose operations are handed each to a function of its own.

use web::cors;

use super::function::Function;
use super::names;
use super::node::{Map, Node, attribute, reference, sub};

/// The API itself, its stage, and the log of who called. CloudFormation takes nothing else about an API that has a
/// `Body`, neither its name nor its tags ("Redundant fields provided when either Body or BodyS3Location is not empty").
pub fn api(system: &str, functions: &[Function]) -> Map {
    vec![
        (
            "Api".to_owned(),
            map! {
                "Type" => "AWS::ApiGatewayV2::Api",
                "Properties" => map! {
                    "Body" => description(system, functions),
                    // Else a route that API Gateway does not understand would be left out.
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

/// What API Gateway makes routes and integrations of, all at once, in the form in which it exports an API. It knows no
/// OpenAPI 3.1 and checks no schemas: what the system itself tells of its API is another description.
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

/// Those of a path, which OpenAPI wants named.
fn parameters(template: &str) -> Option<(String, Node)> {
    let names = template.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let parameter = |name: &str| {
        let schema = map! { "type" => "string" };
        map! { "name" => name, "in" => "path", "required" => true, "schema" => schema }
    };
    let parameters: Vec<Node> = names.map(parameter).collect();
    (!parameters.is_empty()).then(|| ("parameters".to_owned(), parameters.into()))
}

/// One without `security`: the function verifies the token, since an authorizer's answers would be no problem details.
/// API Gateway waits for 30 s, which is the longest that it can; the function answers for itself before its own timeout.
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

/// Lets API Gateway hand a route's requests to its function, and no others.
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

/// Where the API is.
pub fn outputs() -> Node {
    map! {
        "ApiUrl" => map! { "Description" => "Where the API is.", "Value" => attribute("Api", "ApiEndpoint") },
    }
}
