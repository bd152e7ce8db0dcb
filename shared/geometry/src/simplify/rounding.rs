//! Rounding of a simplified form to the decimals that its tolerance needs.

use crate::orientation::{are_collinear, is_counterclockwise};
use crate::shape::{Position, Shape};

/// The part of the tolerance that rounding may use.
const SHARE: f64 = 0.1;
/// If rounding makes a form invalid, it gets this many more decimals, one after the other, before it is left as it is.
const MORE_DECIMALS: u32 = 3;
/// Doubles of degrees have no more decimals.
const MAX_DECIMALS: u32 = 15;

/// The decimals to which a form is rounded.
#[derive(Clone, Copy)]
pub(super) struct Rounding {
    decimals: u32,
}

impl Rounding {
    /// Returns the fewest decimals whose rounding moves no position by more than a share of the tolerance, which is in
    /// degrees of latitude. Returns nothing if the tolerance needs all decimals.
    pub(super) fn within(tolerance: f64) -> Option<Self> {
        let roundings = (0..=MAX_DECIMALS).map(|decimals| Self { decimals });
        roundings.into_iter().find(|rounding| rounding.distance() <= SHARE * tolerance)
    }

    /// Returns how far rounding moves a position at most, in degrees of latitude.
    pub(super) fn distance(self) -> f64 {
        0.5 * std::f64::consts::SQRT_2 / self.steps()
    }

    fn steps(self) -> f64 {
        10_f64.powi(self.decimals.cast_signed())
    }

    /// Rounds a valid form, to more decimals if it would become invalid or lose a ring or line.
    pub(super) fn round(self, form: Shape) -> Shape {
        let roundings = (0..=MORE_DECIMALS).map(|more| Self { decimals: self.decimals + more });
        let valid = roundings.into_iter().find_map(|rounding| rounding.rounded(&form).filter(Shape::is_valid));
        valid.unwrap_or(form)
    }

    fn rounded(self, form: &Shape) -> Option<Shape> {
        let is_areal = form.shape_type().is_areal();
        let mut rounded = Shape::empty(form.shape_type());
        for lines in form.part_lines() {
            for (index, line) in lines.enumerate() {
                let altitudes = form.line_altitudes(line);
                let altitude = |at: usize| altitudes.get(at).copied();
                let mut positions: Vec<(Position, Option<f64>)> = Vec::new();
                for (at, position) in form.line(line).iter().enumerate() {
                    let position = position.map(|degrees| (degrees * self.steps()).round() / self.steps() + 0.0);
                    if positions.last().is_none_or(|(last, _)| *last != position) {
                        positions.push((position, altitude(at)));
                    }
                }
                let ring: Vec<Position> = positions.iter().map(|(position, _)| *position).collect();
                let is_kept = match ring.split_last() {
                    Some((_, open)) if is_areal => {
                        ring.len() > 3
                            && !are_collinear(ring.iter().copied())
                            && is_counterclockwise(open) == (index == 0)
                    }
                    _ => ring.len() > 1 || form.line(line).len() == 1,
                };
                if !is_kept {
                    return None;
                }
                positions.into_iter().for_each(|(position, altitude)| rounded.push(position, altitude));
                rounded.end_line();
            }
            rounded.end_part();
        }
        Some(rounded)
    }
}
