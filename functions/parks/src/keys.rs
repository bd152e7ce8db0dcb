//! The keys of every entity that this system writes.

mod item;
mod partition;

use table::{Access, Error, Escaped, Key, Number};

use crate::access::BY_GLOBAL_ID;
use crate::days::Day;
use crate::names::{ActivityType, CollectionId, FacilityType, JobId, Kind, Sha256, UploadId};
use crate::relationships::End;
use crate::schema::PARKS;

pub use item::{ItemKey, Parent};
pub use partition::Partition;

table::key! {
    /// A root of everything below it.
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
    /// Lies in an activity, by whose type and number it is known.
    pub struct ProductKey { collection: CollectionId, activity_type: ActivityType, activity: Number, number: Number }
    pk "product::{collection}::{activity_type}::{activity}"
    sk "{number}"
}

table::key! {
    /// A day of a product. The products of an activity share a partition.
    pub struct ProductDateKey {
        collection: CollectionId, activity_type: ActivityType, activity: Number, product: Number, date: Day
    }
    pk "productDate::{collection}::{activity_type}::{activity}"
    sk "{product}::{date}"
}

table::key! {
    /// The last number given out in a partition; made with the partition's parent.
    pub struct SequenceKey { partition: Partition }
    pk "counter::{partition}"
    sk "sequence"
}

table::key! {
    /// How many items of a partition are live, or how many relationships an item has.
    pub struct LiveKey { partition: Partition }
    pk "counter::{partition}"
    sk "live"
}

table::key! {
    /// A relationship, under its earlier end.
    pub struct RelationshipKey { end1: End, end2: End }
    pk "rel::{end1}"
    sk "{end2}"
}

table::key! {
    /// A relationship that a deletion took along, under the end that is deleted.
    pub struct DetachedKey { deleted: End, other: End }
    pk "detached::{deleted}"
    sk "{other}"
}

table::key! {
    /// Holds an external id for one item of its entity and collection.
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
    /// A file that an administrator sends, until it is a shape or refused.
    pub struct UploadKey { upload: UploadId }
    pk "upload::{upload}"
    sk "upload"
}

table::key! {
    /// Work that outlives its request.
    pub struct JobKey { job: JobId }
    pk "job::{job}"
    sk "job"
}

/// The key of the item with this global id, as the index knows it.
pub async fn by_global_id(access: &Access, global_id: &str) -> Result<Option<Key>, Error> {
    let found = access.table(&BY_GLOBAL_ID, &PARKS).query(global_id).index("globalId").first().await?;
    Ok(found.map(|stored| stored.key))
}
