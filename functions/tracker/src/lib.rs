//! Issues of teams, in projects with attributes of their own, and the grid in which they are sorted and filtered by any
//! of them.

pub mod access;
pub mod grid;
pub mod items;
pub mod keys;
pub mod names;
pub mod options;
pub mod project;
pub mod rows;
pub mod schema;
pub mod values;


