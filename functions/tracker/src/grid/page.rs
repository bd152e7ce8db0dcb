//! One page of a walk: entries of its segments, the issues behind them, and where the next page begins.

use serde::Serialize;
use serde_json::value::RawValue;
use table::{Access, EntityKey, Key, Position, Stored};
use web::Problem;

use super::Segment;
use super::list::{At, Question};
use super::searched::{self, SearchSegment};
use crate::access::{ENTRIES, ISSUES};
use crate::items::Issue;
use crate::keys::{IssueDueKey, IssueKey};
use crate::names::IssueId;
use crate::project::Schema;
use crate::schema::{INDEX, TRACKER};

/// What serves a walk, segment by segment.
#[derive(Debug)]
pub enum Source {
    Table(Vec<Segment>),
    Search(Vec<SearchSegment>),
}

/// A page of rows, and where the next begins; nothing on the last.
#[derive(Debug)]
pub struct Page<T> {
    pub rows: Vec<T>,
    pub next: Option<At>,
}

/// An entry with where a page would end that ends with it.
#[derive(Debug)]
struct Entry {
    id: IssueId,
    position: Option<Position>,
    after: Option<Box<RawValue>>,
}

/// How often a page is filled up after entries that are passed over. While search lags far behind the table there may be
/// many thousands of them; then the page ends early, with a cursor behind those that it has passed over.
const MAX_ROUNDS: usize = 5;

/// How many entries at least are asked for to fill a page up.
const MIN_FILL: usize = 25;

/// The most bytes of a page: Lambda takes 6 MB.
const BYTES: usize = 4_000_000;

impl Source {
    /// A page of what `row` makes of the issues. An issue that is gone, or that the filters do not let through any more, is
    /// passed over and the page filled up, which takes a bounded number of rounds: a page may have fewer rows than asked
    /// for, or none, and be followed by others.
    pub async fn page<T: Serialize>(
        &self,
        access: &Access,
        schema: &Schema,
        question: &Question,
        mut at: At,
        limit: u32,
        row: impl Fn(IssueId, &Issue) -> T,
    ) -> Result<Page<T>, Problem> {
        let (mut rows, mut bytes, mut rounds) = (Vec::new(), 0, 0);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        while at.segment < self.segments() {
            let missing = limit - rows.len();
            let asked = if rounds > 0 && missing > 0 { missing.max(MIN_FILL) } else { missing.max(1) };
            let (entries, mut more) = self.entries(access, schema, question, &at, asked).await?;
            if missing == 0 {
                // The page is full: does anything follow?
                if !entries.is_empty() {
                    return Ok(Page { rows, next: Some(at) });
                }
                at = At { segment: at.segment + 1, position: None, after: None, ..at };
                continue;
            }
            let ids: Vec<IssueId> = entries.iter().map(|entry| entry.id).collect();
            let issues = issues(access, schema, &ids).await?;
            let mut passed_over = false;
            for (entry, issue) in entries.into_iter().zip(issues) {
                if rows.len() == limit {
                    more = true;
                    break;
                }
                let there = issue.filter(|issue| question.filters.iter().all(|filter| filter.holds(issue)));
                if let Some(issue) = there {
                    let made = row(entry.id, &issue);
                    bytes += serde_json::to_vec(&made).map_err(Problem::internal)?.len();
                    if bytes > BYTES && !rows.is_empty() {
                        return Ok(Page { rows, next: Some(at) });
                    }
                    rows.push(made);
                } else {
                    passed_over = true;
                }
                (at.position, at.after) = (entry.position, entry.after);
            }
            rounds += usize::from(passed_over);
            match (more, rows.len() == limit || rounds >= MAX_ROUNDS) {
                (true, true) => return Ok(Page { rows, next: Some(at) }),
                (true, false) => {}
                (false, _) => at = At { segment: at.segment + 1, position: None, after: None, ..at },
            }
            if rounds >= MAX_ROUNDS && at.segment < self.segments() {
                return Ok(Page { rows, next: Some(at) });
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

    /// Up to so many entries of the present segment, and whether more follow in it.
    async fn entries(
        &self,
        access: &Access,
        schema: &Schema,
        question: &Question,
        at: &At,
        limit: usize,
    ) -> Result<(Vec<Entry>, bool), Problem> {
        match self {
            Self::Table(segments) => match segments.get(at.segment) {
                Some(segment) => from_index(access, segment, question.sort.backward, at, limit).await,
                None => Ok((Vec::new(), false)),
            },
            Self::Search(segments) => match segments.get(at.segment) {
                Some(segment) => {
                    let after = at.after.as_deref();
                    let (hits, more) = searched::hits(access, schema, question, segment, after, limit).await?;
                    let entry = |(id, after)| Entry { id, position: None, after };
                    Ok((hits.into_iter().map(entry).collect(), more))
                }
                None => Ok((Vec::new(), false)),
            },
        }
    }
}

/// Pattern 8.
async fn from_index(
    access: &Access,
    segment: &Segment,
    backward: bool,
    at: &At,
    limit: usize,
) -> Result<(Vec<Entry>, bool), Problem> {
    let query = access.table(&ENTRIES, &TRACKER).query(segment.partition.as_str()).index(INDEX);
    let query = segment.range.ask(query).after(at.position.clone());
    let query = if backward { query.backward() } else { query };
    let page = query.page(u32::try_from(limit).unwrap_or(u32::MAX)).await?;
    let entry = |stored: &Stored| {
        let id = IssueDueKey::parse(&Key::new(stored.key.pk.as_str(), "due"))?.issue;
        Some(Entry { id, position: query.position_of(stored), after: None })
    };
    Ok((page.items.iter().filter_map(entry).collect(), page.next.is_some()))
}

/// Pattern 9: the issues that lie in this project, in the order of their ids.
async fn issues(access: &Access, schema: &Schema, ids: &[IssueId]) -> Result<Vec<Option<Issue>>, Problem> {
    let issues = access.table(&ISSUES, &TRACKER);
    let keys: Vec<Key> = ids.iter().map(|issue| IssueKey { issue: *issue, project: schema.id }.key()).collect();
    let mut found = issues.batch_get(&keys).await?;
    let missing: Vec<Key> =
        keys.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(key, _)| key.clone()).collect();
    if !missing.is_empty() {
        // The index may know already what a read of some moments ago does not.
        let again = issues.batch_get_consistent(&missing).await?;
        for (place, stored) in found.iter_mut().filter(|found| found.is_none()).zip(again) {
            *place = stored;
        }
    }
    found.into_iter().map(|stored| Ok(stored.map(|stored| stored.read()).transpose()?)).collect()
}
