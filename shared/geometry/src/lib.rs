//! Shapes on the map, without IO. The crate checks GeoJSON (RFC 7946) by rules that name every fault and every repair,
//! and derives from a valid shape its canonical form and hash, its envelope, simplified forms, and the form that search
//! indexes. No input panics.
//!
//! Other files refer to the rules by their numbers:
//!
//! 1. A shape has an allowed type, and longitude and latitude in WGS 84.
//! 2. A position has two or three finite numbers. All positions have the same count.
//! 3. Latitudes are between −90 and 90, longitudes between −180 and 180. Longitudes up to ±360 are unwrapped ones.
//! 4. A ring is closed and has an area. A line has a length. No position repeats the one before.
//! 5. Shells run counterclockwise, holes clockwise.
//! 6. A ring does not cross or touch itself.
//! 7. A hole is inside its shell. Holes do not disconnect the interior.
//! 8. Parts share no area and no edge.
//! 9. No ring or line crosses the antimeridian. It is split there.
//! 10. A ring around a pole is closed along ±180 and ±90.
//! 11. A document keeps its [`Limits`].

mod antimeridian;
mod check;
mod enclosed_area;
mod envelope;
mod fault;
mod interior;
mod intersection;
mod json;
mod limits;
mod metric;
mod orientation;
mod point_in_polygon;
mod polyline;
mod position;
mod read;
mod reference_system;
mod repair;
mod ring_nesting;
mod search_form;
mod segment;
mod segment_graph;
mod self_intersection;
mod shape;
mod simplify;
mod sweep;
mod topology;

pub use check::{Checked, check, check_value};
pub use enclosed_area::{first_position, repair};
pub use envelope::Envelope;
pub use fault::{Fault, InvalidShape, MAX_FAULTS};
pub use limits::{Kind, Limits};
pub use read::NotCanonical;
pub use reference_system::{ONLY_WGS84, is_wgs84};
pub use repair::Repair;
pub use search_form::{MAX_COARSE_POSITIONS, MAX_FULL_BYTES, MAX_FULL_POSITIONS, is_indexed_in_full};
pub use shape::{Position, Shape, ShapeType, sha256};
pub use simplify::{Simplified, zoom_tolerance};
