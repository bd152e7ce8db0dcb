//! What is so small and so near to kept positions that these stand for it.

use std::collections::HashMap;

use crate::metric::{away, scale_beyond};
use crate::shape::Position;

/// Kept positions of a cell are enough after so many.
const IN_A_CELL: usize = 8;

/// Kept positions in cells as wide as the tolerance.
pub(crate) struct Neighbours {
    tolerance: f64,
    cells: HashMap<(i64, i64), Vec<Position>>,
}

impl Neighbours {
    /// `tolerance` is in degrees of latitude.
    pub(crate) fn new(tolerance: f64) -> Self {
        Self { tolerance, cells: HashMap::new() }
    }

    pub(crate) fn add(&mut self, position: Position) {
        let row = self.row(position);
        let cell = self.cells.entry((self.column(position, row), row)).or_default();
        if cell.len() < IN_A_CELL {
            cell.push(position);
        }
    }

    /// Whether all of a circle lies within the tolerance of one of them.
    pub(crate) fn stand_for(&self, centre: Position, radius: f64, scale: f64) -> bool {
        if radius > self.tolerance {
            return false;
        }
        let near = |position: &Position| {
            let [x, y] = away(centre, *position, scale);
            x.hypot(y) + radius <= self.tolerance
        };
        let row = self.row(centre);
        (row - 1..=row + 1).any(|row| {
            let column = self.column(centre, row);
            (column - 1..=column + 1)
                .any(|column| self.cells.get(&(column, row)).is_some_and(|cell| cell.iter().any(near)))
        })
    }

    fn row(&self, [_, y]: Position) -> i64 {
        (y / self.tolerance).floor() as i64
    }

    /// Cells of one row are as wide as the row's middle makes them.
    fn column(&self, [x, _]: Position, row: i64) -> i64 {
        let middle = (row as f64 + 0.5) * self.tolerance;
        (x * scale_beyond(middle.abs().min(90.0)) / self.tolerance).floor() as i64
    }
}
