//! Schemas for values that are not the body of a request.

use serde_json::Value;
use utoipa::ToSchema;

use crate::compiled::CompiledShape;
use crate::shape::Shape;
use crate::{Fault, Problem};

/// The compiled schema of a type, which checks values as strictly as the body of a request.
pub struct Schema(CompiledShape);

impl Schema {
    pub fn of<T: ToSchema + 'static>() -> Result<Self, Problem> {
        CompiledShape::new(Some(&Shape::closed::<T>()), &[]).map(Self).map_err(Problem::internal)
    }

    /// Returns whether an object of the type has a member of this name.
    pub fn has(&self, name: &str) -> bool {
        self.0.has(name)
    }

    /// Returns every fault of a value, with a JSON pointer into it.
    pub fn faults(&self, value: &Value) -> Vec<Fault> {
        self.0.value(value, &[])
    }
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Schema")
    }
}
