//! Custom resources, by which CloudFormation invokes a function while it deploys a stack.
//!
//! The event contains a URL, and CloudFormation waits until the function has put its response there ("Custom resource
//! request and response").

use std::fmt::Display;
use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use reqwest::{Client, redirect};
use serde::Deserialize;
use serde_json::{Value, json};
use table::no_answer;
use tokio::time::sleep;

use crate::event::{Event, EventFailure};

/// CloudFormation's request, with the needed members only.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct CustomResourceRequest {
    request_type: String,
    /// `None` if an operator invokes the function.
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

/// The most characters of a reason, since CloudFormation refuses a response of more than 4 096 bytes.
const MAX_REASON_CHARS: usize = 500;

/// The most attempts to send the response.
const MAX_ATTEMPTS: u32 = 3;

/// The timeout of one attempt.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Responds to an event of a custom resource. `create` creates the resource unless it exists, and returns its attributes.
/// A deletion of the custom resource deletes nothing, since data outlives its stack.
///
/// A failure of `create` fails the deployment with its reason. If the function times out first, no response is sent, and
/// the retry of Lambda resumes `create`.
pub async fn respond_to_deployment<F, Fut>(event: Event, create: F) -> Result<Bytes, EventFailure>
where
    F: Fn(Event) -> Fut,
    Fut: Future<Output = Result<Value, EventFailure>>,
{
    let request: CustomResourceRequest = serde_json::from_slice(&event.payload)
        .map_err(|error| EventFailure::new(format_args!("the event is not a request of CloudFormation: {error}")))?;
    let created = match request.request_type.as_str() {
        "Create" | "Update" => create(event).await,
        "Delete" => Ok(json!({})),
        other => {
            let expected = "must be Create, Update or Delete";
            return Err(EventFailure::new(format_args!("`RequestType` {expected}, not `{other}`")));
        }
    };
    respond(request, created).await
}

/// Fails an event with this reason, because the function cannot handle any. If CloudFormation has sent the event, it gets the
/// reason as its response. A deletion of the custom resource succeeds.
pub(crate) async fn refuse(payload: &str, reason: &str) -> Result<Bytes, EventFailure> {
    let failure = EventFailure::new(reason);
    match serde_json::from_str::<CustomResourceRequest>(payload) {
        Ok(request) if request.response_url.is_some() => {
            let refused = if request.request_type == "Delete" { Ok(json!({})) } else { Err(failure) };
            respond(request, refused).await
        }
        Ok(_) | Err(_) => Err(failure),
    }
}

async fn respond(request: CustomResourceRequest, created: Result<Value, EventFailure>) -> Result<Bytes, EventFailure> {
    let (status, reason, data) = match created {
        Ok(data) => ("SUCCESS", String::new(), data),
        Err(EventFailure(reason)) => ("FAILED", reason.chars().take(MAX_REASON_CHARS).collect(), json!({})),
    };
    let body = json!({
        "Status": status,
        "Reason": reason,
        // A different id would make CloudFormation delete the previous resource.
        "PhysicalResourceId": request.physical_resource_id.unwrap_or_else(|| request.logical_resource_id.clone()),
        "StackId": request.stack_id,
        "RequestId": request.request_id,
        "LogicalResourceId": request.logical_resource_id,
        "Data": data,
    });
    let body = Bytes::from(body.to_string());
    match request.response_url {
        Some(url) => send(&url, &body).await?,
        None if status == "FAILED" => return Err(EventFailure(reason)),
        None => {}
    }
    Ok(body)
}

/// Puts the response to CloudFormation's URL, which is signed for a request without a content type.
async fn send(url: &str, body: &Bytes) -> Result<(), EventFailure> {
    let client = Client::builder().timeout(TIMEOUT).redirect(redirect::Policy::none()).no_gzip().build();
    let client = client.map_err(|error| not_sent(no_answer::describe(&error)))?;
    let mut attempt = 1;
    loop {
        let failure = match client.put(url).body(body.clone()).send().await {
            Ok(response) if response.status().is_success() => return Ok(()),
            Ok(response) => not_sent(response.status()),
            // The URL is a secret.
            Err(error) => not_sent(no_answer::describe(&error.without_url())),
        };
        if attempt == MAX_ATTEMPTS {
            return Err(failure);
        }
        sleep(Duration::from_millis(250) * attempt).await;
        attempt += 1;
    }
}

fn not_sent(reason: impl Display) -> EventFailure {
    EventFailure::new(format_args!("response to CloudFormation not sent: {reason}"))
}
