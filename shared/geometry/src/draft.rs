//! A simpler form in the making: which positions of each ring or line stay.

use std::collections::BTreeSet;

use crate::drop::Neighbours;
use crate::envelope::extent;
use crate::metric::circle;
use crate::orient::is_counterclockwise;
use crate::plane::Edge;
use crate::shape::{Position, Shape};
use crate::thin::{split, thin_line, thin_ring};

pub(crate) struct Draft<'a> {
    shape: &'a Shape,
    /// In degrees of latitude.
    tolerance: f64,
    pub(crate) rows: Vec<Row>,
}

pub(crate) struct Row {
    pub part: u32,
    pub place: u32,
    /// Indices of the positions that stay, the closing one included; none if it is left out.
    pub kept: Vec<u32>,
    /// What has all of it within the tolerance, if it is left out.
    stand_in: Option<StandIn>,
}

/// Rings or lines near one that is left out. If they are left out, too, it must come back.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum StandIn {
    Row(usize),
    /// Some ring of this part.
    Part(u32),
}

impl<'a> Draft<'a> {
    /// Thins each ring and line, and leaves out what is so small and near others that these stand in for it.
    /// `tolerance` is in degrees of latitude.
    pub(crate) fn new(shape: &'a Shape, tolerance: f64) -> Self {
        let row = |part, place| Row { part, place, kept: Vec::new(), stand_in: None };
        let parts = (0_u32..).zip(shape.part_rows());
        let rows = parts.flat_map(|(part, span)| (0_u32..).zip(span).map(move |(place, _)| row(part, place))).collect();
        let mut draft = Self { shape, tolerance, rows };
        let mut neighbours = Neighbours::new(tolerance);
        let largest_first = draft.largest_first();
        let any_small = largest_first.last().is_some_and(|(_, _, radius, _)| *radius <= tolerance);
        for (row, centre, radius, scale) in largest_first {
            if let Some(other) = neighbours.stand_in(centre, radius, scale) {
                draft.leave_out(row, StandIn::Row(other));
                continue;
            }
            draft.thin(row);
            let kept = draft.rows.get(row).map(|row| row.kept.as_slice()).unwrap_or_default();
            for index in kept.iter().filter(|_| any_small) {
                neighbours.add(shape.row(row).get(*index as usize).copied().unwrap_or_default(), row);
            }
        }
        // Holes go with their shell.
        let mut shell = None;
        for row in draft.rows.iter_mut().filter(|_| shape.shape_type().is_areal()) {
            if row.place == 0 {
                shell = row.stand_in;
            } else if shell.is_some() && !row.kept.is_empty() {
                (row.kept, row.stand_in) = (Vec::new(), shell);
            }
        }
        draft
    }

    pub(crate) fn is_areal(&self) -> bool {
        self.shape.shape_type().is_areal()
    }

    pub(crate) fn positions(&self) -> usize {
        self.rows.iter().map(|row| row.kept.len()).sum()
    }

    /// The positions of a ring that stay, without the closing one.
    pub(crate) fn open_ring(&self, row: usize) -> Vec<Position> {
        let positions = self.shape.row(row);
        let kept = self.rows.get(row).map(|row| row.kept.as_slice()).unwrap_or_default();
        let open = kept.split_last().map(|(_, open)| open).unwrap_or_default();
        open.iter().map(|index| positions.get(*index as usize).copied().unwrap_or_default()).collect()
    }

    /// Puts one or all positions back between the ends of these edges of one ring.
    pub(crate) fn refine(&mut self, row: usize, edges: &[Edge], splitting: bool) -> bool {
        let positions = self.shape.row(row);
        let Some(row) = self.rows.get_mut(row) else { return false };
        let before = row.kept.len();
        let mut kept = Vec::with_capacity(before + edges.len());
        let mut edges = edges.iter().map(|edge| edge.edge).peekable();
        for (segment, ends) in (0_u32..).zip(row.kept.windows(2)) {
            let [from, to] = *ends else { continue };
            match (edges.next_if_eq(&segment).is_some(), splitting) {
                (false, _) => kept.push(from),
                (true, true) => split(positions, from, to, self.tolerance, &mut kept),
                (true, false) => kept.extend(from..to),
            }
        }
        kept.extend(row.kept.last().copied());
        row.kept = kept;
        row.kept.len() > before
    }

    /// Puts all positions back.
    pub(crate) fn restore(&mut self, row: usize) -> bool {
        let all = u32::try_from(self.shape.row(row).len()).unwrap_or(0);
        let Some(row) = self.rows.get_mut(row).filter(|row| row.kept.len() < all as usize && !row.kept.is_empty())
        else {
            return false;
        };
        row.kept = (0..all).collect();
        true
    }

    /// Leaves out rings, each shell with its holes, and brings back those for which they stood in.
    pub(crate) fn leave_out_all(&mut self, rings: Vec<(usize, StandIn)>) {
        let mut left = BTreeSet::new();
        for (row, stand_in) in rings {
            let Some((part, place)) = self.rows.get(row).map(|row| (row.part, row.place)) else { continue };
            let holes = self.rows.iter().skip(row + 1).take_while(|hole| place == 0 && hole.part == part).count();
            for row in row..=row + holes {
                if self.rows.get(row).is_some_and(|row| !row.kept.is_empty()) {
                    left.insert(row);
                    self.leave_out(row, stand_in);
                }
            }
        }
        let parts: BTreeSet<u32> = left.iter().filter_map(|row| self.rows.get(*row)).map(|row| row.part).collect();
        for row in 0..self.rows.len() {
            let lost = match self.rows.get(row).and_then(|row| row.stand_in) {
                Some(StandIn::Row(stand_in)) => left.contains(&stand_in),
                Some(StandIn::Part(part)) => parts.contains(&part),
                None => false,
            };
            if lost {
                self.thin(row);
            }
        }
    }

    pub(crate) fn into_shape(self) -> Shape {
        let mut shape = Shape::empty(self.shape.shape_type());
        let mut part = None;
        for (index, row) in self.rows.iter().enumerate().filter(|(_, row)| !row.kept.is_empty()) {
            if part.is_some_and(|part| part != row.part) {
                shape.end_part();
            }
            part = Some(row.part);
            let (positions, altitudes) = (self.shape.row(index), self.shape.row_altitudes(index));
            let mut kept = row.kept.clone();
            if self.is_areal() && is_counterclockwise(&self.open_ring(index)) != (row.place == 0) {
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
    fn largest_first(&self) -> Vec<(usize, Position, f64, f64)> {
        let mut rows: Vec<_> = (0..self.rows.len())
            .filter_map(|row| {
                let (centre, radius, scale) = circle(extent(self.shape.row(row))?, self.tolerance);
                Some((row, centre, radius, scale))
            })
            .collect();
        rows.sort_by(|one, other| other.2.total_cmp(&one.2).then(one.0.cmp(&other.0)));
        rows
    }

    fn thin(&mut self, row: usize) {
        let thin = if self.is_areal() { thin_ring } else { thin_line };
        let kept = thin(self.shape.row(row), self.tolerance);
        if let Some(row) = self.rows.get_mut(row) {
            (row.kept, row.stand_in) = (kept, None);
        }
    }

    fn leave_out(&mut self, row: usize, stand_in: StandIn) {
        if let Some(row) = self.rows.get_mut(row) {
            (row.kept, row.stand_in) = (Vec::new(), Some(stand_in));
        }
    }
}
