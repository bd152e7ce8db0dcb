//! `DELETE /chat/me`

use ::jobs::{Job, JobViewOf, Start, accepted, begin_now};
use table::part::Escaped;
use table::{AccessPattern, Action, Changes, Condition, EntityKey, Error, item};
use web::{Accepted, Context, Kind, Problem, Route, Sample, problem};

use super::Progress;
use super::owned::{OWNED, Owned};
use crate::access::{BEGIN_JOB, CALLER, COMMUNITIES, GROUP_CHATS, LIVE, USERS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::jobs::{ChatJobs, Details, Kind as JobKind, NewJob};
use crate::keys::{LastSeenKey, UserEmailKey, UserKey};
use crate::live::end::{CLOSE_CONNECTIONS, close_connections};
use crate::me::ME;
use crate::names::Millisecond;
use crate::pictures::picture_at;
use crate::schema;
use crate::users::Guard;

const OWNS_THINGS: Kind = Kind::new(409, "owns-things", "The user owns communities or group chats");

/// The mark of a deleted user without personal data, and the job that removes the rest.
const DELETE_ME: AccessPattern = AccessPattern::new(
    "deleteMe",
    &[USERS.get(), USERS.update(), USERS.delete(), COMMUNITIES.check(), GROUP_CHATS.check(), LIVE.put()],
);

/// The personal data in the item of a user.
const PERSONAL: [&str; 7] = ["Name", "PasswordHash", "Email", "Bio", "Location", "AvatarURL", "CoverPhotoURL"];

pub fn route() -> Route {
    Route::delete("deleteMe", ME, SIGNED_IN, delete)
        .summary("Delete the caller's user with all personal data; messages stay under the id")
        .patterns(&[&CALLER, &OWNED, &DELETE_ME, &BEGIN_JOB, &CLOSE_CONNECTIONS])
        .problems(&[problem::FORBIDDEN, BANNED, OWNS_THINGS, problem::CONFLICT])
        .sample(Sample::new(ME))
}

async fn delete(cx: Context) -> Result<Accepted<JobViewOf<ChatJobs>>, Problem> {
    let new = cx.retry(|| mark(&cx)).await?;
    close_connections(cx.access(), new.group, None).await?;
    begin_now::<ChatJobs>(cx.access(), new.id).await;
    Ok(accepted::<ChatJobs>(&new.group, new.id, new.job))
}

/// Marks the caller as deleted, and creates the job in the same transaction.
async fn mark(cx: &Context) -> Result<NewJob, Problem> {
    let Caller { id, user, stored, .. } = Caller::load(cx).await?;
    let owned = Owned::load(cx, id).await?;
    if !owned.is_empty() {
        let detail = "Hand over or delete the communities and group chats in `owned` first.";
        return Err(OWNS_THINGS.because(detail).with("owned", owned.list()));
    }
    let pictures = [user.avatar_url, user.cover_photo_url].into_iter().flatten();
    let progress = Progress::first(pictures.filter_map(|url| picture_at(&url)).collect());
    let by = cx.principal().signed_in()?.idpid().to_string();
    let job = Job::new(cx.access(), JobKind::DeleteUser, Details::default(), Some(by)).at(&progress)?;
    let new = NewJob::new(cx.access(), id, job, Start::After(0))?;
    let at = Millisecond::now(&cx.engines().clock).to_string();
    let marked = Changes::new().set("DeletedAt", item::text(at));
    let marked = PERSONAL.iter().fold(marked, |changes, name| changes.remove(name));
    let mut actions = vec![Action::update(&schema::USERS, UserKey { user: id }.key(), marked).if_unchanged(&stored)];
    actions.extend(owned.unchanged);
    actions.extend(new.actions.iter().cloned());
    actions.push(Action::delete(&schema::USERS, LastSeenKey { user: id }).or_absent());
    if let Some(Ok(email)) = user.email.map(|email| Escaped::new(email.to_lowercase())) {
        let key = UserEmailKey { email }.key();
        let guard = cx.access().table(&DELETE_ME, &schema::USERS).get_consistent(key.clone()).await?;
        let guard = guard.map(|stored| stored.read::<Guard>()).transpose()?;
        // The address of a person from another issuer has no guard, or that of another user.
        if guard.is_some_and(|guard| guard.user_id == id) {
            let is_own = Condition::Equals("UserId", item::text(id.to_string()));
            actions.push(Action::delete(&schema::USERS, key).when(is_own));
        }
    }
    match cx.access().transact(&DELETE_ME, &actions).await {
        Ok(_) => Ok(new),
        Err(Error::ConditionFailed(_)) => Err(Problem::lost_race()),
        Err(error) => Err(error.into()),
    }
}
