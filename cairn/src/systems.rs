//! The systems that this command runs and operates.

use std::sync::Arc;

use local::Served;
use mirror::{Fault, Repaired, repair_key};
use parks::documents::{BucketShapes, Parks, SHAPE};
use table::schema::{System, Table};
use table::{Access, Engines, Key};

pub fn all() -> Vec<Served> {
    vec![parks()]
}

fn parks() -> Served {
    Served { system: &parks::SYSTEM, app: parks::app, first_index: parks::first_index }
}

/// Repairs the documents of one key; none where its items have none.
pub async fn repair(
    system: &'static System,
    engines: &Arc<Engines>,
    table: &'static Table,
    key: &Key,
) -> Result<Option<Vec<Repaired>>, Fault> {
    match system.name {
        "parks" => {
            let shapes = BucketShapes::new(Access::new(Arc::clone(engines), &[&SHAPE]));
            repair_key(&Parks, &shapes, engines, table, key).await
        }
        _ => Ok(None),
    }
}
