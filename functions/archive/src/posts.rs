//! Operations on posts, one file each.

pub mod cancel;
pub mod create;
pub mod delete;
pub mod file;
pub mod get;
mod inspect;
pub mod list;
mod metadata;
pub mod publish;
pub mod search;
pub mod unpublish;
pub mod update;

pub use inspect::inspect_file;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use table::{Error, Stored};
use utoipa::ToSchema;
use web::{Context, Fault, Kind, Problem};

use crate::access::ONE as ONE_ITEM;
use crate::authorization::Caller;
use crate::item::{MetadataValue, Post};
use crate::keys::PostKey;
use crate::mapping::MappedColumn;
use crate::names::{CollectionId, PostId, PostStatus, RunNumber, UserId};
use crate::register::CsvOptions;
use crate::schema::ARCHIVE;

const LIST: &str = "/archive/posts";
const ONE: &str = "/archive/posts/{postId}";

/// The post of the samples.
const SAMPLE: &str = "/archive/posts/7000000003";

pub const IN_TRANSIT: Kind = Kind::new(409, "in-transit", "The post is in transit");

pub const NOT_MOVABLE: Kind = Kind::new(409, "not-movable", "The post cannot be moved");

/// The path of a post.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostPath {
    #[schema(value_type = String, example = "7000000003")]
    pub post_id: PostId,
}

/// A post in responses.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Post)]
pub struct PostView {
    pub id: PostId,
    pub collection_id: CollectionId,
    pub name: String,
    /// The user who made it.
    pub owner_id: UserId,
    pub metadata: BTreeMap<String, MetadataValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub csv_options: Option<CsvOptions>,
    pub mapping: Vec<MappedColumn>,
    pub status: PostStatus,
    /// The number of its last run, 0 before the first.
    pub run: RunNumber,
    /// The run whose records are public.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_run: Option<RunNumber>,
    pub record_count: u64,
    pub household_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// Whether search may not show all of its records yet.
    pub search_lag: bool,
    pub created_at: String,
    pub updated_at: String,
}

impl From<Post> for PostView {
    fn from(post: Post) -> Self {
        Self {
            id: post.id,
            collection_id: post.collection_id,
            name: post.name,
            owner_id: post.owner_id,
            metadata: post.metadata,
            csv_options: post.csv_options,
            mapping: post.mapping,
            status: post.status,
            run: post.run,
            published_run: post.published_run,
            record_count: post.record_count,
            household_count: post.household_count,
            last_error: post.last_error,
            search_lag: post.search_lag,
            created_at: post.created_at,
            updated_at: post.updated_at,
        }
    }
}

fn in_transit() -> Problem {
    IN_TRANSIT.because("A run or a deletion works on the post. Wait until it has ended, or cancel the run.")
}

/// 422 for a collection that does not exist.
fn unknown_collection() -> Problem {
    Problem::unprocessable(vec![Fault::pointer("/collectionId", "names no collection")])
}

/// Reads a post. 404 if there is none.
pub(crate) async fn load(cx: &Context, post: PostId) -> Result<(Stored, Post), Problem> {
    let stored = cx.access().table(&ONE_ITEM, &ARCHIVE).get_consistent(PostKey { post }).await?;
    let stored = stored.ok_or_else(Problem::not_found)?;
    let post = stored.read()?;
    Ok((stored, post))
}

/// Reads a post of the caller, or any for an editor.
async fn load_own(cx: &Context, caller: &Caller, post: PostId) -> Result<(Stored, Post), Problem> {
    let (stored, post) = load(cx, post).await?;
    caller.require_own(&post)?;
    Ok((stored, post))
}

/// The problem of a write to a post that has changed since it was read.
fn raced(error: Error) -> Problem {
    match error {
        Error::Stale { .. } | Error::NotFound | Error::ConditionFailed(_) => Problem::lost_race(),
        error => error.into(),
    }
}
