//! Stream records as Lambda delivers them, read in one pass: the values that the fold needs, and slices of the rest.

use std::borrow::Cow;

use table::rev;
use table::schema::{System, Table};
use table::{Config, Key};

use crate::fold::{Change, Presence};
use crate::item::presence;
use crate::json::{Malformed, Reader};

/// One record of `{"Records":[...]}`.
#[derive(Clone, Debug)]
pub(crate) struct Record<'a> {
    /// The whole record, as it was received.
    pub(crate) text: &'a str,
    pub(crate) sequence: Option<Cow<'a, str>>,
    /// Epoch seconds.
    pub(crate) created: Option<i64>,
    /// `arn:aws:dynamodb:{region}:{account}:table/{table}/stream/{label}`.
    source: Option<Cow<'a, str>>,
    name: Option<Cow<'a, str>>,
    keys: Option<&'a str>,
    old: Option<Side<'a>>,
    pub(crate) new: Option<Side<'a>>,
}

/// One image of a record: its text, and the value of `rev` in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side<'a> {
    pub(crate) text: &'a str,
    pub(crate) rev: Option<&'a str>,
}

/// A payload that is not a stream event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a DynamoDB stream event: {0}")]
pub struct NotAnEvent(String);

/// The reason why a record cannot be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RecordError {
    #[error("the record's text cannot be read")]
    Text,
    #[error("the record does not come from a table of this system")]
    Source,
    #[error("the record does not have the keys of its table")]
    Keys,
    #[error("the record's event name is unknown, or its images are not those of its event name")]
    Name,
}

/// The tables of a system by the names that they have in this deployment.
#[derive(Debug)]
pub(crate) struct Tables {
    by_name: Vec<(String, &'static Table)>,
}

impl Tables {
    pub(crate) fn new(system: &'static System, config: &Config) -> Self {
        Self { by_name: system.tables.iter().map(|&table| (config.table(table.name), table)).collect() }
    }

    fn of_stream(&self, arn: &str) -> Option<&'static Table> {
        let (_, name) = arn.split_once(":table/")?;
        let (name, _) = name.split_once("/stream/")?;
        self.by_name.iter().find(|(physical, _)| physical == name).map(|(_, table)| *table)
    }
}

/// Reads an event. A record that cannot be read is kept with only its text.
pub(crate) fn records(payload: &str) -> Result<Vec<Record<'_>>, NotAnEvent> {
    let mut records = None;
    let mut reader = Reader::new(payload);
    let read = reader.object(|reader, name| {
        if name != "Records" {
            return reader.value().map(drop);
        }
        let mut found = Vec::new();
        reader.array(|reader| {
            found.push(record_or_text(reader)?);
            Ok(())
        })?;
        records = Some(found);
        Ok(())
    });
    read.map_err(|fault| NotAnEvent(fault.to_string()))?;
    records.ok_or_else(|| NotAnEvent("it has no `Records`".to_owned()))
}

impl<'a> Record<'a> {
    /// Returns the table that the record comes from. `before` is the preceding record with its table, which is usually
    /// the same.
    pub(crate) fn table(
        &self,
        tables: &Tables,
        before: Option<(&Self, &'static Table)>,
    ) -> Result<&'static Table, RecordError> {
        let arn = self.source.as_deref().ok_or(RecordError::Text)?;
        match before {
            Some((record, table)) if record.source.as_deref() == Some(arn) => Ok(table),
            _ => tables.of_stream(arn).ok_or(RecordError::Source),
        }
    }

    pub(crate) fn key(&self, table: &Table) -> Result<Key, RecordError> {
        let (mut pk, mut sk, mut others) = (None, None, false);
        let mut reader = Reader::new(self.keys.ok_or(RecordError::Keys)?);
        let read = reader.object(|reader, name| {
            let part = string_attribute(reader)?;
            match () {
                () if name == table.pk => pk = Some(part.into_owned()),
                () if table.sk.is_some_and(|sk| name == sk) => sk = Some(part.into_owned()),
                () => others = true,
            }
            Ok(())
        });
        match (read, pk) {
            (Ok(()), Some(pk)) if !others && sk.is_some() == table.sk.is_some() => Ok(Key { pk, sk }),
            _ => Err(RecordError::Keys),
        }
    }

    /// Returns both images, if they are those that the event's name requires.
    pub(crate) fn change(&self) -> Result<Change, RecordError> {
        let change = Change { old: side(self.old), new: side(self.new) };
        let (old, new) = (self.old.is_some(), self.new.is_some());
        match (self.name.as_deref(), old, new) {
            (Some("INSERT"), false, true) | (Some("MODIFY"), true, true) | (Some("REMOVE"), true, false) => Ok(change),
            _ => Err(RecordError::Name),
        }
    }

    /// Returns the presence in both images, without regard to the event's name.
    pub(crate) fn images(&self) -> [Presence; 2] {
        [side(self.old), side(self.new)]
    }

    const fn unread(text: &'a str) -> Self {
        Self { text, sequence: None, created: None, source: None, name: None, keys: None, old: None, new: None }
    }
}

fn side(image: Option<Side<'_>>) -> Presence {
    image.map_or(Presence::Absent, |image| presence(image.rev))
}

/// Reads a record, or skips it like any value if it cannot be read.
fn record_or_text<'a>(reader: &mut Reader<'a>) -> Result<Record<'a>, Malformed> {
    let before = reader.clone();
    if let Ok((text, record)) = reader.spanned(record) {
        return Ok(Record { text, ..record });
    }
    *reader = before;
    reader.value().map(Record::unread)
}

fn record<'a>(reader: &mut Reader<'a>) -> Result<Record<'a>, Malformed> {
    let mut record = Record::unread("");
    reader.object(|reader, name| {
        match &*name {
            "eventName" => record.name = Some(reader.string()?),
            "eventSourceARN" => record.source = Some(reader.string()?),
            "dynamodb" => reader.object(|reader, name| {
                match &*name {
                    "ApproximateCreationDateTime" => record.created = seconds(reader.value()?),
                    "Keys" => record.keys = Some(reader.value()?),
                    "OldImage" => record.old = Some(image(reader)?),
                    "NewImage" => record.new = Some(image(reader)?),
                    "SequenceNumber" => record.sequence = Some(reader.string()?),
                    _ => drop(reader.value()?),
                }
                Ok(())
            })?,
            _ => drop(reader.value()?),
        }
        Ok(())
    })?;
    Ok(record)
}

fn image<'a>(reader: &mut Reader<'a>) -> Result<Side<'a>, Malformed> {
    let mut rev = None;
    let (text, ()) = reader.spanned(|reader| {
        reader.object(|reader, name| {
            let value = reader.value()?;
            if name == rev::ATTRIBUTE {
                rev = Some(value);
            }
            Ok(())
        })
    })?;
    Ok(Side { text, rev })
}

/// Reads `{"S":"..."}`. Any other value is an error.
fn string_attribute<'a>(reader: &mut Reader<'a>) -> Result<Cow<'a, str>, Malformed> {
    let mut text = None;
    reader.object(|reader, name| {
        let wrong = reader.malformed("string attribute");
        text = if name == "S" { Some(reader.string()?) } else { return Err(wrong) };
        Ok(())
    })?;
    text.ok_or(reader.malformed("string attribute"))
}

/// Returns the whole seconds of a number in each form that JSON serialisers use: `1700000000`, `1700000000.25`,
/// `1.7E9`.
fn seconds(text: &str) -> Option<i64> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: usize = exponent.parse().ok().filter(|exponent| *exponent < 19)?;
    let digits = fraction.chars().chain(std::iter::repeat('0')).take(exponent);
    format!("{whole}{}", digits.collect::<String>()).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creation_time_is_read_in_each_of_its_forms() {
        for text in ["1700000000", "1700000000.25", "1.7E9", "1.70000000000E9"] {
            assert_eq!(seconds(text), Some(1_700_000_000), "{text}");
        }
        assert_eq!(seconds("\"soon\""), None);
    }

    #[test]
    fn record_that_cannot_be_read_is_kept_as_text() {
        let payload = r#"{"other":1,"Records":[7,{"eventName":3,"a":[{}]},{"dynamodb":{"SequenceNumber":"5"}}]}"#;
        let texts: Vec<_> = records(payload).unwrap().iter().map(|record| record.text).collect();
        assert_eq!(texts, ["7", r#"{"eventName":3,"a":[{}]}"#, r#"{"dynamodb":{"SequenceNumber":"5"}}"#]);
    }

    #[test]
    fn payload_that_is_not_an_event_is_refused() {
        for payload in ["", "[]", "{}", r#"{"Records":{}}"#, r#"{"Records":[{]}"#] {
            assert!(records(payload).is_err(), "{payload}");
        }
    }

    #[test]
    fn images_that_do_not_fit_the_event_name_are_refused() {
        let change = |name: &str, images: &str| {
            let payload = format!(r#"{{"Records":[{{"eventName":"{name}","dynamodb":{{{images}}}}}]}}"#);
            records(&payload).unwrap()[0].change().map(|change| (change.old.number(), change.new.number()))
        };
        let old = r#""OldImage":{"rev":{"N":"2"}}"#;
        let new = r#""NewImage":{"rev":{"N":"4"}}"#;
        let both = format!("{old},{new}");
        assert_eq!(change("INSERT", new), Ok((None, Some(4))));
        assert_eq!(change("MODIFY", &both), Ok((Some(2), Some(4))));
        assert_eq!(change("REMOVE", old), Ok((Some(2), None)));
        for (name, images) in [("INSERT", &*both), ("MODIFY", new), ("REMOVE", new), ("REMOVE", ""), ("TTL", old)] {
            assert_eq!(change(name, images), Err(RecordError::Name), "{name} {images}");
        }
    }
}
