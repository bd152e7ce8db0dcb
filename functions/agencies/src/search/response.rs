//! The response of a search: hits with their present items.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use table::Key;
use utoipa::ToSchema;
use web::search::{Count, Highlights, Marks, One, Piece, Total};
use web::{Context, Problem};

use super::query::{ParsedQuery, Searched};
use super::scope::Scope;
use crate::access::SEARCH_HITS;
use crate::agencies::AgencyView;
use crate::item::{Agency, Member};
use crate::members::MemberView;
use crate::schema::AGENCIES;

/// The fields of a hit: the key of its item.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Fields {
    pk: One<String>,
    sk: One<String>,
}

pub type SearchResponse = web::search::SearchResponse<Fields>;

/// A page of hits.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    pub items: Vec<FoundItem>,
    pub total: Total,
    /// On the first page, the counts by status of agencies or by role of members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facets: Option<BTreeMap<String, Vec<Count>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// An agency or a member.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundItem {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agency: Option<AgencyView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberView>,
    pub score: f64,
    /// The fragments by field, each in pieces whose concatenation is the text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, Vec<Vec<Piece>>>)]
    pub highlights: Highlights,
}

impl Found {
    /// Loads the items of the hits, without those deleted since they were indexed. Returns the page and the sort values
    /// of its last hit.
    pub async fn load(
        cx: &Context,
        query: &ParsedQuery,
        scope: &Scope,
        mut response: SearchResponse,
        marks: &Marks,
    ) -> Result<(Self, Option<Box<RawValue>>), Problem> {
        let (total, counts) = (response.total(), response.take_counts());
        let (hits, last) = response.page(query.limit);
        let (mut keys, mut found) = (Vec::new(), Vec::new());
        for hit in hits {
            let Some((pk, sk)) = hit.fields.pk.get().zip(hit.fields.sk.get()) else {
                return Err(Problem::internal("a hit lacks its keys"));
            };
            keys.push(Key::new(pk, sk));
            found.push((hit.score.unwrap_or_default(), marks.read(&hit.highlight)));
        }
        let stored = cx.access().table(&SEARCH_HITS, &AGENCIES).batch_get(&keys).await?;
        let mut items = Vec::new();
        for (stored, (score, highlights)) in stored.into_iter().zip(found) {
            let Some(stored) = stored else { continue };
            let item = match query.entity {
                Searched::Agency => {
                    let agency: Agency = stored.read()?;
                    if agency.is_being_deleted() || !scope.has(&agency.agency_id) {
                        continue;
                    }
                    let role = scope.role(&agency.agency_id);
                    FoundItem { agency: Some(AgencyView { role, ..agency.into() }), member: None, score, highlights }
                }
                Searched::Member => {
                    let member = Some(stored.read::<Member>()?.into());
                    FoundItem { agency: None, member, score, highlights }
                }
            };
            items.push(item);
        }
        let facets = (!counts.is_empty()).then_some(counts);
        Ok((Self { items, total, facets, next_cursor: None }, last))
    }
}
