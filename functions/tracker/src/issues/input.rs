//! Validates the values of a request by the project's attributes.

use std::collections::BTreeMap;

use web::{Fault, Kind, Problem};

use crate::items::Value;
use crate::names::AttributeId;
use crate::project::Schema;
use crate::values::{Input, Type};

pub const WRONG_TYPE: Kind = Kind::new(422, "wrong-type", "A value does not fit its attribute's type");
pub const UNKNOWN_ATTRIBUTE: Kind = Kind::new(422, "unknown-attribute", "The project has no such attribute");
pub const UNKNOWN_OPTION: Kind = Kind::new(422, "unknown-option", "The attribute has no such option");

/// Values by attribute; none removes a value.
pub type Inputs = BTreeMap<AttributeId, Option<Input>>;

/// The pointer of a value in a body with values by attribute.
pub fn in_values(id: AttributeId) -> String {
    format!("/values/{}", id.id())
}

/// Reads the values to set and to remove. The problem lists every fault. `pointer` returns the place of a value in the
/// body.
pub fn read(
    schema: &Schema,
    inputs: &Inputs,
    pointer: impl Fn(AttributeId) -> String,
) -> Result<Vec<(AttributeId, Option<Value>)>, Problem> {
    let (mut values, mut faults, mut kind) = (Vec::new(), Vec::new(), None);
    for (id, input) in inputs {
        let mut wrong = |of: Kind, detail: String| {
            kind = kind.or(Some(of));
            faults.push(Fault::pointer(pointer(*id), detail));
        };
        let Some(attribute) = schema.column(*id) else {
            wrong(UNKNOWN_ATTRIBUTE, "is not an attribute of this project".to_owned());
            continue;
        };
        let of = attribute.item.of;
        match input.as_ref().map(|input| of.read(input, attribute.options())).transpose() {
            Ok(plain) => {
                let value = |plain: crate::values::Plain| Value {
                    slot: attribute.item.slot,
                    of,
                    value: plain.as_str().to_owned(),
                };
                values.push((*id, plain.map(value)));
            }
            Err(detail) if of == Type::Choice => wrong(UNKNOWN_OPTION, detail),
            Err(detail) => wrong(WRONG_TYPE, detail),
        }
    }
    match kind {
        None => Ok(values),
        Some(kind) => Err(kind.because("No value was written. `errors` lists each invalid value.").at(faults)),
    }
}
