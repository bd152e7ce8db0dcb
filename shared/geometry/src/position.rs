//! Rules 2 and 3: what a position is.

use crate::Position;

/// How far beyond its range a coordinate may lie and is snapped to its end: `180.0000000000002` is in real data.
const SNAP: f64 = 1e-9;

/// Coordinates nearer to 0 are 0. Nobody measures them, and products of their differences would leave the doubles,
/// which the exact predicates do not allow.
const NOTHING: f64 = 1e-100;

/// A position within its ranges, longitude up to ±360.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Placed {
    pub position: Position,
    pub altitude: Option<f64>,
    pub snapped: bool,
}

/// The position that these numbers give, or what is wrong with them. `dimensions` is the count of the first position.
pub(crate) fn place(numbers: &[f64], dimensions: usize) -> Result<Placed, String> {
    let (longitude, latitude, altitude) = match *numbers {
        [longitude, latitude] => (longitude, latitude, None),
        [longitude, latitude, altitude] => (longitude, latitude, Some(altitude)),
        _ => return Err("a position is an array of 2 or 3 numbers: longitude, latitude, metres of altitude".to_owned()),
    };
    if !numbers.iter().all(|number| number.is_finite()) {
        return Err("a position's numbers are finite".to_owned());
    }
    if numbers.len() != dimensions {
        let found = numbers.len();
        return Err(format!("{found} numbers, but the first position has {dimensions}: all have the same count"));
    }
    let latitude_snapped = snap(latitude, 90.0);
    let longitude_snapped =
        if longitude.abs() <= 180.0 + SNAP { snap(longitude, 180.0) } else { snap(longitude, 360.0) };
    match (longitude_snapped, latitude_snapped) {
        (Some(x), Some(y)) => {
            let snapped = x != longitude || y != latitude;
            Ok(Placed { position: [x, y], altitude: altitude.map(|metres| metres + 0.0), snapped })
        }
        (_, None) if longitude.abs() <= 90.0 && latitude.abs() <= 180.0 => Err(format!(
            "latitude {latitude} is not within -90 and 90: latitude and longitude look swapped, longitude comes first"
        )),
        (_, None) => Err(format!("latitude {latitude} is not within -90 and 90")),
        (None, _) => {
            Err(format!("longitude {longitude} is not within -180 and 180, nor unwrapped within -360 and 360"))
        }
    }
}

fn snap(degrees: f64, end: f64) -> Option<f64> {
    if degrees.abs() > end + SNAP {
        None
    } else if degrees.abs() < NOTHING {
        Some(0.0)
    } else {
        Some(degrees.clamp(-end, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(numbers: &[f64], dimensions: usize) -> String {
        place(numbers, dimensions).unwrap_err()
    }

    #[test]
    fn rule_2_a_position_has_2_or_3_finite_numbers_the_same_count_throughout() {
        assert_eq!(place(&[1.0, 2.0, 3.0], 3).unwrap().altitude, Some(3.0));
        assert!(refused(&[1.0], 2).contains("2 or 3"));
        assert!(refused(&[1.0, 2.0, 3.0, 4.0], 2).contains("2 or 3"));
        assert!(refused(&[1.0, f64::INFINITY], 2).contains("finite"));
        assert!(refused(&[1.0, 2.0, 3.0], 2).contains("same count"));
    }

    #[test]
    fn rule_3_ranges_are_snapped_by_a_nanodegree() {
        let snapped = place(&[180.000_000_000_000_2, -90.000_000_000_9], 2).unwrap();
        assert_eq!((snapped.position, snapped.snapped), ([180.0, -90.0], true));
        assert_eq!(place(&[360.0, 90.0], 2).unwrap().position, [360.0, 90.0]);
        assert!(!place(&[-360.0, 0.0], 2).unwrap().snapped);
        assert!(refused(&[360.1, 0.0], 2).contains("longitude 360.1"));
        assert!(refused(&[0.0, 90.000_000_002], 2).contains("latitude 90.000000002"));
    }

    #[test]
    fn swapped_coordinates_are_said_to_look_so() {
        assert!(refused(&[49.28, -123.12], 2).contains("look swapped"));
        assert!(!refused(&[123.0, -123.12], 2).contains("look swapped"));
        assert!(!refused(&[49.28, -190.0], 2).contains("look swapped"));
    }
}
