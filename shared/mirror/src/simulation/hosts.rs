//! The clocks of hosts, which may be wrong.

use super::choices::Random;

/// A clock that shows another time than the right one. Times are in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Right,
    Behind(i64),
    /// It is set back by this much at a time.
    SetBack {
        at: i64,
        by: i64,
    },
    Frozen {
        at: i64,
    },
}

const SECOND: i64 = 1_000_000;

/// How far clocks are behind.
const ERRORS: [i64; 4] = [1_000, 5 * SECOND, 60 * SECOND, 3_600 * SECOND];

impl Clock {
    /// Draws a clock that runs at the right speed.
    pub(crate) fn draw_steady(random: &mut impl Random) -> Self {
        match random.below(3) {
            2 => Self::Behind(random.one_of(&ERRORS)),
            _ => Self::Right,
        }
    }

    /// Draws a clock.
    pub(crate) fn draw(random: &mut impl Random, now: i64) -> Self {
        match random.below(6) {
            5 => Self::Frozen { at: now - random.one_of(&ERRORS) },
            4 => Self::SetBack { at: now + random.one_of(&[10, 1_000, SECOND]), by: random.one_of(&ERRORS) },
            3 => Self::Behind(random.one_of(&ERRORS)),
            _ => Self::Right,
        }
    }

    /// Whether differences of its times are right.
    pub(crate) const fn is_steady(self) -> bool {
        matches!(self, Self::Right | Self::Behind(_))
    }

    pub(crate) const fn shows(self, now: i64) -> i64 {
        match self {
            Self::Right => now,
            Self::Behind(by) => now - by,
            Self::SetBack { at, by } => {
                if now < at {
                    now
                } else {
                    now - by
                }
            }
            Self::Frozen { at } => at,
        }
    }
}
