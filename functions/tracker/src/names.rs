//! The parts of keys. Each is a type of its own, so that no key can be built from other text.

use jobs::JobId;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use table::KeyPart;
use table::part::NotAPart;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

/// An id without the prefix of its type: a UUID, or four hex digits in samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Bare {
    Seed(u16),
    Uuid(Uuid),
}

impl fmt::Display for Bare {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seed(digits) => write!(formatter, "{digits:04x}"),
            Self::Uuid(uuid) => uuid.fmt(formatter),
        }
    }
}

impl FromStr for Bare {
    type Err = NotAPart;

    /// Accepts one spelling only, since another would be another key.
    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let bare = match text.len() {
            4 => u16::from_str_radix(text, 16).ok().map(Self::Seed),
            _ => Uuid::parse_str(text).ok().map(Self::Uuid),
        };
        bare.filter(|bare| bare.to_string() == text).ok_or(NotAPart("a UUID in lower case with hyphens"))
    }
}

/// Ids as `{type}-{UUID}` in the API and in search. In keys the template has the prefix.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal,)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Bare);

        impl $name {
            /// A new id.
            pub fn new() -> Self {
                Self(Bare::Uuid(Uuid::now_v7()))
            }

            /// The id with its prefix.
            pub fn id(self) -> String {
                format!(concat!($prefix, "{}"), self.0)
            }

            /// Parses an id with its prefix.
            pub fn parse_id(text: &str) -> Option<Self> {
                text.strip_prefix($prefix)?.parse().ok()
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }

        impl FromStr for $name {
            type Err = NotAPart;

            fn from_str(text: &str) -> Result<Self, NotAPart> {
                text.parse().map(Self)
            }
        }

        impl KeyPart for $name {}

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.id()
            }
        }

        impl TryFrom<String> for $name {
            type Error = NotAPart;

            fn try_from(text: String) -> Result<Self, NotAPart> {
                Self::parse_id(&text).ok_or(NotAPart(concat!($prefix, " and a UUID in lower case with hyphens")))
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                Self::schema_of_id().into()
            }
        }

        impl $name {
            /// The schema of an id.
            pub fn schema_of_id() -> utoipa::openapi::Object {
                const PATTERN: &str =
                    concat!("^", $prefix, "([0-9a-f]{4}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$");
                ObjectBuilder::new().schema_type(Type::String).pattern(Some(PATTERN)).build()
            }
        }

        impl ToSchema for $name {}
    )+};
}

ids! {
    /// The id of a tenant.
    TenantId = "tenant-",
    /// The id of a project.
    ProjectId = "project-",
    /// The id of an attribute.
    AttributeId = "xattrib-",
    /// The id of an issue.
    IssueId = "issue-",
}

impl IssueId {
    /// The id of the issue that an import creates from a record. It is the same in every attempt.
    pub fn of_record(job: JobId, record: u64) -> Self {
        Self(Bare::Uuid(Uuid::new_v5(&job.uuid(), record.to_string().as_bytes())))
    }
}

/// One of a project's gates: `00` to `15`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GateNumber(u8);

/// Gates of a project. Writers at different gates do not conflict.
pub const GATES: u8 = 16;

impl GateNumber {
    pub fn all() -> impl Iterator<Item = Self> {
        (0..GATES).map(Self)
    }

    /// The gate of a worker.
    pub fn of_worker(worker: usize) -> Self {
        Self((worker % usize::from(GATES)) as u8)
    }

    /// A random gate, so that writers spread.
    pub fn random() -> Self {
        Self(fastrand::u8(0..GATES))
    }
}

impl fmt::Display for GateNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:02}", self.0)
    }
}

impl FromStr for GateNumber {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let gate = text.parse().ok().filter(|gate| *gate < GATES).map(Self);
        gate.filter(|gate| gate.to_string() == text).ok_or(NotAPart("two digits from 00 to 15"))
    }
}

impl KeyPart for GateNumber {}

/// The number of a change in its project, from 1. In keys it has 15 digits, so that they sort by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangeNumber(pub u64);

impl fmt::Display for ChangeNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:015}", self.0)
    }
}

impl FromStr for ChangeNumber {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let change = text.parse().ok().map(Self);
        change.filter(|change| change.to_string() == text).ok_or(NotAPart("15 digits"))
    }
}

impl KeyPart for ChangeNumber {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_spelling() {
        let id = IssueId::new();
        assert_eq!(IssueId::parse_id(&id.id()), Some(id));
        assert_eq!(IssueId::parse_id("issue-020e").unwrap().to_string(), "020e");
        let upper = id.id().to_uppercase();
        for text in ["issue-020E", "issue-", "020e", "project-020e", "issue-20e", "issue-+20e", "issue-é", &upper] {
            assert_eq!(IssueId::parse_id(text), None, "{text}");
        }
    }

    #[test]
    fn changes_sort_by_their_numbers() {
        let texts: Vec<String> = [0, 9, 10, 999_999_999_999_999].map(|number| ChangeNumber(number).to_string()).into();
        assert!(texts.is_sorted() && texts.iter().all(|text| text.parse::<ChangeNumber>().is_ok()), "{texts:?}");
        assert!("12".parse::<ChangeNumber>().is_err() && "+00000000000012".parse::<ChangeNumber>().is_err());
    }

    #[test]
    fn gates_have_two_digits() {
        assert_eq!(GateNumber::all().map(|gate| gate.to_string()).last().as_deref(), Some("15"));
        assert!("16".parse::<GateNumber>().is_err() && "7".parse::<GateNumber>().is_err());
    }
}
