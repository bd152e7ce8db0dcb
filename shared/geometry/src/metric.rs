//! Metres between places near each other, never too few: degrees of longitude count as long as they are at the nearest
//! latitude to the equator that the way between the places could touch.

use crate::Position;

/// Of a degree of latitude, and of longitude at the equator, on the sphere of the map's scale (156 543 m a pixel).
pub(crate) const METRES_A_DEGREE: f64 = 111_319.490_793_273_57;

/// Degrees of longitude count at least this much of a degree of latitude. All longitudes are one place at a pole, but
/// on the map they are its edge, and what is drawn along it must stay.
const LEAST_SCALE: f64 = 0.1;

/// How much of a degree of latitude a degree of longitude counts, where the latitude is at least so far off the equator.
pub(crate) fn scale_beyond(latitude: f64) -> f64 {
    latitude.max(0.0).to_radians().cos().max(LEAST_SCALE)
}

/// From one place to another, in degrees of latitude.
pub(crate) fn away([x, y]: Position, [other_x, other_y]: Position, scale: f64) -> [f64; 2] {
    [(other_x - x) * scale, other_y - y]
}

/// `[west, south, east, north]` as a circle: its centre, its radius in degrees of latitude, and the scale, which also
/// holds `margin` degrees around.
pub(crate) fn circle([west, south, east, north]: [f64; 4], margin: f64) -> (Position, f64, f64) {
    let nearest = if south <= 0.0 && north >= 0.0 { 0.0 } else { south.abs().min(north.abs()) };
    let scale = scale_beyond(nearest - margin);
    let centre = [f64::midpoint(west, east), f64::midpoint(south, north)];
    let radius = ((east - west) * scale).hypot(north - south) / 2.0;
    (centre, radius, scale)
}
