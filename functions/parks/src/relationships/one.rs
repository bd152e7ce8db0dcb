//! `PUT`, `GET` and `DELETE` of one relationship, whichever of its ends is named first.

use http::StatusCode;
use serde::{Deserialize, Serialize};
use table::{Action, Backoff, Cause, Condition, Error, Rev, Stored};
use utoipa::ToSchema;
use web::{Answer, Fault, Problem, Request, problem};

use super::{End, Joined, NOT_ALLOWED, Pair, Relationship};
use crate::access;
use crate::item::Item;
use crate::items::stamp;
use crate::names::Kind;
use crate::schema::PARKS;
use crate::structure::{BUSY, as_read, counters};
use crate::view::{AskedView, View};

/// The keys of both ends, in either order.
#[derive(Debug, Deserialize, ToSchema)]
pub struct RelationshipPath {
    #[schema(example = "geozone::bcparks_1")]
    pub pk1: String,
    #[schema(example = "1")]
    pub sk1: String,
    #[schema(example = "facility::bcparks_1")]
    pub pk2: String,
    #[schema(example = "campground::1")]
    pub sk2: String,
}

#[derive(Debug, Deserialize, ToSchema)]
pub struct RelationshipQuery {
    /// `public` shows an administrator what visitors see.
    #[serde(default)]
    #[schema(nullable = false)]
    pub view: Option<AskedView>,
}

/// A relationship with its ends in the order of directions: geozone, facility, activity, product; of one entity, the
/// smaller key first.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Relationship)]
pub struct RelationshipView {
    pub pk1: String,
    pub sk1: String,
    pub entity1: Kind,
    pub pk2: String,
    pub sk2: String,
    pub entity2: Kind,
    /// For administrators only, as is what follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
}

pub async fn relate(request: Request) -> Result<Answer, Problem> {
    let pair = pair(&request, no_item)?;
    let mut backoff = Backoff::new();
    loop {
        let (first, second) = (live(&request, &pair.first).await?, live(&request, &pair.second).await?);
        let (now, who) = stamp(&request);
        let joined = |end: &End, item| Joined::of(end.clone(), item);
        let new = Relationship::new(joined(&pair.first, &first), joined(&pair.second, &second), now, who);
        // What a job detaches or brings back at this moment has an order of its own.
        let idle = |item: &Item| as_read(item).when(Condition::Absent("busy"));
        let actions = [
            idle(&first),
            idle(&second),
            new.create()?,
            counters::add(counters::of_relationships(&pair.first), 1),
            counters::add(counters::of_relationships(&pair.second), 1),
        ];
        let error = match request.access().transact(&access::RELATE, &actions).await {
            Ok(rev) => return Ok(created(&new, rev)),
            Err(error) => error,
        };
        // An end that has changed is looked at again: it may be gone by now.
        let there = error.failed(2).is_some_and(|failed| failed.cause == Cause::Exists);
        if there && error.failed(0).is_none() && error.failed(1).is_none() {
            let stored = request.access().table(&access::RELATE, &PARKS).get_consistent(pair.key()).await?;
            if let Some(stored) = stored {
                return answer(&stored, View::Administrator);
            }
        }
        if !matches!(error, Error::ConditionFailed(_)) {
            return Err(error.into());
        }
        if !backoff.wait().await {
            return Err(Problem::conflict());
        }
    }
}

pub async fn get(request: Request) -> Result<Answer, Problem> {
    let pair = pair(&request, |_, _| Problem::not_found())?;
    let view = View::of(&request, request.query::<RelationshipQuery>()?.view);
    let parks = request.access().table(&access::ITEM, &PARKS);
    let stored = match view {
        View::Visitor => parks.get(pair.key()).await?,
        View::Administrator => parks.get_consistent(pair.key()).await?,
    };
    let stored = stored.ok_or_else(Problem::not_found)?;
    if view == View::Visitor && !Relationship::read(&stored)?.public() {
        return Err(Problem::not_found());
    }
    answer(&stored, view)
}

pub async fn unrelate(request: Request) -> Result<Answer, Problem> {
    let pair = pair(&request, |_, _| Problem::not_found())?;
    let end = Action::delete(&PARKS, pair.key());
    let end = match request.if_match().rev()? {
        Some(rev) => end.if_rev(rev),
        None => end,
    };
    let actions = [
        end,
        counters::add(counters::of_relationships(&pair.first), -1),
        counters::add(counters::of_relationships(&pair.second), -1),
    ];
    match request.access().transact(&access::UNRELATE, &actions).await {
        Ok(_) => Ok(Answer::no_content()),
        Err(error) => Err(match error.failed(0).map(|failed| failed.cause) {
            Some(Cause::Missing) => Problem::not_found(),
            Some(Cause::Stale) => Problem::stale(),
            _ => error.into(),
        }),
    }
}

/// What is told to who relates, of an end that is not there: which of the two it is.
fn no_item(pk: &str, sk: &str) -> Problem {
    const LONGEST: usize = 100;
    let shown = |text: &str| -> String { text.chars().take(LONGEST).collect() };
    problem::NOT_FOUND.because(format!(
        "There is no `{}` with the sort key `{}`, or it is deleted.",
        shown(pk),
        shown(sk)
    ))
}

/// The pair that the path names. What no item of any kind could be called is not found, as `missing` tells it; what may
/// not be joined is a fault.
fn pair(request: &Request, missing: fn(&str, &str) -> Problem) -> Result<Pair, Problem> {
    let path: RelationshipPath = request.path()?;
    let named = [("pk1", &path.pk1, &path.sk1), ("pk2", &path.pk2, &path.sk2)];
    let collections = named.iter().filter(|(_, pk, _)| *pk == Kind::Collection.as_str());
    let faults: Vec<Fault> =
        collections.map(|(name, ..)| Fault::parameter(*name, format!("expected {}", End::EXPECTED))).collect();
    if !faults.is_empty() {
        return Err(Problem::faults(faults));
    }
    let end = |pk: &str, sk: &str| End::of(pk, sk).ok_or_else(|| missing(pk, sk));
    let (one, other) = (end(&path.pk1, &path.sk1)?, end(&path.pk2, &path.sk2)?);
    Pair::new(one, other).ok_or_else(|| Problem::faults(vec![Fault::parameter("pk2", NOT_ALLOWED)]))
}

/// The item at this end, if it is there, not deleted, and no job at work on it.
async fn live(request: &Request, end: &End) -> Result<Item, Problem> {
    let stored = request.access().table(&access::RELATE, &PARKS).get_consistent(end.key()).await?;
    let missing = || no_item(end.pk(), end.sk());
    let item: Item = stored.ok_or_else(missing)?.read()?;
    if item.deleted() {
        return Err(missing());
    }
    if item.busy() { Err(BUSY.because("A job is still at work on one of them.")) } else { Ok(item) }
}

fn created(new: &Relationship, rev: Rev) -> Answer {
    let view = RelationshipView::new(new, View::Administrator);
    let location = format!("/parks/relationships/{}/{}/{}/{}", view.pk1, view.sk1, view.pk2, view.sk2);
    View::Administrator.cached(Answer::json(StatusCode::CREATED, &view).location(location).etag(rev))
}

fn answer(stored: &Stored, view: View) -> Result<Answer, Problem> {
    let relationship = Relationship::read(stored)?;
    Ok(view.cached(Answer::ok(&RelationshipView::new(&relationship, view)).etag(view.tag(stored.rev.into()))))
}

impl RelationshipView {
    pub fn new(relationship: &Relationship, view: View) -> Self {
        let administrators = |text: &Option<String>| text.clone().filter(|_| view == View::Administrator);
        let (first, second) = (&relationship.first.end, &relationship.second.end);
        Self {
            pk1: first.pk().to_owned(),
            sk1: first.sk().to_owned(),
            entity1: first.kind(),
            pk2: second.pk().to_owned(),
            sk2: second.sk().to_owned(),
            entity2: second.kind(),
            created_at: administrators(&relationship.created_at),
            created_by: administrators(&relationship.created_by),
        }
    }
}
