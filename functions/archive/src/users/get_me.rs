//! `GET /archive/me`

use web::{Context, Json, Problem, Route, Sample, problem};

use super::{ME, Me};
use crate::access::{CALLER, CREATE_USER, NEXT_IDS};
use crate::authorization::{Caller, SIGNED_IN};

pub fn route() -> Route {
    Route::get("getMe", ME, SIGNED_IN, get)
        .summary("Get the caller's user, which is created from the token at first sight")
        .patterns(&[&CALLER, &CREATE_USER, &NEXT_IDS])
        .problems(&[problem::FORBIDDEN, problem::CONFLICT])
        .sample(Sample::new(ME))
}

async fn get(cx: Context) -> Result<Json<Me>, Problem> {
    let caller = Caller::load(&cx).await?;
    let role = caller.role;
    Ok(Json(Me::with_role(caller.into_user(&cx).await?, role)))
}
