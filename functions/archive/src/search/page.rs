//! A page of a search: its hits with their items, filled up where a hit is left out.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use table::Access;
use web::Problem;
use web::search::{Count, SearchResponse, Total};

use super::criteria::Criteria;
use super::hits::{self, HitFields};
use super::request::{Page, Visibility, request};
use super::response::FoundRecord;
use crate::access::{ALIAS, SEARCH};
use crate::fitting::fitting;
use crate::hidden::{self, HiddenRuns};
use crate::viewer::Viewer;

/// Searches of one page until no run was published or withdrawn meanwhile.
const MAX_ATTEMPTS: usize = 3;

/// Rounds in which a page is filled up after hits that were left out. While search lags far behind the table, there may
/// be many. The page then ends early, with a cursor after them.
const MAX_ROUNDS: usize = 5;

/// A search for one page.
#[derive(Clone, Copy, Debug)]
pub struct PageSearch<'a> {
    pub access: &'a Access,
    pub criteria: &'a Criteria,
    pub viewer: &'a Viewer,
    pub limit: usize,
    /// The sort values of the last hit of the page before.
    pub after: Option<&'a RawValue>,
    /// The path of the queried place.
    pub parent_path: Option<&'a str>,
}

/// A page of records with its counts.
#[derive(Debug)]
pub struct FoundPage {
    pub items: Vec<FoundRecord>,
    pub total: Total,
    /// On the first page, the counts of each facet.
    pub counts: BTreeMap<String, Vec<Count>>,
    /// The sort values after which the next page starts.
    pub next: Option<Box<RawValue>>,
    /// Whether a hit was left out, since its record is no longer public.
    has_left_out: bool,
}

/// The hits of one search with their sort values. A hit is left out if its record is no longer public.
struct Round {
    hits: Vec<(Option<FoundRecord>, Box<RawValue>)>,
    total: Total,
    counts: BTreeMap<String, Vec<Count>>,
    next: Option<Box<RawValue>>,
}

impl PageSearch<'_> {
    /// Searches for the page. If another run has become public meanwhile, it searches again, so that readers see all
    /// records of the old run or all of the new one.
    pub async fn run(&self) -> Result<FoundPage, Problem> {
        let mut hidden = hidden::load(self.access).await?;
        for _ in 1..MAX_ATTEMPTS {
            let page = self.run_without(&hidden).await?;
            if !page.has_left_out {
                return Ok(page);
            }
            let present = hidden::load(self.access).await?;
            if present == hidden {
                return Ok(page);
            }
            hidden = present;
        }
        self.run_without(&hidden).await
    }

    async fn run_without(&self, hidden: &HiddenRuns) -> Result<FoundPage, Problem> {
        let visibility = Visibility { hidden_runs: hidden.runs.clone(), open_on: self.viewer.must_be_open_on() };
        let mut round = self.round(&visibility, self.limit, self.after, true).await?;
        for _ in 1..MAX_ROUNDS {
            let missing = self.limit.saturating_sub(round.hits.iter().filter(|(record, _)| record.is_some()).count());
            let Some(after) = round.next.take_if(|_| missing > 0) else { break };
            let more = self.round(&visibility, missing, Some(&after), false).await?;
            round.hits.extend(more.hits);
            round.next = more.next;
        }
        let Round { hits, total, counts, next } = round;
        let has_left_out = hits.iter().any(|(record, _)| record.is_none());
        let (items, next) = fitting(hits, next)?;
        Ok(FoundPage { items, total, counts, next, has_left_out })
    }

    async fn round(
        &self,
        visibility: &Visibility,
        limit: usize,
        after: Option<&RawValue>,
        facets: bool,
    ) -> Result<Round, Problem> {
        let body = request(self.criteria, visibility, Page { limit, after, facets, parent_path: self.parent_path });
        let mut response: SearchResponse<HitFields> = self.access.search(&SEARCH, ALIAS, &body).await?;
        let (total, counts) = (response.total(), response.take_counts());
        let (hits, next) = response.page(limit);
        let positions: Option<Vec<_>> = hits.iter().map(|hit| hit.sort.clone()).collect();
        let positions = positions.ok_or_else(|| Problem::internal("a hit lacks its sort values"))?;
        let records = hits::load(self.access, hits, self.criteria, self.viewer).await?;
        Ok(Round { hits: records.into_iter().zip(positions).collect(), total, counts, next })
    }
}
