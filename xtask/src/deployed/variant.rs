//! Variants of the templates for deployments to the emulator.

use table::schema::SOCKET_STAGE;

use crate::infra::function::resource;
use crate::infra::names;
use crate::infra::node::{Map, Node};
use crate::infra::policy::allow;
use crate::infra::routes;

/// The difference between a deployment and the committed template.
#[derive(Clone, Copy, Debug)]
pub enum Variant {
    /// Only what the emulator needs. It has plain HTTP, which the buckets' policies forbid, it creates no routes from an
    /// API description, and it serves sockets under another address.
    Usual,
    /// This function has 512 MB of memory.
    Larger { function: &'static str },
    /// The role of this function lacks this action.
    Without { function: &'static str, action: &'static str },
}

/// The memory in MB of a function that is made larger.
const LARGER: u64 = 512;

impl Variant {
    /// Returns a template for an emulator at this endpoint.
    pub fn of(self, mut template: Node, endpoint: &str) -> Node {
        if let Some(resources) = template.member("Resources").and_then(Node::members) {
            resources.retain(|(_, resource)| resource.kind() != Some("AWS::S3::BucketPolicy"));
            routes::expand(resources);
            match self {
                Self::Usual => {}
                Self::Larger { function } => larger(resources, function),
                Self::Without { function, action } => without(resources, function, action),
            }
        }
        sockets(&mut template, endpoint);
        template
    }
}

/// Replaces the URLs of a socket by those of the emulator, which serves it on its own port under a path.
fn sockets(node: &mut Node, endpoint: &str) {
    match node {
        Node::Text(text) => {
            for (scheme, there) in [("https", endpoint.to_owned()), ("wss", endpoint.replacen("http", "ws", 1))] {
                let deployed = names::socket_url(scheme);
                *text = text.replace(&deployed, &format!("{there}/_aws/execute-api/${{SocketApi}}/{SOCKET_STAGE}"));
            }
        }
        Node::List(list) => list.iter_mut().for_each(|entry| sockets(entry, endpoint)),
        Node::Map(members) => members.iter_mut().for_each(|(_, value)| sockets(value, endpoint)),
        Node::Number(_) | Node::Flag(_) => {}
    }
}

fn larger(resources: &mut Map, function: &str) {
    let name = resource(function, "Function");
    let found = resources.iter_mut().find(|(known, _)| *known == name);
    let properties = found.and_then(|(_, resource)| resource.member("Properties"));
    if let Some(memory) = properties.and_then(|properties| properties.member("MemorySize")) {
        *memory = LARGER.into();
    }
}

fn without(resources: &mut Map, function: &str, action: &str) {
    let name = resource(function, "Role");
    let Some((_, role)) = resources.iter_mut().find(|(known, _)| *known == name) else { return };
    let policies = role.member("Properties").and_then(|properties| properties.member("Policies"));
    for policy in policies.and_then(Node::list).into_iter().flatten() {
        let statements = policy.member("PolicyDocument").and_then(|document| document.member("Statement"));
        for statement in statements.and_then(Node::list).into_iter().flatten() {
            if let Some(actions) = statement.member("Action").and_then(Node::list)
                && actions.len() > 1
            {
                actions.retain(|known| *known != Node::from(action));
            } else if statement.member("Action").is_some_and(|actions| *actions == Node::List(vec![action.into()])) {
                *statement = allow("Nothing", &["logs:PutLogEvents"], "arn:aws:logs:::".into(), None);
            }
        }
    }
}
