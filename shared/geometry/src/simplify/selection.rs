//! The positions of a shape that its simplified form keeps.

use std::collections::BTreeSet;

use never::never;

use super::sklansky_gonzalez::{simplify_line, simplify_ring, split};
use super::small_parts::KeptPositions;
use crate::envelope::bounds;
use crate::metric::bounding_circle;
use crate::orientation::is_counterclockwise;
use crate::segment_graph::Edge;
use crate::shape::{Position, Shape};

pub(super) struct Selection<'a> {
    shape: &'a Shape,
    /// In degrees of latitude.
    tolerance: f64,
    lines: Vec<SelectedLine>,
}

/// A ring or line of the shape.
pub(super) struct SelectedLine {
    pub part: u32,
    /// Its index in its part.
    pub index: u32,
    /// The indices of the kept positions, the closing one included. Empty if the line is removed.
    kept: Vec<u32>,
    /// What represents the line if it is removed: all of the line is within the tolerance of it.
    substitute: Option<Substitute>,
}

/// Represents a removed ring or line. If the substitute itself is removed, the line is restored.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Substitute {
    Line(usize),
    /// Some ring of this part.
    Part(u32),
}

impl<'a> Selection<'a> {
    /// Simplifies each ring and line, and removes the small ones that others represent. `tolerance` is in degrees of
    /// latitude.
    pub(super) fn new(shape: &'a Shape, tolerance: f64) -> Self {
        let line = |part, index| SelectedLine { part, index, kept: Vec::new(), substitute: None };
        let parts = (0_u32..).zip(shape.part_lines());
        let lines =
            parts.flat_map(|(part, lines)| (0_u32..).zip(lines).map(move |(index, _)| line(part, index))).collect();
        let mut selection = Self { shape, tolerance, lines };
        let mut kept_positions = KeptPositions::new(tolerance);
        let largest_first = selection.largest_first();
        let any_small = largest_first.last().is_some_and(|(_, _, radius, _)| *radius <= tolerance);
        for (line, centre, radius, scale) in largest_first {
            if let Some(other) = kept_positions.substitute(centre, radius, scale) {
                selection.remove(line, Substitute::Line(other));
                continue;
            }
            selection.simplify(line);
            if any_small {
                for position in selection.kept_positions(line) {
                    kept_positions.add(position, line);
                }
            }
        }
        // The holes of a removed shell are removed, too.
        let mut shell = None;
        for line in selection.lines.iter_mut().filter(|_| shape.shape_type().is_areal()) {
            if line.index == 0 {
                shell = line.substitute;
            } else if shell.is_some() && !line.kept.is_empty() {
                (line.kept, line.substitute) = (Vec::new(), shell);
            }
        }
        selection
    }

    pub(super) fn is_areal(&self) -> bool {
        self.shape.shape_type().is_areal()
    }

    /// Returns the number of kept positions.
    pub(super) fn positions(&self) -> usize {
        self.lines.iter().map(|line| line.kept.len()).sum()
    }

    /// Returns the lines that are not removed, each with its index among the lines of the shape.
    pub(super) fn kept_lines(&self) -> impl Iterator<Item = (usize, &SelectedLine)> {
        self.lines.iter().enumerate().filter(|(_, line)| !line.kept.is_empty())
    }

    /// Returns the kept positions of a ring, without the closing one.
    pub(super) fn open_ring(&self, line: usize) -> Vec<Position> {
        let mut ring: Vec<_> = self.kept_positions(line).collect();
        ring.pop();
        ring
    }

    fn kept_positions(&self, line: usize) -> impl Iterator<Item = Position> {
        let positions = self.shape.line(line);
        let kept = self.line(line).map_or(&[][..], |line| &line.kept);
        kept.iter().filter_map(|index| {
            let position = positions.get(*index as usize).copied();
            if position.is_none() {
                never!("position {index} of {} is kept", positions.len());
            }
            position
        })
    }

    /// Adds positions between the ends of these edges of a ring: the ones that halve each edge, or all. Returns whether
    /// there were any.
    pub(super) fn refine(&mut self, line: usize, edges: &[Edge], halve: bool) -> bool {
        let (positions, tolerance) = (self.shape.line(line), self.tolerance);
        let Some(line) = self.line_mut(line) else { return false };
        let before = line.kept.len();
        let mut kept = Vec::with_capacity(before + edges.len());
        let mut edges = edges.iter().map(|edge| edge.edge).peekable();
        for (edge, [from, to]) in (0_u32..).zip(line.kept.array_windows()) {
            match (edges.next_if_eq(&edge).is_some(), halve) {
                (false, _) => kept.push(*from),
                (true, true) => split(positions, *from, *to, tolerance, &mut kept),
                (true, false) => kept.extend(*from..*to),
            }
        }
        kept.extend(line.kept.last().copied());
        line.kept = kept;
        line.kept.len() > before
    }

    /// Keeps all positions of a line that is not removed. Returns whether this adds any.
    pub(super) fn restore(&mut self, line: usize) -> bool {
        let all = u32::try_from(self.shape.line(line).len()).unwrap_or(0);
        let Some(line) = self.line_mut(line) else { return false };
        if line.kept.is_empty() || line.kept.len() >= all as usize {
            return false;
        }
        line.kept = (0..all).collect();
        true
    }

    /// Removes rings, each shell with its holes, and restores the ones that these represented.
    pub(super) fn remove_all(&mut self, rings: Vec<(usize, Substitute)>) {
        let mut removed = BTreeSet::new();
        for (line, substitute) in rings {
            let Some((part, index)) = self.line(line).map(|line| (line.part, line.index)) else { continue };
            let holes = self.lines.iter().skip(line + 1).take_while(|hole| index == 0 && hole.part == part).count();
            for line in line..=line + holes {
                if self.line(line).is_some_and(|line| !line.kept.is_empty()) {
                    removed.insert(line);
                    self.remove(line, substitute);
                }
            }
        }
        let parts: BTreeSet<u32> = removed.iter().filter_map(|line| self.line(*line)).map(|line| line.part).collect();
        let lost = |line: &SelectedLine| match line.substitute {
            Some(Substitute::Line(substitute)) => removed.contains(&substitute),
            Some(Substitute::Part(part)) => parts.contains(&part),
            None => false,
        };
        let lost: Vec<usize> = (0..).zip(&self.lines).filter(|(_, line)| lost(line)).map(|(index, _)| index).collect();
        for line in lost {
            self.simplify(line);
        }
    }

    /// Returns the simplified shape.
    pub(super) fn into_shape(self) -> Shape {
        let mut shape = Shape::empty(self.shape.shape_type());
        let mut part = None;
        for (index, line) in self.kept_lines() {
            if part.is_some_and(|part| part != line.part) {
                shape.end_part();
            }
            part = Some(line.part);
            let altitudes = self.shape.line_altitudes(index);
            let altitudes = line.kept.iter().map(|kept| altitudes.get(*kept as usize).copied());
            let mut kept: Vec<_> = self.kept_positions(index).zip(altitudes).collect();
            if self.is_areal() && is_counterclockwise(&self.open_ring(index)) != (line.index == 0) {
                kept.reverse();
            }
            for (position, altitude) in kept {
                shape.push(position, altitude);
            }
            shape.end_line();
        }
        shape.end_part();
        shape
    }

    /// Returns each line with the centre, radius and scale of its bounding circle, the largest first.
    fn largest_first(&self) -> Vec<(usize, Position, f64, f64)> {
        let mut lines: Vec<_> = (0..self.lines.len())
            .filter_map(|line| {
                let (centre, radius, scale) = bounding_circle(bounds(self.shape.line(line))?, self.tolerance);
                Some((line, centre, radius, scale))
            })
            .collect();
        lines.sort_by(|one, other| other.2.total_cmp(&one.2).then(one.0.cmp(&other.0)));
        lines
    }

    fn simplify(&mut self, line: usize) {
        let simplify = if self.is_areal() { simplify_ring } else { simplify_line };
        let kept = simplify(self.shape.line(line), self.tolerance);
        if let Some(line) = self.line_mut(line) {
            (line.kept, line.substitute) = (kept, None);
        }
    }

    fn remove(&mut self, line: usize, substitute: Substitute) {
        if let Some(line) = self.line_mut(line) {
            (line.kept, line.substitute) = (Vec::new(), Some(substitute));
        }
    }

    fn line(&self, line: usize) -> Option<&SelectedLine> {
        let known = self.lines.get(line);
        if known.is_none() {
            never!("line {line} of {}", self.lines.len());
        }
        known
    }

    fn line_mut(&mut self, line: usize) -> Option<&mut SelectedLine> {
        let count = self.lines.len();
        let known = self.lines.get_mut(line);
        if known.is_none() {
            never!("line {line} of {count}");
        }
        known
    }
}
