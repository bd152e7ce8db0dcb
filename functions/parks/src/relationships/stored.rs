//! What the table stores for a relationship, live or detached.

use serde::{Deserialize, Serialize};
use table::{Action, Changes, Condition, EntityKey, Error, Key, Stored, item};

use super::End;
use crate::item::Item;
use crate::keys::{DetachedKey, RelationshipKey};
use crate::names::Kind;
use crate::schema::PARKS;

/// What is told of two ends that nothing may join.
pub const NOT_ALLOWED: &str = "cannot be related to the other end: nothing is related to itself, \
                               nor a product to its own activity, which its key names";

/// Two ends in the order of directions: geozone, facility, activity, product; of one kind, the smaller key first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    pub first: End,
    pub second: End,
}

impl Pair {
    /// The pair of these, whichever is named first; none if nothing may join them.
    pub fn new(one: End, other: End) -> Option<Self> {
        let (first, second) = if one < other { (one, other) } else { (other, one) };
        (first != second && !second.lies_in(&first)).then_some(Self { first, second })
    }

    pub fn key(&self) -> Key {
        RelationshipKey { end1: self.first.clone(), end2: self.second.clone() }.key()
    }

    /// The end that is not this one.
    pub fn other(&self, end: &End) -> &End {
        if self.first == *end { &self.second } else { &self.first }
    }

    fn of_key(key: &Key) -> Option<Self> {
        let ends = RelationshipKey::parse(key).map(|key| (key.end1, key.end2));
        let (one, other) = ends.or_else(|| DetachedKey::parse(key).map(|key| (key.deleted, key.other)))?;
        Self::new(one, other)
    }
}

/// A relationship. Detached, it has no say in who is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Relationship {
    pub first: Joined,
    pub second: Joined,
    pub created_at: Option<String>,
    pub created_by: Option<String>,
}

/// One end of a relationship, and what is known of its item.
#[derive(Clone, Debug, PartialEq)]
pub struct Joined {
    pub end: End,
    /// By it the item is found again where its key has changed while the relationship was detached.
    pub global_id: Option<String>,
    /// Whether the item is visible and live. Visitors see the relationship while both are.
    pub shown: bool,
}

/// The attributes as the table has them.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Attributes {
    pk1: String,
    sk1: String,
    entity1: Option<Kind>,
    global_id1: Option<String>,
    is_visible1: Option<bool>,
    pk2: String,
    sk2: String,
    entity2: Option<Kind>,
    global_id2: Option<String>,
    is_visible2: Option<bool>,
    created_at: Option<String>,
    created_by: Option<String>,
    list_sk: Option<String>,
    public_pk: Option<String>,
    gsipk: Option<String>,
    gsisk: Option<String>,
    public_gsipk: Option<String>,
}

impl Joined {
    pub fn of(end: End, item: &Item) -> Self {
        Self { end, global_id: item.global_id.clone(), shown: item.visible() && !item.deleted() }
    }
}

impl Relationship {
    /// A new one between these, in whichever order.
    pub fn new(one: Joined, other: Joined, created_at: String, created_by: Option<String>) -> Self {
        let (first, second) = if one.end < other.end { (one, other) } else { (other, one) };
        Self { first, second, created_at: Some(created_at), created_by }
    }

    /// As it was read, live or detached.
    pub fn read(stored: &Stored) -> Result<Self, Error> {
        let pair = Pair::of_key(&stored.key).ok_or_else(|| Error::Misfit("a key of no relationship".to_owned()))?;
        let Attributes { global_id1, is_visible1, global_id2, is_visible2, created_at, created_by, .. } =
            stored.read()?;
        let joined = |end, global_id, shown: Option<bool>| Joined { end, global_id, shown: shown.unwrap_or(false) };
        Ok(Self {
            first: joined(pair.first, global_id1, is_visible1),
            second: joined(pair.second, global_id2, is_visible2),
            created_at,
            created_by,
        })
    }

    pub fn pair(&self) -> Pair {
        Pair { first: self.first.end.clone(), second: self.second.end.clone() }
    }

    pub fn key(&self) -> Key {
        self.pair().key()
    }

    /// Whether visitors see it.
    pub fn public(&self) -> bool {
        self.first.shown && self.second.shown
    }

    /// The end that is not this one.
    pub fn other(&self, end: &End) -> &Joined {
        if self.first.end == *end { &self.second } else { &self.first }
    }

    pub fn own(&self, end: &End) -> &Joined {
        if self.first.end == *end { &self.first } else { &self.second }
    }

    /// The same with another item, or the same one under another key, at this end.
    pub fn with(self, end: &End, joined: Joined) -> Self {
        let other = self.other(end).clone();
        let (first, second) = if joined.end < other.end { (joined, other) } else { (other, joined) };
        Self { first, second, ..self }
    }

    /// Puts it where none is.
    pub fn create(&self) -> Result<Action, Error> {
        let key = self.key();
        let (pk1, gsipk) = (key.pk.clone(), format!("rel::{}", self.second.end));
        let public = self.public();
        let attributes = Attributes {
            is_visible1: Some(self.first.shown),
            is_visible2: Some(self.second.shown),
            list_sk: key.sk.clone(),
            public_pk: public.then_some(pk1),
            public_gsipk: public.then(|| gsipk.clone()),
            gsipk: Some(gsipk),
            gsisk: Some(self.first.end.to_string()),
            ..self.attributes()
        };
        Action::create(&PARKS, key, &attributes)
    }

    /// Ends it, as long as both ends are as shown as they were when it was read.
    pub fn delete_as_read(&self) -> Action {
        let as_read = |shown: bool| if shown { Condition::Equals } else { Condition::Differs };
        Action::delete(&PARKS, self.key())
            .when(as_read(self.first.shown)("isVisible1", item::flag(true)))
            .when(as_read(self.second.shown)("isVisible2", item::flag(true)))
    }

    /// Puts it beside the deleted end, where a restore finds it.
    pub fn detach(&self, deleted: &End) -> Result<Action, Error> {
        Action::create(&PARKS, self.detached_key(deleted), &self.attributes())
    }

    pub fn detached_key(&self, deleted: &End) -> Key {
        DetachedKey { deleted: deleted.clone(), other: self.other(deleted).end.clone() }.key()
    }

    /// Tells it that the item at this end is shown from now on, or is not.
    ///
    /// What the other end said when this was read is a condition: the keys that visitors see it by depend on both.
    pub fn show(&self, end: &End, shown: bool) -> Action {
        let first = ("isVisible1", "isVisible2");
        let (own, other) = if self.first.end == *end { first } else { (first.1, first.0) };
        let changes = Changes::new().set(own, item::flag(shown));
        if !shown {
            return Action::update(&PARKS, self.key(), changes.remove("publicPk").remove("publicGsipk"));
        }
        let changes = if self.other(end).shown {
            let of = format!("rel::{}", self.second.end);
            changes.set("publicPk", item::text(self.key().pk)).set("publicGsipk", item::text(of))
        } else {
            changes
        };
        let as_read = if self.other(end).shown { Condition::Equals } else { Condition::Differs };
        Action::update(&PARKS, self.key(), changes).when(as_read(other, item::flag(true)))
    }

    fn attributes(&self) -> Attributes {
        let (first, second) = (&self.first, &self.second);
        Attributes {
            pk1: first.end.pk().to_owned(),
            sk1: first.end.sk().to_owned(),
            entity1: Some(first.end.kind()),
            global_id1: first.global_id.clone(),
            pk2: second.end.pk().to_owned(),
            sk2: second.end.sk().to_owned(),
            entity2: Some(second.end.kind()),
            global_id2: second.global_id.clone(),
            created_at: self.created_at.clone(),
            created_by: self.created_by.clone(),
            ..Attributes::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(pk: &str, sk: &str) -> End {
        End::of(pk, sk).unwrap()
    }

    #[test]
    fn either_order_names_the_same_pair() {
        let (zone, camp) = (end("geozone::b", "1"), end("facility::a", "campground::1"));
        let pair = Pair::new(camp.clone(), zone.clone()).unwrap();
        assert_eq!(Some(&pair), Pair::new(zone.clone(), camp.clone()).as_ref());
        assert_eq!(pair.key(), Key::new("rel::geozone::b::1", "facility::a::campground::1"));
        assert_eq!(Pair::of_key(&pair.key()), Some(pair.clone()));
        assert_eq!((pair.other(&zone), pair.other(&camp)), (&camp, &zone));
    }

    #[test]
    fn nothing_joins_an_item_with_itself_or_a_product_with_its_activity() {
        let (activity, product) = (end("activity::a", "dayuse::1"), end("product::a::dayuse::1", "2"));
        assert_eq!(Pair::new(activity.clone(), activity.clone()), None);
        assert_eq!(Pair::new(product.clone(), activity.clone()), None);
        assert!(Pair::new(product, end("activity::a", "dayuse::10")).is_some());
        assert!(Pair::new(end("product::a::dayuse::10", "2"), activity).is_some());
    }

    #[test]
    fn a_key_in_the_wrong_order_is_of_no_pair_of_its_own() {
        let turned = Key::new("rel::facility::a::campground::1", "geozone::b::1");
        assert_ne!(Pair::of_key(&turned).map(|pair| pair.key()), Some(turned));
    }

    #[test]
    fn another_key_at_one_end_may_change_the_order() {
        let joined = |end: End| Joined { end, global_id: None, shown: true };
        let (tenth, second) = (end("facility::a", "trail::10"), end("facility::a", "parking::2"));
        let relationship = Relationship::new(joined(tenth.clone()), joined(second), String::new(), None);
        assert_eq!(relationship.first.end.sk(), "parking::2");
        let moved = relationship.with(&tenth, joined(end("facility::a", "campground::10")));
        assert_eq!(moved.first.end.sk(), "campground::10");
        assert_eq!(moved.second.end.sk(), "parking::2");
    }
}
