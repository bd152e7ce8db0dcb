//! The bounding box of a shape, also across the antimeridian (RFC 7946, section 5.2).

use never::never;

use crate::shape::{Position, Shape, ShapeType};

/// A bounding box, in degrees. `west > east` if it crosses the antimeridian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Envelope {
    pub west: f64,
    pub south: f64,
    pub east: f64,
    pub north: f64,
}

impl Envelope {
    /// Returns the envelope of a shape: the complement of its widest gap of longitude. Without a gap it is −180 to 180.
    /// Of two equally wide gaps, the one at ±180 counts.
    pub fn of(shape: &Shape) -> Self {
        let parts = shape.part_lines().filter_map(|lines| bounds(shape.line(lines.start)));
        let mut spans = Vec::with_capacity(shape.parts());
        let (mut south, mut north) = (f64::INFINITY, f64::NEG_INFINITY);
        for [west, low, east, high] in parts {
            spans.push((west, east));
            south = south.min(low);
            north = north.max(high);
        }
        Self::around(spans, south, north)
    }

    /// Returns the envelope of a position.
    pub fn of_position([longitude, latitude]: Position) -> Self {
        Self { west: longitude, south: latitude, east: longitude, north: latitude }
    }

    /// Returns the envelope of both.
    pub fn union(&self, other: &Self) -> Self {
        let spans = self.spans().into_iter().chain(other.spans()).flatten().collect();
        Self::around(spans, self.south.min(other.south), self.north.max(other.north))
    }

    /// Returns whether it crosses the antimeridian.
    pub fn crosses_antimeridian(&self) -> bool {
        self.west > self.east
    }

    pub fn middle_latitude(&self) -> f64 {
        f64::midpoint(self.south, self.north)
    }

    /// Returns `[west, south, east, north]`, the order of a GeoJSON `bbox`.
    pub const fn to_array(self) -> [f64; 4] {
        [self.west, self.south, self.east, self.north]
    }

    /// Returns the envelope as a shape: one box, or two that meet at ±180. Without an area it is a line or a point.
    pub fn to_shape(&self) -> Shape {
        let spans: Vec<_> = self.spans().into_iter().flatten().collect();
        let flat = self.south == self.north;
        let narrow = spans.iter().all(|(west, east)| west == east);
        let shape_type = match (flat, narrow) {
            (true, true) => ShapeType::Point,
            (true, false) | (false, true) => ShapeType::LineString,
            (false, false) => ShapeType::Polygon,
        };
        // A box that only touches ±180 has no area.
        let wide: Vec<_> = if narrow {
            spans.into_iter().take(1).collect()
        } else {
            spans.into_iter().filter(|(west, east)| west < east).collect()
        };
        let mut shape = Shape::empty(if wide.len() > 1 { shape_type.multi() } else { shape_type });
        for (west, east) in wide {
            let (south, north) = (self.south, self.north);
            let corners: &[Position] = match shape_type {
                ShapeType::Point => &[[west, south]],
                ShapeType::Polygon => &[[west, south], [east, south], [east, north], [west, north], [west, south]],
                _ => &[[west, south], [east, north]],
            };
            for corner in corners {
                shape.push(*corner, None);
            }
            shape.end_line();
            shape.end_part();
        }
        shape
    }

    fn spans(&self) -> [Option<(f64, f64)>; 2] {
        if self.crosses_antimeridian() {
            [Some((self.west, 180.0)), Some((-180.0, self.east))]
        } else {
            [Some((self.west, self.east)), None]
        }
    }

    fn around(mut spans: Vec<(f64, f64)>, south: f64, north: f64) -> Self {
        spans.sort_by(|one, other| one.0.total_cmp(&other.0));
        let Some((first, _)) = spans.first().copied() else {
            never!("a shape without a part");
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

/// Returns `[west, south, east, north]` of positions on one side of the antimeridian.
pub(crate) fn bounds(positions: &[Position]) -> Option<[f64; 4]> {
    let mut each = positions.iter();
    let [x, y] = *each.next()?;
    Some(each.fold([x, y, x, y], |[west, south, east, north], [x, y]| {
        [west.min(*x), south.min(*y), east.max(*x), north.max(*y)]
    }))
}

/// `[west, south, east, north]`, the order of a GeoJSON `bbox`.
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
