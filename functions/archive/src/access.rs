//! The access patterns of the archive.

use table::access::{AccessPattern, Call, OnObjects, OnQueue, OnTable};

use crate::schema::{BUCKET, INDEX, QUEUE};

const TABLE: OnTable = OnTable("archive");

/// The alias of the system's documents.
pub const ALIAS: &str = "archive";

/// The user who calls, by issuer and subject.
pub const CALLER: AccessPattern = AccessPattern::new("caller", &[TABLE.get()]);

/// A new user, unique by issuer and subject.
pub const CREATE_USER: AccessPattern = AccessPattern::new("createUser", &[TABLE.put()]);

/// The next numbers of the sequence, which the first request creates.
pub const NEXT_IDS: AccessPattern = AccessPattern::new("nextIds", &[TABLE.update(), TABLE.put()]);

/// A category, a collection, a post or a user.
pub const ONE: AccessPattern = AccessPattern::new("one", &[TABLE.get()]);

/// All categories, collections, posts or users in order, or the posts of a collection.
pub const LISTED: AccessPattern = AccessPattern::new("listed", &[TABLE.query_index(INDEX)]);

/// The collections of a category by id.
pub const COLLECTIONS_OF_CATEGORY: AccessPattern =
    AccessPattern::new("collectionsOfCategory", &[TABLE.query_index(INDEX), TABLE.batch_get()]);

/// The number of collections in each category.
pub const CATEGORY_USE: AccessPattern = AccessPattern::new("categoryUse", &[TABLE.get()]);

/// The categories of a collection with its counts.
pub const COLLECTION_DETAIL: AccessPattern = AccessPattern::new("collectionDetail", &[TABLE.batch_get()]);

/// A new category with its unique name, counted.
pub const CREATE_CATEGORY: AccessPattern =
    AccessPattern::new("createCategory", &[TABLE.put(), TABLE.update(), TABLE.get()]);

/// A category's name or description. A new name takes the place of the old one.
pub const UPDATE_CATEGORY: AccessPattern =
    AccessPattern::new("updateCategory", &[TABLE.update(), TABLE.put(), TABLE.delete()]);

/// The deletion of a category without collections, with its name.
pub const DELETE_CATEGORY: AccessPattern = AccessPattern::new("deleteCategory", &[TABLE.delete(), TABLE.update()]);

/// A new collection with its rows in categories and its counts. Its place must be there.
pub const CREATE_COLLECTION: AccessPattern =
    AccessPattern::new("createCollection", &[TABLE.put(), TABLE.update(), TABLE.get(), TABLE.query(), TABLE.check()]);

/// A collection, and its rows where its categories change. A new place must be there.
pub const UPDATE_COLLECTION: AccessPattern = AccessPattern::new(
    "updateCollection",
    &[TABLE.update(), TABLE.put(), TABLE.delete(), TABLE.query(), TABLE.check()],
);

/// The deletion of a collection without posts, with its rows and counts.
pub const DELETE_COLLECTION: AccessPattern = AccessPattern::new("deleteCollection", &[TABLE.delete(), TABLE.update()]);

/// A new post, counted by its collection.
pub const CREATE_POST: AccessPattern = AccessPattern::new("createPost", &[TABLE.put(), TABLE.update(), TABLE.get()]);

/// A post. A move to another collection changes the counts of both.
pub const UPDATE_POST: AccessPattern = AccessPattern::new("updatePost", &[TABLE.update()]);

/// The settings.
pub const SETTINGS: AccessPattern = AccessPattern::new("settings", &[TABLE.get()]);

/// The settings of places.
pub const PLACE_SETTINGS: AccessPattern = AccessPattern::new("placeSettings", &[TABLE.get()]);

/// A new state of the settings or of the settings of places.
pub const PUT_SETTINGS: AccessPattern = AccessPattern::new("putSettings", &[TABLE.put(), TABLE.update()]);

/// A user's own fields, or role and access.
pub const UPDATE_USER: AccessPattern = AccessPattern::new("updateUser", &[TABLE.update()]);

/// The deletion of a user, who is new at the next sight.
pub const DELETE_USER: AccessPattern = AccessPattern::new("deleteUser", &[TABLE.delete()]);

/// A search.
pub const SEARCH: AccessPattern = AccessPattern::new("search", &[Call::Search { alias: ALIAS }]);

/// The present items of a search's hits.
pub const SEARCH_HITS: AccessPattern = AccessPattern::new("searchHits", &[TABLE.batch_get()]);

/// The present records of a search's hits, with their posts, collections and households.
pub const RECORD_HITS: AccessPattern = AccessPattern::new("recordHits", &[TABLE.batch_get()]);

pub const INCOMING: OnObjects = OnObjects { bucket: BUCKET, prefix: "incoming/" };
pub const FILES: OnObjects = OnObjects { bucket: BUCKET, prefix: "files/" };
pub const WORK: OnObjects = OnObjects { bucket: BUCKET, prefix: "work/" };
pub const REPORTS: OnObjects = OnObjects { bucket: BUCKET, prefix: "reports/" };

/// A link that takes a file, and the post that expects it.
pub const REQUEST_UPLOAD: AccessPattern =
    AccessPattern::new("requestUpload", &[TABLE.get(), TABLE.put(), TABLE.update(), INCOMING.put()]);

/// A link to the file of a post.
pub const GET_FILE: AccessPattern = AccessPattern::new("getFile", &[FILES.get()]);

/// An uploaded file, which is read, stored for the post and removed.
pub const INSPECT_FILE: AccessPattern = AccessPattern::new(
    "inspectFile",
    &[
        TABLE.get(),
        TABLE.update(),
        INCOMING.get(),
        INCOMING.head(),
        INCOMING.list(),
        INCOMING.delete(),
        FILES.head(),
        FILES.list(),
        FILES.put(),
        FILES.delete(),
    ],
);

/// The file of a post, which is read again with other options.
pub const INSPECT_AGAIN: AccessPattern = AccessPattern::new("inspectAgain", &[FILES.get()]);

/// A run of a post, which its job works on.
pub const START_RUN: AccessPattern = AccessPattern::new("startRun", &[TABLE.get(), TABLE.put(), TABLE.update()]);

/// The end of a run's publication or of a post, which a job works on.
pub const WITHDRAW: AccessPattern = AccessPattern::new("withdraw", &[TABLE.get(), TABLE.put(), TABLE.update()]);

/// A run.
pub const RUN: AccessPattern = AccessPattern::new("run", &[TABLE.get()]);

/// The runs of a post, newest first.
pub const RUNS: AccessPattern = AccessPattern::new("runs", &[TABLE.query()]);

/// The cancellation of a run.
pub const CANCEL_RUN: AccessPattern = AccessPattern::new("cancelRun", &[TABLE.get(), TABLE.update()]);

/// The message by which a job begins at once.
pub const BEGIN_JOB: AccessPattern = AccessPattern::new("beginJob", &[OnQueue(QUEUE).send()]);

/// The jobs that are due.
pub const LIST_DUE: AccessPattern = AccessPattern::new("listDue", &[TABLE.query_index(INDEX)]);

/// The lease of a job.
pub const LEASE: AccessPattern = AccessPattern::new("lease", &[TABLE.get(), TABLE.update()]);

/// A step of a run with its checkpoint: also the block of ids that it takes, and what readers see from now on.
pub const PUBLISH_STEP: AccessPattern =
    AccessPattern::new("publishStep", &[TABLE.get(), TABLE.batch_get(), TABLE.update(), TABLE.delete()]);

/// A step of a post's deletion with its checkpoint.
pub const DELETE_POST_STEP: AccessPattern = AccessPattern::new(
    "deletePostStep",
    &[
        TABLE.get(),
        TABLE.query(),
        TABLE.batch_delete(),
        TABLE.update(),
        TABLE.delete(),
        FILES.delete(),
        REPORTS.delete(),
    ],
);

/// The file of a run, and the rows of earlier runs.
pub const READ_FILE: AccessPattern = AccessPattern::new("readFile", &[FILES.get(), FILES.head(), FILES.put()]);

/// What a run has read and computed, until it ends.
pub const WORK_FILES: AccessPattern =
    AccessPattern::new("workFiles", &[WORK.get(), WORK.put(), WORK.delete(), REPORTS.put()]);

/// The records of a run, their addresses and the households.
pub const WRITE_RECORDS: AccessPattern =
    AccessPattern::new("writeRecords", &[TABLE.get(), TABLE.put(), TABLE.update()]);

/// The records and households of a run that readers do not see any more.
pub const DELETE_RECORDS: AccessPattern =
    AccessPattern::new("deleteRecords", &[TABLE.query(), TABLE.batch_delete(), TABLE.update(), TABLE.delete()]);

/// How many records of a run search holds.
pub const COUNT_RECORDS: AccessPattern = AccessPattern::new("countRecords", &[Call::Search { alias: ALIAS }]);

/// The runs that search must not show.
pub const HIDDEN_RUNS: AccessPattern = AccessPattern::new("hiddenRuns", &[TABLE.get()]);

/// The report of a run, and its place texts without a place.
pub const RUN_REPORT: AccessPattern = AccessPattern::new("runReport", &[REPORTS.get()]);

/// The published records of a post, in the order of the rows.
pub const POST_RECORDS: AccessPattern = AccessPattern::new("postRecords", &[TABLE.query_index(INDEX)]);

/// The households of a post.
pub const HOUSEHOLDS: AccessPattern = AccessPattern::new("households", &[TABLE.query()]);

/// A household, and the records of its members.
pub const HOUSEHOLD: AccessPattern = AccessPattern::new("household", &[TABLE.get(), TABLE.batch_get()]);

/// A record by its permanent id: the record of its first run, its address, or both, and the record of a later run.
pub const RECORD: AccessPattern = AccessPattern::new("record", &[TABLE.query(), TABLE.get()]);

/// The collection, the run and the household of a record, and the records of the household's members.
pub const RECORD_DETAIL: AccessPattern = AccessPattern::new("recordDetail", &[TABLE.batch_get()]);

/// A correction by hand: the record, its run, and the household with the relatives of its members. The post must not
/// have changed.
pub const UPDATE_RECORD: AccessPattern =
    AccessPattern::new("updateRecord", &[TABLE.get(), TABLE.batch_get(), TABLE.update(), TABLE.check()]);

/// A record that is taken down: also its address, its household with the relatives of the members, and all counts.
pub const DELETE_RECORD: AccessPattern =
    AccessPattern::new("deleteRecord", &[TABLE.get(), TABLE.batch_get(), TABLE.update(), TABLE.delete()]);

/// A report of a reader, counted for its source.
pub const CREATE_REPORT: AccessPattern =
    AccessPattern::new("createReport", &[TABLE.get(), TABLE.put(), TABLE.update()]);

/// The reports of a status, the oldest first.
pub const REPORTS_LISTED: AccessPattern = AccessPattern::new("reportsListed", &[TABLE.query_index(INDEX)]);

/// The status and the note of a report.
pub const UPDATE_REPORT: AccessPattern = AccessPattern::new("updateReport", &[TABLE.get(), TABLE.update()]);

/// Whether search answers, and how far it is behind.
pub const HEALTH: AccessPattern =
    AccessPattern::new("health", &[OnTable("archive-mirror").query(), Call::Search { alias: "archive" }]);
