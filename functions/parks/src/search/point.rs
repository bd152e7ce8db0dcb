//! Points on the sphere.

/// A point in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub longitude: f64,
    pub latitude: f64,
}

/// The radius in metres of the sphere on which OpenSearch measures distances.
pub const EARTH_RADIUS: f64 = 6_371_008.771_4;

impl Point {
    /// Parses `longitude, latitude`.
    pub fn parse(numbers: &[f64]) -> Result<Self, String> {
        let &[longitude, latitude] = numbers else { return Err(Self::EXPECTED.to_owned()) };
        if latitude.abs() > 90.0 && longitude.abs() <= 90.0 && latitude.abs() <= 180.0 {
            let swapped = format!("the coordinates may be swapped: {latitude},{longitude}");
            return Err(format!("{}; {swapped}", Self::EXPECTED));
        }
        if longitude.abs() > 180.0 || latitude.abs() > 90.0 {
            return Err(Self::EXPECTED.to_owned());
        }
        Ok(Self { longitude, latitude })
    }

    const EXPECTED: &str = "must be longitude first, -180 to 180, then latitude, -90 to 90";

    /// The distance to another point along the sphere, in metres.
    pub fn distance(self, other: Self) -> f64 {
        let half = |from: f64, to: f64| ((to - from).to_radians() / 2.0).sin().powi(2);
        let parallel = self.latitude.to_radians().cos() * other.latitude.to_radians().cos();
        let haversine = half(self.latitude, other.latitude) + parallel * half(self.longitude, other.longitude);
        2.0 * EARTH_RADIUS * haversine.sqrt().min(1.0).asin()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latitude_before_longitude_is_refused() {
        assert!(Point::parse(&[-123.12, 49.28]).is_ok());
        let fault = Point::parse(&[49.28, -123.12]).unwrap_err();
        assert!(fault.contains("longitude first") && fault.contains("swapped"), "{fault}");
        assert!(Point::parse(&[181.0, 0.0]).is_err());
    }

    #[test]
    fn distance_is_along_the_sphere() {
        let from = Point { longitude: -125.51, latitude: 49.6 };
        let to = Point { longitude: -125.5, latitude: 49.6 };
        assert!((from.distance(to) - 721.0).abs() < 4.0);
        let antipode = Point { longitude: 54.49, latitude: -49.6 };
        assert!((from.distance(antipode) - 20_015_114.0).abs() < 2.0);
    }
}
