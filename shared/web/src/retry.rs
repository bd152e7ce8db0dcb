//! Reading and deciding again after another request has changed the same items.

use table::Backoff;

use crate::{Context, IfMatch, Problem, problem};

impl Context {
    /// Runs `attempt` again, after growing pauses, as long as it fails with 412: it reads the present state and decides
    /// again. A client with `If-Match` refers to one state, so its first 412 is the response.
    /// 409 `conflict` after [`Backoff::LONGEST`].
    pub async fn retry_stale<T, F>(&self, tag: &IfMatch, mut attempt: impl FnMut() -> F) -> Result<T, Problem>
    where
        F: Future<Output = Result<T, Problem>>,
    {
        if tag.is_absent() { self.retry(attempt).await } else { attempt().await }
    }

    /// The loop of [`Self::retry_stale`] for a route that does not take `If-Match`.
    pub async fn retry<T, F>(&self, mut attempt: impl FnMut() -> F) -> Result<T, Problem>
    where
        F: Future<Output = Result<T, Problem>>,
    {
        let mut backoff = Backoff::new();
        loop {
            match attempt().await {
                Err(problem) if problem.kind() == problem::STALE => {
                    if !backoff.wait().await {
                        return Err(Problem::conflict());
                    }
                }
                outcome => return outcome,
            }
        }
    }
}
