//! Primary keys of items, their document ids, and the declarations that build and parse keys.

use serde::{Deserialize, Serialize};

/// DynamoDB's limits of bytes.
pub(crate) const MAX_PARTITION_KEY: usize = 2048;
pub(crate) const MAX_SORT_KEY: usize = 1024;

/// The key of an item: the values of its table's key attributes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    pub pk: String,
    /// Absent where the table has no sort key.
    pub sk: Option<String>,
}

/// A key that exceeds the limits of DynamoDB (partition key 2048 bytes, sort key 1024) or of OpenSearch (id 512).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {part} has {bytes} bytes, more than the {limit} that are allowed")]
pub struct KeyTooLong {
    pub part: &'static str,
    pub bytes: usize,
    pub limit: usize,
}

impl Key {
    pub fn new(pk: impl Into<String>, sk: impl Into<String>) -> Self {
        Self { pk: pk.into(), sk: Some(sk.into()) }
    }

    /// Creates a key of a table without a sort key.
    pub fn partition(pk: impl Into<String>) -> Self {
        Self { pk: pk.into(), sk: None }
    }

    /// Returns `<pk>#<sk>`, or `<pk>` if the table has no sort key. Ids are never parsed, since documents have `pk` and
    /// `sk`.
    pub fn document_id(&self) -> String {
        match &self.sk {
            Some(sk) => format!("{}#{sk}", self.pk),
            None => self.pk.clone(),
        }
    }

    /// Refuses a key that exceeds the limits of the engines.
    pub fn check_length(&self) -> Result<(), KeyTooLong> {
        let sk = self.sk.as_ref().map_or(0, String::len);
        let id = self.pk.len() + self.sk.as_ref().map_or(0, |sk| 1 + sk.len());
        for (part, bytes, limit) in
            [("partition key", self.pk.len(), MAX_PARTITION_KEY), ("sort key", sk, MAX_SORT_KEY), ("key", id, 512)]
        {
            if bytes > limit {
                return Err(KeyTooLong { part, bytes, limit });
            }
        }
        Ok(())
    }
}

/// The key of one entity, declared with [`crate::key!`].
pub trait EntityKey: Sized {
    /// The templates of its key.
    const PK: &'static str;
    const SK: Option<&'static str>;

    /// Builds the key.
    fn key(&self) -> Key;

    /// Parses a key. Returns none for a key of another entity.
    fn parse(key: &Key) -> Option<Self>;

    /// Returns the sort key with each number in its order-preserving form, for an index that lists in order. Without a
    /// sort key it is the partition key.
    fn list_sk(&self) -> String;
}

impl From<&Self> for Key {
    fn from(key: &Self) -> Self {
        key.clone()
    }
}

/// Declares the key of an entity by its templates:
///
/// ```
/// table::key! {
///     /// A book on its shelf.
///     pub struct BookKey { room: table::Escaped, shelf: table::Number, place: table::Number }
///     pk "shelf::{room}::{shelf}"
///     sk "{place}"
/// }
/// # use table::{EntityKey, Escaped, Key, Number};
/// # fn main() {
/// let book = BookKey { room: Escaped::new("east/2").unwrap(), shelf: Number(3), place: Number(12) };
/// assert_eq!(book.key(), Key::new("shelf::east~2F2::3", "12"));
/// assert_eq!(BookKey::parse(&book.key()), Some(book));
/// # }
/// ```
///
/// A table without a sort key has no `sk` line. A template that cannot be parsed unambiguously does not compile.
#[macro_export]
macro_rules! key {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident { $($(#[$field_attribute:meta])* $field:ident: $type:ty),* $(,)? }
        pk $pk:literal
        $(sk $sk:literal)?
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        $visibility struct $name { $($(#[$field_attribute])* pub $field: $type),* }

        const _: () = {
            assert!($crate::template::well_formed($pk), "a part of a key must be followed by `::`, `#` or the end");
            $(assert!($crate::template::well_formed($sk), "a part of a key must be followed by `::`, `#` or the end");)?
        };

        impl From<$name> for $crate::Key {
            fn from(key: $name) -> Self {
                $crate::EntityKey::key(&key)
            }
        }

        impl From<&$name> for $crate::Key {
            fn from(key: &$name) -> Self {
                $crate::EntityKey::key(key)
            }
        }

        impl $crate::EntityKey for $name {
            const PK: &'static str = $pk;
            const SK: Option<&'static str> = $crate::key!(@option $($sk)?);

            fn key(&self) -> $crate::Key {
                let Self { $($field),* } = self;
                $crate::Key { pk: format!($pk), sk: $crate::key!(@option $(format!($sk))?) }
            }

            fn parse(key: &$crate::Key) -> Option<Self> {
                let parts = $crate::key::parts(Self::PK, Self::SK, key)?;
                let parsed = Self { $($field: $crate::key::part(&parts, stringify!($field))?),* };
                // A part with several spellings would give one item several keys.
                ($crate::EntityKey::key(&parsed) == *key).then_some(parsed)
            }

            fn list_sk(&self) -> String {
                let Self { $($field),* } = self;
                $(let $field = $crate::KeyPart::ordered($field);)*
                let $crate::Key { pk, sk } = $crate::Key { pk: format!($pk), sk: $crate::key!(@option $(format!($sk))?) };
                sk.unwrap_or(pk)
            }
        }
    };
    (@option) => { None };
    (@option $value:expr) => { Some($value) };
}

/// Returns the parts of a key by name, if it fits the templates of an entity.
#[doc(hidden)]
pub fn parts<'a>(pk: &'a str, sk: Option<&'a str>, key: &'a Key) -> Option<Vec<(&'a str, &'a str)>> {
    let mut parts = crate::template::parts(pk, &key.pk)?;
    match (sk, &key.sk) {
        (Some(sk), Some(text)) => parts.extend(crate::template::parts(sk, text)?),
        (None, None) => {}
        _ => return None,
    }
    Some(parts)
}

/// Parses the part with this name.
#[doc(hidden)]
pub fn part<T: crate::KeyPart>(parts: &[(&str, &str)], name: &str) -> Option<T> {
    let (_, text) = parts.iter().find(|(part, _)| *part == name)?;
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Escaped, Number};

    crate::key! {
        struct RootKey { name: Escaped }
        pk "root"
        sk "{name}"
    }

    crate::key! {
        struct LeafKey { room: Escaped, kind: Escaped, number: Number }
        pk "LEAF#{room}"
        sk "{kind}::{number}"
    }

    crate::key! {
        struct LoneKey { number: Number }
        pk "lone::{number}"
    }

    #[test]
    fn key_follows_its_templates() {
        let leaf = LeafKey { room: Escaped::new("a").unwrap(), kind: Escaped::new("oak").unwrap(), number: Number(10) };
        assert_eq!(leaf.key(), Key::new("LEAF#a", "oak::10"));
        assert_eq!(leaf.list_sk(), "oak::b10");
        assert_eq!(leaf.key().document_id(), "LEAF#a#oak::10");
        let lone = LoneKey { number: Number(7) };
        assert_eq!(lone.key(), Key::partition("lone::7"));
        assert_eq!((lone.key().document_id(), lone.list_sk()), ("lone::7".to_owned(), "lone::a7".to_owned()));
        assert_eq!((LoneKey::PK, LoneKey::SK, RootKey::SK), ("lone::{number}", None, Some("{name}")));
    }

    #[test]
    fn key_of_another_entity_does_not_parse() {
        assert!(RootKey::parse(&Key::new("root", "a")).is_some());
        for key in [
            Key::new("roots", "a"),
            Key::new("root", ""),
            Key::new("root", "a::b"),
            Key::new("root", "~41"),
            Key::partition("root"),
        ] {
            assert_eq!(RootKey::parse(&key), None, "{key:?}");
        }
        for key in [Key::new("LEAF#a", "oak::01"), Key::new("LEAF#a", "oak"), Key::new("LEAF#a#b", "oak::1")] {
            assert_eq!(LeafKey::parse(&key), None, "{key:?}");
        }
        assert_eq!(LoneKey::parse(&Key::new("lone::7", "x")), None);
    }

    #[test]
    fn key_over_a_limit_in_bytes_is_refused() {
        let long = |pk: usize, sk: usize| Key::new("é".repeat(pk / 2), "s".repeat(sk)).check_length();
        assert_eq!(long(500, 11), Ok(()));
        assert_eq!(long(500, 12).unwrap_err().bytes, 513);
        assert_eq!(long(2050, 1).unwrap_err().part, "partition key");
        assert_eq!(long(2, 1025).unwrap_err().part, "sort key");
        assert_eq!(Key::partition("p".repeat(513)).check_length().unwrap_err().part, "key");
    }

    /// Returns every key that may have this document id.
    fn origins(id: &str) -> Vec<Key> {
        let cuts = id.match_indices('#').filter_map(|(place, _)| Some((id.get(..place)?, id.get(place + 1..)?)));
        let keys = cuts.map(|(pk, sk)| Key::new(pk, sk)).chain([Key::partition(id)]);
        keys.filter(|key| {
            let of = [
                RootKey::parse(key).map(|key| key.key()),
                LeafKey::parse(key).map(|key| key.key()),
                LoneKey::parse(key).map(|key| key.key()),
            ];
            assert!(of.iter().flatten().all(|rebuilt| rebuilt == key));
            of.iter().flatten().count() == 1
        })
        .collect()
    }

    proptest! {
        #[test]
        fn each_document_id_has_one_key(
            room in "[a#:~/]{1,8}|.{1,12}", kind in "[a#:~/]{1,8}|.{1,12}", number: u64
        ) {
            let (room, kind) = (Escaped::new(room).unwrap(), Escaped::new(kind).unwrap());
            let root = RootKey { name: room.clone() };
            prop_assert_eq!(RootKey::parse(&root.key()), Some(root.clone()));
            prop_assert_eq!(origins(&root.key().document_id()), vec![root.key()]);
            let leaf = LeafKey { room, kind, number: Number(number) };
            prop_assert_eq!(LeafKey::parse(&leaf.key()), Some(leaf.clone()));
            prop_assert_eq!(origins(&leaf.key().document_id()), vec![leaf.key()]);
            let lone = LoneKey { number: Number(number) };
            prop_assert_eq!(LoneKey::parse(&lone.key()), Some(lone.clone()));
            prop_assert_eq!(origins(&lone.key().document_id()), vec![lone.key()]);
        }
    }
}
