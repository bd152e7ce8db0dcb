//! The schema of a type for values that come other than as the body of a request.

use serde_json::Value;
use utoipa::ToSchema;

use crate::checked::Checked;
use crate::shape::Shape;
use crate::{Fault, Problem};

/// What the API description says of a type, ready to check values: as strict as with a request's body.
pub struct Schema(Checked);

impl Schema {
    pub fn of<T: ToSchema + 'static>() -> Result<Self, Problem> {
        Checked::new(Some(&Shape::closed::<T>()), &[]).map(Self).map_err(Problem::internal)
    }

    /// Whether an object of the type has a member of this name.
    pub fn has(&self, name: &str) -> bool {
        self.0.has(name)
    }

    /// Every fault of a value, with a JSON pointer into it.
    pub fn faults(&self, value: &Value) -> Vec<Fault> {
        self.0.value(value, &[])
    }
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Schema")
    }
}
