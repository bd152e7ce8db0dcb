//! What an import does with a feature whose shape breaks the rules.

use geometry::{InvalidShape, Kind, Limits, Position, Shape};
use serde::Serialize;
use web::Fault;

use super::options::InvalidShapes;

/// What became of a refused shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    LeftOut,
    Repaired,
}

/// What the report says of a refused shape whose row is imported: what became of it, and its first fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedShape {
    pub outcome: Outcome,
    pub pointer: String,
    pub detail: String,
}

/// What stands in for a refused shape.
#[derive(Debug)]
pub enum Substitute {
    Repaired(Shape),
    /// The first valid position of the shape, if it has one. None if its positions are those of another reference system.
    Position(Option<Position>),
}

/// What stands in for the refused shape of a feature, or its faults.
pub fn substitute(
    how: InvalidShapes,
    feature: &[u8],
    kind: Kind,
    refused: InvalidShape,
) -> Result<(Substitute, RefusedShape), Vec<Fault>> {
    let substitute = match how {
        InvalidShapes::Refuse => None,
        InvalidShapes::LeaveOut => {
            let is_wgs84 = !refused.faults.iter().any(|fault| fault.pointer.ends_with("/crs"));
            let position = if is_wgs84 { geometry::first_position(feature, &Limits::UPLOAD) } else { None };
            Some((Outcome::LeftOut, Substitute::Position(position)))
        }
        InvalidShapes::Repair => geometry::repair(feature, kind, &Limits::UPLOAD)
            .map(|shape| (Outcome::Repaired, Substitute::Repaired(shape))),
    };
    let mut faults = refused.faults.into_iter();
    match substitute {
        Some((outcome, substitute)) => {
            let (pointer, detail) = faults.next().map_or_else(Default::default, |fault| (fault.pointer, fault.detail));
            Ok((substitute, RefusedShape { outcome, pointer, detail }))
        }
        None => Err(faults.map(|fault| Fault::pointer(fault.pointer, fault.detail)).collect()),
    }
}
