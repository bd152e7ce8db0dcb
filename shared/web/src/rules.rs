//! Rules that a schema cannot state. Their faults are reported together with the schema's.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Fault;
use crate::fault::{Place, pointer_names};

/// The rules of a type, each of which checks one member. Members with a fault of the schema are removed before, so a rule
/// must not require a member or compare two of them.
pub trait Rules: DeserializeOwned {
    /// Returns the faults, at pointers into the value.
    fn faults(&self) -> Vec<Fault>;
}

/// The rules of a type, for a JSON value.
pub(crate) type RulesOf = fn(&Value) -> Vec<Fault>;

pub(crate) fn of<T: Rules>(value: &Value) -> Vec<Fault> {
    // A value without a required member does not deserialize. The schema has reported that fault.
    T::deserialize(value).map(|value| value.faults()).unwrap_or_default()
}

/// Returns the value without the members that have faults.
pub(crate) fn without_faulty(value: &Value, faults: &[Fault]) -> Value {
    let mut rest = value.clone();
    for fault in faults {
        let Place::Pointer(pointer) = &fault.place else { continue };
        match (pointer_names(pointer).next(), rest.as_object_mut()) {
            (Some(member), Some(members)) => drop(members.remove(&member)),
            _ => return Value::Null,
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde::Deserialize;
    use serde_json::json;
    use utoipa::ToSchema;

    use super::*;
    use crate::compiled::CompiledShape;
    use crate::shape::Shape;

    #[derive(Deserialize, ToSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Cage {
        #[serde(default)]
        size: u32,
        #[serde(default)]
        animals: u32,
    }

    impl Rules for Cage {
        fn faults(&self) -> Vec<Fault> {
            let odd = self.animals % 2 == 1;
            odd.then(|| Fault::pointer("/animals", "must be pairs")).into_iter().collect()
        }
    }

    #[test]
    fn rules_are_checked_only_if_the_schema_finds_a_fault() {
        let shape = CompiledShape::new(Some(&Shape::closed::<Cage>().with_rules::<Cage>()), &[]).unwrap();
        let places = |value: Value| {
            let faults = shape.body(&Bytes::from(value.to_string()), &[]);
            faults.into_iter().map(|fault| fault.place).collect::<Vec<_>>()
        };
        let at = |pointers: &[&str]| {
            pointers.iter().map(|pointer| Place::Pointer((*pointer).to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(places(json!({"size": "x", "animals": 3})), at(&["/size", "/animals"]));
        assert_eq!(places(json!({"sizes": 1, "animals": 3})), at(&["/sizes", "/animals"]));
        assert_eq!(places(json!({"size": "x", "animals": "x"})), at(&["/animals", "/size"]));
        assert_eq!(places(json!({"size": 1, "animals": 3})), at(&[]));
        let (_, faults) =
            shape.object(&[("colour".to_owned(), "red".to_owned()), ("animals".to_owned(), "3".to_owned())], &[]);
        let named = ["colour", "animals"].map(|name| Place::Parameter(name.to_owned()));
        assert_eq!(faults.into_iter().map(|fault| fault.place).collect::<Vec<_>>(), named);
    }

    #[test]
    fn members_with_faults_are_removed() {
        let value = json!({"a": 1, "b/c": {"d": 2}, "e": [3, 4]});
        let at = |pointers: &[&str]| pointers.iter().map(|pointer| Fault::pointer(*pointer, "")).collect::<Vec<_>>();
        assert_eq!(without_faulty(&value, &at(&["/b~1c/d", "/e/0", "/none"])), json!({"a": 1}));
        assert_eq!(without_faulty(&value, &at(&[""])), Value::Null);
    }
}
