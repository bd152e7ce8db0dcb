//! Shapes on the map: GeoJSON (RFC 7946) in, by rules that name every fault and every repair; a canonical form, its
//! hash, envelopes, simpler forms, and the form that search takes. Pure: bytes in, values out, no input panics.
//!
//! The rules, by whose numbers other files speak of them:
//!
//! 1. A shape has a type that its name allows, and longitudes and latitudes as its reference system.
//! 2. A position has two or three finite numbers, and each has as many.
//! 3. Latitudes lie from -90 to 90, longitudes from -180 to 180; beyond that they are taken as going round.
//! 4. A ring is closed and has an area, a line a length; no position comes twice in a row.
//! 5. Shells run counterclockwise, holes clockwise.
//! 6. A ring does not meet itself.
//! 7. A hole lies in its shell, and holes leave the interior in one piece.
//! 8. Parts share no area and no edge.
//! 9. Nothing crosses ±180: it is cut there.
//! 10. A ring round a pole is closed along ±180 and ±90.
//! 11. A document has bounds: [`Limits`].

mod across;
mod chain;
mod check;
mod cut;
mod draft;
mod drop;
mod envelope;
mod fault;
mod inside;
mod interior;
mod json;
mod limits;
mod meeting;
mod mend;
mod metric;
mod nest;
mod orient;
mod outline;
mod plane;
mod pole;
mod position;
mod read;
mod reference_system;
mod repair;
mod rules;
mod seam;
mod search_form;
mod shape;
mod simplify;
mod status;
mod sweep;
mod tangle;
mod thin;
mod trace;
mod unwrap;

pub use check::{Checked, check, check_value};
pub use envelope::Envelope;
pub use fault::{Fault, NAMED_FAULTS, Refused};
pub use limits::{Kind, Limits};
pub use read::NotCanonical;
pub use reference_system::{ONLY_WGS84, is_wgs84};
pub use repair::Repair;
pub use search_form::{COARSE_POSITIONS, FULL_BYTES, FULL_POSITIONS, Rung};
pub use shape::{Position, Shape, ShapeType, sha256};
pub use simplify::{Simplified, zoom_tolerance};
