//! The box round a shape, also across ±180 (RFC 7946, section 5.2).

use crate::shape::{Position, Shape, ShapeType};

/// Degrees. `west > east` when it crosses ±180.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Envelope {
    pub west: f64,
    pub south: f64,
    pub east: f64,
    pub north: f64,
}

impl Envelope {
    /// The complement of the widest gap of longitude on the circle, −180 to 180 when there is no gap; of two equally
    /// wide gaps, the one at ±180.
    pub fn of(shape: &Shape) -> Self {
        let extents = shape.part_rows().filter_map(|rows| extent(shape.row(rows.start)));
        let mut spans = Vec::with_capacity(shape.parts());
        let (mut south, mut north) = (f64::INFINITY, f64::NEG_INFINITY);
        for [west, low, east, high] in extents {
            spans.push((west, east));
            south = south.min(low);
            north = north.max(high);
        }
        Self::around(spans, south, north)
    }

    /// A single position's.
    pub fn of_position([longitude, latitude]: Position) -> Self {
        Self { west: longitude, south: latitude, east: longitude, north: latitude }
    }

    /// The envelope of both.
    pub fn union(&self, other: &Self) -> Self {
        let spans = self.spans().into_iter().chain(other.spans()).flatten().collect();
        Self::around(spans, self.south.min(other.south), self.north.max(other.north))
    }

    pub fn crosses(&self) -> bool {
        self.west > self.east
    }

    pub fn middle_latitude(&self) -> f64 {
        f64::midpoint(self.south, self.north)
    }

    /// `[west, south, east, north]`, as `bbox` has it.
    pub const fn to_array(self) -> [f64; 4] {
        [self.west, self.south, self.east, self.north]
    }

    /// Itself as a shape: one box, or two that meet at ±180; a line or a point if it has no area.
    pub fn to_shape(&self) -> Shape {
        let spans: Vec<_> = self.spans().into_iter().flatten().collect();
        let flat = self.south == self.north;
        let thin = spans.iter().all(|(west, east)| west == east);
        let of = match (flat, thin) {
            (true, true) => ShapeType::Point,
            (true, false) | (false, true) => ShapeType::LineString,
            (false, false) => ShapeType::Polygon,
        };
        // A side that only reaches ±180 has no area of its own.
        let wide: Vec<_> = if thin {
            spans.into_iter().take(1).collect()
        } else {
            spans.into_iter().filter(|(west, east)| west < east).collect()
        };
        let mut shape = Shape::empty(if wide.len() > 1 { of.of_many() } else { of });
        for (west, east) in wide {
            let (south, north) = (self.south, self.north);
            let corners: &[Position] = match of {
                ShapeType::Point => &[[west, south]],
                ShapeType::Polygon => &[[west, south], [east, south], [east, north], [west, north], [west, south]],
                _ => &[[west, south], [east, north]],
            };
            for corner in corners {
                shape.push(*corner, None);
            }
            shape.end_ring();
            shape.end_part();
        }
        shape
    }

    fn spans(&self) -> [Option<(f64, f64)>; 2] {
        if self.crosses() {
            [Some((self.west, 180.0)), Some((-180.0, self.east))]
        } else {
            [Some((self.west, self.east)), None]
        }
    }

    fn around(mut spans: Vec<(f64, f64)>, south: f64, north: f64) -> Self {
        spans.sort_by(|one, other| one.0.total_cmp(&other.0));
        let Some((first, _)) = spans.first().copied() else {
            return Self { west: 0.0, south: 0.0, east: 0.0, north: 0.0 };
        };
        let (mut reach, mut widest, mut gap) = (first, 0.0, None);
        for (west, east) in spans {
            if west - reach > widest {
                widest = west - reach;
                gap = Some((reach, west));
            }
            reach = reach.max(east);
        }
        match gap {
            Some((east, west)) if widest > first + 360.0 - reach => Self { west, south, east, north },
            _ => Self { west: first, south, east: reach, north },
        }
    }
}

impl Shape {
    pub fn envelope(&self) -> Envelope {
        Envelope::of(self)
    }
}

/// `[west, south, east, north]` of positions on one side of ±180.
pub(crate) fn extent(positions: &[Position]) -> Option<[f64; 4]> {
    let mut each = positions.iter();
    let [x, y] = *each.next()?;
    Some(each.fold([x, y, x, y], |[west, south, east, north], [x, y]| {
        [west.min(*x), south.min(*y), east.max(*x), north.max(*y)]
    }))
}
/// `[west, south, east, north]`, the order of a GeoJSON bbox.
impl From<Envelope> for [f64; 4] {
    fn from(Envelope { west, south, east, north }: Envelope) -> Self {
        [west, south, east, north]
    }
}

impl From<[f64; 4]> for Envelope {
    fn from([west, south, east, north]: [f64; 4]) -> Self {
        Self { west, south, east, north }
    }
}
