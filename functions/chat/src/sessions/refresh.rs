//! `POST /chat/sessions/refresh`

use http::header;
use serde::Deserialize;
use table::{AccessPattern, Action, Condition, EntityKey, Error, item};
use table::{Changes, Stored};
use utoipa::ToSchema;
use web::{Context, Json, Problem, Route, Sample, Who, problem};

use super::refresh_token::RefreshToken;
use super::start::tokens;
use super::{REFRESH, SESSION_ENDED, Session, Tokens};
use crate::access::{LIVE, NOTIFICATIONS, USERS};
use crate::caller::{BANNED, banned};
use crate::issuer::{READ_IDENTITY, require_own_login};
use crate::keys::{SessionKey, UnreadCountKey, UnreadNotificationKey, UserKey};
use crate::live::end::{CLOSE_CONNECTIONS, close_connections};
use crate::names::NotificationId;
use crate::notifications::{Notification, NotificationType};
use crate::schema::{self, IDENTITY};
use crate::users::User;

/// The session of a refresh token with its user, and the move to the next generation.
const REFRESH_SESSION: AccessPattern = AccessPattern::new("refreshSession", &[LIVE.get(), LIVE.update(), USERS.get()]);

/// The end of a session whose refresh token was used by two, and the notification of its user.
const END_STOLEN: AccessPattern =
    AccessPattern::new("endStolenSession", &[LIVE.delete(), NOTIFICATIONS.put(), NOTIFICATIONS.update()]);

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct RefreshRequest {
    #[schema(min_length = 1, max_length = 500)]
    refresh_token: String,
}

pub fn route() -> Route {
    Route::post("refreshSession", REFRESH, Who::Public, refresh)
        .summary("Get the next tokens of a session; 404 without own logins")
        .patterns(&[&REFRESH_SESSION, &END_STOLEN, &CLOSE_CONNECTIONS, &READ_IDENTITY])
        .problems(&[SESSION_ENDED, BANNED, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(REFRESH).body(r#"{"refreshToken":"REFRESH-TOKEN"}"#))
}

async fn refresh(cx: Context, Json(request): Json<RefreshRequest>) -> Result<Json<Tokens>, Problem> {
    require_own_login(&cx.engines().config)?;
    let token = RefreshToken::parse(&request.refresh_token).ok_or_else(ended)?;
    let secret = cx.access().secret(&READ_IDENTITY, IDENTITY).await?;
    cx.retry(|| async {
        let key = SessionKey { user: token.user, session: token.session }.key();
        let stored = cx.access().table(&REFRESH_SESSION, &schema::LIVE).get_consistent(key).await?;
        let stored = stored.ok_or_else(ended)?;
        let session: Session = stored.read()?;
        if !token.is_genuine(&secret, &session.salt) {
            return Err(ended());
        }
        let user = cx.access().table(&REFRESH_SESSION, &schema::USERS);
        let user = user.get_consistent(UserKey { user: token.user }).await?.ok_or_else(ended)?;
        let user: User = user.read()?;
        if let Some(problem) = banned(&user, &cx.engines().clock) {
            return Err(problem);
        }
        if user.refuses(token.session) {
            return Err(ended());
        }
        let next = if token.generation == session.generation {
            advance(&cx, &stored, session).await?
        } else if session.may_repeat(token.generation, cx.engines().clock.micros()) {
            // The same successor again, though it may have been used meanwhile.
            Session { generation: token.generation + 1, ..session }
        } else {
            end_stolen(&cx, &token, &stored).await?;
            return Err(ended());
        };
        Ok(Json(tokens(&cx, &secret, &user, &next)?))
    })
    .await
}

/// Moves a session to its next generation.
async fn advance(cx: &Context, stored: &Stored, session: Session) -> Result<Session, Problem> {
    let next = session.advanced(&cx.engines().clock);
    let same = Condition::Equals("Generation", item::number(session.generation));
    let changes = Changes::between(&session, &next)?;
    match cx
        .access()
        .write(&REFRESH_SESSION, Action::update(&schema::LIVE, stored.key.clone(), changes).when(same))
        .await
    {
        Ok(_) => Ok(next),
        // Another request has moved it, and its answer holds for this one.
        Err(Error::ConditionFailed(_)) => Err(Problem::lost_race()),
        Err(Error::NotFound) => Err(ended()),
        Err(error) => Err(error.into()),
    }
}

/// Ends a session and notifies its user, once. A thief may have its newest token.
async fn end_stolen(cx: &Context, token: &RefreshToken, stored: &Stored) -> Result<(), Problem> {
    let clock = &cx.engines().clock;
    let id = NotificationId::now(clock);
    let notification = Notification {
        id,
        notification_type: NotificationType::Security,
        message: NotificationType::Security.message().to_owned(),
        target: super::MINE.to_owned(),
        read: false,
        seen: false,
        actor_id: None,
        created_at: id.time().to_string(),
        read_at: None,
    };
    let unread = UnreadNotificationKey { user: token.user, time: id.time(), notification: id };
    let count = Changes::new().add("Num", 1);
    let actions = [
        Action::delete(&schema::LIVE, stored.key.clone()),
        Action::create(&schema::NOTIFICATIONS, unread, &notification)?,
        Action::update(&schema::NOTIFICATIONS, UnreadCountKey { user: token.user }, count).or_absent(),
    ];
    match cx.access().transact(&END_STOLEN, &actions).await {
        Ok(_) => {}
        // Another request has ended it.
        Err(error) if error.failed(0).is_some() => return Ok(()),
        Err(error) => return Err(error.into()),
    }
    close_connections(cx.access(), token.user, Some(token.session)).await
}

fn ended() -> Problem {
    let problem = SESSION_ENDED.because("This session has ended, or the refresh token was replaced. Log in again.");
    problem.header(header::WWW_AUTHENTICATE, "Bearer")
}
