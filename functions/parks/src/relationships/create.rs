//! `PUT` of a relationship: creates it, unless it exists.

use table::{Cause, Condition};
use web::{Context, Created, Either, Path, Problem, Route, Sample, Tagged, problem};

use super::{ONE, RelatedItem, Relationship, RelationshipPath, RelationshipView, SAMPLE, get};
use crate::access::CREATE_RELATIONSHIP;
use crate::audit::Audit;
use crate::cascade::{BUSY, check_visibility, counters};
use crate::item::Item;
use crate::keys::ItemRef;
use crate::schema::PARKS;
use crate::view::{ADMINISTRATORS, View};

pub fn route() -> Route {
    Route::put("createRelationship", ONE, ADMINISTRATORS, create)
        .summary("Create a relationship of two items in either order, unless it exists")
        .patterns(&[&CREATE_RELATIONSHIP])
        .problems(&[problem::NOT_FOUND, BUSY, problem::CONFLICT])
        .sample(Sample::new(SAMPLE).expects(201))
}

async fn create(
    cx: Context,
    Path(path): Path<RelationshipPath>,
) -> Result<Either<Tagged<RelationshipView>, Created<RelationshipView>>, Problem> {
    let pair = path.pair(no_item)?;
    let view = View::Administrator;
    cx.retry(|| async {
        let (first, second) = (load_live(&cx, &pair.first).await?, load_live(&cx, &pair.second).await?);
        let related = |reference: &ItemRef, item| RelatedItem::new(reference.clone(), item);
        let (one, other) = (related(&pair.first, &first), related(&pair.second, &second));
        let new = Relationship::new(one, other, Audit::now(&cx));
        // A job detaches and restores the relationships of a busy item in another order.
        let check_idle = |item: &Item| check_visibility(item).when(Condition::Absent("busy"));
        let actions = [
            check_idle(&first),
            check_idle(&second),
            new.create()?,
            counters::add(counters::of_relationships(&pair.first), 1),
            counters::add(counters::of_relationships(&pair.second), 1),
        ];
        let error = match cx.access().transact(&CREATE_RELATIONSHIP, &actions).await {
            Ok(rev) => {
                let body = RelationshipView::new(&new, view);
                let location = format!("/parks/relationships/{}/{}/{}/{}", body.pk1, body.sk1, body.pk2, body.sk2);
                let created = Created::new(location, rev, &body);
                return Ok(Either::Second(created.map(|answer| view.cached(answer))));
            }
            Err(error) => error,
        };
        // If an item has changed as well, it may be deleted by now, so it is read again.
        let exists = error.failed(2).is_some_and(|failed| failed.cause == Cause::Exists);
        if exists && error.failed(0).is_none() && error.failed(1).is_none() {
            let stored = cx.access().table(&CREATE_RELATIONSHIP, &PARKS).get_consistent(pair.key()).await?;
            if let Some(stored) = stored {
                return Ok(Either::First(get::tagged(&stored, view)?));
            }
        }
        Err(match error {
            table::Error::ConditionFailed(_) => Problem::lost_race(),
            error => error.into(),
        })
    })
    .await
}

/// Loads one of the items. 404 if it does not exist or is deleted, 409 if a job is changing it.
async fn load_live(cx: &Context, item: &ItemRef) -> Result<Item, Problem> {
    let stored = cx.access().table(&CREATE_RELATIONSHIP, &PARKS).get_consistent(item.key()).await?;
    let missing = || no_item(item.pk(), item.sk());
    let item: Item = stored.ok_or_else(missing)?.read()?;
    if item.deleted() {
        return Err(missing());
    }
    if item.busy() {
        Err(BUSY.because("A job is changing one of the items. Try again when it has ended."))
    } else {
        Ok(item)
    }
}

/// 404 with the key of the item that does not exist.
fn no_item(pk: &str, sk: &str) -> Problem {
    const MAX_LENGTH: usize = 100;
    let shortened = |text: &str| -> String { text.chars().take(MAX_LENGTH).collect() };
    problem::NOT_FOUND.because(format!(
        "There is no `{}` with the sort key `{}`, or it is deleted.",
        shortened(pk),
        shortened(sk)
    ))
}
