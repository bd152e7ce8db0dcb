//! Publishing a post: a job that reads its file, writes the records of a *run* beside those that readers see, and then
//! switches what readers see in one transaction. A record is public exactly when its run is its post's published run.
//!
//! | phase | what its steps do |
//! |---|---|
//! | checking | read the file row by row, and store chunks of what is in it |
//! | matching | find each row in the last published run, group households, decide whether the run is refused |
//! | numbering | take one block of ids for all rows |
//! | writing | write the records of a chunk, invisible |
//! | grouping | write the households of a chunk |
//! | settling | wait until search holds the records |
//! | switching | let readers see this run instead of the last |
//! | retiring | delete the records of the last run |
//! | undoing | delete what a refused, failed or cancelled run has written |
//!
//! Each step is repeatable: a chunk is a function of the file, and a record that exists with this run is done.

mod check;
mod checkpoint;
mod chunk;
mod group;
mod last;
mod matching;
mod number;
mod resolver;
mod retire;
mod run_step;
mod settle;
mod switch;
mod undo;
pub mod withdraw;
mod worker;
mod write;

pub use checkpoint::Checkpoint;
pub use chunk::{UnresolvedText, file_name, report_name, unresolved_name};
pub use resolver::Resolver;
pub use run_step::hex;
pub use withdraw::{DeletePost, Unpublish};
pub use worker::Publish;
pub use write::place;
