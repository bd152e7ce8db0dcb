//! What is so small and so near to kept positions that these stand in for it.

use std::collections::HashMap;

use crate::metric::{away, scale_beyond};
use crate::shape::Position;

/// Kept positions of a cell are enough after so many.
const IN_A_CELL: usize = 8;

/// Kept positions in cells as wide as the tolerance.
pub(crate) struct Neighbours {
    tolerance: f64,
    cells: HashMap<(i64, i64), Vec<(Position, usize)>>,
}

impl Neighbours {
    /// `tolerance` is in degrees of latitude.
    pub(crate) fn new(tolerance: f64) -> Self {
        Self { tolerance, cells: HashMap::new() }
    }

    /// Adds a position of a ring or line, by its row.
    pub(crate) fn add(&mut self, position: Position, of: usize) {
        let row = self.row(position);
        let cell = self.cells.entry((self.column(position, row), row)).or_default();
        if cell.len() < IN_A_CELL {
            cell.push((position, of));
        }
    }

    /// The row of one of them that has all of a circle within the tolerance.
    pub(crate) fn stand_in(&self, centre: Position, radius: f64, scale: f64) -> Option<usize> {
        if radius > self.tolerance {
            return None;
        }
        let near = |(position, of): &(Position, usize)| {
            let [x, y] = away(centre, *position, scale);
            (x.hypot(y) + radius <= self.tolerance).then_some(*of)
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

    /// Cells of one row are as wide as the row's middle makes them.
    fn column(&self, [x, _]: Position, row: i64) -> i64 {
        let middle = (row as f64 + 0.5) * self.tolerance;
        (x * scale_beyond(middle.abs().min(90.0)) / self.tolerance).floor() as i64
    }
}
