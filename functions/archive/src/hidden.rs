//! The runs that search must not show: those whose records are being written, and those whose records are being deleted.
//! They are one item, with an attribute for each run.

use serde::Deserialize;
use table::{Access, Action, Changes, Error, Stored, item};

use crate::access::HIDDEN_RUNS;
use crate::keys::HiddenRunsKey;
use crate::names::{PostId, RunNumber};
use crate::schema::ARCHIVE;

/// Why a run is hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Hidden {
    /// Readers do not see it yet.
    Coming,
    /// Readers do not see it any more.
    Going,
}

/// The runs that are hidden, as search documents name them: `{postId}-{run}`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HiddenRuns {
    pub runs: Vec<String>,
    /// How many of them are coming.
    pub coming: usize,
}

/// Returns the name of a run in search documents.
pub fn name(post: PostId, run: RunNumber) -> String {
    format!("{post}-{}", run.0)
}

/// Reads the hidden runs.
pub async fn load(access: &Access) -> Result<HiddenRuns, Error> {
    Ok(load_stored(access).await?.0)
}

/// Reads the hidden runs, and returns their item, too. The first run of an archive creates it.
pub async fn load_stored(access: &Access) -> Result<(HiddenRuns, Option<Stored>), Error> {
    let stored = access.table(&HIDDEN_RUNS, &ARCHIVE).get_consistent(HiddenRunsKey {}).await?;
    let mut hidden = HiddenRuns::default();
    for (name, value) in stored.iter().flat_map(|stored| &stored.item) {
        // Its other attributes are its keys and its revision.
        if let Ok(state) = value.as_s()
            && name.contains('-')
        {
            hidden.coming += usize::from(state == COMING);
            hidden.runs.push(name.clone());
        }
    }
    hidden.runs.sort_unstable();
    Ok((hidden, stored))
}

/// Whether another run of the post is hidden than this one: its job still works on it.
pub async fn has_other(access: &Access, post: PostId, run: RunNumber) -> Result<bool, Error> {
    let (own, of_post) = (name(post, run), format!("{post}-"));
    Ok(load(access).await?.runs.iter().any(|hidden| hidden.starts_with(&of_post) && *hidden != own))
}

const COMING: &str = "coming";
const GOING: &str = "going";

/// Returns the update that hides runs of a post, or ends it for those without a state.
pub fn update(post: PostId, runs: &[(RunNumber, Option<Hidden>)]) -> Action {
    let mut changes = Changes::new();
    for (run, state) in runs {
        let name = name(post, *run);
        changes = match state {
            Some(Hidden::Coming) => changes.set(&name, item::text(COMING)),
            Some(Hidden::Going) => changes.set(&name, item::text(GOING)),
            None => changes.remove(&name),
        };
    }
    Action::update(&ARCHIVE, HiddenRunsKey {}, changes).or_absent()
}
