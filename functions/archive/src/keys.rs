//! The keys of every entity.

use jobs::JobId;

use crate::names::{
    CategoryId, CollectionId, FoldedName, Household, PlaceId, PlacePrefix, PlaceWord, PostId, RecordId, ReportId,
    ReportSource, RunNumber, UserHash, UserId,
};

table::key! {
    pub struct CategoryKey { category: CategoryId }
    pk "{category}"
    sk "category"
}

table::key! {
    pub struct CollectionKey { collection: CollectionId }
    pk "{collection}"
    sk "collection"
}

table::key! {
    /// Lists a collection in one of its categories.
    pub struct CollectionCategoryKey { collection: CollectionId, category: CategoryId }
    pk "{collection}"
    sk "collection_category#{category}"
}

table::key! {
    pub struct PostKey { post: PostId }
    pk "{post}"
    sk "post"
}

table::key! {
    /// A record, as one run of its post wrote it.
    pub struct RecordKey { record: RecordId, post: PostId }
    pk "{record}"
    sk "record_post#{post}"
}

table::key! {
    /// The members of a household, for each run of its post.
    pub struct RecordHouseholdKey { post: PostId, household: Household }
    pk "{post}"
    sk "record_household#{household}"
}

table::key! {
    pub struct PlaceKey { place: PlaceId, prefix: PlacePrefix }
    pk "{place}"
    sk "place#{prefix}"
}

table::key! {
    /// The places with a name.
    pub struct PlaceWordKey { word: PlaceWord }
    pk "placeWord#{word}"
    sk "placeWord"
}

table::key! {
    pub struct PlaceSettingsKey {}
    pk "placeSettings"
    sk "placeSettings"
}

table::key! {
    pub struct SettingsKey {}
    pk "settings"
    sk "settings"
}

table::key! {
    /// Allocates ids.
    pub struct SequenceKey {}
    pk "sequence"
    sk "sequence"
}

table::key! {
    pub struct UserKey { user: UserId }
    pk "{user}"
    sk "user"
}

table::key! {
    /// Makes the name of a category unique.
    pub struct CategoryNameKey { name: FoldedName }
    pk "categoryName#{name}"
    sk "categoryName"
}

table::key! {
    /// Counts the categories, and the collections in each.
    pub struct CategoryUseKey {}
    pk "categoryUse"
    sk "categoryUse"
}

table::key! {
    /// Counts the posts and the published records of a collection.
    pub struct CollectionUseKey { collection: CollectionId }
    pk "collectionUse#{collection}"
    sk "collectionUse"
}

table::key! {
    /// Makes the user of an issuer and subject unique.
    pub struct UserHashKey { hash: UserHash }
    pk "userKey#{hash}"
    sk "userKey"
}

table::key! {
    /// The progress of one run of a post.
    pub struct PostRunKey { post: PostId, run: RunNumber }
    pk "{post}"
    sk "post_run#{run}"
}

table::key! {
    /// The ids of a record in each run. Its own id is the permanent one.
    pub struct RecordAddressKey { record: RecordId }
    pk "{record}"
    sk "record_address"
}

table::key! {
    /// An error in a record that a reader reported.
    pub struct ReportKey { report: ReportId }
    pk "{report}"
    sk "report"
}

table::key! {
    /// Counts the reports of a source in one hour.
    pub struct ReportCountKey { source: ReportSource }
    pk "reportCount#{source}"
    sk "reportCount"
}

table::key! {
    /// The runs that search must not show.
    pub struct HiddenRunsKey {}
    pk "hiddenRuns"
    sk "hiddenRuns"
}

table::key! {
    pub struct JobKey { job: JobId }
    pk "job#{job}"
    sk "job"
}

table::key! {
    /// Lists a job by the time at which it is due.
    pub struct JobDueKey { job: JobId }
    pk "job#{job}"
    sk "jobDue"
}

/// The prefix of the sort keys of records and of their addresses.
pub const RECORD_PREFIX: &str = "record_";

/// The prefix of the sort keys of households.
pub const HOUSEHOLD_PREFIX: &str = "record_household#";

/// The prefix of the sort keys of runs.
pub const RUN_PREFIX: &str = "post_run#";

/// The prefix of the sort keys of places.
pub const PLACE_PREFIX: &str = "place#";

/// The partition of the index that lists the collections of a category.
pub fn collections_of(category: CategoryId) -> String {
    format!("collection_category#{category}")
}

/// The partition of the index that lists the records of a post.
pub fn records_of(post: PostId) -> String {
    format!("record_post#{post}")
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use table::EntityKey;

    use super::*;
    use crate::schema::ARCHIVE;

    fn check<K: EntityKey + PartialEq + Debug>(entity: &str, key: K) {
        let owners: Vec<_> = ARCHIVE.entities.iter().filter(|owner| owner.owns(&key.key())).collect();
        assert_eq!(owners.iter().map(|owner| owner.name).collect::<Vec<_>>(), [entity], "{key:?}");
        assert_eq!(K::parse(&key.key()), Some(key));
    }

    #[test]
    fn every_key_belongs_to_its_entity_and_comes_back() {
        let (category, collection) = ("1000000001".parse().unwrap(), "1000000002".parse().unwrap());
        let (post, record, place) =
            ("1000000003".parse().unwrap(), "1000000004".parse().unwrap(), "9002968815".parse().unwrap());
        let user = "1000000005".parse().unwrap();
        check("category", CategoryKey { category });
        check("collection", CollectionKey { collection });
        check("collectionCategory", CollectionCategoryKey { collection, category });
        check("post", PostKey { post });
        check("record", RecordKey { record, post });
        check("recordHousehold", RecordHouseholdKey { post, household: Household::new("12 / 3#b").unwrap() });
        check("place", PlaceKey { place, prefix: PlacePrefix::of("paris, france").unwrap() });
        check("placeWord", PlaceWordKey { word: PlaceWord::of("Saint-Étienne").unwrap() });
        check("placeSettings", PlaceSettingsKey {});
        check("settings", SettingsKey {});
        check("sequence", SequenceKey {});
        check("user", UserKey { user });
        check("categoryName", CategoryNameKey { name: FoldedName::of("Births & Deaths").unwrap() });
        check("categoryUse", CategoryUseKey {});
        check("collectionUse", CollectionUseKey { collection });
        check("userKey", UserHashKey { hash: UserHash::of("iss=a&sub=b") });
        check("postRun", PostRunKey { post, run: RunNumber(12) });
        check("recordAddress", RecordAddressKey { record });
        check("report", ReportKey { report: "1000000006".parse().unwrap() });
        check("reportCount", ReportCountKey { source: ReportSource::of(&["2026-11-25T17", "203.0.113.1", ""]) });
        check("hiddenRuns", HiddenRunsKey {});
        check("job", JobKey { job: JobId::new() });
        check("jobDue", JobDueKey { job: JobId::new() });
    }

    #[test]
    fn partitions_of_the_index_are_the_sort_keys_of_their_items() {
        let (collection, category) = ("1000000002".parse().unwrap(), "1000000001".parse().unwrap());
        let (record, post) = ("1000000004".parse().unwrap(), "1000000003".parse().unwrap());
        let row = CollectionCategoryKey { collection, category }.key();
        assert_eq!(row.sk, Some(collections_of(category)));
        assert_eq!(RecordKey { record, post }.key().sk, Some(records_of(post)));
    }
}
