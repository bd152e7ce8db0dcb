//! The smoke test of the archive.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{User, text};
use crate::failure::Failure;
use crate::rehearsal::{JOB_TIMEOUT, Stage, put_file};

/// Creates a category with a collection, finds them, publishes a register of one person, and sends requests that must be
/// refused. `stranger` is the token of a person without a role.
pub async fn run(stage: &Stage<'_>, stranger: &str) -> Result<(), Failure> {
    let user = User(stage);
    let new = json!({ "name": "Smoke Registers" });
    let created = user.sends(Method::POST, "/archive/categories", Some(&new), 201).await?;
    let category = format!("/archive/categories/{}", text(&created, "/id")?);
    let collection = json!({ "name": "Registers of Smoke", "categoryIds": [text(&created, "/id")?] });
    let collection = user.sends(Method::POST, "/archive/collections", Some(&collection), 201).await?;
    let listed = user.sends(Method::GET, &format!("{category}/collections"), None, 200).await?;
    user.has(&listed, "/items/0/name", "Registers of Smoke")?;
    user.finds("/archive/search/catalog?q=smoke", "/items/0/category/name", "Smoke Registers").await?;
    user.publish(text(&collection, "/id")?).await?;
    let refused = [
        (Method::POST, "/archive/categories", None, &[] as &[_], 401),
        (Method::POST, "/archive/categories", Some("not.a.token"), &[], 401),
        (Method::POST, "/archive/categories", Some(stranger), &[], 403),
        (Method::POST, "/archive/categories", Some(stage.token), &[], 409),
        (Method::PATCH, &category, Some(stage.token), &[("if-match", "\"2\"")], 412),
        (Method::PATCH, "/archive/categories/7999999999", Some(stage.token), &[], 404),
    ];
    user.refuses(&refused, &new).await
}

impl User<'_> {
    /// Publishes a file with one person by its event and its job, and finds the person.
    async fn publish(&self, collection: &str) -> Result<(), Failure> {
        let file = "Surname,Forenames,Born\nSmokeley,Ada,1850\n";
        let column = |header: &str, field: &str| json!({ "header": header, "field": field });
        let mapping =
            [column("Surname", "surname"), column("Forenames", "given"), column("Born", "birthDate")].to_vec();
        let new = json!({ "name": "Smoke", "collectionId": collection, "mapping": mapping });
        let post = self.sends(Method::POST, "/archive/posts", Some(&new), 201).await?;
        let post = format!("/archive/posts/{}", text(&post, "/id")?);
        let announced = json!({ "bytes": file.len() });
        let link = self.sends(Method::POST, &format!("{post}/file"), Some(&announced), 201).await?;
        put_file(&link, file.to_owned()).await?;
        self.finds(&format!("{post}/file"), "/inspection/headers/0", "Surname").await?;
        self.sends(Method::POST, &format!("{post}/publish"), Some(&json!({})), 202).await?;
        self.ends(&format!("{post}/runs/1"), "published").await?;
        self.finds("/archive/search?surname=smokeley", "/items/0/people/0/given", "Ada").await
    }

    /// Waits until a run has ended with this status.
    async fn ends(&self, run: &str, expected: &str) -> Result<(), Failure> {
        let until = Instant::now() + JOB_TIMEOUT;
        loop {
            let read = self.sends(Method::GET, run, None, 200).await?;
            if read.pointer("/phase").and_then(Value::as_str) == Some("ended") {
                return self.has(&read, "/status", expected);
            }
            if Instant::now() > until {
                return Err(Failure::new(format!("{run} did not end in time: {read}")));
            }
            sleep(Duration::from_millis(200)).await;
        }
    }
}
