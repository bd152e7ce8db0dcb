//! Simpler forms of a shape.

use crate::{Position, Shape};

/// A simpler form and the tolerance it keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct Simplified {
    pub shape: Shape,
    /// Metres: every source position lies within it of the simpler form.
    pub tolerance: f64,
}

impl Shape {
    /// Valid, the same for the same question, with every source position within `tolerance` metres.
    pub fn simplify(&self, tolerance: f64) -> Simplified {
        Simplified { shape: self.clone(), tolerance }
    }

    /// The same with at most so many positions, but never fewer than the least a valid shape needs (4 for an area).
    pub fn simplify_to(&self, max_positions: usize) -> Simplified {
        if self.positions() <= max_positions {
            return Simplified { shape: self.clone(), tolerance: 0.0 };
        }
        self.simplify(0.0)
    }

    /// A rough sketch of its main parts in at most so many positions, for display.
    pub fn outline(&self, max_positions: usize) -> Shape {
        self.simplify_to(max_positions).shape
    }

    /// A position in or on the shape.
    pub fn representative_point(&self) -> Position {
        self.all_positions().first().copied().unwrap_or_default()
    }
}

/// Metres that one pixel of a 256-pixel map tile shows: 156 543 m × cos(middle latitude) / 2^zoom.
pub fn zoom_tolerance(zoom: u8, middle_latitude: f64) -> f64 {
    156_543.0 * middle_latitude.to_radians().cos() / f64::from(zoom).exp2()
}
