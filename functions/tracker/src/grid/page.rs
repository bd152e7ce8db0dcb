//! One page of a walk: the entries of its segments, their issues, and the checkpoint of the next page.

use serde::Serialize;
use serde_json::value::RawValue;
use table::{Access, EntityKey, Error, Key, Position, Rev, Stored};
use web::{Problem, response_bytes};

use super::query::{Checkpoint, ParsedQuery};
use super::searched::{self, SearchSegment};
use super::{Filter, Segment, from_table};
use crate::access::{ENTRIES, ISSUES};
use crate::items::Issue;
use crate::keys::{IssueDueKey, IssueKey};
use crate::names::IssueId;
use crate::project::Schema;
use crate::schema::{INDEX, TRACKER};

/// The segments of a walk, from the engine that serves it.
#[derive(Debug)]
pub enum Source {
    Table(Vec<Segment>),
    Search(Vec<SearchSegment>),
}

/// A page of rows, and the checkpoint of the next page; none after the last page.
#[derive(Debug)]
pub struct Page<T> {
    pub rows: Vec<T>,
    pub next: Option<Checkpoint>,
}

/// An entry with the checkpoint of a page that ends with it.
#[derive(Debug)]
struct Entry {
    id: IssueId,
    position: Option<Position>,
    after: Option<Box<RawValue>>,
}

/// Rounds in which a page is filled up after skipped entries. While search lags far behind the table, there may be many
/// thousands of them. The page then ends early, with a cursor after the skipped entries.
const MAX_ROUNDS: usize = 5;

/// Reads of entries for a page. Each option of a choice is a segment, and an attribute may have hundreds that are retired
/// and that no issue has. The page then ends early.
const MAX_READS: usize = 100;

/// The least number of entries that are read to fill up a page.
const MIN_FILL: usize = 25;

/// Bytes of a page. Lambda limits a response to 6 MB.
const MAX_BYTES: usize = 4_000_000;

impl Source {
    /// The source of a walk from this checkpoint.
    pub fn new(schema: &Schema, query: &ParsedQuery, checkpoint: &Checkpoint) -> Self {
        let order = checkpoint.options(schema, query.sort.column);
        match from_table(schema, query.sort, &query.filters, &order) {
            Some(segments) => Self::Table(segments),
            None => Self::Search(searched::segments(schema, query.sort, &order)),
        }
    }

    /// A page of the issues as `row` shows them. An issue that was deleted, or no longer matches the filters, is
    /// skipped, and the page is filled up in a bounded number of rounds and of reads. So a page may have fewer rows than
    /// requested, or none, and still be followed by others.
    pub async fn page<T: Serialize>(
        &self,
        access: &Access,
        schema: &Schema,
        query: &ParsedQuery,
        mut checkpoint: Checkpoint,
        limit: u32,
        row: impl Fn(IssueId, Option<Rev>, &Issue) -> T,
    ) -> Result<Page<T>, Problem> {
        let (mut rows, mut bytes, mut rounds, mut reads) = (Vec::new(), 0, 0, 0);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        while checkpoint.segment < self.segments() {
            if reads == MAX_READS {
                return Ok(Page { rows, next: Some(checkpoint) });
            }
            reads += 1;
            let missing = limit - rows.len();
            let wanted = if rounds > 0 && missing > 0 { missing.max(MIN_FILL) } else { missing.max(1) };
            let (entries, mut more) = self.entries(access, schema, query, &checkpoint, wanted).await?;
            if missing == 0 {
                // The page is full. The entries only show whether another page follows.
                if !entries.is_empty() {
                    return Ok(Page { rows, next: Some(checkpoint) });
                }
                checkpoint = Checkpoint { segment: checkpoint.segment + 1, position: None, after: None, ..checkpoint };
                continue;
            }
            let ids: Vec<IssueId> = entries.iter().map(|entry| entry.id).collect();
            let issues = issues(access, schema, &query.filters, &ids).await?;
            let mut skipped = false;
            for (entry, issue) in entries.into_iter().zip(issues) {
                if rows.len() == limit {
                    more = true;
                    break;
                }
                if let Some((rev, issue)) = issue {
                    let shown = row(entry.id, rev, &issue);
                    bytes += response_bytes(&shown)?;
                    if bytes > MAX_BYTES && !rows.is_empty() {
                        return Ok(Page { rows, next: Some(checkpoint) });
                    }
                    rows.push(shown);
                } else {
                    skipped = true;
                }
                (checkpoint.position, checkpoint.after) = (entry.position, entry.after);
            }
            rounds += usize::from(skipped);
            match (more, rows.len() == limit || rounds >= MAX_ROUNDS) {
                (true, true) => return Ok(Page { rows, next: Some(checkpoint) }),
                (true, false) => {}
                (false, _) => {
                    checkpoint =
                        Checkpoint { segment: checkpoint.segment + 1, position: None, after: None, ..checkpoint }
                }
            }
            if rounds >= MAX_ROUNDS && checkpoint.segment < self.segments() {
                return Ok(Page { rows, next: Some(checkpoint) });
            }
        }
        Ok(Page { rows, next: None })
    }

    fn segments(&self) -> usize {
        match self {
            Self::Table(segments) => segments.len(),
            Self::Search(segments) => segments.len(),
        }
    }

    /// Up to `limit` entries of the present segment, and whether more follow in it.
    async fn entries(
        &self,
        access: &Access,
        schema: &Schema,
        query: &ParsedQuery,
        checkpoint: &Checkpoint,
        limit: usize,
    ) -> Result<(Vec<Entry>, bool), Problem> {
        match self {
            Self::Table(segments) => match segments.get(checkpoint.segment) {
                Some(segment) => from_index(access, segment, query.sort.backward, checkpoint, limit).await,
                None => Ok((Vec::new(), false)),
            },
            Self::Search(segments) => match segments.get(checkpoint.segment) {
                Some(segment) => {
                    let after = checkpoint.after.as_deref();
                    let (hits, more) = searched::hits(access, schema, query, segment, after, limit).await?;
                    let entry = |(id, after)| Entry { id, position: None, after };
                    Ok((hits.into_iter().map(entry).collect(), more))
                }
                None => Ok((Vec::new(), false)),
            },
        }
    }
}

/// Entries of a range of the index.
async fn from_index(
    access: &Access,
    segment: &Segment,
    backward: bool,
    checkpoint: &Checkpoint,
    limit: usize,
) -> Result<(Vec<Entry>, bool), Problem> {
    let query = access.table(&ENTRIES, &TRACKER).query(segment.partition.as_str()).index(INDEX);
    let query = segment.range.query(query).after(checkpoint.position.clone());
    let query = if backward { query.backward() } else { query };
    let page = query.page(u32::try_from(limit).unwrap_or(u32::MAX)).await?;
    let entry = |stored: &Stored| {
        let id = IssueDueKey::parse(&Key::new(stored.key.pk.as_str(), "due"))?.issue;
        Some(Entry { id, position: query.position_of(stored), after: None })
    };
    Ok((page.items.iter().filter_map(entry).collect(), page.next.is_some()))
}

/// An issue with its revision.
type Found = (Option<Rev>, Issue);

/// The issues with these ids in their order. None for one that is not in this project, or fails a filter.
async fn issues(
    access: &Access,
    schema: &Schema,
    filters: &[Filter],
    ids: &[IssueId],
) -> Result<Vec<Option<Found>>, Error> {
    let issues = access.table(&ISSUES, &TRACKER);
    let keys: Vec<Key> = ids.iter().map(|issue| IssueKey { issue: *issue, project: schema.id }.key()).collect();
    let mut found = matching(filters, issues.batch_get(&keys).await?)?;
    let missing: Vec<Key> =
        keys.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(key, _)| key.clone()).collect();
    if !missing.is_empty() {
        // An eventually consistent read may be older than the index and than search.
        let again = matching(filters, issues.batch_get_consistent(&missing).await?)?;
        for (missing, again) in found.iter_mut().filter(|found| found.is_none()).zip(again) {
            *missing = again;
        }
    }
    Ok(found)
}

/// The issues that pass all filters, each in its place.
fn matching(filters: &[Filter], stored: Vec<Option<Stored>>) -> Result<Vec<Option<Found>>, Error> {
    let read = |stored: Stored| {
        let issue: Issue = stored.read()?;
        Ok::<_, Error>(filters.iter().all(|filter| filter.holds(&issue)).then_some((stored.rev, issue)))
    };
    stored.into_iter().map(|stored| Ok(stored.map(read).transpose()?.flatten())).collect()
}
