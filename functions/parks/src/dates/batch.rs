//! Writes many dates in transactions of up to 99, each with the product. A request that ends between two transactions can
//! be sent again: it writes the rest.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use table::{AccessPattern, Action, EntityKey, Error, Rev};
use utoipa::ToSchema;
use web::route::MAX_TIMEOUT;
use web::{Context, Fault, IfMatch, Problem};

use super::product::LoadedProduct;
use super::{LoadedDate, ProductDate, key, load_among};
use crate::cascade;
use crate::days::{Day, Days};
use crate::keys::ProductKey;
use crate::schema::PARKS;

/// The timeout of these operations: a year needs four transactions, each of which may have to wait for other requests.
pub const BATCH_TIMEOUT: Duration = MAX_TIMEOUT;

/// The limit of days of a request.
const MAX_DAYS: usize = 366;

/// The limit of dates in a transaction, whose 100th action is the product's.
const BATCH: usize = 99;

/// The limit of bytes of the dates in a transaction, which DynamoDB limits to 4 MB with the product.
const MAX_BYTES: usize = 3_000_000;

#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
pub struct DaysQuery {
    pub from: Day,
    /// At most 365 days later.
    pub to: Day,
}

/// The write of one date.
#[derive(Debug)]
pub enum Edit {
    Create(ProductDate),
    Update(LoadedDate, ProductDate),
    Delete(LoadedDate),
}

/// The place of a fault of the days: a parameter, or a member of the body.
pub type FaultAt = fn(&'static str, String) -> Fault;

pub fn at_parameter(name: &'static str, detail: String) -> Fault {
    Fault::parameter(name, detail)
}

pub fn at_member(name: &'static str, detail: String) -> Fault {
    Fault::pointer(format!("/{name}"), detail)
}

/// The days of a request. 400 if they are in the wrong order or too many.
pub fn days(from: Day, to: Day, fault_at: FaultAt) -> Result<Days, Problem> {
    let fault = |detail| Err(Problem::faults(vec![fault_at("to", detail)]));
    match Days::new(from, to) {
        None => fault(format!("must not be before `from`, which is {from}")),
        Some(days) if days.count() > MAX_DAYS => fault(format!("must be at most {} days after `from`", MAX_DAYS - 1)),
        Some(days) => Ok(days),
    }
}

/// Carries out the edits that `plan` returns for the dates among these days, and returns their number. After another
/// request has changed the product, `plan` is called again for the remaining days; with `If-Match` that is 412.
pub async fn edit_all(
    cx: &Context,
    pattern: &'static AccessPattern,
    product: &ProductKey,
    tag: &IfMatch,
    days: Days,
    fault_at: FaultAt,
    plan: impl Fn(Days, BTreeMap<Day, LoadedDate>) -> Result<Vec<(Day, Edit)>, Problem>,
) -> Result<usize, Problem> {
    // The next day of the last transaction follows, so that two requests with opposite edits do not undo each other.
    let (mut left, mut done, mut rev) = (Some(days), 0, None);
    while let Some(days_left) = left {
        let attempt = || async {
            let mut loaded = LoadedProduct::load(cx, product).await?;
            check_unchanged(tag, &loaded, rev)?;
            check_range(&loaded, days, fault_at)?;
            let dates = load_among(cx.access(), product, days_left).await?;
            let mut edits = plan(days_left, dates)?;
            edits.truncate(fitting(&edits)?);
            let Some(&(last, _)) = edits.last() else { return Ok(None) };
            let (actions, writes_product) = transaction(&mut loaded, product, &edits)?;
            // If no day opens or closes, another request may also update a date without its product.
            let new = cx.access().transact(pattern, &actions).await.map_err(cascade::refusal)?;
            Ok(Some((last, edits.len(), if writes_product { Some(new) } else { loaded.rev() })))
        };
        let Some((last, count, new)) = cx.retry_stale(tag, attempt).await? else { return Ok(done) };
        done += count;
        rev = new;
        left = last.after().and_then(|next| Days::new(next, days.to()));
    }
    Ok(done)
}

/// The number of the first edits that one transaction can carry out.
fn fitting(edits: &[(Day, Edit)]) -> Result<usize, Problem> {
    let (mut count, mut bytes) = (0, 0);
    for (_, edit) in edits.iter().take(BATCH) {
        bytes += match edit {
            Edit::Create(date) | Edit::Update(_, date) => serde_json::to_vec(date).map_err(Problem::internal)?.len(),
            Edit::Delete(_) => 0,
        };
        if bytes > MAX_BYTES && count > 0 {
            break;
        }
        count += 1;
    }
    Ok(count)
}

/// With a tag in `If-Match`, 412 unless the product is as the client has read it, or as this request has written it.
fn check_unchanged(tag: &IfMatch, product: &LoadedProduct, rev: Option<Rev>) -> Result<(), Problem> {
    match rev {
        None => tag.check(product.loaded.tag()),
        Some(_) if rev == product.rev() || !tag.names_tags() => Ok(()),
        Some(_) => Err(Problem::stale()),
    }
}

/// 422 for days outside the product's range.
fn check_range(product: &LoadedProduct, days: Days, fault_at: FaultAt) -> Result<(), Problem> {
    let (from, to) = product.outside(days);
    let range = product.loaded.item.range().map_or_else(|| "which it lacks".to_owned(), |range| range.to_string());
    let fault = |name, day: Day| fault_at(name, format!("is {day}, outside the product's range, {range}"));
    let faults: Vec<Fault> =
        [("from", from), ("to", to)].into_iter().filter_map(|(name, day)| Some(fault(name, day?))).collect();
    if faults.is_empty() { Ok(()) } else { Err(Problem::unprocessable(faults)) }
}

/// The actions, first the product's, and whether that one is a write.
fn transaction(
    product: &mut LoadedProduct,
    product_key: &ProductKey,
    edits: &[(Day, Edit)],
) -> Result<(Vec<Action>, bool), Error> {
    let mut actions = Vec::with_capacity(edits.len() + 1);
    let mut creates = false;
    for (day, edit) in edits {
        actions.push(match edit {
            Edit::Create(date) => {
                creates = true;
                product.set_date(*day, Some(date));
                Action::create(&PARKS, key(product_key, *day).key(), date)?
            }
            Edit::Update(loaded, after) => {
                product.set_date(*day, Some(after));
                let changes = loaded.changes_to(after)?;
                Action::update(&PARKS, loaded.stored.key.clone(), changes).if_unchanged(&loaded.stored)
            }
            Edit::Delete(loaded) => {
                product.set_date(*day, None);
                Action::delete(&PARKS, loaded.stored.key.clone()).if_unchanged(&loaded.stored)
            }
        });
    }
    // A new date changes the product even if no day opens, so that a concurrent update of its range sees the date.
    let writes = creates || product.has_changed();
    actions.insert(0, if writes { product.update()? } else { product.check_unchanged() });
    Ok((actions, writes))
}
