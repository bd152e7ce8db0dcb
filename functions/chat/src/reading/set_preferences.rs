//! `PUT /chat/{kind}/{chatId}/preferences`

use jiff::{RoundMode, Timestamp, TimestampRound, Unit};
use serde::{Deserialize, Serialize};
use table::{AccessPattern, Action, Changes, item};
use utoipa::ToSchema;
use web::{Context, Fault, Json, Path, Problem, Route, Sample, problem};

use crate::access::{CALLER, GROUP_CHATS, PRIVATE_CHATS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::keys::member_key;
use crate::messages::{ChatPath, table_of};
use crate::names::Millisecond;

const PREFERENCES: &str = "/chat/{kind}/{chatId}/preferences";
const SAMPLE: &str = "/chat/privatechats/019b76da-a800-7000-8000-000000000031/preferences";

/// The preferences of a member.
const SET_PREFERENCES: AccessPattern =
    AccessPattern::new("setPreferences", &[GROUP_CHATS.update(), PRIVATE_CHATS.update()]);

/// The preferences of a member in a chat.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatPreferences {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "date-time")]
    muted_until: Option<String>,
    hidden: bool,
}

/// What a member wants of a chat.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreferencesRequest {
    /// Until this time only mentions of the member cause notifications. Absent or `null` if the chat is not
    /// muted.
    #[serde(default)]
    #[schema(format = "date-time")]
    muted_until: Option<String>,
    /// Whether the chat is left out of the member's list until a message mentions the member.
    #[serde(default)]
    hidden: bool,
}

pub fn route() -> Route {
    Route::put("setChatPreferences", PREFERENCES, SIGNED_IN, set)
        .summary("Update whether a chat is muted and hidden for the caller")
        .patterns(&[&CALLER, &SET_PREFERENCES])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE).body(r#"{"mutedUntil":"2027-01-01T00:00:00.000Z","hidden":false}"#))
}

async fn set(
    cx: Context,
    Path(path): Path<ChatPath>,
    Json(wanted): Json<PreferencesRequest>,
) -> Result<Json<ChatPreferences>, Problem> {
    let (chat, caller) = (path.chat()?, Caller::load(&cx).await?);
    let muted_until = wanted.muted_until.as_deref().map(time).transpose()?;
    let changes = Changes::new().set("Hidden", item::flag(wanted.hidden));
    let changes = match &muted_until {
        Some(until) => changes.set("MutedUntil", item::text(until)),
        None => changes.remove("MutedUntil"),
    };
    let update = Action::update(table_of(chat), member_key(chat, caller.id), changes);
    cx.access().write(&SET_PREFERENCES, update).await?;
    Ok(Json(ChatPreferences { muted_until, hidden: wanted.hidden }))
}

/// Returns a time as items have it, rounded up to the millisecond.
fn time(text: &str) -> Result<String, Problem> {
    let round = TimestampRound::new().smallest(Unit::Millisecond).mode(RoundMode::Ceil);
    let time = text.parse::<Timestamp>().ok().and_then(|time| time.round(round).ok());
    let time = time.and_then(|time| Millisecond::at(time.as_millisecond()));
    let fault = || vec![Fault::pointer("/mutedUntil", "must be a time like 2027-01-01T00:00:00.000Z")];
    time.map(|time| time.to_string()).ok_or_else(|| Problem::faults(fault()))
}
