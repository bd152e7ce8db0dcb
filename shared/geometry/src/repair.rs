//! What the check mends by itself, by name.

use std::fmt;

/// One kind of mending; a checked shape names each that it needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Repair {
    /// A ring's last position, at most 1e-7° from its first, was set to it.
    Closed,
    /// A `crs` member that says WGS 84 was dropped.
    Crs,
    /// What crossed ±180 was cut into parts.
    Cut,
    /// A ring round a pole was closed along ±180 and ±90, or two round the globe were joined along ±180.
    Pole,
    /// Positions that repeat the one before, or run back along ±180, were removed.
    Repeats,
    /// Longitudes were moved by a whole turn, to lie in −180…180 on their shape's side.
    Shifted,
    /// Coordinates at most 1e-9° beyond their range were set to its end.
    Snapped,
    /// A shell was turned counterclockwise, or a hole clockwise.
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
