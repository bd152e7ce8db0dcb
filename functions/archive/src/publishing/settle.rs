//! The phase `settling`: records reach search by the stream alone, so the run waits until search holds them, and no longer
//! than ten minutes.

use ::jobs::{Step, Then};
use serde::Deserialize;
use serde_json::json;
use table::Access;
use web::Problem;

use super::checkpoint::Checkpoint;
use super::run_step::{RunWork, step};
use crate::access::{ALIAS, COUNT_RECORDS};
use crate::hidden;
use crate::names::{PostId, RunNumber};
use crate::runs::Phase;

/// How long a run waits for search, in seconds.
const MAX_SECONDS: i64 = 600;

pub async fn step_settle(access: &Access, work: &RunWork<'_>, mut checkpoint: Checkpoint) -> Result<Step, Problem> {
    let held = records_in_search(access, work.post, work.run.run).await;
    let is_settled = held.is_some_and(|held| held >= u64::from(checkpoint.totals.records));
    let now = access.engines().clock.seconds();
    if is_settled || checkpoint.settles_until.is_some_and(|until| until <= now) {
        (checkpoint.search_lag, checkpoint.settles_until) = (!is_settled, None);
        checkpoint.enter(Phase::Switching);
        return step(work, checkpoint, Vec::new(), Then::Continue);
    }
    checkpoint.settles_until.get_or_insert(now + MAX_SECONDS);
    let pause = pause(checkpoint.looks);
    checkpoint.looks += 1;
    step(work, checkpoint, Vec::new(), Then::Wait(pause))
}

/// Returns the seconds until the next look, after this number of looks. A short file is in search within seconds.
pub fn pause(looks: u32) -> u64 {
    match looks {
        0..10 => 1,
        10..20 => 5,
        _ => 15,
    }
}

/// Returns how many records of a run search holds. None if search does not answer.
pub async fn records_in_search(access: &Access, post: PostId, run: RunNumber) -> Option<u64> {
    #[derive(Deserialize)]
    struct Answer {
        hits: Hits,
    }
    #[derive(Deserialize)]
    struct Hits {
        total: Total,
    }
    #[derive(Deserialize)]
    struct Total {
        value: u64,
    }
    let filter = json!([{ "term": { "run": hidden::name(post, run) } }]);
    let body = json!({ "size": 0, "track_total_hits": true, "query": { "bool": { "filter": filter } } });
    match access.search::<Answer>(&COUNT_RECORDS, ALIAS, &body).await {
        Ok(answer) => Some(answer.hits.total.value),
        Err(error) => {
            tracing::warn!(%error, "search did not say how many records it holds; the run looks again");
            None
        }
    }
}
