//! Entity tags and the conditions on them (RFC 9110, sections 8.8.3 and 13.1).

use std::fmt;

use http::{HeaderMap, HeaderName};
use table::Rev;

use crate::{Fault, Problem};

/// A strong entity tag. That of an item is its revision; if the item has several representations, `-` and the name of the
/// representation follow, since two bodies of one URL must not share a strong tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityTag(String);

impl EntityTag {
    /// Creates a tag of a text without a revision. Quotes and other characters that are not valid in a tag are removed.
    pub fn new(opaque: &str) -> Self {
        Self(opaque.chars().filter(|letter| letter.is_ascii_graphic() && *letter != '"').collect())
    }

    /// Returns the tag of one representation: `"17"` becomes `"17-geojson"`.
    pub fn of_representation(&self, name: &str) -> Self {
        Self::new(&format!("{}-{name}", self.0))
    }

    /// Returns the revision, which all representations of an item share.
    fn revision(&self) -> &str {
        revision(&self.0)
    }
}

fn revision(tag: &str) -> &str {
    tag.split_once('-').map_or(tag, |(revision, _)| revision)
}

impl From<Rev> for EntityTag {
    fn from(rev: Rev) -> Self {
        Self(rev.to_string())
    }
}

/// The tag of an item without a revision is `"0"`.
impl From<Option<Rev>> for EntityTag {
    fn from(rev: Option<Rev>) -> Self {
        rev.map_or_else(|| Self::new("0"), Self::from)
    }
}

impl From<&Self> for EntityTag {
    fn from(tag: &Self) -> Self {
        tag.clone()
    }
}

impl fmt::Display for EntityTag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "\"{}\"", self.0)
    }
}

/// The value of `If-Match` or `If-None-Match`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// The request has no such header.
    #[default]
    Absent,
    /// `*`
    Any,
    /// The opaque text of each tag, and whether the tag is weak.
    Tags(Vec<(String, bool)>),
}

impl Condition {
    pub(crate) fn parse(headers: &HeaderMap, name: &HeaderName) -> Result<Self, Fault> {
        let fault = || Fault::header(name.as_str(), "must be `*` or entity tags in double quotes, separated by commas");
        let mut texts = Vec::new();
        for value in headers.get_all(name) {
            texts.push(value.to_str().map_err(|_| fault())?.trim());
        }
        match texts.as_slice() {
            [] => Ok(Self::Absent),
            ["*"] => Ok(Self::Any),
            texts => parse_tags(&texts.join(",")).map(Self::Tags).ok_or_else(fault),
        }
    }

    /// Checks `If-Match`: returns 412 unless a tag has the stored revision, of any representation. An absent header
    /// passes.
    pub fn check(&self, stored: impl Into<EntityTag>) -> Result<(), Problem> {
        let stored = stored.into();
        let matches = |(tag, weak): &(String, bool)| !weak && revision(tag) == stored.revision();
        match self {
            Self::Absent | Self::Any => Ok(()),
            Self::Tags(tags) if tags.iter().any(matches) => Ok(()),
            Self::Tags(_) => Err(Problem::stale()),
        }
    }

    /// Returns whether a tag of `If-None-Match` matches, so that the client has this content (weak comparison).
    pub fn has(&self, stored: impl Into<EntityTag>) -> bool {
        let EntityTag(stored) = stored.into();
        match self {
            Self::Absent => false,
            Self::Any => true,
            Self::Tags(tags) => tags.iter().any(|(tag, _)| *tag == stored),
        }
    }

    /// Returns whether the client has said which revision it means, which `*` does not.
    pub fn names_tags(&self) -> bool {
        matches!(self, Self::Tags(_))
    }
}

/// Parses a list of tags from left to right, since a tag may contain commas.
fn parse_tags(text: &str) -> Option<Vec<(String, bool)>> {
    let mut tags = Vec::new();
    let mut rest = text.trim_start_matches([' ', '\t', ',']);
    while !rest.is_empty() {
        let weak = rest.starts_with("W/");
        let quoted = rest.strip_prefix("W/").unwrap_or(rest).strip_prefix('"')?;
        let (tag, after) = quoted.split_once('"')?;
        if !tag.bytes().all(|byte| byte > b' ' && byte != 0x7f) {
            return None;
        }
        tags.push((tag.to_owned(), weak));
        let after = after.trim_start_matches([' ', '\t']);
        if !after.is_empty() && !after.starts_with(',') {
            return None;
        }
        rest = after.trim_start_matches([' ', '\t', ',']);
    }
    (!tags.is_empty()).then_some(tags)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(text: &str) -> Condition {
        let mut headers = HeaderMap::new();
        headers.insert(http::header::IF_MATCH, text.parse().unwrap());
        Condition::parse(&headers, &http::header::IF_MATCH).unwrap()
    }

    #[test]
    fn if_match_compares_revisions_and_if_none_match_representations() {
        let own = EntityTag::new("16");
        let public = own.of_representation("public").of_representation("geojson");
        assert_eq!(public.to_string(), "\"16-public-geojson\"");
        for (text, matches, has) in [
            ("\"16\"", true, false),
            ("\"16-public-geojson\"", true, true),
            ("\"14\", \"16-full\"", true, false),
            ("W/\"16-public-geojson\"", false, true),
            ("\"160-public-geojson\"", false, false),
            ("\"1\"", false, false),
            ("*", true, true),
        ] {
            let condition = condition(text);
            assert_eq!((condition.check(&public).is_ok(), condition.has(&public)), (matches, has), "{text}");
            assert_eq!(condition.names_tags(), text != "*", "{text}");
        }
    }
}
