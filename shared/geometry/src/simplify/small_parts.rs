//! The removal of rings and lines that are so small and so near to kept positions that these represent them.

use std::collections::HashMap;

use crate::metric::{longitude_scale, offset};
use crate::shape::Position;

/// More kept positions in one cell are not stored.
const MAX_POSITIONS_PER_CELL: usize = 8;

/// A grid of kept positions, with cells as wide as the tolerance.
pub(super) struct KeptPositions {
    tolerance: f64,
    cells: HashMap<(i64, i64), Vec<(Position, usize)>>,
}

impl KeptPositions {
    /// An empty grid. `tolerance` is in degrees of latitude.
    pub(super) fn new(tolerance: f64) -> Self {
        Self { tolerance, cells: HashMap::new() }
    }

    /// Adds a position of a ring or line.
    pub(super) fn add(&mut self, position: Position, line: usize) {
        let row = self.row(position);
        let cell = self.cells.entry((self.column(position, row), row)).or_default();
        if cell.len() < MAX_POSITIONS_PER_CELL {
            cell.push((position, line));
        }
    }

    /// Returns the ring or line of a kept position that has all of a circle within the tolerance.
    pub(super) fn substitute(&self, centre: Position, radius: f64, scale: f64) -> Option<usize> {
        if radius > self.tolerance {
            return None;
        }
        let near = |(position, line): &(Position, usize)| {
            let [x, y] = offset(centre, *position, scale);
            (x.hypot(y) + radius <= self.tolerance).then_some(*line)
        };
        let row = self.row(centre);
        (row - 1..=row + 1).find_map(|row| {
            let column = self.column(centre, row);
            (column - 1..=column + 1).find_map(|column| self.cells.get(&(column, row))?.iter().find_map(near))
        })
    }

    fn row(&self, [_, y]: Position) -> i64 {
        (y / self.tolerance).floor() as i64
    }

    /// The cells of one row are as wide as the tolerance at the row's middle latitude.
    fn column(&self, [x, _]: Position, row: i64) -> i64 {
        let middle = (row as f64 + 0.5) * self.tolerance;
        (x * longitude_scale(middle.abs().min(90.0)) / self.tolerance).floor() as i64
    }
}
