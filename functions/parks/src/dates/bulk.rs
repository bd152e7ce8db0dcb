//! Many dates at once: in transactions of up to 99, each with its product. A request that ends between two of them can
//! be sent again: it goes on with what is left.

use std::collections::BTreeMap;

use serde::Deserialize;
use table::{AccessPattern, Action, Backoff, EntityKey, Error, Rev};
use utoipa::ToSchema;
use web::{Fault, Problem, Request};

use super::season::Season;
use super::{ProductDate, ReadDate, all_among, key};
use crate::days::{Day, Days};
use crate::items::{again, lost};
use crate::keys::ProductKey;
use crate::schema::PARKS;

/// The most days of one request.
const DAYS: usize = 366;

/// A transaction has at most 100 actions, and one is the product's.
const AT_ONCE: usize = 99;

/// The days that a request is about.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
pub struct DaysQuery {
    pub from: Day,
    /// At most 365 days later.
    pub to: Day,
}

/// What becomes of one date.
#[derive(Debug)]
pub enum Edit {
    Make(ProductDate),
    Change(ReadDate, ProductDate),
    Delete(ReadDate),
}

/// Where a fault of the days is told: at a parameter, or at a member of the body.
pub type At = fn(&'static str, String) -> Fault;

pub fn at_parameter(name: &'static str, detail: String) -> Fault {
    Fault::parameter(name, detail)
}

pub fn at_member(name: &'static str, detail: String) -> Fault {
    Fault::pointer(format!("/{name}"), detail)
}

/// The days of a request, in order and not too many.
pub fn days(from: Day, to: Day, at: At) -> Result<Days, Problem> {
    let fault = |detail| Err(Problem::faults(vec![at("to", detail)]));
    match Days::new(from, to) {
        None => fault(format!("must not lie before `from`, which is {from}")),
        Some(days) if days.count() > DAYS => fault(format!("must be at most {} days after `from`", DAYS - 1)),
        Some(days) => Ok(days),
    }
}

/// Carries out what the plan says of the dates among these days, and says how many it was. The plan is asked anew of
/// what is left whenever others have changed the product; under `If-Match` that is 412.
pub async fn carry_out(
    request: &Request,
    pattern: &'static AccessPattern,
    product: &ProductKey,
    days: Days,
    at: At,
    plan: impl Fn(Days, BTreeMap<Day, ReadDate>) -> Result<Vec<(Day, Edit)>, Problem>,
) -> Result<usize, Problem> {
    let (mut left, mut done, mut rev) = (days, 0, None);
    let mut backoff = Backoff::new();
    loop {
        let mut season = Season::read(request, product).await?;
        expect(request, &season, rev)?;
        inside(&season, days, at)?;
        let dates = all_among(request.access(), product, left).await?;
        let mut edits = plan(left, dates)?;
        edits.truncate(AT_ONCE);
        let Some(&(last, _)) = edits.last() else { return Ok(done) };
        let (actions, writes_product) = transaction(&mut season, &edits)?;
        match request.access().transact(pattern, &actions).await {
            Ok(new) => {
                done += edits.len();
                backoff = Backoff::new();
                rev = if writes_product { Some(new) } else { season.rev() };
                // Not from the start: two requests that want opposite things would never end.
                let Some(rest) = last.after().and_then(|next| Days::new(next, days.to())) else { return Ok(done) };
                left = rest;
            }
            // Where no day opens or closes, others may also change a date without its product.
            Err(error @ Error::ConditionFailed(_)) => {
                if lost(&error) {
                    again(request)?;
                }
                if !backoff.wait().await {
                    return Err(Problem::conflict());
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Under `If-Match` the product is as the client knows it, or as this request has left it.
fn expect(request: &Request, season: &Season, rev: Option<Rev>) -> Result<(), Problem> {
    match rev {
        None => request.if_match().check(season.read.tag()),
        Some(_) if rev == season.rev() => Ok(()),
        Some(_) => again(request),
    }
}

/// 422 for days outside the product's range.
fn inside(season: &Season, days: Days, at: At) -> Result<(), Problem> {
    let (from, to) = season.outside(days);
    let range = season.read.item.range().map_or_else(|| "which it lacks".to_owned(), |range| format!("{range}"));
    let fault = |(name, day): (&'static str, Day)| at(name, format!("is {day}, outside the product's range, {range}"));
    let faults: Vec<Fault> =
        [("from", from), ("to", to)].into_iter().filter_map(|(name, day)| Some(fault((name, day?)))).collect();
    if faults.is_empty() { Ok(()) } else { Err(Problem::unprocessable(faults)) }
}

/// The product's action and those of its dates, and whether the product's is a write.
fn transaction(season: &mut Season, edits: &[(Day, Edit)]) -> Result<(Vec<Action>, bool), Problem> {
    let mut actions = Vec::with_capacity(edits.len() + 1);
    let mut made = false;
    for (day, edit) in edits {
        actions.push(match edit {
            Edit::Make(date) => {
                made = true;
                season.note(*day, Some(date));
                Action::create(&PARKS, key(&season.product, *day).key(), date)?
            }
            Edit::Change(read, after) => {
                season.note(*day, Some(after));
                let changes = read.changes_to(after)?;
                Action::update(&PARKS, read.stored.key.clone(), changes).if_unchanged(&read.stored)
            }
            Edit::Delete(read) => {
                season.note(*day, None);
                Action::delete(&PARKS, read.stored.key.clone()).if_unchanged(&read.stored)
            }
        });
    }
    // A new date changes the product even where no day opens: a narrower range must not overlook it.
    let writes = made || season.differs();
    actions.insert(0, if writes { season.keep()? } else { season.unchanged() });
    Ok((actions, writes))
}
