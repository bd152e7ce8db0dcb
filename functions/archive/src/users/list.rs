//! `GET /archive/users`

use web::{Context, Page, PageQuery, Problem, Query, Route, Sample, problem};

use super::{LIST, UserView};
use crate::access::{CALLER, LISTED};
use crate::authorization::{Caller, SIGNED_IN};
use crate::item::User;
use crate::keys::UserKey;
use crate::listed::listed;
use crate::names::Role;

pub fn route() -> Route {
    Route::get("listUsers", LIST, SIGNED_IN, list)
        .summary("List the users by issuer and subject")
        .patterns(&[&CALLER, &LISTED])
        .problems(&[problem::FORBIDDEN])
        .sample(Sample::new(LIST))
}

async fn list(cx: Context, Query(query): Query<PageQuery>) -> Result<Page<UserView>, Problem> {
    Caller::with_role(&cx, Role::Administrator).await?;
    listed::<UserKey, User, _>(&cx, query).await
}
