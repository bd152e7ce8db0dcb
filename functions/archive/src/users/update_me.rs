//! `PATCH /archive/me`

use serde::Deserialize;
use table::{Action, Changes};
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Fault, Json, MergePatch, Patch, Problem, Route, Rules, Sample, Valid, problem};

use super::{ME, Me};
use crate::access::{CALLER, CREATE_USER, NEXT_IDS, ONE as ONE_ITEM, UPDATE_USER};
use crate::audit::now;
use crate::authorization::{Caller, SIGNED_IN};
use crate::item::User;
use crate::keys::UserKey;
use crate::schema::ARCHIVE;

/// The fields that a person can update.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct MePatch {
    /// `null` removes it.
    #[serde(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 200)]
    name: Patch<String>,
    /// `null` removes it.
    #[serde(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 200)]
    email: Patch<String>,
}

impl Rules for MePatch {
    fn faults(&self) -> Vec<Fault> {
        let fault = |pointer: &str, text: &Patch<String>| match text {
            Patch::Set(text) => name_fault(pointer, text),
            Patch::Absent | Patch::Remove => None,
        };
        let email = || match &self.email {
            Patch::Set(email) if !email.contains('@') => Some(Fault::pointer("/email", "must be an email address")),
            email => fault("/email", email),
        };
        fault("/name", &self.name).into_iter().chain(email()).collect()
    }
}

pub fn route() -> Route {
    Route::patch("updateMe", ME, SIGNED_IN, update)
        .summary("Update the caller's name or email address")
        .patterns(&[&CALLER, &CREATE_USER, &NEXT_IDS, &ONE_ITEM, &UPDATE_USER])
        .problems(&[problem::FORBIDDEN, problem::CONFLICT])
        .sample(Sample::new(ME).body(r#"{"name":"Ann Field"}"#))
}

async fn update(cx: Context, Valid(MergePatch(patch)): Valid<MergePatch<MePatch>>) -> Result<Json<Me>, Problem> {
    let caller = Caller::load(&cx).await?;
    let role = caller.role;
    let user = caller.into_user(&cx).await?.id;
    cx.retry(|| async {
        let stored = cx.access().table(&ONE_ITEM, &ARCHIVE).get_consistent(UserKey { user }).await?;
        let stored = stored.ok_or_else(Problem::lost_race)?;
        let before: User = stored.read()?;
        let name = patch.name.clone().apply(before.name.clone());
        let email = patch.email.clone().apply(before.email.clone());
        let after = User { name, email, ..before.clone() };
        if after != before {
            let after = User { updated_at: now(&cx), ..after };
            let update = Action::update(&ARCHIVE, stored.key.clone(), Changes::between(&before, &after)?);
            cx.access().write(&UPDATE_USER, update.if_unchanged(&stored)).await?;
            return Ok(Json(Me::with_role(after, role)));
        }
        Ok(Json(Me::with_role(before, role)))
    })
    .await
}
