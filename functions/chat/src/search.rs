//! The searches for messages, communities, group chats and users.
//!
//! Every part of a query that scores has a constant score, so the score of a hit depends on its own document alone and a
//! cursor stays exact while other items are written.

pub mod communities;
mod filters;
pub mod group_chats;
pub mod messages;
mod page;
mod text;
pub mod users;

use std::time::Duration;

use table::AccessPattern;
use table::access::Call;
use web::{Context, Problem};

use crate::access::ALIAS;
use crate::caller::Caller;
use crate::names::UserId;
use crate::rates;

/// A search.
const SEARCH: AccessPattern = AccessPattern::new("search", &[Call::Search { alias: ALIAS }]);

/// Longer than the time limits of the searches of a request together, so that a slow search is reported as slow.
const TIMEOUT: Duration = Duration::from_secs(25);

/// Loads the user who searches, and counts the search. The route has the patterns `CALLER` and [`rates::COUNT`].
async fn searcher(cx: &Context) -> Result<UserId, Problem> {
    let caller = Caller::load(cx).await?.id;
    rates::count(cx, &rates::SEARCHES, &[&caller.to_string()]).await?;
    Ok(caller)
}
