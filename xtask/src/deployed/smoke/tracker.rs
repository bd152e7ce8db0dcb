//! The smoke test of tracker.

use reqwest::Method;
use serde_json::{Value, json};

use super::{User, text};
use crate::failure::{Doing, Failure};
use crate::rehearsal::Stage;

/// Creates a tenant and a project with an attribute and an issue, lists the grid, searches, and sends requests that
/// must be refused. `stranger` is the token of a person without a tenant.
pub async fn run(stage: &Stage<'_>, stranger: &str) -> Result<(), Failure> {
    let user = User(stage);
    let id = |created: &Value| text(created, "/id").map(str::to_owned);
    let made = user.sends(Method::POST, "/tracker/tenants", Some(&json!({ "name": "Smoke" })), 201).await?;
    let tenant = format!("/tracker/tenants/{}", id(&made)?);
    let made = user.sends(Method::POST, &format!("{tenant}/projects"), Some(&json!({ "name": "Bridge" })), 201).await?;
    let project = format!("{tenant}/projects/{}", id(&made)?);
    let weight = json!({ "name": "Weight", "type": "decimal" });
    let made = user.sends(Method::POST, &format!("{project}/attributes"), Some(&weight), 201).await?;
    let attribute = id(&made)?;
    let issue = json!({ "name": "Smoky girder", "values": { &attribute: "-12.5" } });
    user.sends(Method::POST, &format!("{project}/issues"), Some(&issue), 201).await?;
    let grid = user.sends(Method::GET, &format!("{project}/grid?sort={attribute}"), None, 200).await?;
    user.has(&grid, "/items/0/name", "Smoky girder")?;
    user.finds(&format!("{tenant}/search?q=girder"), "/items/0/issue/name", "Smoky girder").await?;
    let nowhere = format!("{tenant}/projects/project-{}", uuid::Uuid::now_v7());
    let refused = [
        (Method::PATCH, project.as_str(), None, &[] as &[_], 401),
        (Method::PATCH, &project, Some("not.a.token"), &[], 401),
        (Method::POST, "/tracker/tenants", Some(stranger), &[], 403),
        (Method::PATCH, &project, Some(stranger), &[], 404),
        (Method::PATCH, &nowhere, Some(stage.token), &[], 404),
        (Method::PATCH, &project, Some(stage.token), &[("if-match", "\"2\"")], 412),
    ];
    user.refuses(&refused, &json!({ "name": "Smoke" })).await?;
    let gone =
        stage.client.delete(format!("{}{project}?cascade=true", stage.url)).bearer_auth(stage.token).send().await;
    user.is(gone.doing("a deletion")?.status(), 204, "a deletion")
}
