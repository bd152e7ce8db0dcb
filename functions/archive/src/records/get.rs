//! `GET /archive/records/{recordId}`

use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::detail::detail;
use super::view::RecordView;
use super::{ONE, RecordPath, SAMPLE, WITHDRAWN, find_public};
use crate::access::{CALLER, ONE as ONE_ITEM, RECORD, RECORD_DETAIL};
use crate::viewer::{READERS, Viewer};

pub fn route() -> Route {
    Route::get("getRecord", ONE, READERS, get)
        .summary("Get a record by its permanent id, with its household, post and collection")
        .patterns(&[&CALLER, &RECORD, &ONE_ITEM, &RECORD_DETAIL])
        .problems(&[problem::NOT_FOUND, WITHDRAWN])
        .sample(Sample::new(SAMPLE))
}

async fn get(cx: Context, Path(path): Path<RecordPath>) -> Result<Tagged<RecordView>, Problem> {
    let viewer = Viewer::load(&cx).await?;
    cx.retry(|| async {
        let found = find_public(&cx, &viewer, path.record_id).await?;
        let tag = viewer.tag(found.stored.rev);
        Ok(Tagged::new(&detail(&cx, &viewer, found, false).await?, tag))
    })
    .await
}
