//! A simpler form in the making: which positions of each ring or line stay, until what stays is valid.

use std::collections::BTreeSet;

use crate::drop::Neighbours;
use crate::envelope::extent;
use crate::interior::holes_that_cut;
use crate::metric::circle;
use crate::nest::{Nested, nest};
use crate::orient::is_counterclockwise;
use crate::plane::{Edge, Plane, Ring};
use crate::shape::{Position, Shape};
use crate::sweep::sweep;
use crate::thin::{split, thin_line, thin_ring};

/// Rounds in which a segment that meets another is split in two, and then rounds in which it gets all its positions
/// back. What still meets after them is not worth simplifying.
const SPLITTING: usize = 8;
const ROUNDS: usize = 14;

pub(crate) struct Draft<'a> {
    shape: &'a Shape,
    rows: Vec<Row>,
}

struct Row {
    part: u32,
    place: u32,
    /// Indices of the positions that stay, the closing one included; none if it is left out.
    kept: Vec<u32>,
}

impl<'a> Draft<'a> {
    /// Thins each ring and line, and leaves out what is so small and near others that these stand for it. `tolerance`
    /// is in degrees of latitude.
    pub(crate) fn new(shape: &'a Shape, tolerance: f64) -> Self {
        let mut rows = Vec::new();
        for (part, span) in (0_u32..).zip(shape.part_rows()) {
            rows.extend((0_u32..).zip(span).map(|(place, _)| Row { part, place, kept: Vec::new() }));
        }
        let mut draft = Self { shape, rows };
        let mut neighbours = Neighbours::new(tolerance);
        let largest_first = draft.largest_first(tolerance);
        let any_small = largest_first.last().is_some_and(|(_, _, radius, _)| *radius <= tolerance);
        for (row, centre, radius, scale) in largest_first {
            if neighbours.stand_for(centre, radius, scale) {
                continue;
            }
            let positions = shape.row(row);
            let thin = if shape.shape_type().is_areal() { thin_ring } else { thin_line };
            let kept = thin(positions, tolerance);
            for index in kept.iter().filter(|_| any_small) {
                neighbours.add(positions.get(*index as usize).copied().unwrap_or_default());
            }
            if let Some(slot) = draft.rows.get_mut(row) {
                slot.kept = kept;
            }
        }
        draft.leave_out_orphans();
        draft
    }

    pub(crate) fn positions(&self) -> usize {
        self.rows.iter().map(|row| row.kept.len()).sum()
    }

    /// Mends it until it is valid, or says that it cannot be with at most so many positions.
    pub(crate) fn settle(&mut self, max_positions: usize) -> bool {
        if !self.shape.shape_type().is_areal() {
            return self.positions() <= max_positions;
        }
        for round in 0..ROUNDS {
            if self.positions() > max_positions {
                return false;
            }
            match self.mend(round < SPLITTING) {
                Mended::Valid => return true,
                Mended::Changed => {}
                Mended::Stuck => return false,
            }
        }
        false
    }

    pub(crate) fn into_shape(self) -> Shape {
        let areal = self.shape.shape_type().is_areal();
        let mut shape = Shape::empty(self.shape.shape_type());
        let mut part = None;
        for (index, row) in self.rows.iter().enumerate().filter(|(_, row)| !row.kept.is_empty()) {
            if part.is_some_and(|part| part != row.part) {
                shape.end_part();
            }
            part = Some(row.part);
            let (positions, altitudes) = (self.shape.row(index), self.shape.row_altitudes(index));
            let mut kept = row.kept.clone();
            if areal && self.is_counterclockwise(index) != (row.place == 0) {
                kept.reverse();
            }
            for at in kept {
                let position = positions.get(at as usize).copied().unwrap_or_default();
                shape.push(position, altitudes.get(at as usize).copied());
            }
            shape.end_ring();
        }
        shape.end_part();
        shape
    }

    /// Each row with its circle, by the size of that.
    fn largest_first(&self, margin: f64) -> Vec<(usize, Position, f64, f64)> {
        let mut rows: Vec<_> = (0..self.rows.len())
            .filter_map(|row| {
                let (centre, radius, scale) = circle(extent(self.shape.row(row))?, margin);
                Some((row, centre, radius, scale))
            })
            .collect();
        rows.sort_by(|one, other| other.2.total_cmp(&one.2).then(one.0.cmp(&other.0)));
        rows
    }

    /// Holes go with their shell.
    fn leave_out_orphans(&mut self) {
        let mut shell = false;
        let areal = self.shape.shape_type().is_areal();
        for row in self.rows.iter_mut().filter(|_| areal) {
            if row.place == 0 {
                shell = !row.kept.is_empty();
            } else if !shell {
                row.kept.clear();
            }
        }
    }

    fn mend(&mut self, splitting: bool) -> Mended {
        let (plane, rows) = self.plane();
        let findings = sweep(&plane);
        let row_of = |ring: u32| rows.get(ring as usize).copied().unwrap_or(usize::MAX);
        if !findings.meetings.is_empty() {
            let edges: BTreeSet<Edge> =
                findings.meetings.iter().flat_map(|meeting| [meeting.earlier, meeting.later]).collect();
            let edges: Vec<_> = edges.into_iter().collect();
            let mut changed = false;
            for edges in edges.chunk_by(|one, other| one.ring == other.ring) {
                changed |= edges.first().is_some_and(|edge| self.refine(row_of(edge.ring), edges, splitting));
            }
            return if changed { Mended::Changed } else { Mended::Stuck };
        }
        let nested = nest(&plane, &findings, &vec![false; plane.rings.len()]);
        if !nested.is_empty() {
            // A simpler edge has passed over it, so it lies within the tolerance of that.
            for nested in nested {
                match nested {
                    Nested::OutsideShell(hole) | Nested::InHole(hole) => self.leave_out(row_of(hole)),
                    Nested::Parts { inner_shell, .. } => self.leave_out(row_of(inner_shell)),
                }
            }
            self.leave_out_orphans();
            return Mended::Changed;
        }
        let holes = holes_that_cut(&plane, &findings);
        if holes.is_empty() {
            return Mended::Valid;
        }
        let parts: BTreeSet<u32> = holes.into_iter().map(|hole| plane.ring(hole).part).collect();
        let restored: Vec<_> =
            (0..self.rows.len()).filter(|row| self.is_in(*row, &parts) && self.restore(*row)).collect();
        if restored.is_empty() { Mended::Stuck } else { Mended::Changed }
    }

    /// The rings that stay, and which row each is.
    fn plane(&self) -> (Plane, Vec<usize>) {
        let mut plane = Plane::with_capacity(self.positions());
        let mut rows = Vec::new();
        for (index, row) in self.rows.iter().enumerate().filter(|(_, row)| !row.kept.is_empty()) {
            let counterclockwise = self.is_counterclockwise(index);
            let ring = Ring { part: row.part, place: row.place, counterclockwise, edges: 0 };
            plane.add(ring, self.open_ring(index));
            rows.push(index);
        }
        (plane, rows)
    }

    fn is_counterclockwise(&self, row: usize) -> bool {
        is_counterclockwise(&self.open_ring(row).collect::<Vec<_>>())
    }

    fn open_ring(&self, row: usize) -> impl Iterator<Item = Position> + '_ {
        let positions = self.shape.row(row);
        let kept = self.rows.get(row).map(|row| row.kept.as_slice()).unwrap_or_default();
        let open = kept.split_last().map(|(_, open)| open).unwrap_or_default();
        open.iter().map(|index| positions.get(*index as usize).copied().unwrap_or_default())
    }

    /// Puts one or all positions back between the ends of these edges of one ring.
    fn refine(&mut self, row: usize, edges: &[Edge], splitting: bool) -> bool {
        let positions = self.shape.row(row);
        let Some(row) = self.rows.get_mut(row) else { return false };
        let before = row.kept.len();
        let mut kept = Vec::with_capacity(before + edges.len());
        let mut edges = edges.iter().map(|edge| edge.edge).peekable();
        for (segment, ends) in (0_u32..).zip(row.kept.windows(2)) {
            let [from, to] = *ends else { continue };
            kept.push(from);
            if edges.next_if_eq(&segment).is_some() {
                if splitting {
                    kept.extend(split(positions, from, to));
                } else {
                    kept.extend(from + 1..to);
                }
            }
        }
        kept.extend(row.kept.last().copied());
        row.kept = kept;
        row.kept.len() > before
    }

    fn restore(&mut self, row: usize) -> bool {
        let all = u32::try_from(self.shape.row(row).len()).unwrap_or(0);
        let Some(row) = self.rows.get_mut(row).filter(|row| row.kept.len() < all as usize && !row.kept.is_empty())
        else {
            return false;
        };
        row.kept = (0..all).collect();
        true
    }

    fn leave_out(&mut self, row: usize) {
        if let Some(row) = self.rows.get_mut(row) {
            row.kept.clear();
        }
    }

    fn is_in(&self, row: usize, parts: &BTreeSet<u32>) -> bool {
        self.rows.get(row).is_some_and(|row| parts.contains(&row.part))
    }
}

enum Mended {
    Valid,
    Changed,
    Stuck,
}
