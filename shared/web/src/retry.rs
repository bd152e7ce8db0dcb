//! Reading and deciding again after another request has changed the same items.

use table::Backoff;

use crate::{Context, IfMatch, Problem, problem};

impl Context {
    /// Runs `attempt` again, after growing pauses, as long as it fails with 412 or [`Problem::lost_race`]: it reads the
    /// present state and decides again. A client that sent a tag in `If-Match` has said which state it means, so there
    /// the first 412 is the response. 409 `conflict` after [`Backoff::LONGEST`].
    pub async fn retry_stale<T, F>(&self, tag: &IfMatch, attempt: impl FnMut() -> F) -> Result<T, Problem>
    where
        F: Future<Output = Result<T, Problem>>,
    {
        retry(attempt, |problem| problem.is_lost_race() || !tag.names_tags() && is_stale(problem)).await
    }

    /// The loop of [`Self::retry_stale`] for a route that does not take `If-Match`.
    pub async fn retry<T, F>(&self, attempt: impl FnMut() -> F) -> Result<T, Problem>
    where
        F: Future<Output = Result<T, Problem>>,
    {
        retry(attempt, |problem| problem.is_lost_race() || is_stale(problem)).await
    }
}

fn is_stale(problem: &Problem) -> bool {
    problem.kind() == problem::STALE
}

async fn retry<T, F>(mut attempt: impl FnMut() -> F, again: impl Fn(&Problem) -> bool) -> Result<T, Problem>
where
    F: Future<Output = Result<T, Problem>>,
{
    let mut backoff = Backoff::new();
    loop {
        match attempt().await {
            Err(problem) if again(&problem) => {
                if !backoff.wait().await {
                    return Err(Problem::conflict());
                }
            }
            outcome => return outcome,
        }
    }
}
