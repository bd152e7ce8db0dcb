//! Rules 2 and 3: the validity of a position.

use crate::Position;

/// How far a coordinate may exceed its range to be snapped to the end of the range. Real data has `180.0000000000002`.
const SNAP_TOLERANCE: f64 = 1e-9;

/// Smaller coordinates are set to 0. No measurement is that exact, and products of such coordinates underflow, which
/// the exact predicates do not allow.
const ZERO_THRESHOLD: f64 = 1e-100;

/// A position within its ranges, with a longitude up to ±360.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ValidPosition {
    pub position: Position,
    pub altitude: Option<f64>,
    pub snapped: bool,
}

/// Checks the numbers of a position. Returns the position or its fault. `dimensions` is the count of the first
/// position.
pub(crate) fn check_position(numbers: &[f64], dimensions: usize) -> Result<ValidPosition, String> {
    let (longitude, latitude, altitude) = match *numbers {
        [longitude, latitude] => (longitude, latitude, None),
        [longitude, latitude, altitude] => (longitude, latitude, Some(altitude)),
        _ => {
            return Err(
                "a position must be an array of 2 or 3 numbers: longitude, latitude and altitude in metres".to_owned()
            );
        }
    };
    if !numbers.iter().all(|number| number.is_finite()) {
        return Err("the numbers of a position must be finite".to_owned());
    }
    if numbers.len() != dimensions {
        let found = numbers.len();
        return Err(format!("{found} numbers, but the first position has {dimensions}: all must have the same count"));
    }
    let latitude_snapped = snap(latitude, 90.0);
    let longitude_snapped =
        if longitude.abs() <= 180.0 + SNAP_TOLERANCE { snap(longitude, 180.0) } else { snap(longitude, 360.0) };
    match (longitude_snapped, latitude_snapped) {
        (Some(x), Some(y)) => {
            let snapped = x != longitude || y != latitude;
            Ok(ValidPosition { position: [x, y], altitude: altitude.map(|metres| metres + 0.0), snapped })
        }
        (_, None) if longitude.abs() <= 90.0 && latitude.abs() <= 180.0 => Err(format!(
            "latitude {latitude} is not between -90 and 90: longitude and latitude look swapped, longitude comes first"
        )),
        (_, None) => Err(format!("latitude {latitude} is not between -90 and 90")),
        (None, _) => Err(format!("longitude {longitude} is not between -180 and 180, or -360 and 360 if unwrapped")),
    }
}

/// Returns degrees within ±`end`, or nothing if they are too far out.
fn snap(degrees: f64, end: f64) -> Option<f64> {
    if degrees.abs() > end + SNAP_TOLERANCE {
        None
    } else if degrees.abs() < ZERO_THRESHOLD {
        Some(0.0)
    } else {
        Some(degrees.clamp(-end, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(numbers: &[f64], dimensions: usize) -> String {
        check_position(numbers, dimensions).unwrap_err()
    }

    #[test]
    fn position_without_2_or_3_finite_numbers_is_refused() {
        assert_eq!(check_position(&[1.0, 2.0, 3.0], 3).unwrap().altitude, Some(3.0));
        assert!(refused(&[1.0], 2).contains("2 or 3"));
        assert!(refused(&[1.0, 2.0, 3.0, 4.0], 2).contains("2 or 3"));
        assert!(refused(&[1.0, f64::INFINITY], 2).contains("finite"));
        assert!(refused(&[1.0, 2.0, 3.0], 2).contains("same count"));
    }

    #[test]
    fn coordinate_within_a_nanodegree_of_its_range_is_snapped() {
        let snapped = check_position(&[180.000_000_000_000_2, -90.000_000_000_9], 2).unwrap();
        assert_eq!((snapped.position, snapped.snapped), ([180.0, -90.0], true));
        assert_eq!(check_position(&[360.0, 90.0], 2).unwrap().position, [360.0, 90.0]);
        assert!(!check_position(&[-360.0, 0.0], 2).unwrap().snapped);
        assert!(refused(&[360.1, 0.0], 2).contains("longitude 360.1"));
        assert!(refused(&[0.0, 90.000_000_002], 2).contains("latitude 90.000000002"));
    }

    #[test]
    fn swapped_coordinates_are_reported_as_such() {
        assert!(refused(&[49.28, -123.12], 2).contains("look swapped"));
        assert!(!refused(&[123.0, -123.12], 2).contains("look swapped"));
        assert!(!refused(&[49.28, -190.0], 2).contains("look swapped"));
    }
}
