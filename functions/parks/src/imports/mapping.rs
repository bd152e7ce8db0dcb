//! The mapping of an import: names of the file's attributes to names of Cairn's fields.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use web::Fault;
use web::fault::pointer_step;

/// The limit of an attribute's name, in characters.
const MAX_NAME: usize = 256;

/// The field that each named attribute of the file sets. Other attributes set the field of their own name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mapping(BTreeMap<String, String>);

impl Mapping {
    /// The mapping of a request to some of these fields, or its faults, with pointers into the request.
    pub fn new(named: BTreeMap<String, String>, known: &[&str]) -> Result<Self, Vec<Fault>> {
        let (mut faults, mut before) = (Vec::new(), BTreeMap::<&str, &str>::new());
        for (attribute, field) in &named {
            let mut fault = |detail: String| {
                faults.push(Fault::pointer(format!("/mapping{}", pointer_step(attribute)), detail));
            };
            if attribute.is_empty() || attribute.chars().count() > MAX_NAME {
                fault(format!("must be the name of an attribute of the file, of 1 to {MAX_NAME} characters"));
            } else if !known.contains(&field.as_str()) {
                let shown: String = field.chars().take(64).collect();
                fault(format!("`{shown}` is not a field of the file's items; expected one of {}", known.join(", ")));
            } else if let Some(earlier) = before.insert(field, attribute) {
                fault(format!("`{field}` is set by `{earlier}`, too; each field comes from one attribute"));
            }
        }
        if faults.is_empty() { Ok(Self(named)) } else { Err(faults) }
    }

    /// The field that an attribute of the file sets.
    pub fn field<'a>(&'a self, attribute: &'a str) -> &'a str {
        self.0.get(attribute).map_or(attribute, String::as_str)
    }

    /// The attribute of the file that sets a field.
    pub fn attribute<'a>(&'a self, field: &'a str) -> &'a str {
        self.0.iter().find(|(_, to)| *to == field).map_or(field, |(attribute, _)| attribute)
    }

    /// The names of the mapped attributes.
    pub fn attributes(&self) -> BTreeSet<String> {
        self.0.keys().cloned().collect()
    }

    /// The properties of a feature by the names of their fields. Where two set one field, the mapped one does, and the other
    /// one is a fault.
    pub fn renamed(&self, properties: Map<String, Value>, faults: &mut Vec<Fault>) -> Map<String, Value> {
        if self.0.is_empty() {
            return properties;
        }
        let (mapped, own): (Vec<_>, Vec<_>) =
            properties.into_iter().partition(|(attribute, _)| self.0.contains_key(attribute));
        let mut fields = Map::new();
        for (attribute, value) in mapped {
            fields.insert(self.field(&attribute).to_owned(), value);
        }
        for (name, value) in own {
            if fields.contains_key(&name) {
                let pointer = format!("/properties{}", pointer_step(&name));
                faults.push(Fault::pointer(pointer, self.doubled(&name)));
            } else {
                fields.insert(name, value);
            }
        }
        fields
    }

    /// Why an attribute with the name of a field that the mapping sets is a fault.
    pub fn doubled(&self, field: &str) -> String {
        format!("sets the same field as `{}`, which the mapping renames to `{field}`", self.attribute(field))
    }
}
