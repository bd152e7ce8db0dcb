//! `DELETE /archive/records/{recordId}`

use table::{Action, Changes, Error};
use web::{Context, IfMatch, NoContent, Path, Problem, Route, Sample, problem};

use super::address::{TakenDown, taken_down};
use super::find::{Found, find_own};
use super::household::{HouseholdChange, LoadedHousehold};
use super::{ONE, RecordPath, SAMPLE, WITHDRAWN, in_transit};
use crate::access::{CALLER, CREATE_USER, DELETE_RECORD, NEXT_IDS, ONE as ONE_ITEM, RECORD};
use crate::audit::now;
use crate::authorization::{Caller, SIGNED_IN};
use crate::item::Post;
use crate::keys::{CollectionUseKey, PostRunKey, RecordAddressKey};
use crate::names::{Role, UserId};
use crate::posts::IN_TRANSIT;
use crate::posts::unpublish::NOT_PUBLISHED;
use crate::runs::Run;
use crate::schema::ARCHIVE;

pub fn route() -> Route {
    Route::delete("deleteRecord", ONE, SIGNED_IN, delete)
        .summary("Take down a record for good; later runs of its post leave its row out")
        .patterns(&[&CALLER, &CREATE_USER, &NEXT_IDS, &RECORD, &ONE_ITEM, &DELETE_RECORD])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, WITHDRAWN, NOT_PUBLISHED, IN_TRANSIT, problem::CONFLICT])
        .sample(Sample::new(SAMPLE))
}

async fn delete(cx: Context, Path(path): Path<RecordPath>, tag: IfMatch) -> Result<NoContent, Problem> {
    let caller = Caller::with_role(&cx, Role::Editor).await?;
    cx.retry_stale(&tag, || async {
        let found = find_own(&cx, &caller, path.record_id).await?;
        tag.check(found.stored.rev)?;
        if found.post.status.is_in_transit() {
            return Err(in_transit());
        }
        let user = caller.clone().into_user(&cx).await?;
        take_down(&cx, found, user.id).await
    })
    .await?;
    Ok(NoContent)
}

/// Deletes a record, and says so in its address, its household and all counts.
async fn take_down(cx: &Context, found: Found, by: UserId) -> Result<(), Problem> {
    let Found { record, stored, post, stored_post } = found;
    let table = cx.access().table(&DELETE_RECORD, &ARCHIVE);
    let stored_run = table.get_consistent(PostRunKey { post: post.id, run: record.run }).await?;
    let stored_run = stored_run.ok_or_else(Problem::lost_race)?;
    let run: Run = stored_run.read()?;
    let at = now(cx);
    let household = match LoadedHousehold::load(table, post.id, &record).await? {
        Some(household) => household.without(record.id, &at)?,
        None => HouseholdChange::default(),
    };
    let gone = u32::from(household.is_empty);
    let post_after = Post {
        record_count: post.record_count.saturating_sub(1),
        household_count: post.household_count.saturating_sub(gone.into()),
        updated_at: at.clone(),
        ..post.clone()
    };
    let mut run_after = run.clone();
    run_after.totals.records = run.totals.records.saturating_sub(1);
    run_after.totals.households = run.totals.households.saturating_sub(gone);
    run_after.corrected.remove(&record.permanent_id);
    run_after.taken_down.insert(record.permanent_id);
    let collection = CollectionUseKey { collection: post.collection_id };
    let address = taken_down(post.id, &record, TakenDown { by, at })?;
    let mut actions = vec![
        Action::delete(&ARCHIVE, stored.key.clone()).if_unchanged(&stored),
        Action::update(&ARCHIVE, stored_post.key.clone(), Changes::between(&post, &post_after)?)
            .if_unchanged(&stored_post),
        Action::update(&ARCHIVE, stored_run.key.clone(), Changes::between(&run, &run_after)?).if_unchanged(&stored_run),
        Action::update(&ARCHIVE, collection, Changes::new().add("records", -1)),
        Action::update(&ARCHIVE, RecordAddressKey { record: record.permanent_id }, address).or_absent(),
    ];
    actions.extend(household.actions);
    match cx.access().transact(&DELETE_RECORD, &actions).await {
        Ok(_) => Ok(()),
        Err(error) if error.failed(0).is_some() => Err(Problem::stale()),
        Err(Error::ConditionFailed(_)) => Err(Problem::lost_race()),
        Err(error) => Err(error.into()),
    }
}
