//! The access patterns of parks.

use table::access::{AccessPattern, Call, OnObjects, OnTable};

use crate::schema::{ALIAS, BUCKET};

const TABLE: OnTable = OnTable("parks");
const SHAPES: OnObjects = OnObjects { bucket: BUCKET, prefix: "geometries/" };
const UPLOADS: OnObjects = OnObjects { bucket: BUCKET, prefix: "uploads/" };
pub const IMPORTS: OnObjects = OnObjects { bucket: BUCKET, prefix: "imports/" };
const FAULTS: OnObjects = OnObjects { bucket: BUCKET, prefix: "faults/" };

/// An item by its key.
pub const ITEM: AccessPattern = AccessPattern::new("item", &[TABLE.get()]);

/// An item by its global id. The index has only keys, so a lagging index cannot reveal a hidden item.
pub const BY_GLOBAL_ID: AccessPattern = AccessPattern::new("byGlobalId", &[TABLE.query_index("globalId"), TABLE.get()]);

/// Items by their global ids.
pub const BY_GLOBAL_IDS: AccessPattern =
    AccessPattern::new("byGlobalIds", &[TABLE.query_index("globalId"), TABLE.batch_get()]);

/// A page of the live or deleted items of a partition, for administrators.
pub const LIST: AccessPattern = AccessPattern::new("list", &[TABLE.query_index("list")]);

/// A page of the visible items of a partition, for visitors.
pub const PUBLIC_LIST: AccessPattern = AccessPattern::new("publicList", &[TABLE.query_index("publicList")]);

/// The next number of a partition.
pub const NEXT_NUMBER: AccessPattern = AccessPattern::new("nextNumber", &[TABLE.update()]);

/// A collection with the sequences of its three partitions.
pub const CREATE_COLLECTION: AccessPattern = AccessPattern::new("createCollection", &[TABLE.put(), TABLE.get()]);

/// A new item under a live parent, counted, with the guard of its external id and the sequences of its children.
pub const CREATE_ITEM: AccessPattern =
    AccessPattern::new("createItem", &[TABLE.check(), TABLE.put(), TABLE.update(), TABLE.get()]);

/// An update of an unchanged item. A new external id moves its guard in the same transaction.
pub const UPDATE_ITEM: AccessPattern =
    AccessPattern::new("updateItem", &[TABLE.update(), TABLE.put(), TABLE.delete(), TABLE.check()]);

/// An update of a collection, which has neither relationships nor an external id.
pub const UPDATE_COLLECTION: AccessPattern = AccessPattern::new("updateCollection", &[TABLE.update()]);

/// An update of a product, which has relationships but no external id.
pub const UPDATE_PRODUCT: AccessPattern =
    AccessPattern::new("updateProduct", &[TABLE.update(), TABLE.put(), TABLE.check()]);

/// The deletion or restoration of an item with its partition's count. Its relationships are detached or attached again.
pub const DELETE_OR_RESTORE: AccessPattern =
    AccessPattern::new("deleteOrRestore", &[TABLE.update(), TABLE.check(), TABLE.put(), TABLE.delete()]);

/// A date of a product.
pub const DATE: AccessPattern = AccessPattern::new("date", &[TABLE.get()]);

/// The dates of a product in a range of days.
pub const DATES: AccessPattern = AccessPattern::new("dates", &[TABLE.query()]);

/// Up to 99 new dates with the open days of their product.
pub const CREATE_DATES: AccessPattern = AccessPattern::new("createDates", &[TABLE.put(), TABLE.update()]);

/// Updates of up to 99 dates with the open days of their product.
pub const UPDATE_DATES: AccessPattern = AccessPattern::new("updateDates", &[TABLE.update(), TABLE.check()]);

/// Deletions of up to 99 dates with the open days of their product.
pub const DELETE_DATES: AccessPattern =
    AccessPattern::new("deleteDates", &[TABLE.delete(), TABLE.update(), TABLE.check()]);

/// An update of a date. If it opens or closes the day, also the open days of its product.
pub const UPDATE_DATE: AccessPattern = AccessPattern::new("updateDate", &[TABLE.update()]);

/// The deletion of a date. If the day was open, also the open days of its product.
pub const DELETE_DATE: AccessPattern = AccessPattern::new("deleteDate", &[TABLE.delete(), TABLE.update()]);

/// An item under a new key, with everything that has the old key: its relationships, their counter, its external id and
/// the unused sequences of its children.
pub const RETYPE: AccessPattern =
    AccessPattern::new("retype", &[TABLE.delete(), TABLE.put(), TABLE.update(), TABLE.check()]);

/// All relationships of an item with the counter that proves that they are all. The index has only keys.
pub const ALL_RELATIONSHIPS: AccessPattern = AccessPattern::new(
    "allRelationships",
    &[TABLE.get(), TABLE.query(), TABLE.query_index("reverse"), TABLE.batch_get()],
);

/// The relationships that were detached when an item was deleted.
pub const DETACHED: AccessPattern = AccessPattern::new("detached", &[TABLE.get(), TABLE.query()]);

/// The other item of a detached relationship by its key. If it was retyped since, by the keys of the other types.
pub const OTHER_ITEM: AccessPattern = AccessPattern::new("otherItem", &[TABLE.get(), TABLE.batch_get()]);

/// The live children of an item. The index has only summaries.
pub const CHILDREN: AccessPattern =
    AccessPattern::new("children", &[TABLE.get(), TABLE.query_index("list"), TABLE.batch_get()]);

/// The items that a deletion cascaded to. The index has only keys.
pub const CASCADED: AccessPattern = AccessPattern::new("cascaded", &[TABLE.query_index("reverse"), TABLE.batch_get()]);

/// A page of relationships forward.
pub const RELATIONSHIPS: AccessPattern =
    AccessPattern::new("relationships", &[TABLE.query(), TABLE.query_index("publicList")]);

/// A page of relationships in reverse.
pub const REVERSE: AccessPattern =
    AccessPattern::new("reverse", &[TABLE.query_index("reverse"), TABLE.query_index("publicReverse")]);

/// The items at the other ends of a page of relationships.
pub const RELATED_ITEMS: AccessPattern = AccessPattern::new("relatedItems", &[TABLE.batch_get()]);

/// A new relationship of two live items.
pub const CREATE_RELATIONSHIP: AccessPattern =
    AccessPattern::new("createRelationship", &[TABLE.get(), TABLE.check(), TABLE.put(), TABLE.update()]);

/// The deletion of a relationship.
pub const DELETE_RELATIONSHIP: AccessPattern =
    AccessPattern::new("deleteRelationship", &[TABLE.get(), TABLE.delete(), TABLE.update()]);

/// A shape of an item attached or detached, with the counts of the uses of shapes in S3.
pub const ATTACH: AccessPattern = AccessPattern::new("attach", &[TABLE.get(), TABLE.update()]);

/// A shape in S3 with its coarse form, and the item that counts its uses.
pub const STORE_SHAPE: AccessPattern = AccessPattern::new(
    "storeShape",
    &[SHAPES.put(), SHAPES.get(), SHAPES.list(), TABLE.put(), TABLE.get(), TABLE.update()],
);

/// A shape from S3, or a signed link to it.
pub const READ_SHAPE: AccessPattern = AccessPattern::new("readShape", &[SHAPES.get()]);

/// The items of a page of hits, whose shapes are shown.
pub const SHOWN_ITEMS: AccessPattern = AccessPattern::new("shownItems", &[TABLE.batch_get()]);

/// A new upload with the signed link for its file.
pub const UPLOAD: AccessPattern = AccessPattern::new("upload", &[UPLOADS.put(), TABLE.put(), TABLE.get()]);

/// The check of an uploaded file and its result.
pub const CHECK_UPLOAD: AccessPattern =
    AccessPattern::new("checkUpload", &[TABLE.get(), TABLE.update(), UPLOADS.get(), UPLOADS.list()]);

/// A page of jobs. The index has none of their attributes, so each is read by its key.
pub const JOBS: AccessPattern = AccessPattern::new("jobs", &[TABLE.query_index("list"), TABLE.batch_get()]);

/// The due rows of jobs by time.
pub const DUE_JOBS: AccessPattern = AccessPattern::new("dueJobs", &[TABLE.query_index("list")]);

/// A job with its due row, which a worker moves.
pub const LEASE: AccessPattern = AccessPattern::new("lease", &[TABLE.get(), TABLE.update()]);

/// The end of a queued job, or the request to end a running one.
pub const CANCEL_JOB: AccessPattern = AccessPattern::new("cancelJob", &[TABLE.get(), TABLE.update(), TABLE.delete()]);

/// A new import into an existing collection, with the signed link for its file.
pub const IMPORT: AccessPattern = AccessPattern::new("import", &[IMPORTS.put(), TABLE.get(), TABLE.put()]);

/// An import's file, read in blocks. The right to list tells a missing file from a forbidden one.
pub const READ_IMPORT: AccessPattern =
    AccessPattern::new("readImport", &[IMPORTS.get(), IMPORTS.head(), IMPORTS.list()]);

/// Up to 30 rows of a file: created and updated items, the guards of their external ids, the counts of items and of uses
/// of shapes, the relationships of items that are hidden or shown, and the job's checkpoint with its due row.
pub const IMPORT_ROWS: AccessPattern = AccessPattern::new(
    "importRows",
    &[TABLE.get(), TABLE.batch_get(), TABLE.check(), TABLE.put(), TABLE.update(), TABLE.delete()],
);

/// The guards of the external ids of a layer, in order.
pub const EXTERNAL_IDS: AccessPattern = AccessPattern::new("externalIds", &[TABLE.query()]);

/// The faults of a job, stored batch by batch and gathered at its end.
pub const KEEP_FAULTS: AccessPattern = AccessPattern::new("keepFaults", &[FAULTS.put(), FAULTS.get()]);

/// A signed link to the faults of a job.
pub const READ_FAULTS: AccessPattern = AccessPattern::new("readFaults", &[FAULTS.get()]);

/// The removal of shapes that have no uses, or whose removal has started.
pub const SWEEP: AccessPattern = AccessPattern::new(
    "sweep",
    &[TABLE.query_index("list"), TABLE.get(), TABLE.update(), TABLE.delete(), SHAPES.delete()],
);

/// A search; two if activities are joined to their open products.
pub const SEARCH: AccessPattern = AccessPattern::new("search", &[Call::Search { alias: ALIAS }]);

/// Whether search answers, and how far it is behind.
pub const HEALTH: AccessPattern =
    AccessPattern::new("health", &[OnTable("parks-mirror").query(), Call::Search { alias: "parks" }]);
