//! The keys of every entity that this system writes.

mod item;
mod item_ref;
mod partition;

use jobs::JobId;
use table::{Escaped, Number};

use crate::days::Day;
use crate::names::{ActivityType, CollectionId, FacilityType, Kind, Sha256, UploadId};

pub use item::{ItemKey, Parent};
pub use item_ref::ItemRef;
pub use partition::Partition;

table::key! {
    /// A collection.
    pub struct CollectionKey { collection: CollectionId }
    pk "collection"
    sk "{collection}"
}

table::key! {
    pub struct GeozoneKey { collection: CollectionId, number: Number }
    pk "geozone::{collection}"
    sk "{number}"
}

table::key! {
    pub struct FacilityKey { collection: CollectionId, facility_type: FacilityType, number: Number }
    pk "facility::{collection}"
    sk "{facility_type}::{number}"
}

table::key! {
    pub struct ActivityKey { collection: CollectionId, activity_type: ActivityType, number: Number }
    pk "activity::{collection}"
    sk "{activity_type}::{number}"
}

table::key! {
    /// A product of an activity.
    pub struct ProductKey { collection: CollectionId, activity_type: ActivityType, activity: Number, number: Number }
    pk "product::{collection}::{activity_type}::{activity}"
    sk "{number}"
}

table::key! {
    /// A date of a product. The products of an activity share a partition.
    pub struct ProductDateKey {
        collection: CollectionId, activity_type: ActivityType, activity: Number, product: Number, date: Day
    }
    pk "productDate::{collection}::{activity_type}::{activity}"
    sk "{product}::{date}"
}

table::key! {
    /// The last number allocated in a partition; created with the parent.
    pub struct SequenceKey { partition: Partition }
    pk "counter::{partition}"
    sk "sequence"
}

table::key! {
    /// The number of live items of a partition, or of relationships of an item.
    pub struct LiveKey { partition: Partition }
    pk "counter::{partition}"
    sk "live"
}

table::key! {
    /// A relationship, in the partition of its first item.
    pub struct RelationshipKey { end1: ItemRef, end2: ItemRef }
    pk "rel::{end1}"
    sk "{end2}"
}

table::key! {
    /// A detached relationship, in the partition of its deleted item.
    pub struct DetachedKey { deleted: ItemRef, other: ItemRef }
    pk "detached::{deleted}"
    sk "{other}"
}

table::key! {
    /// The guard of an external id, which is unique among the items of an entity in a collection.
    pub struct ExternalIdKey { entity: Kind, collection: CollectionId, external_id: Escaped }
    pk "external::{entity}::{collection}"
    sk "{external_id}"
}

table::key! {
    /// A shape in S3, with the number of its uses.
    pub struct GeometryKey { sha256: Sha256 }
    pk "geometry::{sha256}"
    sk "object"
}

table::key! {
    /// An uploaded file of a shape.
    pub struct UploadKey { upload: UploadId }
    pk "upload::{upload}"
    sk "upload"
}

table::key! {
    /// A job.
    pub struct JobKey { job: JobId }
    pk "job::{job}"
    sk "job"
}

table::key! {
    /// The due row of a job.
    pub struct JobDueKey { job: JobId }
    pk "job::{job}"
    sk "due"
}
