//! References to items that relationships join: geozones, facilities, activities and products.

use std::fmt;
use std::str::FromStr;

use table::Key;
use table::part::NotAPart;

use super::ItemKey;
use crate::names::Kind;

/// The key of an item as a part of other keys (`{pk}::{sk}`). References are ordered as the ends of relationships: by kind
/// as in [`Kind`], then by text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemRef {
    kind: Kind,
    /// `{pk}::{sk}`
    text: String,
    /// The length of the partition key in the text.
    pk_len: usize,
}

impl ItemRef {
    pub const EXPECTED: &str = "the key of a geozone, facility, activity or product";

    pub fn of(pk: &str, sk: &str) -> Option<Self> {
        let item: Self = format!("{pk}::{sk}").parse().ok()?;
        (item.pk() == pk).then_some(item)
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn pk(&self) -> &str {
        self.parts().0
    }

    pub fn sk(&self) -> &str {
        self.parts().1
    }

    fn parts(&self) -> (&str, &str) {
        let parts = self.text.split_at_checked(self.pk_len);
        parts.and_then(|(pk, rest)| Some((pk, rest.strip_prefix("::")?))).unwrap_or_else(|| {
            table::never!("`{}` has no partition key of {} bytes", self.text, self.pk_len);
            (&self.text, "")
        })
    }

    /// The key of the item itself.
    pub fn key(&self) -> Key {
        Key::new(self.pk(), self.sk())
    }

    /// Whether this is a child of the other, as a product is of its activity.
    pub fn is_child_of(&self, other: &Self) -> bool {
        ItemKey::parse(&self.key()).and_then(|key| key.parent().key()) == Some(other.key())
    }
}

impl FromStr for ItemRef {
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
            Some(Self { kind, text: text.to_owned(), pk_len: pk.len() })
        };
        of(text).ok_or(NotAPart(Self::EXPECTED))
    }
}

impl fmt::Display for ItemRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl table::KeyPart for ItemRef {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_has_the_parts_of_its_key() {
        for (pk, sk, kind) in [
            ("geozone::bcparks_1", "10", Kind::Geozone),
            ("facility::bcparks_1", "campground::1", Kind::Facility),
            ("activity::bcparks_1", "dayuse::1", Kind::Activity),
            ("product::bcparks_1::dayuse::1", "12", Kind::Product),
        ] {
            let item = ItemRef::of(pk, sk).unwrap();
            assert_eq!((item.pk(), item.sk(), item.kind()), (pk, sk, kind));
            assert_eq!(item.to_string(), format!("{pk}::{sk}"));
            assert_eq!(item.key(), Key::new(pk, sk));
        }
    }

    #[test]
    fn other_keys_are_no_references() {
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
            assert_eq!(ItemRef::of(pk, sk), None, "{pk} {sk}");
        }
    }

    #[test]
    fn references_are_ordered_by_kind_then_by_text() {
        let items = [
            ItemRef::of("geozone::b", "2"),
            ItemRef::of("facility::a", "campground::1"),
            ItemRef::of("facility::a", "campground::10"),
            ItemRef::of("facility::a", "campground::2"),
            ItemRef::of("activity::a", "dayuse::1"),
            ItemRef::of("product::a::dayuse::1", "1"),
        ];
        assert!(items.iter().all(Option::is_some) && items.is_sorted());
    }
}
