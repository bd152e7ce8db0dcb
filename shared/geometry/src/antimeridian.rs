//! The antimeridian, longitude ±180, where the map ends.
//!
//! The unwrapped plane is a row of strips, each 360° wide. Strip 0 is the map, −180 to 180. A vertex has its longitude
//! on the map and the number of its strip, so no precision is lost to multiples of 360°. Antimeridian `s` lies between
//! strips `s` and `s + 1`. A vertex on it has longitude 180 in strip `s` or −180 in strip `s + 1`.

pub(crate) mod chains;
pub(crate) mod pole;
pub(crate) mod split;
pub(crate) mod unwrap;

use crate::Position;

/// A vertex in the unwrapped plane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Vertex {
    /// Longitude on the map, −180 to 180.
    pub x: f64,
    pub y: f64,
    /// Altitude; 0 where the shape has none.
    pub z: f64,
    pub strip: i32,
    /// The index of its position in its ring or line as sent.
    pub source: u32,
}

/// A ring on the map, without its closing vertex, or a line.
pub(crate) type Vertices = Vec<Vertex>;

impl Vertex {
    pub(crate) fn position(&self) -> Position {
        [self.x, self.y]
    }

    /// Returns the antimeridian that the vertex lies on.
    pub(crate) fn antimeridian(&self) -> Option<i32> {
        if self.x == 180.0 {
            Some(self.strip)
        } else if self.x == -180.0 {
            Some(self.strip - 1)
        } else {
            None
        }
    }

    /// Returns its position in the unwrapped plane, rounded to doubles.
    pub(crate) fn unwrapped(&self) -> Position {
        self.relative_to(0)
    }

    /// Returns its position in the unwrapped plane with `strip` as strip 0.
    fn relative_to(&self, strip: i32) -> Position {
        [self.x + 360.0 * f64::from(self.strip - strip), self.y]
    }

    /// Returns the same point as a vertex of the strip that it lies in or borders on.
    pub(crate) fn within(&self, strip: i32) -> Self {
        let x = match self.antimeridian() {
            Some(antimeridian) if antimeridian == strip => 180.0,
            Some(_) => -180.0,
            None => self.x,
        };
        Self { x, strip, ..*self }
    }
}

/// The piece of an edge within one strip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct EdgePiece {
    /// Both endpoints are vertices of that strip. A vertex that the split adds has the source of the edge's end.
    pub from: Vertex,
    pub to: Vertex,
    /// The split has added this endpoint.
    pub from_split: bool,
    pub to_split: bool,
}

impl EdgePiece {
    /// Returns a point of the piece as a vertex, or nothing if the point is outside its bounds.
    pub(crate) fn vertex_at(&self, [x, y]: Position) -> Option<Vertex> {
        let within = |one: f64, other: f64, of: f64| one.min(other) <= of && of <= one.max(other);
        let Self { from, to, .. } = self;
        (within(from.x, to.x, x) && within(from.y, to.y, y)).then(|| Vertex {
            x,
            y,
            z: f64::midpoint(from.z, to.z),
            strip: from.strip,
            source: to.source,
        })
    }
}

/// Returns whether an edge runs along an antimeridian, and so lies in no strip.
pub(crate) fn runs_along_antimeridian(from: &Vertex, to: &Vertex) -> bool {
    from.antimeridian().is_some() && from.antimeridian() == to.antimeridian()
}

/// Returns the strips in which an edge starts and ends. The edge does not run along an antimeridian.
pub(crate) fn end_strips(from: &Vertex, to: &Vertex) -> (i32, i32) {
    let runs_east = from.unwrapped() < to.unwrapped();
    let start = from.antimeridian().map_or(from.strip, |line| if runs_east { line + 1 } else { line });
    let end = to.antimeridian().map_or(to.strip, |line| if runs_east { line } else { line + 1 });
    (start, end)
}

/// Splits an edge into its pieces, in its direction. An edge along an antimeridian has none.
pub(crate) fn split_edge(from: &Vertex, to: &Vertex, mut each: impl FnMut(EdgePiece)) {
    if runs_along_antimeridian(from, to) {
        return;
    }
    let (start, end) = end_strips(from, to);
    let mut rest = EdgePiece { from: from.within(start), to: to.within(end), from_split: false, to_split: false };
    let mut strip = start;
    while strip != end {
        let runs_east = strip < end;
        let next = if runs_east { strip + 1 } else { strip - 1 };
        let crossing = antimeridian_crossing(from, to, if runs_east { strip } else { next });
        each(EdgePiece { to: crossing.within(strip), to_split: true, ..rest });
        rest.from = crossing.within(next);
        rest.from_split = true;
        strip = next;
    }
    each(rest);
}

/// Returns the point where an edge crosses an antimeridian. It is the same for both directions of the edge, so that
/// parts which share the edge share the point.
pub(crate) fn antimeridian_crossing(from: &Vertex, to: &Vertex, antimeridian: i32) -> Vertex {
    let (from_x, to_x) = (from.relative_to(antimeridian)[0], to.relative_to(antimeridian)[0]);
    let ((west, west_x), (east, east_x)) =
        if from_x < to_x { ((from, from_x), (to, to_x)) } else { ((to, to_x), (from, from_x)) };
    let (run, whole) = (180.0 - west_x, east_x - west_x);
    let interpolate = |west: f64, east: f64| {
        let exact = west + (east - west) * run / whole;
        // The difference of two altitudes may overflow. An altitude that both ends share is kept.
        let exact = if exact.is_finite() { exact } else { f64::midpoint(west, east) };
        exact.clamp(west.min(east), west.max(east))
    };
    Vertex {
        x: 180.0,
        y: interpolate(west.y, east.y),
        z: interpolate(west.z, east.z),
        strip: antimeridian,
        source: to.source,
    }
}

/// Brings a longitude up to ±360 onto the map, by 360°. Decimals are kept: 235.123456 gives −124.876544.
pub(crate) fn normalize_longitude(longitude: f64) -> f64 {
    if longitude.abs() <= 180.0 {
        return longitude;
    }
    let moved = longitude - 360.0_f64.copysign(longitude);
    let text = longitude.to_string();
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let decimal: f64 = format!("{moved:.decimals$}").parse().unwrap_or(moved);
    // The unit in the last place of a double beyond 180 is 2.8e-14. If the decimal text is that close, it is exact.
    if (decimal - moved).abs() < 6e-14 { decimal + 0.0 } else { moved }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vertex(x: f64, y: f64, strip: i32) -> Vertex {
        Vertex { x, y, strip, ..Vertex::default() }
    }

    fn pieces(from: Vertex, to: Vertex) -> Vec<[Position; 2]> {
        let mut pieces = Vec::new();
        split_edge(&from, &to, |piece| pieces.push([piece.from.position(), piece.to.position()]));
        pieces
    }

    #[test]
    fn longitude_beyond_180_is_normalized_and_keeps_its_decimals() {
        assert_eq!(normalize_longitude(235.123_456), -124.876_544);
        assert_eq!(normalize_longitude(180.2), -179.8);
        assert_eq!(normalize_longitude(-358.000_1), 1.999_9);
        assert_eq!(normalize_longitude(360.0), 0.0);
        assert_eq!(normalize_longitude(-180.0), -180.0);
        assert_eq!(normalize_longitude(180.000_000_000_000_03), -179.999_999_999_999_97);
    }

    #[test]
    fn edge_across_the_antimeridian_is_split_and_its_altitude_interpolated() {
        let mut from = vertex(150.0, -70.0, 0);
        let mut to = vertex(-150.0, -75.0, 1);
        assert_eq!(pieces(from, to), [[[150.0, -70.0], [180.0, -72.5]], [[-180.0, -72.5], [-150.0, -75.0]]]);
        assert_eq!(pieces(to, from), [[[-150.0, -75.0], [-180.0, -72.5]], [[180.0, -72.5], [150.0, -70.0]]]);
        (from.z, to.z) = (100.0, 200.0);
        assert_eq!(antimeridian_crossing(&from, &to, 0).z, 150.0);
    }

    #[test]
    fn edge_that_ends_at_the_antimeridian_is_not_split() {
        assert_eq!(pieces(vertex(170.0, 1.0, 0), vertex(-180.0, 2.0, 1)), [[[170.0, 1.0], [180.0, 2.0]]]);
        assert_eq!(pieces(vertex(180.0, 1.0, 0), vertex(-170.0, 2.0, 1)), [[[-180.0, 1.0], [-170.0, 2.0]]]);
        assert_eq!(pieces(vertex(-180.0, 1.0, 0), vertex(180.0, 1.0, 0)), [[[-180.0, 1.0], [180.0, 1.0]]]);
        assert!(pieces(vertex(180.0, 1.0, 0), vertex(-180.0, 2.0, 1)).is_empty());
    }
}
