//! Custom resources: what CloudFormation has a function do while a stack is deployed.
//!
//! The event names a URL, and CloudFormation waits until the function has put there how it went ("Custom resource
//! request and response").

use std::error::Error;
use std::fmt::Display;
use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use reqwest::{Client, redirect};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::event::{Event, EventFailure, EventHandler};

/// What CloudFormation asks, as far as it is needed.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Asked {
    request_type: String,
    /// None where an operator invokes the function by hand.
    #[serde(rename = "ResponseURL")]
    response_url: Option<String>,
    #[serde(default)]
    stack_id: String,
    #[serde(default)]
    request_id: String,
    #[serde(default)]
    logical_resource_id: String,
    physical_resource_id: Option<String>,
}

/// An answer of more than 4 096 bytes is none to CloudFormation.
const LONGEST_REASON: usize = 500;

/// How often the answer is sent.
const ATTEMPTS: u32 = 3;

const PATIENCE: Duration = Duration::from_secs(10);

/// The handler of a custom resource: `make` makes what it stands for, or changes nothing where that is there, and
/// returns what the resource's attributes say. When the resource is deleted, nothing is: data outlives its stack.
///
/// A failure of `make` fails the deployment, which tells its reason. Where the time is up first, nothing is told, and
/// Lambda, which calls again after a failure, lets `make` go on.
pub fn deployment<F, Fut>(name: &'static str, make: F) -> EventHandler
where
    F: Fn(Event) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<Value, EventFailure>> + Send + 'static,
{
    EventHandler::new(name, move |event| answer(event, make.clone()))
}

async fn answer<F, Fut>(event: Event, make: F) -> Result<Bytes, EventFailure>
where
    F: Fn(Event) -> Fut,
    Fut: Future<Output = Result<Value, EventFailure>>,
{
    let asked: Asked = serde_json::from_slice(&event.payload)
        .map_err(|error| EventFailure::new(format_args!("this is no request of CloudFormation: {error}")))?;
    let made = match asked.request_type.as_str() {
        "Create" | "Update" => make(event).await,
        "Delete" => Ok(json!({})),
        other => {
            let expected = "`RequestType` has to be Create, Update or Delete";
            return Err(EventFailure::new(format_args!("{expected}, not `{other}`")));
        }
    };
    let (status, reason, data) = match made {
        Ok(data) => ("SUCCESS", String::new(), data),
        Err(EventFailure(reason)) => ("FAILED", reason.chars().take(LONGEST_REASON).collect(), json!({})),
    };
    let body = json!({
        "Status": status,
        "Reason": reason,
        // Another one would have CloudFormation delete the resource of before.
        "PhysicalResourceId": asked.physical_resource_id.unwrap_or_else(|| asked.logical_resource_id.clone()),
        "StackId": asked.stack_id,
        "RequestId": asked.request_id,
        "LogicalResourceId": asked.logical_resource_id,
        "Data": data,
    });
    let body = Bytes::from(body.to_string());
    match asked.response_url {
        Some(url) => tell(&url, &body).await?,
        None if status == "FAILED" => return Err(EventFailure(reason)),
        None => {}
    }
    Ok(body)
}

/// Puts the answer where CloudFormation waits for it. The URL is signed for a request without a media type.
async fn tell(url: &str, body: &Bytes) -> Result<(), EventFailure> {
    let client = Client::builder().timeout(PATIENCE).redirect(redirect::Policy::none()).no_gzip().build();
    let client = client.map_err(|error| untold(innermost(&error)))?;
    let mut attempt = 1;
    loop {
        let failure = match client.put(url).body(body.clone()).send().await {
            Ok(answer) if answer.status().is_success() => return Ok(()),
            Ok(answer) => untold(answer.status()),
            Err(error) => untold(innermost(&error.without_url())),
        };
        if attempt == ATTEMPTS {
            return Err(failure);
        }
        sleep(Duration::from_millis(250) * attempt).await;
        attempt += 1;
    }
}

fn untold(reason: impl Display) -> EventFailure {
    EventFailure::new(format_args!("CloudFormation could not be told: {reason}"))
}

/// The reason alone: the URL is a secret.
fn innermost(error: &reqwest::Error) -> &dyn Error {
    let mut reason: &dyn Error = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    reason
}
