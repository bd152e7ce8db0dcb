//! The routes and integrations of an API description as resources, for the emulator. API Gateway creates them from the
//! `Body` of an API, which the emulator ignores.

use super::node::{Map, Node, reference, sub};

/// Replaces the API description by equivalent resources.
pub fn expand(resources: &mut Map) {
    let api = resources.iter_mut().find(|(name, _)| name == "Api").and_then(|(_, api)| api.member("Properties"));
    let Some(properties) = api.and_then(Node::members) else { return };
    let Some((_, mut body)) = properties.extract_if(.., |(name, _)| name == "Body").next() else { return };
    let title = body.member("info").and_then(|info| info.member("title")).cloned();
    let cors = body.member("x-amazon-apigateway-cors").and_then(Node::members).cloned().unwrap_or_default();
    *properties = vec![
        ("Name".to_owned(), title.unwrap_or_else(|| "".into())),
        ("ProtocolType".to_owned(), "HTTP".into()),
        (
            "CorsConfiguration".to_owned(),
            cors.into_iter().map(|(name, value)| (capital(&name), value)).collect::<Map>().into(),
        ),
    ];
    let mut made = Map::new();
    for (path, item) in body.member("paths").and_then(Node::members).into_iter().flatten() {
        for (method, operation) in item.members().into_iter().flatten().filter(|(method, _)| method != "parameters") {
            let Some(integration) = operation.member("x-amazon-apigateway-integration") else { continue };
            let mut said = |name| integration.member(name).cloned().unwrap_or_else(|| "".into());
            let (number, uri, version) = (made.len(), said("uri"), said("payloadFormatVersion"));
            let name = format!("Api{number}Integration");
            let route = map! {
                "ApiId" => reference("Api"),
                "RouteKey" => format!("{} {path}", method.to_ascii_uppercase()),
                "Target" => sub(format!("integrations/${{{name}}}")),
            };
            let integration = map! {
                "ApiId" => reference("Api"),
                "IntegrationType" => "AWS_PROXY",
                "IntegrationUri" => uri,
                "PayloadFormatVersion" => version,
            };
            made.push((name, map! { "Type" => "AWS::ApiGatewayV2::Integration", "Properties" => integration }));
            let route = map! { "Type" => "AWS::ApiGatewayV2::Route", "Properties" => route };
            made.push((format!("Api{number}Route"), route));
        }
    }
    resources.extend(made);
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}
