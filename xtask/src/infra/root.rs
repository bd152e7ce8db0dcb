//! The root template, `template.yaml`: one nested stack per system, and one for what they share.

use super::node::{Map, Node, attribute, reference, to_yaml};
use super::parameters::{equals, flag};
use super::storage::resource;
use super::{parameters, shared};

/// With these systems; no zip of any other is packaged.
pub fn template(systems: &[&str]) -> String {
    let (common, own) = (members(shared::parameters()), members(parameters::system()));
    let mut all: Map = Map::new();
    let mut conditions: Map = Map::new();
    for system in systems {
        let name = resource(system, "");
        let deploy = format!("Deploy{name}");
        conditions.push((format!("Has{name}"), equals(&deploy, "true")));
        all.push((deploy, flag(&format!("Whether the system {system} is deployed."), true)));
    }
    all.extend(common.clone());
    let new = own
        .iter()
        .filter(|(name, _)| !all.iter().any(|(known, _)| known == name) && !FROM_SHARED.contains(&name.as_str()));
    let new: Map = new.cloned().collect();
    all.extend(new);
    let mut resources: Map = vec![("SharedStack".to_owned(), nested("infra/shared.yaml", None, handed_on(&common)))];
    let mut outputs: Map = Map::new();
    for system in systems {
        let name = resource(system, "");
        let condition = format!("Has{name}");
        let stack = format!("{name}Stack");
        resources.push((stack.clone(), nested(&format!("infra/{system}.yaml"), Some(&condition), handed_on(&own))));
        let output = map! {
            "Condition" => condition,
            "Description" => format!("Where the API of {system} is."),
            "Value" => attribute(stack, "Outputs.ApiUrl"),
        };
        outputs.push((format!("{name}ApiUrl"), output));
    }
    let template = map! {
        "AWSTemplateFormatVersion" => "2010-09-09",
        "Transform" => "AWS::Serverless-2016-10-31",
        "Description" => "Cairn: back ends on one serverless platform, each a nested stack that can be left out.",
        "Parameters" => all,
        "Conditions" => conditions,
        "Resources" => resources,
        "Outputs" => outputs,
    };
    to_yaml("the root of all stacks", &template)
}

/// Parameters of a system that the shared stack puts out.
const FROM_SHARED: [&str; 2] = ["SearchEndpoint", "SearchDomainArn"];

fn handed_on(parameters: &Map) -> Map {
    let value = |name: &str| match FROM_SHARED.contains(&name) {
        true => attribute("SharedStack", &format!("Outputs.{name}")),
        // A nested stack takes a list as text.
        false if name == "CorsOrigins" => map! { "Fn::Join" => list![",", reference(name)] },
        false => reference(name),
    };
    parameters.iter().map(|(name, _)| (name.clone(), value(name))).collect()
}

fn nested(location: &str, condition: Option<&str>, parameters: Map) -> Node {
    let mut stack: Map = vec![("Type".to_owned(), "AWS::Serverless::Application".into())];
    stack.extend(condition.map(|condition| ("Condition".to_owned(), condition.into())));
    stack.push(("Properties".to_owned(), map! { "Location" => location, "Parameters" => parameters }));
    Node::Map(stack)
}

fn members(node: Node) -> Map {
    match node {
        Node::Map(members) => members,
        _ => Map::new(),
    }
}
