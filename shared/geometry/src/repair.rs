//! The repairs that the check makes.

use std::fmt;

/// A kind of repair. A checked shape lists the ones that it needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Repair {
    /// The last position of a ring, at most 1e-7° from the first one, was set to it.
    Closed,
    /// A `crs` member with WGS 84 was removed.
    Crs,
    /// A ring or line across the antimeridian was split there.
    Cut,
    /// A ring around a pole was closed along ±180 and ±90, or two rings around the globe were joined along ±180.
    Pole,
    /// Positions that repeat the one before, or form a spike along ±180, were removed.
    Repeats,
    /// Longitudes were moved by 360°, to lie between −180 and 180 on the shape's side.
    Shifted,
    /// Coordinates at most 1e-9° out of range were set to the end of the range.
    Snapped,
    /// A shell was reversed to run counterclockwise, or a hole to run clockwise.
    Winding,
}

impl Repair {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Crs => "crs",
            Self::Cut => "cut",
            Self::Pole => "pole",
            Self::Repeats => "repeats",
            Self::Shifted => "shifted",
            Self::Snapped => "snapped",
            Self::Winding => "winding",
        }
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl serde::Serialize for Repair {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
