//! A circle on the sphere as a polygon, since extents are compared with polygons only.

use std::f64::consts::{PI, TAU};

use super::point::{EARTH_RADIUS, Point};

/// The greatest distance of the polygon from the circle, as a fraction of the radius. Search adds up to two
/// centimetres, since it stores positions to the centimetre.
pub const TOLERANCE: f64 = 0.001;

/// The initial number of sides. A side is halved until its middle is near enough to the circle.
const SIDES: u32 = 64;

/// The limit of halvings of a side; more than two are needed only near a pole.
const HALVINGS: u32 = 6;

/// The closed ring of positions at this distance from the point, counterclockwise, each longitude between ±180. It crosses
/// ±180 and surrounds a pole where the circle does.
pub fn ring(centre: Point, radius: f64) -> Vec<[f64; 2]> {
    let bearing = |side: u32| -TAU * f64::from(side) / f64::from(SIDES);
    let mut ring = vec![destination(centre, radius, bearing(0))];
    for side in 0..SIDES {
        add_side(&mut ring, centre, radius, [bearing(side), bearing(side + 1)], HALVINGS);
    }
    if let (Some(first), Some(last)) = (ring.first().copied(), ring.last_mut()) {
        *last = first;
    }
    ring
}

/// Adds the end of a side. If its middle is too far from the circle, adds the two halves of the side instead.
fn add_side(ring: &mut Vec<[f64; 2]>, centre: Point, radius: f64, [from, to]: [f64; 2], halvings: u32) {
    let (start, end) = (destination(centre, radius, from), destination(centre, radius, to));
    let distance = centre.distance(midpoint(start, end));
    let middle = f64::midpoint(from, to);
    if halvings > 0 && (distance - radius).abs() > radius * TOLERANCE {
        add_side(ring, centre, radius, [from, middle], halvings - 1);
        add_side(ring, centre, radius, [middle, to], halvings - 1);
    } else {
        ring.push(end);
    }
}

/// The middle of a side as search draws it: straight in longitude and latitude, in the shorter direction.
fn midpoint([x0, y0]: [f64; 2], [x1, y1]: [f64; 2]) -> Point {
    let step = x1 - x0;
    let step = if step.abs() > 180.0 { step - 360.0_f64.copysign(step) } else { step };
    Point { longitude: x0 + step / 2.0, latitude: f64::midpoint(y0, y1) }
}

/// The position at this distance and bearing from the centre, along the sphere.
fn destination(centre: Point, distance: f64, bearing: f64) -> [f64; 2] {
    let (latitude, longitude) = (centre.latitude.to_radians(), centre.longitude.to_radians());
    let angle = distance / EARTH_RADIUS;
    let sine = latitude.sin() * angle.cos() + latitude.cos() * angle.sin() * bearing.cos();
    let end_latitude = sine.clamp(-1.0, 1.0).asin();
    let north = latitude.cos() * angle.cos() - latitude.sin() * angle.sin() * bearing.cos();
    let east = (bearing.sin() * angle.sin()).atan2(north);
    let longitude = (longitude + east + PI).rem_euclid(TAU) - PI;
    [longitude.to_degrees(), end_latitude.to_degrees()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The greatest distance of the middle of a side from the circle, as a fraction of the radius.
    fn deviation(centre: Point, radius: f64) -> f64 {
        let ring = ring(centre, radius);
        assert!(ring.len() <= 1000, "{}", ring.len());
        let points = ring.windows(2).map(|side| midpoint(side[0], side[1]));
        points.map(|point| (centre.distance(point) / radius - 1.0).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn sides_are_near_the_circle_at_every_place_and_radius() {
        for latitude in [-80.0, -45.0, 0.0, 49.5, 60.0, 75.0] {
            for longitude in [-180.0, -125.5, 0.0, 179.9, 180.0] {
                for radius in [1.0, 1_000.0, 50_000.0, 1_000_000.0] {
                    let centre = Point { longitude, latitude };
                    let deviation = deviation(centre, radius);
                    assert!(deviation <= TOLERANCE, "{centre:?} {radius} {deviation}");
                }
            }
        }
    }

    #[test]
    fn sides_near_a_pole_are_halved_until_they_are_near_the_circle() {
        // One ring passes the pole at 1 km, and the other surrounds it.
        for radius in [110_000.0, 113_000.0] {
            let centre = Point { longitude: 20.0, latitude: 89.0 };
            let deviation = deviation(centre, radius);
            assert!(deviation <= TOLERANCE, "{deviation}");
        }
    }
}
