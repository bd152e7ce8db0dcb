//! Checks of a JSON value against a schema, with every fault in the platform's own words.

use jsonschema::error::{TypeKind, ValidationError, ValidationErrorKind};
use jsonschema::{JsonType, Validator};
use serde_json::Value;
use table::Idpid;

use crate::Fault;
use crate::fault::pointer_step;
use crate::format::{self, Format};

/// The most nodes of a value whose faults are all collected. Of a larger value only the first fault is reported: a list
/// of millions would take more memory than a function has.
const MAX_NODES_FOR_ALL_FAULTS: usize = 20_000;

/// The detail of a fault for an unknown member.
pub(crate) const UNKNOWN: &str = "is not a known field";

/// The pattern of a text that is not blank.
const NOT_BLANK: &str = r"\S";

/// Returns every fault of a value, in the order of the schema, with a JSON pointer into the value.
pub(crate) fn faults(validator: &Validator, value: &Value, formats: &[Format]) -> Vec<Fault> {
    let mut faults = Vec::new();
    if nodes(value) > MAX_NODES_FOR_ALL_FAULTS {
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
    let mut push = |detail: String| faults.push(Fault::pointer(place, detail));
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            faults.extend(
                unexpected
                    .iter()
                    .map(|name| Fault::pointer(format!("{place}{}", pointer_step(&shortened(name))), UNKNOWN)),
            );
        }
        Kind::Required { property } => match property.as_str() {
            Some(name) => faults.push(Fault::pointer(format!("{place}{}", pointer_step(name)), "is required")),
            None => push(format!("must have the member {property}")),
        },
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            explain_alternatives(error, context, formats, faults)
        }
        Kind::OneOfMultipleValid { .. } => {
            push("must match exactly one of the allowed schemas and matches several".into())
        }
        Kind::Type { kind } => push(format!("must be {}", types(kind))),
        Kind::Enum { options } => push(format!("must be one of {}", listed(options))),
        Kind::Constant { expected_value } => push(format!("must be {expected_value}")),
        Kind::Format { format } => push(format!("must be {}", format::expected(format, formats))),
        // Such a text also has a minimum length, which has said so.
        Kind::Pattern { pattern } if pattern == NOT_BLANK && error.instance().as_str() == Some("") => {}
        Kind::Pattern { pattern } if pattern == NOT_BLANK => push("must not be blank".into()),
        Kind::Pattern { pattern } if pattern == Idpid::PATTERN => push(format!("must be {}", Idpid::EXPECTED)),
        Kind::Pattern { pattern } => push(format!("must match the pattern `{pattern}`")),
        Kind::MinLength { limit: 1 } => push("must not be empty".into()),
        Kind::MinLength { limit } => push(format!("must have at least {limit} characters")),
        Kind::MaxLength { limit } => push(format!("must have at most {limit} characters")),
        Kind::Minimum { limit } => push(format!("must be at least {limit}")),
        Kind::Maximum { limit } => push(format!("must be at most {limit}")),
        Kind::ExclusiveMinimum { limit } => push(format!("must be greater than {limit}")),
        Kind::ExclusiveMaximum { limit } => push(format!("must be less than {limit}")),
        Kind::MultipleOf { multiple_of } => push(format!("must be a multiple of {multiple_of}")),
        Kind::MinItems { limit } => push(format!("must have at least {limit} {}", elements(*limit))),
        Kind::MaxItems { limit } => push(format!("must have at most {limit} {}", elements(*limit))),
        Kind::AdditionalItems { limit } => push(format!("must have at most {limit} {}", elements(*limit as u64))),
        Kind::MinProperties { limit } => push(format!("must have at least {limit} {}", members(*limit))),
        Kind::MaxProperties { limit } => push(format!("must have at most {limit} {}", members(*limit))),
        Kind::UniqueItems => push("must have unique elements".into()),
        Kind::FalseSchema => push("is not allowed".into()),
        Kind::PropertyNames { error } => {
            push(format!("has a member with an invalid name, which {}", first(error, formats)))
        }
        other => push(format!("violates the rule `{}` of the API description", other.keyword())),
    }
}

/// Explains a value that matches none of several schemas. If only one of them allows the value's type, its faults are
/// reported; otherwise those of the schema with the deepest fault, which the client most likely meant.
fn explain_alternatives(
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
                None => faults.push(Fault::pointer(here, "matches none of the allowed schemas")),
            }
        }
    }
}

/// Returns whether the tag of a tagged schema says that the client meant another one.
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
    if expected.is_empty() { "of one of the allowed types".into() } else { expected.join(" or ") }
}

fn first(error: &ValidationError<'static>, formats: &[Format]) -> String {
    let mut faults = Vec::new();
    explain(error, formats, &mut faults);
    faults.into_iter().next().map_or_else(|| "is not allowed".to_owned(), |fault| fault.detail)
}

/// Returns the types in words, without `null`, since the client sent a value.
fn types(kind: &TypeKind) -> String {
    let words = |name: JsonType| match name {
        JsonType::Array => "an array",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
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

fn elements(count: u64) -> &'static str {
    if count == 1 { "element" } else { "elements" }
}

fn members(count: u64) -> &'static str {
    if count == 1 { "member" } else { "members" }
}

/// Returns a name that the client sent, shortened so that a detail can contain it.
pub(crate) fn shortened(name: &str) -> String {
    const MAX_CHARS: usize = 64;
    if name.chars().count() <= MAX_CHARS {
        name.to_owned()
    } else {
        name.chars().take(MAX_CHARS).chain(['…']).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn details(schema: &Value, value: &Value) -> Vec<String> {
        let validator = jsonschema::validator_for(schema).unwrap();
        let place = |fault: Fault| match fault.place {
            crate::fault::Place::Pointer(pointer) => format!("{pointer} {}", fault.detail),
            other => panic!("{other:?}"),
        };
        faults(&validator, value, &[]).into_iter().map(place).collect()
    }

    #[test]
    fn value_that_matches_no_alternative_gets_faults_of_the_closest_one() {
        let circle = json!({ "type": "object", "required": ["radius"], "properties": {
            "kind": { "enum": ["circle"] }, "radius": { "type": "number" } } });
        let square = json!({ "type": "object", "required": ["side"], "properties": {
            "kind": { "enum": ["square"] }, "side": { "type": "number" } } });
        let schema = json!({ "oneOf": [{ "type": "null" }, circle, square] });
        assert_eq!(details(&schema, &json!({ "kind": "circle", "radius": "1" })), ["/radius must be a number"]);
        assert_eq!(details(&schema, &json!({ "kind": "square" })), ["/side is required"]);
        assert_eq!(details(&schema, &json!({ "kind": "line" })), [" matches none of the allowed schemas"]);
        assert_eq!(details(&schema, &json!(7)), [" must be an object"]);
    }

    #[test]
    fn empty_text_that_must_not_be_blank_has_one_fault() {
        let schema = json!({ "type": "string", "minLength": 1, "pattern": NOT_BLANK });
        assert_eq!(details(&schema, &json!("")), [" must not be empty"]);
        assert_eq!(details(&schema, &json!(" ")), [" must not be blank"]);
        assert!(details(&schema, &json!("a")).is_empty());
    }

    #[test]
    fn fault_of_member_with_long_name_is_short() {
        let schema = json!({ "properties": {}, "additionalProperties": false });
        let [fault] = <[String; 1]>::try_from(details(&schema, &json!({ "x".repeat(1000): 1 }))).unwrap();
        assert!(fault.len() < 100, "{fault}");
    }

    #[test]
    fn huge_value_gets_only_its_first_fault() {
        let schema = json!({ "items": { "type": "string" } });
        assert_eq!(details(&schema, &json!(vec![1; 10_000])).len(), 10_000);
        assert_eq!(details(&schema, &json!(vec![1; 20_000])), ["/0 must be a string"]);
    }
}
