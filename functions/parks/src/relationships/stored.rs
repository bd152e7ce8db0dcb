//! A relationship as the table stores it, live or detached.

use serde::{Deserialize, Serialize};
use table::{Action, Changes, Condition, EntityKey, Error, Key, Stored, item};

use crate::audit::Audit;
use crate::item::Item;
use crate::keys::{DetachedKey, ItemRef, RelationshipKey};
use crate::names::Kind;
use crate::schema::PARKS;

/// The fault of two items that cannot be related.
pub const NOT_ALLOWED: &str = "cannot be related to the other item: an item is not related to itself, \
                               nor a product to its own activity, which its key names";

/// The two items of a relationship in their order: geozone, facility, activity, product; of one kind, the smaller key
/// first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    pub first: ItemRef,
    pub second: ItemRef,
}

impl Pair {
    /// The pair of two items in either order. None if they cannot be related.
    pub fn new(one: ItemRef, other: ItemRef) -> Option<Self> {
        let (first, second) = if one < other { (one, other) } else { (other, one) };
        (first != second && !second.is_child_of(&first)).then_some(Self { first, second })
    }

    pub fn key(&self) -> Key {
        RelationshipKey { end1: self.first.clone(), end2: self.second.clone() }.key()
    }

    /// The item that is not this one.
    pub fn other(&self, item: &ItemRef) -> &ItemRef {
        if self.first == *item { &self.second } else { &self.first }
    }

    fn of_key(key: &Key) -> Option<Self> {
        let ends = RelationshipKey::parse(key).map(|key| (key.end1, key.end2));
        let (one, other) = ends.or_else(|| DetachedKey::parse(key).map(|key| (key.deleted, key.other)))?;
        Self::new(one, other)
    }
}

/// A relationship. A detached relationship is in no response.
#[derive(Clone, Debug, PartialEq)]
pub struct Relationship {
    pub first: RelatedItem,
    pub second: RelatedItem,
    pub created_at: Option<String>,
    pub created_by: Option<String>,
}

/// One of the items of a relationship, with the attributes that the relationship stores of it.
#[derive(Clone, Debug, PartialEq)]
pub struct RelatedItem {
    pub item: ItemRef,
    /// Finds the item again if it was retyped while the relationship was detached.
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

impl RelatedItem {
    pub fn new(item: ItemRef, loaded: &Item) -> Self {
        Self { item, global_id: loaded.global_id.clone(), shown: loaded.visible() && !loaded.deleted() }
    }
}

impl Relationship {
    /// A new relationship of two items in either order.
    pub fn new(one: RelatedItem, other: RelatedItem, audit: Audit) -> Self {
        let (first, second) = if one.item < other.item { (one, other) } else { (other, one) };
        Self { first, second, created_at: Some(audit.at), created_by: audit.by }
    }

    /// Reads a live or detached relationship.
    pub fn read(stored: &Stored) -> Result<Self, Error> {
        let pair = Pair::of_key(&stored.key).ok_or_else(|| Error::Misfit("a key of no relationship".to_owned()))?;
        let Attributes { global_id1, is_visible1, global_id2, is_visible2, created_at, created_by, .. } =
            stored.read()?;
        let related =
            |item, global_id, shown: Option<bool>| RelatedItem { item, global_id, shown: shown.unwrap_or(false) };
        Ok(Self {
            first: related(pair.first, global_id1, is_visible1),
            second: related(pair.second, global_id2, is_visible2),
            created_at,
            created_by,
        })
    }

    pub fn pair(&self) -> Pair {
        Pair { first: self.first.item.clone(), second: self.second.item.clone() }
    }

    pub fn key(&self) -> Key {
        self.pair().key()
    }

    /// Whether visitors see it.
    pub fn public(&self) -> bool {
        self.first.shown && self.second.shown
    }

    /// The item that is not this one.
    pub fn other(&self, item: &ItemRef) -> &RelatedItem {
        if self.first.item == *item { &self.second } else { &self.first }
    }

    pub fn own(&self, item: &ItemRef) -> &RelatedItem {
        if self.first.item == *item { &self.first } else { &self.second }
    }

    /// The relationship in which `replacement` replaces this item: another item, or the same item under a new key.
    pub fn with(self, item: &ItemRef, replacement: RelatedItem) -> Self {
        let other = self.other(item).clone();
        let (first, second) = if replacement.item < other.item { (replacement, other) } else { (other, replacement) };
        Self { first, second, ..self }
    }

    /// Creates it.
    pub fn create(&self) -> Result<Action, Error> {
        let key = self.key();
        let (pk1, gsipk) = (key.pk.clone(), format!("rel::{}", self.second.item));
        let public = self.public();
        let attributes = Attributes {
            is_visible1: Some(self.first.shown),
            is_visible2: Some(self.second.shown),
            list_sk: key.sk.clone(),
            public_pk: public.then_some(pk1),
            public_gsipk: public.then(|| gsipk.clone()),
            gsipk: Some(gsipk),
            gsisk: Some(self.first.item.to_string()),
            ..self.attributes()
        };
        Action::create(&PARKS, key, &attributes)
    }

    /// Deletes it. Fails if one of the items has been shown or hidden since it was read.
    pub fn delete_unchanged(&self) -> Action {
        let as_read = |shown: bool| if shown { Condition::Equals } else { Condition::Differs };
        Action::delete(&PARKS, self.key())
            .when(as_read(self.first.shown)("isVisible1", item::flag(true)))
            .when(as_read(self.second.shown)("isVisible2", item::flag(true)))
    }

    /// Creates its detached form in the partition of the deleted item, where a restoration finds it.
    pub fn detach(&self, deleted: &ItemRef) -> Result<Action, Error> {
        Action::create(&PARKS, self.detached_key(deleted), &self.attributes())
    }

    pub fn detached_key(&self, deleted: &ItemRef) -> Key {
        DetachedKey { deleted: deleted.clone(), other: self.other(deleted).item.clone() }.key()
    }

    /// Records that this item is shown, or is not.
    ///
    /// The visibility of the other item, as it was read, is a condition: the keys by which visitors see the
    /// relationship depend on both.
    pub fn show(&self, item: &ItemRef, shown: bool) -> Action {
        let first = ("isVisible1", "isVisible2");
        let (own, other) = if self.first.item == *item { first } else { (first.1, first.0) };
        let changes = Changes::new().set(own, item::flag(shown));
        if !shown {
            return Action::update(&PARKS, self.key(), changes.remove("publicPk").remove("publicGsipk"));
        }
        let changes = if self.other(item).shown {
            let of = format!("rel::{}", self.second.item);
            changes.set("publicPk", item::text(self.key().pk)).set("publicGsipk", item::text(of))
        } else {
            changes
        };
        let as_read = if self.other(item).shown { Condition::Equals } else { Condition::Differs };
        Action::update(&PARKS, self.key(), changes).when(as_read(other, item::flag(true)))
    }

    fn attributes(&self) -> Attributes {
        let (first, second) = (&self.first, &self.second);
        Attributes {
            pk1: first.item.pk().to_owned(),
            sk1: first.item.sk().to_owned(),
            entity1: Some(first.item.kind()),
            global_id1: first.global_id.clone(),
            pk2: second.item.pk().to_owned(),
            sk2: second.item.sk().to_owned(),
            entity2: Some(second.item.kind()),
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

    fn item_ref(pk: &str, sk: &str) -> ItemRef {
        ItemRef::of(pk, sk).unwrap()
    }

    #[test]
    fn items_in_either_order_are_the_same_pair() {
        let (zone, camp) = (item_ref("geozone::b", "1"), item_ref("facility::a", "campground::1"));
        let pair = Pair::new(camp.clone(), zone.clone()).unwrap();
        assert_eq!(Some(&pair), Pair::new(zone.clone(), camp.clone()).as_ref());
        assert_eq!(pair.key(), Key::new("rel::geozone::b::1", "facility::a::campground::1"));
        assert_eq!(Pair::of_key(&pair.key()), Some(pair.clone()));
        assert_eq!((pair.other(&zone), pair.other(&camp)), (&camp, &zone));
    }

    #[test]
    fn item_with_itself_and_product_with_its_activity_are_no_pair() {
        let (activity, product) = (item_ref("activity::a", "dayuse::1"), item_ref("product::a::dayuse::1", "2"));
        assert_eq!(Pair::new(activity.clone(), activity.clone()), None);
        assert_eq!(Pair::new(product.clone(), activity.clone()), None);
        assert!(Pair::new(product, item_ref("activity::a", "dayuse::10")).is_some());
        assert!(Pair::new(item_ref("product::a::dayuse::10", "2"), activity).is_some());
    }

    #[test]
    fn key_in_the_wrong_order_is_not_the_key_of_its_pair() {
        let reversed = Key::new("rel::facility::a::campground::1", "geozone::b::1");
        assert_ne!(Pair::of_key(&reversed).map(|pair| pair.key()), Some(reversed));
    }

    #[test]
    fn new_key_of_an_item_may_change_the_order_of_the_pair() {
        let related = |item: ItemRef| RelatedItem { item, global_id: None, shown: true };
        let (tenth, second) = (item_ref("facility::a", "trail::10"), item_ref("facility::a", "parking::2"));
        let relationship =
            Relationship::new(related(tenth.clone()), related(second), Audit { at: String::new(), by: None });
        assert_eq!(relationship.first.item.sk(), "parking::2");
        let moved = relationship.with(&tenth, related(item_ref("facility::a", "campground::10")));
        assert_eq!(moved.first.item.sk(), "campground::10");
        assert_eq!(moved.second.item.sk(), "parking::2");
    }
}
