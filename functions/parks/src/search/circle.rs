//! A circle on the sphere as a polygon, since extents are compared with polygons only.

use std::f64::consts::{PI, TAU};

use super::point::{EARTH_RADIUS, Point};

/// How far the polygon may be from the circle: this part of the radius, and two centimetres, since search holds positions
/// to the centimetre.
pub const TOLERANCE: f64 = 0.001;

/// Sides to begin with; each is halved until it is near enough to the circle.
const SIDES: u32 = 64;

/// How often a side is halved at most. Only beside a pole it takes more than two.
const HALVINGS: u32 = 6;

/// The closed ring of positions at this distance from the point, counterclockwise, each longitude between ±180. It crosses
/// ±180 and goes round a pole where the circle does.
pub fn ring(centre: Point, radius: f64) -> Vec<[f64; 2]> {
    let bearing = |side: u32| -TAU * f64::from(side) / f64::from(SIDES);
    let mut ring = vec![at(centre, radius, bearing(0))];
    for side in 0..SIDES {
        add_side(&mut ring, centre, radius, [bearing(side), bearing(side + 1)], HALVINGS);
    }
    if let (Some(first), Some(last)) = (ring.first().copied(), ring.last_mut()) {
        *last = first;
    }
    ring
}

/// Adds the end of a side, and positions before it as long as the middle of a side is too far from the circle.
fn add_side(ring: &mut Vec<[f64; 2]>, centre: Point, radius: f64, [from, to]: [f64; 2], halvings: u32) {
    let (one, other) = (at(centre, radius, from), at(centre, radius, to));
    let distance = centre.distance(between(one, other));
    let middle = f64::midpoint(from, to);
    if halvings > 0 && (distance - radius).abs() > radius * TOLERANCE {
        add_side(ring, centre, radius, [from, middle], halvings - 1);
        add_side(ring, centre, radius, [middle, to], halvings - 1);
    } else {
        ring.push(other);
    }
}

/// The middle of a side as search draws it: straight in longitude and latitude, the short way round.
fn between([x0, y0]: [f64; 2], [x1, y1]: [f64; 2]) -> Point {
    let step = x1 - x0;
    let step = if step.abs() > 180.0 { step - 360.0_f64.copysign(step) } else { step };
    Point { longitude: x0 + step / 2.0, latitude: f64::midpoint(y0, y1) }
}

/// The position at a distance and a bearing, both on the sphere.
fn at(centre: Point, distance: f64, bearing: f64) -> [f64; 2] {
    let (latitude, longitude) = (centre.latitude.to_radians(), centre.longitude.to_radians());
    let angle = distance / EARTH_RADIUS;
    let sine = latitude.sin() * angle.cos() + latitude.cos() * angle.sin() * bearing.cos();
    let there = sine.clamp(-1.0, 1.0).asin();
    let north = latitude.cos() * angle.cos() - latitude.sin() * angle.sin() * bearing.cos();
    let east = (bearing.sin() * angle.sin()).atan2(north);
    let longitude = (longitude + east + PI).rem_euclid(TAU) - PI;
    [longitude.to_degrees(), there.to_degrees()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The farthest that a point of any side is from the circle, as a part of the radius.
    fn off(centre: Point, radius: f64) -> f64 {
        let ring = ring(centre, radius);
        assert!(ring.len() <= 1000, "{}", ring.len());
        let points = ring.windows(2).map(|side| between(side[0], side[1]));
        points.map(|point| (centre.distance(point) / radius - 1.0).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn sides_keep_to_the_circle_everywhere_and_at_every_size() {
        for latitude in [-80.0, -45.0, 0.0, 49.5, 60.0, 75.0] {
            for longitude in [-180.0, -125.5, 0.0, 179.9, 180.0] {
                for radius in [1.0, 1_000.0, 50_000.0, 1_000_000.0] {
                    let centre = Point { longitude, latitude };
                    assert!(off(centre, radius) <= TOLERANCE, "{centre:?} {radius} {}", off(centre, radius));
                }
            }
        }
    }

    #[test]
    fn beside_a_pole_sides_are_halved() {
        // The ring goes by the pole at 1 km, and round it.
        for radius in [110_000.0, 113_000.0] {
            let centre = Point { longitude: 20.0, latitude: 89.0 };
            assert!(off(centre, radius) <= TOLERANCE, "{}", off(centre, radius));
        }
    }
}
