//! The check of a document: its rules in order.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{Fault, Kind, Limits, Refused, Repair, Shape};

/// A shape that passed, and how it was mended on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    pub shape: Shape,
    /// In the order of their names.
    pub repairs: BTreeSet<Repair>,
}

/// Checks a GeoJSON text: a geometry, a Feature, or a FeatureCollection of one Feature.
pub fn check(document: &[u8], kind: Kind, limits: &Limits) -> Result<Checked, Refused> {
    let refused = |pointer: &str, detail: String, too_large| Refused {
        faults: vec![Fault { pointer: pointer.to_owned(), detail }],
        count: 1,
        too_large,
    };
    if document.len() > limits.bytes {
        return Err(refused("", format!("the document has more than {} bytes", limits.bytes), true));
    }
    let shape = std::str::from_utf8(document)
        .ok()
        .and_then(|text| Shape::parse_canonical(text).ok())
        .ok_or_else(|| refused("", "not a GeoJSON geometry".to_owned(), false))?;
    if !kind.takes(shape.shape_type()) {
        return Err(refused("/type", format!("the type must be {}", kind.types()), false));
    }
    Ok(Checked { shape, repairs: BTreeSet::new() })
}

/// The same for a document that is part of a parsed body; pointers begin at this value.
pub fn check_value(document: &Value, kind: Kind, limits: &Limits) -> Result<Checked, Refused> {
    check(document.to_string().as_bytes(), kind, limits)
}
