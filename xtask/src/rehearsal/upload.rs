//! Uploads by signed links.

use serde_json::Value;

use crate::failure::{Doing, Failure};

/// Puts a file to the link of a response, with the header fields that the response names.
pub async fn put_file(announced: &Value, file: String) -> Result<(), Failure> {
    let text = |value: Option<&Value>| {
        let text = value.and_then(Value::as_str).map(str::to_owned);
        text.ok_or_else(|| Failure::new(format!("expected a link and its header fields in {announced}")))
    };
    let mut put = reqwest::Client::new().put(text(announced.pointer("/link"))?);
    for (name, value) in announced.pointer("/headers").and_then(Value::as_object).into_iter().flatten() {
        put = put.header(name, text(Some(value))?);
    }
    let answer = put.body(file).send().await.doing("the link")?;
    let status = answer.status();
    if status.is_success() {
        return Ok(());
    }
    Err(Failure::new(format!("the link answered {status}: {}", answer.text().await.unwrap_or_default())))
}
