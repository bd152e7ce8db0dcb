//! The API description by which API Gateway makes a system's routes.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{members, of_type, routes, systems};

/// Each route of the system has its own function, and API Gateway no other route.
#[test]
fn each_route_of_a_system_is_handed_to_its_function() {
    for (declared, (system, template)) in xtask::systems::all().iter().zip(systems()) {
        let made: Vec<(String, String, Value)> =
            routes(&template).map(|(method, path, function)| (method, path.to_owned(), function)).collect();
        let handed: BTreeSet<_> = made.iter().map(|(method, path, it)| format!("{method} {path}: {it}")).collect();
        assert_eq!(handed.len(), made.len(), "{system}");
        let expected = declared.app.routes().map(|route| {
            let (first, rest) = route.name().split_at(1);
            let function = json!(format!("{}{rest}Function", first.to_uppercase()));
            assert_eq!(template["Resources"][function.as_str().unwrap()]["Properties"]["Handler"], route.name());
            format!("{} {}: {function}", route.method(), route.template())
        });
        assert_eq!(handed, expected.collect(), "{system}");
        let apart = ["AWS::ApiGatewayV2::Route", "AWS::ApiGatewayV2::Integration", "AWS::ApiGatewayV2::Authorizer"];
        for kind in apart {
            let beside = of_type(&template, kind).filter(|(_, it)| it["ApiId"]["Ref"] == "Api").count();
            assert_eq!(beside, 0, "{system}: API Gateway takes a {kind} beside no Body");
        }
    }
}

/// API Gateway asks for no token: who may call a route without one is on `infra/public.json`, which the function's own
/// declaration is compared with.
#[test]
fn every_operation_of_an_api_is_open_to_its_function() {
    for (system, template) in systems() {
        let body = &template["Resources"]["Api"]["Properties"]["Body"];
        assert!(body["components"].is_null() && body["security"].is_null(), "{system}");
        let public = xtask::public(system).unwrap();
        let mut open = 0;
        for (path, item) in members(&body["paths"]) {
            let named = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
            let parameters = item["parameters"].as_array().cloned().unwrap_or_default();
            let told: Vec<&str> = parameters.iter().map(|parameter| parameter["name"].as_str().unwrap()).collect();
            assert_eq!(named.collect::<Vec<_>>(), told, "{system}: {path}");
            for (method, operation) in members(item).filter(|(method, _)| *method != "parameters") {
                let integration = &operation["x-amazon-apigateway-integration"];
                assert!(operation["security"].is_null(), "{system}: {method} {path}");
                assert_eq!(integration["type"], "aws_proxy", "{system}: {method} {path}");
                assert_eq!(integration["httpMethod"], "POST", "{system}: {method} {path}");
                assert_eq!(integration["payloadFormatVersion"], "2.0", "{system}: {method} {path}");
                let function = integration["uri"]["Fn::GetAtt"][0].as_str().unwrap();
                let handler = template["Resources"][function]["Properties"]["Handler"].as_str().unwrap();
                open += usize::from(public.iter().any(|name| name == handler));
            }
        }
        assert_eq!(open, public.len(), "{system}: an operation that needs no token has no route");
    }
}

/// What else is said of an API with a `Body` makes CloudFormation refuse it: "Redundant fields [...] provided when either
/// Body or BodyS3Location is not empty". It has its name, its tags and what pages may do in the `Body`.
#[test]
fn nothing_is_said_beside_the_description_of_an_api() {
    for (system, template) in systems() {
        let api = &template["Resources"]["Api"]["Properties"];
        assert_eq!(members(api).map(|(name, _)| name).collect::<Vec<_>>(), ["Body", "FailOnWarnings"], "{system}");
        let body = &api["Body"];
        assert_eq!(body["info"]["title"], json!({ "Fn::Sub": format!("${{Prefix}}{system}") }), "{system}");
        let tags = json!([{ "name": "cairn:system", "x-amazon-apigateway-tag-value": system }]);
        assert_eq!(body["tags"], tags, "{system}");
        let cors = &body["x-amazon-apigateway-cors"];
        assert_eq!(cors["allowOrigins"], json!({ "Ref": "CorsOrigins" }), "{system}");
        let lists = ["allowMethods", "allowHeaders", "exposeHeaders"];
        let said = [web::cors::METHODS, web::cors::ALLOWED, web::cors::EXPOSED];
        for (list, said) in lists.into_iter().zip(said) {
            assert_eq!(cors[list], json!(said), "{system}: {list}");
        }
        assert_eq!(cors["maxAge"], web::cors::MAX_AGE, "{system}");
    }
}
