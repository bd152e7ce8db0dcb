//! The systems that this command runs and operates.

use local::Served;
use mirror::create_first_index;
use parks::documents::{BucketShapes, Parks, SHAPE};
use table::Access;

pub fn all() -> Vec<Served> {
    vec![parks()]
}

fn parks() -> Served {
    Served {
        system: &parks::SYSTEM,
        app: parks::app,
        first_index: |engines, scanned| {
            Box::pin(async move {
                let shapes = BucketShapes::new(Access::new(engines.clone(), &[&SHAPE]));
                create_first_index(&Parks, &shapes, &engines, scanned).await
            })
        },
    }
}
