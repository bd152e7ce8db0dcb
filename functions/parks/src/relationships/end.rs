//! What a relationship can join: a geozone, a facility, an activity or a product, by its key.

use std::fmt;
use std::str::FromStr;

use table::Key;
use table::part::NotAPart;

use crate::keys::ItemKey;
use crate::names::Kind;

/// One end: the key of an item, as one part of other keys (`{pk}::{sk}`). Ends are in the order of directions: by kind
/// as in [`Kind`], then by text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct End {
    kind: Kind,
    /// `{pk}::{sk}`
    text: String,
    /// How much of the text is the partition key.
    pk: usize,
}

impl End {
    pub const EXPECTED: &str = "the key of a geozone, facility, activity or product";

    pub fn of(pk: &str, sk: &str) -> Option<Self> {
        let end: Self = format!("{pk}::{sk}").parse().ok()?;
        (end.pk() == pk).then_some(end)
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn pk(&self) -> &str {
        self.text.get(..self.pk).unwrap_or_default()
    }

    pub fn sk(&self) -> &str {
        self.text.get(self.pk..).and_then(|rest| rest.strip_prefix("::")).unwrap_or_default()
    }

    /// The key of the item itself.
    pub fn key(&self) -> Key {
        Key::new(self.pk(), self.sk())
    }

    /// Whether the one lies in the other, as a product in its activity.
    pub fn lies_in(&self, other: &Self) -> bool {
        ItemKey::parse(&self.key()).and_then(|key| key.parent().key()) == Some(other.key())
    }
}

impl FromStr for End {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let of = |text: &str| {
            let kind: Kind = text.split("::").next()?.parse().ok()?;
            let parts_of_sk = match kind {
                Kind::Collection => return None,
                Kind::Geozone | Kind::Product => 1,
                Kind::Facility | Kind::Activity => 2,
            };
            let (pk, rest) = text.rmatch_indices("::").nth(parts_of_sk - 1)?;
            let (pk, sk) = (text.get(..pk)?, text.get(pk + rest.len()..)?);
            ItemKey::parse(&Key::new(pk, sk))?;
            Some(Self { kind, text: text.to_owned(), pk: pk.len() })
        };
        of(text).ok_or(NotAPart(Self::EXPECTED))
    }
}

impl fmt::Display for End {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl table::KeyPart for End {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_a_key_and_back() {
        for (pk, sk, kind) in [
            ("geozone::bcparks_1", "10", Kind::Geozone),
            ("facility::bcparks_1", "campground::1", Kind::Facility),
            ("activity::bcparks_1", "dayuse::1", Kind::Activity),
            ("product::bcparks_1::dayuse::1", "12", Kind::Product),
        ] {
            let end = End::of(pk, sk).unwrap();
            assert_eq!((end.pk(), end.sk(), end.kind()), (pk, sk, kind));
            assert_eq!(end.to_string(), format!("{pk}::{sk}"));
            assert_eq!(end.key(), Key::new(pk, sk));
        }
    }

    #[test]
    fn nothing_else_is_an_end() {
        for (pk, sk) in [
            ("collection", "bcparks_1"),
            ("geozone::bcparks_1", "01"),
            ("geozone::bcparks_1", "1::2"),
            ("geozone", "bcparks_1::1"),
            ("facility::bcparks_1", "1"),
            ("facility::bcparks_1", "dayuse::1"),
            ("facility::bcparks_1", "camp::1"),
            ("facility::bcparks_1::campground", "1"),
            ("activity::bcparks_1", "campground::1"),
            ("product::bcparks_1::dayuse", "1::12"),
            ("rel::geozone::a", "1"),
            ("geozone::a#b", "1"),
            ("", ""),
        ] {
            assert_eq!(End::of(pk, sk), None, "{pk} {sk}");
        }
    }

    #[test]
    fn the_direction_is_by_kind_then_by_text() {
        let ends = [
            End::of("geozone::b", "2"),
            End::of("facility::a", "campground::1"),
            End::of("facility::a", "campground::10"),
            End::of("facility::a", "campground::2"),
            End::of("activity::a", "dayuse::1"),
            End::of("product::a::dayuse::1", "1"),
        ];
        assert!(ends.iter().all(Option::is_some) && ends.is_sorted());
    }
}
