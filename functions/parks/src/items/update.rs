//! `PATCH` of an item

use web::{Accepted, Context, Either, IfMatch, MergePatch, Path, Problem, Route, Tagged, problem};

use super::LoadedItem;
use crate::access::{ALL_RELATIONSHIPS, DATES, ITEM, UPDATE_COLLECTION, UPDATE_ITEM, UPDATE_PRODUCT};
use crate::audit::Audit;
use crate::cascade::{self, BUSY, Visibility};
use crate::dates::{self, DATES_OUTSIDE};
use crate::entity::{Entity, ItemPath};
use crate::fields::MAX_FIELDS_BODY;
use crate::jobs::view::{JobView, accepted};
use crate::names::{Kind, ShapeName};
use crate::patch::FieldsPatch;
use crate::view::{ADMINISTRATORS, ItemView};
use crate::{checks, external_id};

pub fn route<E: Entity>(name: &'static str, summary: &'static str) -> Route {
    let route = Route::patch(name, E::ITEM, ADMINISTRATORS, update::<E>)
        .summary(summary)
        .body_limit(MAX_FIELDS_BODY)
        .rules::<FieldsPatch<E::Fields>>()
        .sample(E::SAMPLES.update);
    let route = match E::KIND {
        Kind::Collection => {
            route.patterns(&[&ITEM, &UPDATE_COLLECTION]).problems(&[problem::NOT_FOUND, problem::CONFLICT])
        }
        Kind::Geozone | Kind::Facility | Kind::Activity => {
            let route = route.patterns(&[&ITEM, &UPDATE_ITEM, &ALL_RELATIONSHIPS]);
            route.problems(&[problem::NOT_FOUND, problem::TAKEN, BUSY, problem::CONFLICT])
        }
        Kind::Product => {
            let route = route.patterns(&[&ITEM, &UPDATE_PRODUCT, &ALL_RELATIONSHIPS, &DATES]);
            route.problems(&[problem::NOT_FOUND, DATES_OUTSIDE, BUSY, problem::CONFLICT])
        }
    };
    elsewhere::<E>().into_iter().fold(route, |route, (member, detail)| route.elsewhere(member, detail))
}

async fn update<E: Entity>(
    cx: Context,
    Path(path): Path<ItemPath<E>>,
    tag: IfMatch,
    MergePatch(patch): MergePatch<FieldsPatch<E::Fields>>,
) -> Result<Either<Tagged<ItemView>, Accepted<JobView>>, Problem> {
    cx.retry_stale(&tag, || async {
        let before = LoadedItem::load_live(&cx, path.key()).await?;
        tag.check(before.tag())?;
        // A job that hides an item with relationships does so in its last step, so until then the item does not tell
        // what it will be.
        if before.item.busy() && before.item.reference().is_some() && patch.has("isVisible") {
            return Err(BUSY.because("Wait until the job that works on the item has ended."));
        }
        let mut after = patch.apply(&before.item).map_err(Problem::internal)?;
        let audit = Audit::now(&cx);
        after.complete(&audit.at);
        let faults = checks::faults(&after);
        if !faults.is_empty() {
            return Err(Problem::faults(faults));
        }
        if after.changes_of(&before.stored)?.is_empty() {
            return Ok(Either::First(before.tagged()));
        }
        after.set_updated(&audit);
        dates::check_range(&cx, &before.item, &after).await?;

        let (release, hold) = if before.item.external_id == after.external_id {
            (None, None)
        } else {
            (external_id::release(&before.item), external_id::hold(&after)?)
        };
        let own_actions = 1 + usize::from(release.is_some()) + usize::from(hold.is_some());
        let (mut cascaded, mut job) = (Vec::new(), None);
        if before.item.visible() != after.visible()
            && let Some(item) = after.reference()
        {
            match cascade::set_visibility(cx.access(), &item, after.visible(), own_actions).await? {
                Visibility::Transaction(transaction) => cascaded = transaction.into_actions(),
                Visibility::TooMany(count) => {
                    let new = cascade::job::set_visibility(cx.access(), &mut after, count)?;
                    cascaded.extend(new.actions.clone());
                    job = Some(new);
                }
            }
        }
        let mut actions = vec![before.update_to(&after)?];
        actions.extend(cascaded);
        actions.extend(release);
        let hold_index = actions.len();
        actions.extend(hold);
        match cx.access().transact(E::UPDATE, &actions).await {
            Ok(rev) => Ok(match job {
                Some(job) => Either::Second(accepted(job.id, job.job)),
                None => Either::First(before.updated(after, rev).tagged()),
            }),
            Err(error) if cascade::is_stale(&error) => Err(Problem::stale()),
            Err(error) => Err(external_id::taken(&error, hold_index).unwrap_or_else(|| cascade::refusal(error))),
        }
    })
    .await
}

/// Fields of an item that clients send although a patch does not update them, each with the way to update it.
fn elsewhere<E: Entity>() -> Vec<(&'static str, String)> {
    const NEVER: &str = "never changes: it is part of the item's keys or identifies the item";
    let never = ["pk", "sk", "collectionId", "number", "globalId", "entity"];
    let mut members: Vec<_> = never.map(|name| (name, NEVER.to_owned())).to_vec();
    members.push(("isDeleted", format!("is not updated here: DELETE the item, or POST to `{}/restore`", E::ITEM)));
    if E::KIND.is_on_map() {
        for shape in ShapeName::ALL {
            let detail = format!("is not updated here: PUT it to `{}/geometry/{shape}`, or DELETE it there", E::ITEM);
            members.push((shape.as_str(), detail));
        }
    }
    let retype = format!("is not updated here: POST to `{}/retype`", E::ITEM);
    match E::KIND {
        Kind::Facility => members.push(("facilityType", retype)),
        Kind::Activity => members.push(("activityType", retype)),
        Kind::Product => {
            members.push(("openRanges", format!("is updated by the system: update `{}/dates`", E::ITEM)));
            members.push(("activityType", NEVER.to_owned()));
        }
        Kind::Collection | Kind::Geozone => {}
    }
    members
}
