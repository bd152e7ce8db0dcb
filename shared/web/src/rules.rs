//! Rules that a schema cannot state, for faults that come together with the schema's.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Fault;
use crate::fault::Place;

/// What is wrong with a value's members each by itself. Members that the schema finds wrong are left out before, so
/// nothing is said of what is absent, nor of how members fit one another.
pub trait Rules: DeserializeOwned {
    /// The faults, at pointers into the value.
    fn faults(&self) -> Vec<Fault>;
}

/// The rules of a type, for a value of it in JSON.
pub(crate) type RulesOf = fn(&Value) -> Vec<Fault>;

pub(crate) fn of<T: Rules>(value: &Value) -> Vec<Fault> {
    // What lacks a required member has no faults but those that are known.
    T::deserialize(value).map(|value| value.faults()).unwrap_or_default()
}

/// The value without the members at fault.
pub(crate) fn sound(value: &Value, faults: &[Fault]) -> Value {
    let mut sound = value.clone();
    for fault in faults {
        let Place::Pointer(pointer) = &fault.place else { continue };
        let member = pointer.split('/').nth(1).map(|step| step.replace("~1", "/").replace("~0", "~"));
        match (member, sound.as_object_mut()) {
            (Some(member), Some(members)) => drop(members.remove(&member)),
            _ => return Value::Null,
        }
    }
    sound
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde::Deserialize;
    use serde_json::json;
    use utoipa::ToSchema;

    use super::*;
    use crate::checked::Checked;
    use crate::shape::Shape;

    #[derive(Deserialize, ToSchema)]
    #[expect(dead_code, reason = "only its schema is asked")]
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
    fn rules_speak_beside_the_schema_and_leave_a_sound_value_to_the_handler() {
        let checked = Checked::new(Some(&Shape::closed::<Cage>().ruled::<Cage>()), &[]).unwrap();
        let told = |value: Value| {
            let faults = checked.body(&Bytes::from(value.to_string()), &[]);
            faults.into_iter().map(|fault| fault.place).collect::<Vec<_>>()
        };
        let at = |pointers: &[&str]| {
            pointers.iter().map(|pointer| Place::Pointer((*pointer).to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(told(json!({"size": "x", "animals": 3})), at(&["/size", "/animals"]));
        assert_eq!(told(json!({"sizes": 1, "animals": 3})), at(&["/sizes", "/animals"]));
        assert_eq!(told(json!({"size": "x", "animals": "x"})), at(&["/animals", "/size"]));
        assert_eq!(told(json!({"size": 1, "animals": 3})), at(&[]));
        let (_, faults) =
            checked.object(&[("colour".to_owned(), "red".to_owned()), ("animals".to_owned(), "3".to_owned())], &[]);
        let named = ["colour", "animals"].map(|name| Place::Parameter(name.to_owned()));
        assert_eq!(faults.into_iter().map(|fault| fault.place).collect::<Vec<_>>(), named);
    }

    #[test]
    fn what_is_at_fault_is_left_out() {
        let value = json!({"a": 1, "b/c": {"d": 2}, "e": [3, 4]});
        let at = |pointers: &[&str]| pointers.iter().map(|pointer| Fault::pointer(*pointer, "")).collect::<Vec<_>>();
        assert_eq!(sound(&value, &at(&["/b~1c/d", "/e/0", "/none"])), json!({"a": 1}));
        assert_eq!(sound(&value, &at(&[""])), Value::Null);
    }
}
