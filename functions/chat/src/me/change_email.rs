//! `PUT /chat/me/email`

use serde::Deserialize;
use table::{AccessPattern, Action, Changes};
use utoipa::ToSchema;
use web::{Context, Fault, Json, Problem, Route, Rules, Sample, Tagged, Valid, problem};

use super::{Me, guards, proof};
use crate::access::{CALLER, USERS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::passwords::{Password, WRONG_PASSWORD};
use crate::usernames::{address_fault, address_key};
use crate::users::User;
use crate::{rates, schema};

/// The move of the caller to another unique address.
const CHANGE_EMAIL: AccessPattern = AccessPattern::new("changeEmail", &[USERS.put(), USERS.update(), USERS.delete()]);

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct NewEmail {
    #[schema(min_length = 1, max_length = 254)]
    email: String,
    /// Required of people with a password.
    #[serde(default)]
    #[schema(nullable = false)]
    current_password: Option<Password>,
}

impl Rules for NewEmail {
    fn faults(&self) -> Vec<Fault> {
        address_fault("/email", &self.email).into_iter().collect()
    }
}

pub fn route() -> Route {
    Route::put("changeEmail", "/chat/me/email", SIGNED_IN, change)
        .summary("Change the caller's email address")
        .patterns(&[&CALLER, &CHANGE_EMAIL, &rates::COUNT])
        .problems(&[
            problem::FORBIDDEN,
            BANNED,
            WRONG_PASSWORD,
            problem::TAKEN,
            problem::CONFLICT,
            problem::TOO_MANY_REQUESTS,
        ])
        .sample(Sample::new("/chat/me/email").body(r#"{"email":"samples@example.org"}"#))
}

async fn change(cx: Context, Valid(Json(request)): Valid<Json<NewEmail>>) -> Result<Tagged<Me>, Problem> {
    let caller = Caller::load(&cx).await?;
    proof::require(&cx, &caller.user, "/currentPassword", request.current_password.as_ref()).await?;
    cx.retry(|| async {
        let caller = Caller::load(&cx).await?;
        let role = caller.role();
        let before = caller.user.email.clone();
        if before.as_deref() == Some(request.email.as_str()) {
            return Ok(Tagged::new(&Me::with_role(caller.user, role), caller.stored.rev));
        }
        let after = User { email: Some(request.email.clone()), ..caller.user.clone() };
        let changes = Changes::between(&caller.user, &after)?;
        let mut actions =
            vec![Action::update(&schema::USERS, caller.stored.key.clone(), changes).if_unchanged(&caller.stored)];
        // An address that differs in case only has the same guard.
        if before.as_deref().map(address_key) != Some(address_key(&request.email)) {
            actions.push(guards::create_email(&request.email, caller.id)?);
            actions.extend(before.map(|before| guards::delete_email(&before, caller.id)).transpose()?);
        }
        match cx.access().transact(&CHANGE_EMAIL, &actions).await {
            Ok(rev) => Ok(Tagged::new(&Me::with_role(after, role), rev)),
            Err(error) if error.failed(0).is_some() || error.failed(2).is_some() => Err(Problem::lost_race()),
            Err(error) if error.failed(1).is_some() => {
                Err(Problem::taken(vec![Fault::pointer("/email", "is already in use")]))
            }
            Err(error) => Err(error.into()),
        }
    })
    .await
}
