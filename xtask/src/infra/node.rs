//! Values of templates: YAML whose members keep their order, for readers.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::artefact::MARK;

#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    Text(String),
    Number(u64),
    Flag(bool),
    List(Vec<Node>),
    Map(Map),
}

/// Members in their order.
pub type Map = Vec<(String, Node)>;

/// `map! { "Type" => "AWS::S3::Bucket", "Properties" => map! { .. } }`
macro_rules! map {
    ($($name:expr => $value:expr),* $(,)?) => {
        $crate::infra::node::Node::Map(vec![$((($name).to_string(), $crate::infra::node::Node::from($value))),*])
    };
}

/// `list!["one", map! { .. }]`
macro_rules! list {
    ($($value:expr),* $(,)?) => {
        $crate::infra::node::Node::List(vec![$($crate::infra::node::Node::from($value)),*])
    };
}

/// Returns a template as a file, with the mark of generated files.
pub fn to_yaml(about: &str, template: &Node) -> String {
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    let yaml = serde_saphyr::to_string_with_options(template, options);
    // YAML can represent every node.
    let yaml = yaml.unwrap_or_else(|error| {
        table::never!("a template does not serialise: {error}");
        String::new()
    });
    format!("# {MARK}: {about}\n{yaml}")
}

/// Returns the value of a parameter, or the physical id of a resource.
pub fn reference(name: impl Into<String>) -> Node {
    map! { "Ref" => name.into() }
}

/// Returns a text with `${..}` in it.
pub fn sub(text: impl Into<String>) -> Node {
    map! { "Fn::Sub" => text.into() }
}

/// Returns an attribute of a resource.
pub fn attribute(resource: impl Into<String>, name: &str) -> Node {
    let resource: String = resource.into();
    map! { "Fn::GetAtt" => list![resource, name] }
}

impl Node {
    /// Returns a member of a map, for changes.
    pub fn member(&mut self, name: &str) -> Option<&mut Self> {
        self.members()?.iter_mut().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    pub fn members(&mut self) -> Option<&mut Map> {
        match self {
            Self::Map(members) => Some(members),
            _ => None,
        }
    }

    pub fn list(&mut self) -> Option<&mut Vec<Self>> {
        match self {
            Self::List(list) => Some(list),
            _ => None,
        }
    }

    /// Returns the `Type` of a resource.
    pub fn kind(&self) -> Option<&str> {
        let Self::Map(members) = self else { return None };
        members.iter().find_map(|(name, value)| match value {
            Self::Text(kind) if name == "Type" => Some(kind.as_str()),
            _ => None,
        })
    }
}

impl From<&str> for Node {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Node {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Node {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Node {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<Vec<Node>> for Node {
    fn from(list: Vec<Node>) -> Self {
        Self::List(list)
    }
}

impl From<Map> for Node {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(number) => serializer.serialize_u64(*number),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::List(list) => list.serialize(serializer),
            Self::Map(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}
