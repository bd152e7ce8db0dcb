//! The smallest whole system: books on a shelf, with search and one job. CONTRIBUTING.md walks through it.

pub mod books;
pub mod clear_shelf;
pub mod documents;
pub mod schema;

use std::sync::Arc;

use clear_shelf::ShelfJobs;
use schema::SYSTEM;
use table::Engines;
use web::App;

/// The whole system: its routes and event handlers on these engines.
pub fn app(engines: Arc<Engines>) -> App {
    let routes = books::routes().into_iter().chain(clear_shelf::routes()).collect();
    let handlers = mirror::handlers::<documents::Shelf>().into_iter().chain([jobs::handler::<ShelfJobs>()]).collect();
    mirror::health(App::new(engines, &SYSTEM, routes, handlers), &[&schema::HEALTH])
}
