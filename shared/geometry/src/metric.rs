//! Distances between near positions, by a local equirectangular projection.
//!
//! No distance is underestimated: a degree of longitude has its length at the latitude nearest to the equator that the
//! segment between the positions can touch.

use crate::Position;

/// The length of a degree of latitude, and of longitude at the equator, on the sphere of Web Mercator.
pub(crate) const METRES_PER_DEGREE: f64 = 111_319.490_793_273_57;

/// The smallest length of a degree of longitude, in degrees of latitude. At a pole it is 0 on the globe, but on the map
/// the pole is an edge, and lines along it must be kept.
const MIN_LONGITUDE_SCALE: f64 = 0.1;

/// Returns the length of a degree of longitude, in degrees of latitude, at the given distance from the equator.
pub(crate) fn longitude_scale(latitude: f64) -> f64 {
    latitude.max(0.0).to_radians().cos().max(MIN_LONGITUDE_SCALE)
}

/// Returns the vector from one position to another, in degrees of latitude.
pub(crate) fn offset([x, y]: Position, [other_x, other_y]: Position, scale: f64) -> [f64; 2] {
    [(other_x - x) * scale, other_y - y]
}

/// Returns the bounding circle of a box `[west, south, east, north]`: its centre, its radius in degrees of latitude,
/// and the scale of longitude, which also holds for `margin` degrees around the box.
pub(crate) fn bounding_circle([west, south, east, north]: [f64; 4], margin: f64) -> (Position, f64, f64) {
    let nearest = if south <= 0.0 && north >= 0.0 { 0.0 } else { south.abs().min(north.abs()) };
    let scale = longitude_scale(nearest - margin);
    let centre = [f64::midpoint(west, east), f64::midpoint(south, north)];
    let radius = ((east - west) * scale).hypot(north - south) / 2.0;
    (centre, radius, scale)
}
