//! Simplified forms of a shape.

mod outline;
mod repair;
mod rounding;
mod selection;
mod sklansky_gonzalez;
mod small_parts;

use crate::metric::METRES_PER_DEGREE;
use crate::shape::Shape;
use outline::largest_parts;
use rounding::Rounding;
use selection::Selection;

/// The smallest tolerance of [`Shape::simplify_to`], in metres.
const MIN_TOLERANCE: f64 = 0.001;
/// After this many doublings the smallest tolerance exceeds the circumference of the Earth.
const MAX_DOUBLINGS: i32 = 37;

/// A simplified form and the tolerance that it keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct Simplified {
    pub shape: Shape,
    /// In metres: every position of the source is within this distance of the simplified lines. 0 if all positions are
    /// kept.
    pub tolerance: f64,
}

impl Shape {
    /// Simplifies the shape. The result is valid and deterministic, has at least one part, and every position of the
    /// source is within `tolerance` metres of it. It is rounded to the decimals that the tolerance needs, unless that would
    /// make it invalid.
    pub fn simplify(&self, tolerance: f64) -> Simplified {
        let Some(rounding) = Rounding::within(to_degrees(tolerance)) else { return self.simplify_unrounded(tolerance) };
        let mut selection = Selection::new(self, to_degrees(tolerance) - rounding.distance());
        if selection.make_valid(self.positions()) {
            Simplified { shape: rounding.round(selection.into_shape()), tolerance }
        } else {
            self.unsimplified()
        }
    }

    /// Simplifies the shape as [`Shape::simplify`] does. Each position is one of the shape.
    pub(crate) fn simplify_unrounded(&self, tolerance: f64) -> Simplified {
        let mut selection = Selection::new(self, to_degrees(tolerance));
        if tolerance > 0.0 && selection.make_valid(self.positions()) {
            Simplified { shape: selection.into_shape(), tolerance }
        } else {
            self.unsimplified()
        }
    }

    /// Simplifies the shape to at most `max_positions`, with a tolerance about as small as this allows. The result has
    /// never fewer positions than a valid shape needs: 4 for a polygon, 2 for a line.
    pub fn simplify_to(&self, max_positions: usize) -> Simplified {
        if self.positions() <= max_positions {
            return self.unsimplified();
        }
        // The smallest tolerance that leaves few enough positions, and from there on the first one at which the form
        // can be made valid within the limit.
        let (mut low, mut high) = (0, MAX_DOUBLINGS);
        while low < high {
            let middle = i32::midpoint(low, high);
            if Selection::new(self, to_degrees(doubled(middle))).positions() <= max_positions {
                high = middle
            } else {
                low = middle + 1
            }
        }
        let valid = (low..=MAX_DOUBLINGS).find_map(|doublings| {
            let tolerance = doubled(doublings);
            let mut selection = Selection::new(self, to_degrees(tolerance));
            let limit = if doublings == MAX_DOUBLINGS { usize::MAX } else { max_positions };
            selection.make_valid(limit).then(|| Simplified { shape: selection.into_shape(), tolerance })
        });
        valid.unwrap_or_else(|| self.unsimplified())
    }

    /// Returns an outline of the largest parts, without holes, for display. It has at most `max_positions`, but never
    /// fewer than one part needs, and keeps no tolerance.
    pub fn outline(&self, max_positions: usize) -> Self {
        largest_parts(self, max_positions).simplify_to(max_positions).shape
    }

    fn unsimplified(&self) -> Simplified {
        Simplified { shape: self.clone(), tolerance: 0.0 }
    }
}

/// Returns the size of a pixel in metres, for a map in tiles of 256 pixels: 156 543 m × cos(middle latitude) / 2^zoom.
pub fn zoom_tolerance(zoom: u8, middle_latitude: f64) -> f64 {
    156_543.0 * middle_latitude.to_radians().cos() / f64::from(zoom).exp2()
}

fn doubled(doublings: i32) -> f64 {
    MIN_TOLERANCE * 2.0_f64.powi(doublings)
}

/// Converts metres to degrees of latitude, less what rounding may add.
fn to_degrees(metres: f64) -> f64 {
    metres.max(0.0) / METRES_PER_DEGREE * (1.0 - 1e-9)
}
