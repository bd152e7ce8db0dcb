//! Shapes on the map: GeoJSON (RFC 7946) in, by rules that name every fault and every repair; a canonical form, its
//! hash, envelopes, simpler forms, and the form that search takes. Pure: bytes in, values out, no input panics.

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
pub use repair::Repair;
pub use search_form::{COARSE_POSITIONS, FULL_BYTES, FULL_POSITIONS, Rung};
pub use shape::{Position, Shape, ShapeType, sha256};
pub use simplify::{Simplified, zoom_tolerance};
