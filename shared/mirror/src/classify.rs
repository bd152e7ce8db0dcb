//! Classifying the result of each operation of a bulk request.

use std::borrow::Cow;

use crate::json::{Malformed, Reader};

/// The class of an operation's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Done,
    /// The index has an equal or a higher version.
    Conflict,
    /// The engine refuses the operation temporarily.
    Retry,
    /// The document is at fault.
    Quarantine,
    /// Something is missing, closed or forbidden. The record is not at fault, and is reported.
    Report,
}

/// The result of one operation.
#[derive(Clone, Debug, Default)]
pub struct Answer<'a> {
    pub status: u16,
    /// The error as OpenSearch gave it, as JSON text.
    pub error: Option<&'a str>,
}

/// The content of an error object, including its causes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: String,
    /// The reasons, outermost first.
    pub(crate) reasons: Vec<String>,
}

/// Classifies one operation.
pub fn classify(answer: &Answer<'_>) -> Class {
    match answer.status {
        200..=299 => Class::Done,
        409 => Class::Conflict,
        429 | 500..=599 => Class::Retry,
        400 if is_of_index(&failure(answer.error)) => Class::Report,
        400 => Class::Quarantine,
        _ => Class::Report,
    }
}

/// Whether the index refuses every document: it is closed, a shard has as many documents as Lucene allows, or the write
/// alias names several indexes.
fn is_of_index(failure: &Failure) -> bool {
    const REASONS: [&str; 2] = ["Number of documents in shard ", "no write index is defined for alias "];
    let starts = |reason: &String| REASONS.iter().any(|start| reason.starts_with(start));
    failure.kind == "index_closed_exception"
        || failure.kind == "illegal_argument_exception" && failure.reasons.iter().any(starts)
}

/// Returns the results in the order of the operations, or `None` if the body is not a response to a bulk request.
pub(crate) fn answers(body: &[u8]) -> Option<Vec<Answer<'_>>> {
    let mut answers = None;
    let mut reader = Reader::new(str::from_utf8(body).ok()?);
    reader
        .object(|reader, name| {
            if name != "items" {
                return reader.value().map(drop);
            }
            let mut found = Vec::new();
            reader.array(|reader| {
                // `{"index":{...}}`
                reader.object(|reader, _| {
                    found.push(answer(reader)?);
                    Ok(())
                })
            })?;
            answers = Some(found);
            Ok(())
        })
        .ok()?;
    answers
}

fn answer<'a>(reader: &mut Reader<'a>) -> Result<Answer<'a>, Malformed> {
    let mut answer = Answer::default();
    reader.object(|reader, name| {
        match &*name {
            "status" => {
                let wrong = reader.malformed("status");
                answer.status = reader.value()?.parse().map_err(|_| wrong)?;
            }
            "error" => answer.error = Some(reader.value()?),
            _ => drop(reader.value()?),
        }
        Ok(())
    })?;
    Ok(answer)
}

/// Reads an error object. Members that cannot be read are omitted.
pub(crate) fn failure(error: Option<&str>) -> Failure {
    let mut failure = Failure::default();
    // If the object is malformed, the members before the fault are kept.
    let _ = read_failure(&mut Reader::new(error.unwrap_or_default()), &mut failure);
    failure
}

fn read_failure(reader: &mut Reader<'_>, failure: &mut Failure) -> Result<(), Malformed> {
    reader.object(|reader, name| {
        match &*name {
            "type" if failure.kind.is_empty() => failure.kind = reader.string()?.into_owned(),
            "reason" => failure.reasons.push(reader.string().map(Cow::into_owned)?),
            "caused_by" => read_failure(reader, failure)?,
            _ => drop(reader.value()?),
        }
        Ok(())
    })
}

impl Failure {
    /// Whether the error is about this field.
    pub(crate) fn names(&self, field: &str) -> bool {
        let quoted = format!("[{field}]");
        self.reasons.iter().any(|reason| reason.contains(&quoted))
    }

    pub(crate) fn reason(&self) -> String {
        let mut reasons = self.reasons.clone();
        reasons.dedup();
        if reasons.is_empty() { self.kind.clone() } else { reasons.join(": ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"took":3,"errors":true,"items":[
        {"index":{"_index":"toy-000001","_id":"a","_version":2,"status":201}},
        {"index":{"_id":"b","status":400,"error":{"type":"mapper_parsing_exception",
            "reason":"failed to parse field [area] of type [geo_shape]","caused_by":{"type":"illegal_argument_exception","reason":"Unable to Tessellate shape"}}}},
        {"index":{"_id":"c","status":400,"error":{"type":"index_closed_exception","reason":"closed"}}}]}"#;

    #[test]
    fn each_operation_has_its_result() {
        let answers = answers(BODY.as_bytes()).unwrap();
        assert_eq!(answers.iter().map(classify).collect::<Vec<_>>(), [Class::Done, Class::Quarantine, Class::Report]);
        let failure = failure(answers[1].error);
        assert!(failure.names("area") && !failure.names("are"));
        assert_eq!(failure.kind, "mapper_parsing_exception");
        assert_eq!(failure.reason(), "failed to parse field [area] of type [geo_shape]: Unable to Tessellate shape");
    }

    #[test]
    fn status_decides_the_class() {
        for (status, class) in [
            (200, Class::Done),
            (201, Class::Done),
            (409, Class::Conflict),
            (429, Class::Retry),
            (500, Class::Retry),
            (503, Class::Retry),
            (400, Class::Quarantine),
            (403, Class::Report),
            (404, Class::Report),
            (0, Class::Report),
        ] {
            assert_eq!(classify(&Answer { status, error: None }), class, "{status}");
        }
    }

    #[test]
    fn fault_of_the_index_is_no_fault_of_the_document() {
        for (reason, class) in [
            (
                "Number of documents in shard [toy-000001][0] exceeds the limit of [2147483519] documents per shard",
                Class::Report,
            ),
            (
                "no write index is defined for alias [toy-000001-write]. The write index may be explicitly disabled",
                Class::Report,
            ),
            ("Document contains at least one immense term in field=\"name\"", Class::Quarantine),
        ] {
            let error = format!(r#"{{"type":"illegal_argument_exception","reason":{}}}"#, serde_json::json!(reason));
            assert_eq!(classify(&Answer { status: 400, error: Some(&error) }), class, "{reason}");
        }
    }

    #[test]
    fn body_without_items_is_not_a_bulk_response() {
        for body in ["", "{}", "[]", r#"{"items":[{"index":{"status":"x"}}]}"#] {
            assert!(answers(body.as_bytes()).is_none(), "{body}");
        }
    }
}
