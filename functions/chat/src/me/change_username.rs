//! `PUT /chat/me/username`

use serde::Deserialize;
use table::{AccessPattern, Action, Changes};
use utoipa::ToSchema;
use web::{Context, Fault, Json, Problem, Route, Rules, Sample, Tagged, Valid, problem};

use super::{Me, guards, proof};
use crate::access::{CALLER, USERS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::passwords::{Password, WRONG_PASSWORD};
use crate::users::User;
use crate::{rates, schema, usernames};

/// The move of the caller to another unique username.
const CHANGE_USERNAME: AccessPattern =
    AccessPattern::new("changeUsername", &[USERS.put(), USERS.update(), USERS.delete()]);

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct NewUsername {
    /// It is stored in lower case.
    #[schema(min_length = 1, max_length = 100)]
    username: String,
    /// Required of people with a password.
    #[serde(default)]
    #[schema(nullable = false)]
    current_password: Option<Password>,
}

impl Rules for NewUsername {
    fn faults(&self) -> Vec<Fault> {
        usernames::username_fault("/username", &self.username).into_iter().collect()
    }
}

pub fn route() -> Route {
    Route::put("changeUsername", "/chat/me/username", SIGNED_IN, change)
        .summary("Change the caller's username")
        .patterns(&[&CALLER, &CHANGE_USERNAME, &rates::COUNT])
        .problems(&[
            problem::FORBIDDEN,
            BANNED,
            WRONG_PASSWORD,
            problem::TAKEN,
            problem::CONFLICT,
            problem::TOO_MANY_REQUESTS,
        ])
        .sample(Sample::new("/chat/me/username").body(r#"{"username":"samples"}"#))
}

async fn change(cx: Context, Valid(Json(request)): Valid<Json<NewUsername>>) -> Result<Tagged<Me>, Problem> {
    let caller = Caller::load(&cx).await?;
    proof::require(&cx, &caller.user, "/currentPassword", request.current_password.as_ref()).await?;
    let username = usernames::stored(&request.username);
    cx.retry(|| async {
        let caller = Caller::load(&cx).await?;
        let role = caller.role();
        if caller.user.username == username {
            return Ok(Tagged::new(&Me::with_role(caller.user, role), caller.stored.rev));
        }
        let after = User { username: username.clone(), ..caller.user.clone() };
        let changes = Changes::between(&caller.user, &after)?;
        let actions = [
            guards::create_username(&username, caller.id)?,
            guards::delete_username(&caller.user.username, caller.id)?,
            Action::update(&schema::USERS, caller.stored.key.clone(), changes).if_unchanged(&caller.stored),
        ];
        match cx.access().transact(&CHANGE_USERNAME, &actions).await {
            Ok(rev) => Ok(Tagged::new(&Me::with_role(after, role), rev)),
            Err(error) if error.failed(1).is_some() || error.failed(2).is_some() => Err(Problem::lost_race()),
            Err(error) if error.failed(0).is_some() => {
                Err(Problem::taken(vec![Fault::pointer("/username", "is already in use")]))
            }
            Err(error) => Err(error.into()),
        }
    })
    .await
}
