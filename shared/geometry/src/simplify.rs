//! Simpler forms of a shape.

use crate::draft::Draft;
use crate::metric::METRES_A_DEGREE;
use crate::outline::main_parts;
use crate::shape::Shape;

/// Doubled so often, this tolerance reaches round the Earth: a millimetre.
const FINEST: f64 = 0.001;
const DOUBLINGS: i32 = 37;

/// A simpler form and the tolerance it keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct Simplified {
    pub shape: Shape,
    /// Metres: every source position lies within it of the simpler form's lines; 0 if nothing was left out.
    pub tolerance: f64,
}

impl Shape {
    /// Valid, the same for the same question, with every source position within `tolerance` metres and at least one
    /// part left.
    pub fn simplify(&self, tolerance: f64) -> Simplified {
        let mut draft = Draft::new(self, degrees(tolerance));
        if tolerance > 0.0 && draft.settle(self.positions()) {
            Simplified { shape: draft.into_shape(), tolerance }
        } else {
            self.whole()
        }
    }

    /// The same with at most so many positions, and a tolerance about as small as that allows. Never fewer than a
    /// valid shape needs: 4 for an area, 2 for a line.
    pub fn simplify_to(&self, max_positions: usize) -> Simplified {
        if self.positions() <= max_positions {
            return self.whole();
        }
        // The finest tolerance that leaves few enough, and from there the first that can be made valid with as few.
        let (mut low, mut high) = (0, DOUBLINGS);
        while low < high {
            let middle = i32::midpoint(low, high);
            if Draft::new(self, degrees(doubled(middle))).positions() <= max_positions {
                high = middle
            } else {
                low = middle + 1
            }
        }
        let valid = (low..=DOUBLINGS).find_map(|doublings| {
            let tolerance = doubled(doublings);
            let mut draft = Draft::new(self, degrees(tolerance));
            let most = if doublings == DOUBLINGS { usize::MAX } else { max_positions };
            draft.settle(most).then(|| Simplified { shape: draft.into_shape(), tolerance })
        });
        valid.unwrap_or_else(|| self.whole())
    }

    /// A sketch of its main parts, without holes, in at most so many positions (but never fewer than one part needs):
    /// for display, within no tolerance.
    pub fn outline(&self, max_positions: usize) -> Self {
        main_parts(self, max_positions).simplify_to(max_positions).shape
    }

    fn whole(&self) -> Simplified {
        Simplified { shape: self.clone(), tolerance: 0.0 }
    }
}

/// Metres that one pixel of a map in tiles of 256 pixels shows: 156 543 m × cos(middle latitude) / 2^zoom.
pub fn zoom_tolerance(zoom: u8, middle_latitude: f64) -> f64 {
    156_543.0 * middle_latitude.to_radians().cos() / f64::from(zoom).exp2()
}

fn doubled(doublings: i32) -> f64 {
    FINEST * 2.0_f64.powi(doublings)
}

/// Metres as degrees of latitude, less what rounding could add.
fn degrees(metres: f64) -> f64 {
    metres.max(0.0) / METRES_A_DEGREE * (1.0 - 1e-9)
}
