//! Checking a JSON value against a shape: every fault at once, in sentences of our own.

use jsonschema::error::{TypeKind, ValidationError, ValidationErrorKind};
use jsonschema::{JsonType, Validator};
use serde_json::Value;
use table::Idpid;

use crate::Fault;
use crate::fault::pointer_step;
use crate::format::{self, Format};

/// A value with more nodes than this is told its first fault only: a list of millions of them helps nobody, and would
/// take more memory than a function has.
const ALL_FAULTS_UP_TO: usize = 20_000;

/// What is told of a member that a shape does not name.
pub(crate) const UNKNOWN: &str = "is not known here";

/// The pattern of a text in which there is something to read.
const NOT_BLANK: &str = r"\S";

/// Every fault of a value, in the order of the schema, with a JSON pointer into the value.
pub(crate) fn faults(validator: &Validator, value: &Value, formats: &[Format]) -> Vec<Fault> {
    let mut faults = Vec::new();
    if nodes(value) > ALL_FAULTS_UP_TO {
        validator.validate(value).err().into_iter().for_each(|error| explain(&error, formats, &mut faults));
        faults.truncate(1);
    } else {
        validator.iter_errors(value).for_each(|error| explain(&error, formats, &mut faults));
    }
    faults
}

fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(nodes).sum(),
        Value::Object(members) => members.values().map(nodes).sum(),
        _ => 0,
    }
}

fn explain(error: &ValidationError<'_>, formats: &[Format], faults: &mut Vec<Fault>) {
    use ValidationErrorKind as Kind;
    let place = error.instance_path().as_str();
    let mut say = |detail: String| faults.push(Fault::pointer(place, detail));
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            faults.extend(
                unexpected
                    .iter()
                    .map(|name| Fault::pointer(format!("{place}{}", pointer_step(&shortened(name))), UNKNOWN)),
            );
        }
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            faults.push(Fault::pointer(format!("{place}{}", pointer_step(name)), "is missing"));
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => explain_forms(error, context, formats, faults),
        Kind::OneOfMultipleValid { .. } => say("fits several of the allowed forms and must fit just one".into()),
        Kind::Type { kind } => say(format!("must be {}", types(kind))),
        Kind::Enum { options } => say(format!("must be one of {}", listed(options))),
        Kind::Constant { expected_value } => say(format!("must be {expected_value}")),
        Kind::Format { format } => say(format!("must be {}", format::expected(format, formats))),
        Kind::Pattern { pattern } if pattern == NOT_BLANK => say("must not be blank".into()),
        Kind::Pattern { pattern } if pattern == Idpid::PATTERN => say(format!("must be {}", Idpid::EXPECTED)),
        Kind::Pattern { pattern } => say(format!("must match the pattern `{pattern}`")),
        Kind::MinLength { limit: 1 } => say("must not be empty".into()),
        Kind::MinLength { limit } => say(format!("must have at least {limit} characters")),
        Kind::MaxLength { limit } => say(format!("must have at most {limit} characters")),
        Kind::Minimum { limit } => say(format!("must be at least {limit}")),
        Kind::Maximum { limit } => say(format!("must be at most {limit}")),
        Kind::ExclusiveMinimum { limit } => say(format!("must be more than {limit}")),
        Kind::ExclusiveMaximum { limit } => say(format!("must be less than {limit}")),
        Kind::MultipleOf { multiple_of } => say(format!("must be a multiple of {multiple_of}")),
        Kind::MinItems { limit } => say(format!("must have at least {limit} {}", entries(*limit))),
        Kind::MaxItems { limit } => say(format!("must have at most {limit} {}", entries(*limit))),
        Kind::AdditionalItems { limit } => say(format!("must have at most {limit} {}", entries(*limit as u64))),
        Kind::MinProperties { limit } => say(format!("must have at least {limit} {}", members(*limit))),
        Kind::MaxProperties { limit } => say(format!("must have at most {limit} {}", members(*limit))),
        Kind::UniqueItems => say("must not have the same entry twice".into()),
        Kind::FalseSchema => say("is not allowed here".into()),
        Kind::PropertyNames { error } => {
            say(format!("has a member whose name is not allowed: {}", first(error, formats)))
        }
        other => say(format!("breaks the rule `{}` of the API description", other.keyword())),
    }
}

/// None of several forms fits: if all but one are ruled out by the value's type, the faults of that one are told;
/// else those of the form with the deepest fault, which is most likely the one that was meant.
fn explain_forms(
    error: &ValidationError<'_>,
    forms: &[Vec<ValidationError<'static>>],
    formats: &[Format],
    faults: &mut Vec<Fault>,
) {
    let here = error.instance_path().as_str();
    let wrong_type = |form: &[ValidationError<'static>]| {
        form.iter().any(|error| {
            matches!(error.kind(), ValidationErrorKind::Type { .. } | ValidationErrorKind::Constant { .. })
                && error.instance_path().as_str() == here
        })
    };
    let of_right_type: Vec<_> = forms.iter().filter(|form| !wrong_type(form)).collect();
    match of_right_type.as_slice() {
        [form] => form.iter().for_each(|error| explain(error, formats, faults)),
        [] => faults.push(Fault::pointer(here, format!("must be {}", expected_types(forms)))),
        several => {
            let depth = |form: &[ValidationError<'static>]| {
                form.iter().map(|error| error.instance_path().segments().count()).max()
            };
            let meant = several.iter().filter(|form| !form.iter().any(wrong_tag)).max_by_key(|form| depth(form));
            match meant {
                Some(form) => form.iter().for_each(|error| explain(error, formats, faults)),
                None => faults.push(Fault::pointer(here, "fits none of the allowed forms")),
            }
        }
    }
}

/// A tagged form whose tag says that another one was meant.
fn wrong_tag(error: &ValidationError<'static>) -> bool {
    matches!(error.kind(), ValidationErrorKind::Constant { .. })
        || matches!(error.kind(), ValidationErrorKind::Enum { options } if options.as_array().is_some_and(|all| all.len() == 1))
}

fn expected_types(forms: &[Vec<ValidationError<'static>>]) -> String {
    let mut expected: Vec<String> = Vec::new();
    for error in forms.iter().flatten() {
        if let ValidationErrorKind::Type { kind } = error.kind() {
            let name = types(kind);
            if name != "null" && !expected.contains(&name) {
                expected.push(name);
            }
        }
    }
    if expected.is_empty() { "of one of the allowed forms".into() } else { expected.join(" or ") }
}

fn first(error: &ValidationError<'static>, formats: &[Format]) -> String {
    let mut faults = Vec::new();
    explain(error, formats, &mut faults);
    faults.into_iter().next().map(|fault| fault.detail).unwrap_or_default()
}

/// The types in words. That null would do as well helps nobody who sent something.
fn types(kind: &TypeKind) -> String {
    let words = |name: JsonType| match name {
        JsonType::Array => "a list",
        JsonType::Boolean => "true or false",
        JsonType::Integer => "a whole number",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "text",
    };
    match kind {
        TypeKind::Single(one) => words(*one).to_owned(),
        TypeKind::Multiple(set) => {
            set.iter().filter(|one| *one != JsonType::Null).map(words).collect::<Vec<_>>().join(" or ")
        }
    }
}

fn listed(options: &Value) -> String {
    let Value::Array(options) = options else { return options.to_string() };
    let texts: Vec<String> = options
        .iter()
        .map(|option| option.as_str().map_or_else(|| option.to_string(), |text| format!("`{text}`")))
        .collect();
    texts.join(", ")
}

fn entries(count: u64) -> &'static str {
    if count == 1 { "entry" } else { "entries" }
}

fn members(count: u64) -> &'static str {
    if count == 1 { "member" } else { "members" }
}

/// A name from the client, short enough to be repeated.
pub(crate) fn shortened(name: &str) -> String {
    const LONGEST: usize = 64;
    if name.chars().count() <= LONGEST { name.to_owned() } else { name.chars().take(LONGEST).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(schema: &Value, value: &Value) -> Vec<String> {
        let validator = jsonschema::validator_for(schema).unwrap();
        let place = |fault: Fault| match fault.place {
            crate::fault::Place::Pointer(pointer) => format!("{pointer} {}", fault.detail),
            other => panic!("{other:?}"),
        };
        faults(&validator, value, &[]).into_iter().map(place).collect()
    }

    #[test]
    fn of_several_forms_the_one_that_was_meant_is_told() {
        let circle = json!({ "type": "object", "required": ["radius"], "properties": {
            "kind": { "enum": ["circle"] }, "radius": { "type": "number" } } });
        let square = json!({ "type": "object", "required": ["side"], "properties": {
            "kind": { "enum": ["square"] }, "side": { "type": "number" } } });
        let schema = json!({ "oneOf": [{ "type": "null" }, circle, square] });
        assert_eq!(told(&schema, &json!({ "kind": "circle", "radius": "1" })), ["/radius must be a number"]);
        assert_eq!(told(&schema, &json!({ "kind": "square" })), ["/side is missing"]);
        assert_eq!(told(&schema, &json!({ "kind": "line" })), [" fits none of the allowed forms"]);
        assert_eq!(told(&schema, &json!(7)), [" must be an object"]);
    }

    #[test]
    fn long_names_are_shortened() {
        let schema = json!({ "properties": {}, "additionalProperties": false });
        let [fault] = <[String; 1]>::try_from(told(&schema, &json!({ "x".repeat(1000): 1 }))).unwrap();
        assert!(fault.len() < 100, "{fault}");
    }

    #[test]
    fn of_a_huge_value_the_first_fault_is_told() {
        let schema = json!({ "items": { "type": "string" } });
        assert_eq!(told(&schema, &json!(vec![1; 10_000])).len(), 10_000);
        assert_eq!(told(&schema, &json!(vec![1; 20_000])), ["/0 must be text"]);
    }
}
