//! The smoke test of agencies.

use reqwest::Method;
use serde_json::json;

use super::{User, text};
use crate::failure::{Doing, Failure};
use crate::rehearsal::{ADDRESS, Stage};

/// Creates and activates an agency, invites and accepts, lists and searches, and sends requests that must be refused.
/// `stranger` is the token of a person without an agency.
pub async fn run(stage: &Stage<'_>, stranger: &str) -> Result<(), Failure> {
    let user = User(stage);
    let new = json!({ "name": "Smoke Watch" });
    let made = user.sends(Method::POST, "/agencies", Some(&new), 201).await?;
    let id = text(&made, "/agencyId")?;
    let agency = format!("/agencies/{id}");
    user.sends(Method::POST, &format!("{agency}/activate"), None, 200).await?;
    let invitation = json!({ "address": ADDRESS, "role": "admin" });
    user.sends(Method::POST, &format!("{agency}/invitations"), Some(&invitation), 201).await?;
    user.sends(Method::POST, &format!("/agencies/me/invitations/{id}/accept"), None, 201).await?;
    let mine = user.sends(Method::GET, "/agencies/me/agencies", None, 200).await?;
    user.has(&mine, "/items/0/name", "Smoke Watch")?;
    user.finds("/agencies/search?q=smoke", "/items/0/agency/name", "Smoke Watch").await?;
    let nowhere = format!("/agencies/{}", uuid::Uuid::now_v7());
    let refused = [
        (Method::PATCH, agency.as_str(), None, &[] as &[_], 401),
        (Method::PATCH, &agency, Some("not.a.token"), &[], 401),
        (Method::POST, "/agencies", Some(stranger), &[], 403),
        (Method::PATCH, &agency, Some(stranger), &[], 404),
        (Method::PATCH, &nowhere, Some(stage.token), &[], 404),
        (Method::PATCH, &agency, Some(stage.token), &[("if-match", "\"2\"")], 412),
    ];
    user.refuses(&refused, &json!({ "name": "Smoke" })).await?;
    let gone = stage.client.delete(format!("{}{agency}?cascade=true", stage.url)).bearer_auth(stage.token).send().await;
    user.is(gone.doing("a deletion")?.status(), 204, "a deletion")
}
