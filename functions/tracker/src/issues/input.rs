//! Values that a client sends, as the project's attributes take them.

use std::collections::BTreeMap;

use web::{Fault, Kind, Problem};

use crate::items::Value;
use crate::names::AttributeId;
use crate::project::Schema;
use crate::values::{Input, Type};

pub const WRONG_TYPE: Kind = Kind::new(422, "wrong-type", "A value does not fit its attribute's type");
pub const UNKNOWN_ATTRIBUTE: Kind = Kind::new(422, "unknown-attribute", "The project has no such attribute");
pub const UNKNOWN_OPTION: Kind = Kind::new(422, "unknown-option", "The attribute has no such option to set");

/// Values by attribute; none clears.
pub type Inputs = BTreeMap<AttributeId, Option<Input>>;

/// Where values by attribute stand.
pub fn in_values(id: AttributeId) -> String {
    format!("/values/{}", id.id())
}

/// What is to be set and cleared, or every value that cannot be. `pointer` says where
/// each stands in the body.
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
            wrong(UNKNOWN_ATTRIBUTE, "is no attribute of this project".to_owned());
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
        Some(kind) => Err(kind.because("Nothing was written; `errors` tells each value that cannot be.").at(faults)),
    }
}
