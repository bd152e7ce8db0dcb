//! The access patterns of parks, with the numbers by which other places speak of them.

use table::access::{AccessPattern, Call, ObjectAction, TableAction};

const TABLE: &str = "parks";
const BUCKET: &str = "parks";

const fn on_table(action: TableAction) -> Call {
    Call::Table { table: TABLE, action }
}

const fn on_index(index: &'static str) -> Call {
    Call::Index { table: TABLE, index }
}

const fn on_objects(prefix: &'static str, action: ObjectAction) -> Call {
    Call::Objects { bucket: BUCKET, prefix, action }
}

/// 1: an item by its key.
pub const ITEM: AccessPattern = AccessPattern { name: "item", calls: &[on_table(TableAction::GetItem)] };

/// 2: an item by its global id. The index has keys only, so that a lagging index shows nobody a hidden item.
pub const BY_GLOBAL_ID: AccessPattern =
    AccessPattern { name: "byGlobalId", calls: &[on_index("globalId"), on_table(TableAction::GetItem)] };

/// 3: a page of a partition for administrators, live or deleted.
pub const LIST: AccessPattern = AccessPattern { name: "list", calls: &[on_index("list")] };

/// 3: a page of a partition for visitors.
pub const PUBLIC_LIST: AccessPattern = AccessPattern { name: "publicList", calls: &[on_index("publicList")] };

/// 4: the next number of a partition.
pub const NEXT_NUMBER: AccessPattern =
    AccessPattern { name: "nextNumber", calls: &[on_table(TableAction::UpdateItem)] };

/// 5: a collection with the sequences of its three partitions.
pub const CREATE_COLLECTION: AccessPattern = AccessPattern {
    name: "createCollection",
    calls: &[on_table(TableAction::PutItem), on_table(TableAction::GetItem)],
};

/// 6: an item under a live parent, counted and, with an external id, guarded; an activity with its products' sequence.
pub const CREATE_ITEM: AccessPattern = AccessPattern {
    name: "createItem",
    calls: &[
        on_table(TableAction::ConditionCheckItem),
        on_table(TableAction::PutItem),
        on_table(TableAction::UpdateItem),
        on_table(TableAction::GetItem),
    ],
};

/// 7: a change of an item as it was read; a changed external id moves its guard in the same transaction.
pub const CHANGE_ITEM: AccessPattern = AccessPattern {
    name: "changeItem",
    calls: &[
        on_table(TableAction::UpdateItem),
        on_table(TableAction::PutItem),
        on_table(TableAction::DeleteItem),
        on_table(TableAction::ConditionCheckItem),
    ],
};

/// 7: a change of a collection, which has neither relationships nor an external id.
pub const CHANGE_COLLECTION: AccessPattern =
    AccessPattern { name: "changeCollection", calls: &[on_table(TableAction::UpdateItem)] };

/// 7: a change of a product, which has relationships and no external id.
pub const CHANGE_PRODUCT: AccessPattern = AccessPattern {
    name: "changeProduct",
    calls: &[
        on_table(TableAction::UpdateItem),
        on_table(TableAction::PutItem),
        on_table(TableAction::ConditionCheckItem),
    ],
};

/// 8: delete or restore of an item with its partition's count and its relationships, to detached and from there.
pub const DELETE_OR_RESTORE: AccessPattern = AccessPattern {
    name: "deleteOrRestore",
    calls: &[
        on_table(TableAction::UpdateItem),
        on_table(TableAction::ConditionCheckItem),
        on_table(TableAction::PutItem),
        on_table(TableAction::DeleteItem),
    ],
};

/// 9: one date of a product.
pub const DATE: AccessPattern = AccessPattern { name: "date", calls: &[on_table(TableAction::GetItem)] };

/// 9: the dates of a product in a range.
pub const DATES: AccessPattern = AccessPattern { name: "dates", calls: &[on_table(TableAction::Query)] };

/// 10: up to 99 dates made, with the open days of their product.
pub const SEED_DATES: AccessPattern =
    AccessPattern { name: "seedDates", calls: &[on_table(TableAction::PutItem), on_table(TableAction::UpdateItem)] };

/// 10: up to 99 dates changed, with the open days of their product.
pub const CHANGE_DATES: AccessPattern = AccessPattern {
    name: "changeDates",
    calls: &[on_table(TableAction::UpdateItem), on_table(TableAction::ConditionCheckItem)],
};

/// 10: up to 99 dates deleted, with the open days of their product.
pub const DELETE_DATES: AccessPattern = AccessPattern {
    name: "deleteDates",
    calls: &[
        on_table(TableAction::DeleteItem),
        on_table(TableAction::UpdateItem),
        on_table(TableAction::ConditionCheckItem),
    ],
};

/// 11: one date changed; where that opens or closes a day, with the open days of its product.
pub const CHANGE_DATE: AccessPattern =
    AccessPattern { name: "changeDate", calls: &[on_table(TableAction::UpdateItem)] };

/// 11: one date deleted; where that closes a day, with the open days of its product.
pub const DELETE_DATE: AccessPattern = AccessPattern {
    name: "deleteDate",
    calls: &[on_table(TableAction::DeleteItem), on_table(TableAction::UpdateItem)],
};

/// An item under another key, with what bears the old one: its relationships, their counter, its external id, and the
/// unused sequences of what might have lain in it.
pub const RETYPE: AccessPattern = AccessPattern {
    name: "retype",
    calls: &[
        on_table(TableAction::DeleteItem),
        on_table(TableAction::PutItem),
        on_table(TableAction::UpdateItem),
        on_table(TableAction::ConditionCheckItem),
    ],
};

/// 8: all relationships of an item, with the counter that proves it. The index has keys only.
pub const ALL_RELATIONSHIPS: AccessPattern = AccessPattern {
    name: "allRelationships",
    calls: &[
        on_table(TableAction::GetItem),
        on_table(TableAction::Query),
        on_index("reverse"),
        on_table(TableAction::BatchGetItem),
    ],
};

/// 8: the relationships that were kept when an item was deleted.
pub const DETACHED: AccessPattern =
    AccessPattern { name: "detached", calls: &[on_table(TableAction::GetItem), on_table(TableAction::Query)] };

/// 8: the items below another. The index has summaries only.
pub const BELOW: AccessPattern = AccessPattern {
    name: "below",
    calls: &[on_table(TableAction::GetItem), on_index("list"), on_table(TableAction::BatchGetItem)],
};

/// 8: the items that a deletion took along. The index has keys only.
pub const TAKEN: AccessPattern =
    AccessPattern { name: "taken", calls: &[on_index("reverse"), on_table(TableAction::BatchGetItem)] };

/// 12: a page of relationships forward.
pub const RELATIONSHIPS: AccessPattern =
    AccessPattern { name: "relationships", calls: &[on_table(TableAction::Query), on_index("publicList")] };

/// 13: a page of relationships in reverse.
pub const REVERSE: AccessPattern =
    AccessPattern { name: "reverse", calls: &[on_index("reverse"), on_index("publicReverse")] };

/// 14: the items at the other ends of such a page.
pub const OTHER_ENDS: AccessPattern =
    AccessPattern { name: "otherEnds", calls: &[on_table(TableAction::BatchGetItem)] };

/// 15: a relationship made between two live items.
pub const RELATE: AccessPattern = AccessPattern {
    name: "relate",
    calls: &[
        on_table(TableAction::GetItem),
        on_table(TableAction::ConditionCheckItem),
        on_table(TableAction::PutItem),
        on_table(TableAction::UpdateItem),
    ],
};

/// 15: a relationship ended.
pub const UNRELATE: AccessPattern =
    AccessPattern { name: "unrelate", calls: &[on_table(TableAction::DeleteItem), on_table(TableAction::UpdateItem)] };

/// 16: a shape in S3 attached or detached, with the counts of its uses.
pub const ATTACH: AccessPattern =
    AccessPattern { name: "attach", calls: &[on_table(TableAction::GetItem), on_table(TableAction::UpdateItem)] };

/// A shape into S3: the object, its coarse form, and the item that counts its uses.
pub const STORE_SHAPE: AccessPattern = AccessPattern {
    name: "storeShape",
    calls: &[
        on_objects("geometries/", ObjectAction::PutObject),
        on_objects("geometries/", ObjectAction::GetObject),
        on_objects("geometries/", ObjectAction::ListBucket),
        on_table(TableAction::PutItem),
        on_table(TableAction::GetItem),
        on_table(TableAction::UpdateItem),
    ],
};

/// A shape out of S3, or a link to it.
pub const READ_SHAPE: AccessPattern =
    AccessPattern { name: "readShape", calls: &[on_objects("geometries/", ObjectAction::GetObject)] };

/// An upload announced, with the link that takes its file.
pub const UPLOAD: AccessPattern = AccessPattern {
    name: "upload",
    calls: &[
        on_objects("uploads/", ObjectAction::PutObject),
        on_table(TableAction::PutItem),
        on_table(TableAction::GetItem),
    ],
};

/// A file that has arrived, checked and settled.
pub const CHECK_UPLOAD: AccessPattern = AccessPattern {
    name: "checkUpload",
    calls: &[
        on_table(TableAction::GetItem),
        on_table(TableAction::UpdateItem),
        on_objects("uploads/", ObjectAction::GetObject),
        on_objects("uploads/", ObjectAction::ListBucket),
    ],
};

/// 17: the jobs that are open, each then read by its key.
pub const OPEN_JOBS: AccessPattern =
    AccessPattern { name: "openJobs", calls: &[on_index("list"), on_table(TableAction::BatchGetItem)] };

/// A job made, and its lease and checkpoint moved on, together with what each of its batches writes.
pub const WORK: AccessPattern = AccessPattern {
    name: "work",
    calls: &[on_table(TableAction::GetItem), on_table(TableAction::PutItem), on_table(TableAction::UpdateItem)],
};

/// A file to import announced, with the link that takes it, for a collection that is there.
pub const IMPORT: AccessPattern = AccessPattern {
    name: "import",
    calls: &[
        on_objects("imports/", ObjectAction::PutObject),
        on_table(TableAction::GetItem),
        on_table(TableAction::PutItem),
    ],
};

/// A file to import, read block by block.
pub const READ_IMPORT: AccessPattern = AccessPattern {
    name: "readImport",
    calls: &[on_objects("imports/", ObjectAction::GetObject), on_objects("imports/", ObjectAction::ListBucket)],
};

/// Up to 30 rows of a file: items made and changed, with the guards of their external ids, the counts of them and of
/// their shapes' uses, the relationships of those that are hidden or shown, and the job's checkpoint.
pub const IMPORT_ROWS: AccessPattern = AccessPattern {
    name: "importRows",
    calls: &[
        on_table(TableAction::GetItem),
        on_table(TableAction::BatchGetItem),
        on_table(TableAction::ConditionCheckItem),
        on_table(TableAction::PutItem),
        on_table(TableAction::UpdateItem),
    ],
};

/// The faults of a job, kept batch by batch and put together in the end.
pub const KEEP_FAULTS: AccessPattern = AccessPattern {
    name: "keepFaults",
    calls: &[on_objects("faults/", ObjectAction::PutObject), on_objects("faults/", ObjectAction::GetObject)],
};

/// A link to the faults of a job.
pub const READ_FAULTS: AccessPattern =
    AccessPattern { name: "readFaults", calls: &[on_objects("faults/", ObjectAction::GetObject)] };

/// 17: shapes without uses, or whose removal has begun, and their removal.
pub const SWEEP: AccessPattern = AccessPattern {
    name: "sweep",
    calls: &[
        on_index("list"),
        on_table(TableAction::GetItem),
        on_table(TableAction::UpdateItem),
        on_table(TableAction::DeleteItem),
        on_objects("geometries/", ObjectAction::DeleteObject),
    ],
};
