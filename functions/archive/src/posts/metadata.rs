//! The metadata of a post: values of the fields that the settings declare.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use jiff::civil::Date;
use table::TableAccess;
use web::{Fault, Problem};

use crate::item::MetadataValue;
use crate::keys::SettingsKey;
use crate::settings::general::Settings;
use crate::settings::metadata::{MetadataField, MetadataType};
use crate::settings::read;

/// The longest text of a value in characters.
const MAX_TEXT: usize = 500;

/// The range of the numbers that DynamoDB stores, besides 0, without their sign ("Constraints in Amazon DynamoDB").
const NUMBERS: RangeInclusive<f64> = 1e-130..=1e125;

/// 422 unless the settings declare each value's field, and the value has its type.
pub async fn check(table: TableAccess<'_>, metadata: &BTreeMap<String, MetadataValue>) -> Result<(), Problem> {
    if metadata.is_empty() {
        return Ok(());
    }
    let (settings, _) = read::<Settings>(table, SettingsKey {}.into()).await?;
    let faults = faults(&settings.post_metadata, metadata);
    if faults.is_empty() { Ok(()) } else { Err(Problem::unprocessable(faults)) }
}

fn faults(fields: &[MetadataField], metadata: &BTreeMap<String, MetadataValue>) -> Vec<Fault> {
    let told = |(name, value): (&String, &MetadataValue)| {
        let detail = match fields.iter().find(|field| field.name == *name) {
            Some(field) => fault(field.kind, value)?,
            None => "is no field of the settings",
        };
        Some(Fault::pointer(format!("/metadata{}", web::fault::pointer_step(name)), detail))
    };
    metadata.iter().filter_map(told).collect()
}

/// Returns what is expected of a value of this type, unless the value has it.
fn fault(kind: MetadataType, value: &MetadataValue) -> Option<&'static str> {
    let (fits, expected) = match kind {
        MetadataType::String => (
            matches!(value, MetadataValue::Text(text) if text.chars().count() <= MAX_TEXT),
            "must be a text of at most 500 characters",
        ),
        MetadataType::Number => (
            matches!(value, MetadataValue::Number(number) if *number == 0.0 || NUMBERS.contains(&number.abs())),
            "must be a number: 0, or from 1e-130 to 1e125 with either sign",
        ),
        MetadataType::Date => (
            matches!(value, MetadataValue::Text(text) if text.parse::<Date>().is_ok_and(|date| date.to_string() == *text)),
            "must be a date, such as 1881-04-03",
        ),
        MetadataType::Boolean => (matches!(value, MetadataValue::Boolean(_)), "must be true or false"),
    };
    (!fits).then_some(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_must_have_the_type_of_its_field() {
        let field = |name: &str, kind| MetadataField { name: name.to_owned(), kind, tooltip: String::new() };
        let fields = [
            field("Source", MetadataType::String),
            field("Pages", MetadataType::Number),
            field("Taken", MetadataType::Date),
            field("Complete", MetadataType::Boolean),
        ];
        let fits = |text: &str| faults(&fields, &serde_json::from_str(text).unwrap()).is_empty();
        assert!(fits(r#"{"Source": "County office", "Pages": 12.5, "Taken": "1881-04-03", "Complete": true}"#));
        assert!(fits(r#"{"Pages": 0}"#) && fits(r#"{"Pages": -1e125}"#) && fits(r#"{"Pages": 1e-130}"#));
        for text in [
            r#"{"Source": 1}"#,
            r#"{"Pages": "12"}"#,
            r#"{"Pages": -1e126}"#,
            r#"{"Pages": 1e-131}"#,
            r#"{"Taken": "3 April 1881"}"#,
            r#"{"Taken": "18810403"}"#,
            r#"{"Complete": "yes"}"#,
            r#"{"Unknown": "x"}"#,
        ] {
            assert!(!fits(text), "{text}");
        }
    }
}
