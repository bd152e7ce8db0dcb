//! `GET /archive/posts/{postId}/records`

use table::{EntityKey, Position, Stored};
use web::{Context, Page, PageQuery, Path, Problem, Query, Route, Sample, problem};

use super::view::ListedRecordView;
use crate::access::{CALLER, ONE as ONE_ITEM, POST_RECORDS};
use crate::item::Post;
use crate::keys::{RecordKey, records_of};
use crate::names::{PostId, RecordId};
use crate::posts::PostPath;
use crate::record::Record;
use crate::schema::{ARCHIVE, INDEX};
use crate::viewer::{READERS, Viewer, published, require_published};

pub fn route() -> Route {
    Route::get("listPostRecords", "/archive/posts/{postId}/records", READERS, list)
        .summary("List the records of a published post in the order of the rows")
        .patterns(&[&CALLER, &ONE_ITEM, &POST_RECORDS])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new("/archive/posts/7000000003/records"))
}

async fn list(
    cx: Context,
    Path(PostPath { post_id: post }): Path<PostPath>,
    Query(query): Query<PageQuery>,
) -> Result<Page<ListedRecordView>, Problem> {
    let viewer = Viewer::load(&cx).await?;
    // A cursor is the row where the page ended. It stays valid when another run with other ids takes the place of this.
    let after: u32 = cx.cursor(query.cursor.as_deref())?.unwrap_or(0);
    let (items, next) = cx.retry(|| page(&cx, post, &viewer, after, query.limit.0)).await?;
    Ok(Page { items, next_cursor: cx.cursor_to(next)? })
}

/// Returns the next records after a row that the viewer may see, and the row where the page ended, if it is not the last.
async fn page(
    cx: &Context,
    post: PostId,
    viewer: &Viewer,
    after: u32,
    limit: u32,
) -> Result<(Vec<ListedRecordView>, Option<u32>), Problem> {
    let (post, run) = published(cx, post).await?;
    let Some((from, to)) = ids_after(&post, after) else { return Ok((Vec::new(), None)) };
    let records = cx.access().table(&POST_RECORDS, &ARCHIVE).query(records_of(post.id)).index(INDEX);
    let seen = |page: Vec<Stored>| {
        let views: Result<Vec<_>, Problem> = page.iter().map(|stored| listed(stored, viewer)).collect();
        async { views }
    };
    let (items, next) = records.between(from.to_string(), to.to_string()).page_of(limit, seen).await?;
    // The page may end at a closed row.
    let ended_at = |position: Position| row_of(&post, RecordKey::parse(&position.key(&ARCHIVE)?)?.record);
    let next = next.and_then(ended_at);
    // Rows are missing where they had errors or are closed, or because a later run has just taken the place of this one.
    let last = if next.is_some() { after.saturating_add(limit) } else { row_of(&post, to).unwrap_or(0) };
    let is_whole = items.last().map_or(after, |last| last.row) == last
        && u32::try_from(items.len()).is_ok_and(|count| after.saturating_add(count) == last);
    if !is_whole {
        require_published(cx, post.id, run).await?;
    }
    Ok((items, next))
}

fn listed(stored: &Stored, viewer: &Viewer) -> Result<Option<ListedRecordView>, Problem> {
    let record: Record = stored.read()?;
    Ok(viewer.sees_record(&record).then(|| ListedRecordView::new(record, viewer)))
}

/// Returns the ids of the rows after this one in the published run, the first and the last. None if there are none.
fn ids_after(post: &Post, row: u32) -> Option<(RecordId, RecordId)> {
    let (first, last) = (post.first_id?, post.last_id?);
    let from = RecordId::new(first.number().checked_add(u64::from(row))?)?;
    (from <= last).then_some((from, last))
}

/// Returns the row with this id in the published run.
fn row_of(post: &Post, id: RecordId) -> Option<u32> {
    u32::try_from(id.number().checked_sub(post.first_id?.number())?).ok()?.checked_add(1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn post(first: Option<&str>, last: Option<&str>) -> Post {
        serde_json::from_value(json!({
            "PK": "1000000003", "GSISK": "1000000002", "name": "Census", "ownerId": "1000000001", "metadata": {},
            "mapping": [], "status": "published", "run": 1, "publishedRun": 1, "firstId": first, "lastId": last,
            "recordCount": 5, "householdCount": 2, "searchLag": false, "createdAt": "", "updatedAt": "",
            "createdBy": "1000000001",
        }))
        .unwrap()
    }

    #[test]
    fn page_starts_at_the_id_of_the_next_row() {
        let census = post(Some("1000000010"), Some("1000000014"));
        let ids = |row| ids_after(&census, row).map(|(from, to)| (from.number(), to.number()));
        assert_eq!(ids(0), Some((1_000_000_010, 1_000_000_014)));
        assert_eq!(ids(4), Some((1_000_000_014, 1_000_000_014)));
        assert_eq!(ids(5), None);
        assert_eq!(ids(u32::MAX), None);
        assert_eq!(ids_after(&post(None, None), 0), None);
        assert_eq!(row_of(&census, "1000000014".parse().unwrap()), Some(5));
    }
}
