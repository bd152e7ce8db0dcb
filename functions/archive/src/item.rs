//! Items as the table stores them. Each has the partition key, which is its id; the client sets keys and revisions.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::audit::Audit;
use crate::mapping::MappedColumn;
use crate::names::{
    CategoryId, CollectionId, PlaceId, PostId, PostStatus, RecordId, Role, RunNumber, UploadId, UserId,
};
use crate::register::{CsvOptions, Inspection};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Category {
    #[serde(rename = "PK")]
    pub id: CategoryId,
    /// The name, by which the index lists it.
    #[serde(rename = "GSISK")]
    pub listed_by: String,
    pub name: String,
    pub description: String,
    pub created_at: String,
    pub updated_at: String,
    pub created_by: UserId,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Collection {
    #[serde(rename = "PK")]
    pub id: CollectionId,
    /// The name, by which the index lists it.
    #[serde(rename = "GSISK")]
    pub listed_by: String,
    pub name: String,
    pub description: String,
    /// The collection has a row in each of these categories.
    pub category_ids: Vec<CategoryId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place_id: Option<PlaceId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_mapping: Option<Vec<MappedColumn>>,
    pub citation_template: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_url_template: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_years: Option<ClosedYears>,
    pub created_at: String,
    pub updated_at: String,
    pub created_by: UserId,
}

/// The years for which a record is closed to the public after its last event of a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ClosedYears {
    #[schema(maximum = 150)]
    pub birth: u8,
    #[schema(maximum = 150)]
    pub baptism: u8,
    #[schema(maximum = 150)]
    pub marriage: u8,
    #[schema(maximum = 150)]
    pub residence: u8,
    #[schema(maximum = 150)]
    pub death: u8,
    #[schema(maximum = 150)]
    pub burial: u8,
    #[schema(maximum = 150)]
    pub other: u8,
}

/// The row of a collection in one of its categories. It has keys only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollectionCategory {
    #[serde(rename = "PK")]
    pub collection: CollectionId,
    #[serde(rename = "GSISK")]
    pub listed_by: CollectionId,
}

/// The counts of a collection. It exists exactly while its collection does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CollectionUse {
    pub posts: u64,
    /// The published records.
    pub records: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Post {
    #[serde(rename = "PK")]
    pub id: PostId,
    /// The collection, by which the index lists it.
    #[serde(rename = "GSISK")]
    pub collection_id: CollectionId,
    pub name: String,
    pub owner_id: UserId,
    pub metadata: BTreeMap<String, MetadataValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub csv_options: Option<CsvOptions>,
    pub mapping: Vec<MappedColumn>,
    /// The last upload that was requested, until its file has arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload: Option<Upload>,
    /// The file that the next run publishes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PostFile>,
    /// The SHA-256 of files that no run uses: a later one replaced them, or they are not stored yet. They go with the
    /// post.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unused_files: BTreeSet<String>,
    pub status: PostStatus,
    /// The number of the last run, 0 before the first.
    pub run: RunNumber,
    /// The run whose records are public.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_run: Option<RunNumber>,
    /// The run that was published last, also if it is withdrawn. The rows of the next file are matched with its rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_published: Option<RunNumber>,
    /// The ids of the first and the last row of the published run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_id: Option<RecordId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_id: Option<RecordId>,
    pub record_count: u64,
    pub household_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// Whether search did not hold all records of the run in time, and does not hold them yet.
    pub search_lag: bool,
    pub created_at: String,
    pub updated_at: String,
    pub created_by: UserId,
}

/// A value of a post's metadata. The settings declare its type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum MetadataValue {
    Boolean(bool),
    Number(f64),
    Text(String),
}

/// An upload that was requested for a post.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Upload {
    pub id: UploadId,
    /// The bytes that the file must have.
    pub bytes: u64,
    /// Why its file was refused, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// The file of a post.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PostFile {
    /// The SHA-256 in hex, which names it in the bucket.
    pub sha256: String,
    pub bytes: u64,
    #[serde(flatten)]
    pub inspection: Inspection,
    pub uploaded_at: String,
    /// Whether a run has used it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_in_run: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    #[serde(rename = "PK")]
    pub id: UserId,
    /// The issuer and the subject, by which the index lists it. It is in no response.
    #[serde(rename = "GSISK")]
    pub sort_key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    pub role: Role,
    pub enabled: bool,
    pub created_at: String,
    pub updated_at: String,
    pub created_by: UserId,
}

/// The user of an issuer and subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserOfPerson {
    pub user_id: UserId,
}

/// The category of a folded name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CategoryName {
    pub category_id: CategoryId,
}

impl Category {
    pub fn new(id: CategoryId, name: String, description: String, audit: Audit) -> Self {
        Self {
            id,
            listed_by: name.clone(),
            name,
            description,
            created_at: audit.at.clone(),
            updated_at: audit.at,
            created_by: audit.by,
        }
    }
}

impl User {
    /// A user at first sight.
    pub fn new(id: UserId, sort_key: String, name: Option<String>, email: Option<String>, at: String) -> Self {
        Self {
            id,
            sort_key,
            name,
            email,
            role: Role::None,
            enabled: true,
            created_at: at.clone(),
            updated_at: at,
            created_by: id,
        }
    }
}
