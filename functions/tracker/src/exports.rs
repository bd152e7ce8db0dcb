//! A grid as a CSV file in S3: begun by a request, walked by work page by page, fetched by a link.

mod begin;
mod step;

pub use begin::{NewExport, begin};
pub use step::{Ahead, step};

use serde::{Deserialize, Serialize};
use table::Access;
use table::objects::Upload;
use web::{Order, Problem};

use crate::access::LINKS;
use crate::grid::list::At;
use crate::names::{AttributeId, WorkId};
use crate::schema::BUCKET;
use crate::work::{Kind, Work, WorkState};

const PREFIX: &str = "exports/";

/// What an export asks of the grid and how far it has come: the checkpoint of its work.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Plan {
    sort: String,
    order: Order,
    filter: Vec<String>,
    /// The attributes of the columns after those that every file has.
    columns: Vec<AttributeId>,
    at: At,
    /// The parts that were sent, once there is one.
    upload: Option<Upload>,
    /// The object with what follows them, where a run has ended before that was enough for a part.
    #[serde(default)]
    kept: Option<String>,
    /// How many rows they have, what was kept included.
    rows: u64,
}

/// Where the file of an export can be fetched, once it is whole.
pub async fn link(access: &Access, id: WorkId, work: &Work) -> Result<Option<String>, Problem> {
    if work.kind != Kind::Export || work.state != WorkState::Done {
        return Ok(None);
    }
    Ok(Some(access.objects(&LINKS, BUCKET, PREFIX).get_link(&object(id)).await?.url))
}

fn object(id: WorkId) -> String {
    format!("{}.csv", id.id())
}
