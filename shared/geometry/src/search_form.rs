//! What search gets of a shape: the mirror's ladder.

use crate::orient::on_one_line;
use crate::shape::{Position, Shape, ShapeType};

/// The most positions and bytes of a shape that search gets whole; beyond, tessellation takes too long.
pub const FULL_POSITIONS: usize = 50_000;
pub const FULL_BYTES: usize = 2 * 1024 * 1024;
/// The most positions of the next form, `coarse`.
pub const COARSE_POSITIONS: usize = 10_000;

/// How much of a shape search holds, as `boundaryStatus` and `pathStatus` say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rung {
    Full,
    Coarse,
    Envelope,
    None,
}

impl Rung {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Coarse => "coarse",
            Self::Envelope => "envelope",
            Self::None => "none",
        }
    }

    /// The next one down, after search refused this one.
    pub const fn lower(self) -> Self {
        match self {
            Self::Full => Self::Coarse,
            Self::Coarse => Self::Envelope,
            Self::Envelope | Self::None => Self::None,
        }
    }

    /// The highest for a shape of so many positions and bytes.
    pub const fn first(positions: usize, bytes: usize) -> Self {
        if positions <= FULL_POSITIONS && bytes <= FULL_BYTES { Self::Full } else { Self::Coarse }
    }
}

impl Shape {
    /// JSON with positions rounded to 7 decimals, without altitude and without what rounding makes degenerate; shells
    /// counterclockwise. Nothing if all of it is degenerate.
    pub fn search_form(&self) -> Option<String> {
        let mut form = Self::empty(self.shape_type());
        for rows in self.part_rows() {
            let rounded = rows.map(|row| rounded(self.row(row), self.shape_type()));
            // Without its shell a hole is nothing.
            let rings = rounded.enumerate().take_while(|(place, ring)| *place > 0 || ring.is_some());
            let rings: Vec<_> = rings.filter_map(|(_, ring)| ring).collect();
            for ring in &rings {
                ring.iter().for_each(|position| form.push(*position, None));
                form.end_ring();
            }
            if !rings.is_empty() {
                form.end_part();
            }
        }
        (form.parts() > 0).then(|| form.canonical())
    }
}

/// A ring, line or point in 7 decimals, if it still is one.
fn rounded(positions: &[Position], of: ShapeType) -> Option<Vec<Position>> {
    let mut row: Vec<Position> = Vec::with_capacity(positions.len());
    for position in positions {
        let position = position.map(|degrees| (degrees * 1e7).round() / 1e7 + 0.0);
        match row.as_slice() {
            [.., last] if *last == position => {}
            // It went there and back.
            [.., before, _] if *before == position && of.is_areal() => {
                row.pop();
            }
            _ => row.push(position),
        }
    }
    if of.is_areal() {
        // The same where the ring begins.
        let back = row.iter().skip(1).zip(row.iter().rev().skip(1)).take(row.len() / 2);
        let spike = back.take_while(|(next, before)| next == before).count();
        row = row.get(spike..row.len() - spike).unwrap_or_default().to_vec();
    }
    let enough = match of {
        ShapeType::Point => true,
        ShapeType::LineString | ShapeType::MultiLineString => row.len() > 1,
        ShapeType::Polygon | ShapeType::MultiPolygon => row.len() > 3 && !on_one_line(row.iter().copied()),
    };
    enough.then_some(row)
}
