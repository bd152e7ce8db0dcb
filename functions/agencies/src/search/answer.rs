//! What is answered: hits as the table has them today.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use table::Key;
use utoipa::ToSchema;
use web::search::{Count, Highlights, Marks, One, Piece, Total};
use web::{Problem, Request};

use super::form::{Question, Searched};
use super::scope::Scope;
use crate::access::FOUND;
use crate::agencies::AgencyView;
use crate::item::{Agency, Member};
use crate::members::MemberView;
use crate::schema::AGENCIES;

/// What of a document is asked for: its item's key.
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
    /// On the first page, how many there are of each status of agencies, or of each role of members.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub facets: Option<BTreeMap<String, Vec<Count>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_cursor: Option<String>,
}

/// An agency or a member.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundItem {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub agency: Option<AgencyView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub member: Option<MemberView>,
    pub score: f64,
    /// By field its fragments, each in pieces; joined these are the text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, Vec<Vec<Piece>>>)]
    pub highlights: Highlights,
}

impl Found {
    /// The page, and the sort values after which the next one goes on. What is gone by now is left out.
    pub async fn read(
        request: &Request,
        question: &Question,
        scope: &Scope,
        mut response: SearchResponse,
        marks: &Marks,
    ) -> Result<(Self, Option<Box<RawValue>>), Problem> {
        let (total, counts) = (response.total(), response.take_counts());
        let (hits, last) = response.page(question.limit);
        let (mut keys, mut found) = (Vec::new(), Vec::new());
        for hit in hits {
            let Some((pk, sk)) = hit.fields.pk.get().zip(hit.fields.sk.get()) else {
                return Err(Problem::internal("a hit lacks its keys"));
            };
            keys.push(Key::new(pk, sk));
            found.push((hit.score.unwrap_or_default(), marks.read(&hit.highlight)));
        }
        let stored = request.access().table(&FOUND, &AGENCIES).batch_get(&keys).await?;
        let mut items = Vec::new();
        for (stored, (score, highlights)) in stored.into_iter().zip(found) {
            let Some(stored) = stored else { continue };
            let item = match question.entity {
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
