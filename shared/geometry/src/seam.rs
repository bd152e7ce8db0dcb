//! The meridian ±180, where the map is cut, and vertices that may lie beyond it.
//!
//! The unwrapped plane is a row of strips, each 360° wide; strip 0 is the map, −180 to 180. A vertex has its longitude
//! on the map and the strip ("turn") that it lies in, so nothing is lost by adding whole turns. Seam `s` lies between
//! strips `s` and `s + 1`: a vertex on it is written 180 in strip `s` or −180 in strip `s + 1`.

use crate::Position;

/// A vertex in the unwrapped plane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Vertex {
    /// Longitude on the map, −180 to 180.
    pub x: f64,
    pub y: f64,
    /// Altitude; 0 where the shape has none.
    pub z: f64,
    pub turn: i32,
    /// The index of its position in its ring or line as sent.
    pub source: u32,
}

impl Vertex {
    pub(crate) fn position(&self) -> Position {
        [self.x, self.y]
    }

    /// The seam it lies on.
    pub(crate) fn seam(&self) -> Option<i32> {
        if self.x == 180.0 {
            Some(self.turn)
        } else if self.x == -180.0 {
            Some(self.turn - 1)
        } else {
            None
        }
    }

    /// Its place in the plane, rounded to a double.
    pub(crate) fn unwrapped(&self) -> Position {
        self.relative_to(0)
    }

    /// Its place in the plane whose strip 0 is `strip`.
    fn relative_to(&self, strip: i32) -> Position {
        [self.x + 360.0 * f64::from(self.turn - strip), self.y]
    }

    /// The same place, written as a vertex of the strip it lies in or borders on.
    pub(crate) fn within(&self, strip: i32) -> Self {
        let x = match self.seam() {
            Some(seam) if seam == strip => 180.0,
            Some(_) => -180.0,
            None => self.x,
        };
        Self { x, turn: strip, ..*self }
    }
}

/// A stretch of an edge within one strip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stretch {
    /// Both as vertices of that strip. What the cut adds has the source of the edge's end.
    pub from: Vertex,
    pub to: Vertex,
    pub from_cut: bool,
    pub to_cut: bool,
}

impl Stretch {
    /// A place on it as a vertex.
    pub(crate) fn vertex_at(&self, [x, y]: Position) -> Option<Vertex> {
        let within = |one: f64, other: f64, of: f64| one.min(other) <= of && of <= one.max(other);
        let Self { from, to, .. } = self;
        (within(from.x, to.x, x) && within(from.y, to.y, y)).then(|| Vertex {
            x,
            y,
            z: f64::midpoint(from.z, to.z),
            turn: from.turn,
            source: to.source,
        })
    }
}

/// Whether the edge runs along a seam, in no strip of its own.
pub(crate) fn runs_along_seam(from: &Vertex, to: &Vertex) -> bool {
    from.seam().is_some() && from.seam() == to.seam()
}

/// The strips in which an edge that does not run along a seam begins and ends.
pub(crate) fn strips(from: &Vertex, to: &Vertex) -> (i32, i32) {
    let (from_seam, to_seam) = (from.seam(), to.seam());
    let east = from.unwrapped() < to.unwrapped();
    let leaving = from_seam.map_or(from.turn, |seam| if east { seam + 1 } else { seam });
    let arriving = to_seam.map_or(to.turn, |seam| if east { seam } else { seam + 1 });
    (leaving, arriving)
}

/// The stretches of an edge, in its direction. An edge along a seam has none.
pub(crate) fn stretches(from: &Vertex, to: &Vertex, mut each: impl FnMut(Stretch)) {
    if runs_along_seam(from, to) {
        return;
    }
    let (leaving, arriving) = strips(from, to);
    let mut here = Stretch { from: from.within(leaving), to: to.within(arriving), from_cut: false, to_cut: false };
    let mut strip = leaving;
    while strip != arriving {
        let east = strip < arriving;
        let next = if east { strip + 1 } else { strip - 1 };
        let cut = crossing(from, to, if east { strip } else { next });
        each(Stretch { to: cut.within(strip), to_cut: true, ..here });
        here.from = cut.within(next);
        here.from_cut = true;
        strip = next;
    }
    each(here);
}

/// Where an edge crosses a seam. The same place for both directions, so that parts which share the edge still do.
pub(crate) fn crossing(from: &Vertex, to: &Vertex, seam: i32) -> Vertex {
    let (from_x, to_x) = (from.relative_to(seam)[0], to.relative_to(seam)[0]);
    let ((west, west_x), (east, east_x)) =
        if from_x < to_x { ((from, from_x), (to, to_x)) } else { ((to, to_x), (from, from_x)) };
    let (run, whole) = (180.0 - west_x, east_x - west_x);
    let between = |west: f64, east: f64| {
        let exact = west + (east - west) * run / whole;
        // Altitudes may be as large as doubles get, but what lies level stays level.
        let exact = if exact.is_finite() { exact } else { f64::midpoint(west, east) };
        exact.clamp(west.min(east), west.max(east))
    };
    Vertex { x: 180.0, y: between(west.y, east.y), z: between(west.z, east.z), turn: seam, source: to.source }
}

/// Brings a longitude up to ±360 to the map, by a whole turn. Decimals stay decimals: 235.123456 gives −124.876544.
pub(crate) fn onto_map(longitude: f64) -> f64 {
    if longitude.abs() <= 180.0 {
        return longitude;
    }
    let moved = longitude - 360.0_f64.copysign(longitude);
    let text = longitude.to_string();
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let decimal: f64 = format!("{moved:.decimals$}").parse().unwrap_or(moved);
    // The last place of a double beyond 180 is 2.8e-14: closer, the decimal text is what was meant.
    if (decimal - moved).abs() < 6e-14 { decimal + 0.0 } else { moved }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vertex(x: f64, y: f64, turn: i32) -> Vertex {
        Vertex { x, y, turn, ..Vertex::default() }
    }

    fn cut(from: Vertex, to: Vertex) -> Vec<[Position; 2]> {
        let mut cut = Vec::new();
        stretches(&from, &to, |stretch| cut.push([stretch.from.position(), stretch.to.position()]));
        cut
    }

    #[test]
    fn a_longitude_beyond_180_moves_onto_the_map_with_its_decimals() {
        assert_eq!(onto_map(235.123_456), -124.876_544);
        assert_eq!(onto_map(180.2), -179.8);
        assert_eq!(onto_map(-358.000_1), 1.999_9);
        assert_eq!(onto_map(360.0), 0.0);
        assert_eq!(onto_map(-180.0), -180.0);
        assert_eq!(onto_map(180.000_000_000_000_03), -179.999_999_999_999_97);
    }

    #[test]
    fn an_edge_is_cut_where_it_crosses_and_altitude_is_interpolated() {
        let mut from = vertex(150.0, -70.0, 0);
        let mut to = vertex(-150.0, -75.0, 1);
        assert_eq!(cut(from, to), [[[150.0, -70.0], [180.0, -72.5]], [[-180.0, -72.5], [-150.0, -75.0]]]);
        assert_eq!(cut(to, from), [[[-150.0, -75.0], [-180.0, -72.5]], [[180.0, -72.5], [150.0, -70.0]]]);
        (from.z, to.z) = (100.0, 200.0);
        assert_eq!(crossing(&from, &to, 0).z, 150.0);
    }

    #[test]
    fn an_edge_that_ends_at_the_seam_is_whole() {
        assert_eq!(cut(vertex(170.0, 1.0, 0), vertex(-180.0, 2.0, 1)), [[[170.0, 1.0], [180.0, 2.0]]]);
        assert_eq!(cut(vertex(180.0, 1.0, 0), vertex(-170.0, 2.0, 1)), [[[-180.0, 1.0], [-170.0, 2.0]]]);
        assert_eq!(cut(vertex(-180.0, 1.0, 0), vertex(180.0, 1.0, 0)), [[[-180.0, 1.0], [180.0, 1.0]]]);
        assert!(cut(vertex(180.0, 1.0, 0), vertex(-180.0, 2.0, 1)).is_empty());
    }
}
