//! `POST /chat/me/export`

use ::jobs::{Job, JobViewOf, Jobs, Start, begin_now};
use table::{AccessPattern, Action, EntityKey};
use web::{Accepted, Context, IdempotencyKey, Problem, Route, Sample, problem};

use super::{Listed, RETENTION_SECONDS};
use crate::access::{BEGIN_JOB, CALLER, LIVE};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::jobs::{ChatJobs, Details, Kind, NewJob};
use crate::keys::ExportKey;
use crate::rates::{self, COUNT, count};
use crate::schema;

/// A new export, in the list of its user's.
const EXPORT_ME: AccessPattern = AccessPattern::new("exportMe", &[LIVE.put(), LIVE.get()]);

const PATH: &str = "/chat/me/export";

pub fn route() -> Route {
    Route::post("exportMe", PATH, SIGNED_IN, create)
        .summary("Create a file of all that is stored about the caller, as lines of JSON; its job has the link")
        .patterns(&[&CALLER, &COUNT, &EXPORT_ME, &BEGIN_JOB])
        .problems(&[problem::FORBIDDEN, BANNED, problem::CONFLICT, problem::TOO_MANY_REQUESTS])
        .sample(Sample::new(PATH))
}

async fn create(cx: Context, once: IdempotencyKey) -> Result<Accepted<JobViewOf<ChatJobs>>, Problem> {
    let caller = Caller::load(&cx).await?;
    if let Some(earlier) = once.earlier(&cx, &EXPORT_ME, &schema::LIVE).await? {
        return Ok(earlier);
    }
    count(&cx, &rates::EXPORTS, &[&caller.id.to_string()]).await?;
    let by = cx.principal().signed_in()?.idpid().to_string();
    let job = Job::new(cx.access(), Kind::Export, Details::default(), Some(by));
    let new = NewJob::new(cx.access(), caller.id, job, Start::After(0))?;
    let listed = Listed { expires: cx.engines().clock.seconds() + RETENTION_SECONDS };
    let mut actions = new.actions.to_vec();
    actions.push(Action::create(&schema::LIVE, ExportKey { user: caller.id, job: new.id }.key(), &listed)?);
    let (id, location) = (new.id, ChatJobs::href(&new.group, new.id));
    let view = JobViewOf::<ChatJobs>::of::<ChatJobs>(new.id, new.job);
    let accepted = once.accept(&cx, &EXPORT_ME, &schema::LIVE, actions, location, &view).await?;
    begin_now::<ChatJobs>(cx.access(), id).await;
    Ok(accepted)
}
