//! Connections of the system's socket, by API Gateway's management API ("Use @connections commands in your backend service",
//! Amazon API Gateway Developer Guide).

use std::error::Error as StdError;
use std::fmt;

use aws_sdk_apigatewaymanagement::Client;
use aws_sdk_apigatewaymanagement::error::SdkError;
use aws_sdk_apigatewaymanagement::operation::delete_connection::DeleteConnectionError;
use aws_sdk_apigatewaymanagement::operation::post_to_connection::PostToConnectionError;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_types::Blob;

use crate::access::{Access, AccessPattern, Call, SocketAction};
use crate::error::Error;

/// The outcome of sending a frame to a connection, or of closing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// API Gateway has accepted the request. Frames that are sent to a connection one after another arrive in order.
    Sent,
    /// The connection does not exist: it is closed, or `$connect` has not returned yet.
    Gone,
    /// API Gateway is throttling, failed or did not answer in time. It may have accepted the request.
    Busy,
}

impl Access {
    /// Sends a text frame of at most 32 KB to a connection, in a single attempt.
    pub async fn post(
        &self,
        pattern: &'static AccessPattern,
        connection: &str,
        frame: impl Into<Vec<u8>>,
    ) -> Result<Delivery, Error> {
        let (client, call) = self.client(pattern, SocketAction::PostToConnection)?;
        let sent = client.post_to_connection().connection_id(connection).data(Blob::new(frame)).send().await;
        self.record(pattern, call, (0.0, 0.0));
        let gone = |error: &PostToConnectionError| error.is_gone_exception();
        sent.map_or_else(|error| outcome(error, gone), |_| Ok(Delivery::Sent))
    }

    /// Closes a connection, in a single attempt. [`Delivery::Gone`] means that it was closed before.
    pub async fn close(&self, pattern: &'static AccessPattern, connection: &str) -> Result<Delivery, Error> {
        let (client, call) = self.client(pattern, SocketAction::DeleteConnection)?;
        let sent = client.delete_connection().connection_id(connection).send().await;
        self.record(pattern, call, (0.0, 0.0));
        let gone = |error: &DeleteConnectionError| error.is_gone_exception();
        sent.map_or_else(|error| outcome(error, gone), |_| Ok(Delivery::Sent))
    }

    fn client(&self, pattern: &'static AccessPattern, action: SocketAction) -> Result<(&Client, Call), Error> {
        let call = Call::Socket { action };
        self.permit(pattern, call)?;
        let client = self.engines().socket();
        let client = client.map_err(|error| Error::Engine { engine: ENGINE, source: Box::new(error) })?;
        Ok((client, call))
    }
}

const ENGINE: &str = "API Gateway";

/// Returns the outcome of a failed call. A refusal that a later attempt would get, too, is an error.
fn outcome<E>(error: SdkError<E, HttpResponse>, is_gone: impl Fn(&E) -> bool) -> Result<Delivery, Error>
where
    E: StdError + fmt::Debug + Send + Sync + 'static,
{
    if error.as_service_error().is_some_and(is_gone) {
        return Ok(Delivery::Gone);
    }
    let status = error.raw_response().map(|response| response.status().as_u16());
    match status {
        Some(410) => Ok(Delivery::Gone),
        // Without a response the connection failed or the time was up.
        None | Some(429 | 500..) => Ok(Delivery::Busy),
        Some(_) => Err(Error::Engine { engine: ENGINE, source: Box::new(error) }),
    }
}
