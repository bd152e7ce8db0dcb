//! Connections that are opened before the first request, so that it does not wait for TLS. The clients keep them open.
//! The requests made for this need no permission, and their answers are ignored. If one fails, the first real request
//! opens the connection. A secret is read at once, since a function reads it only once.

use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;

use crate::Engines;
use crate::access::Call;

/// An engine that is one host to connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    Dynamodb,
    /// A bucket of S3, by its logical name. Each bucket has a host of its own.
    S3 {
        bucket: &'static str,
    },
    Sqs,
    EventBridge,
    /// The management API of the system's socket.
    Socket,
    /// Secrets Manager, for a secret by its logical name.
    Secret {
        secret: &'static str,
    },
    Search,
}

impl Call {
    /// Returns the engine that serves the call.
    pub fn engine(&self) -> Engine {
        match *self {
            Self::Table { .. } | Self::Index { .. } => Engine::Dynamodb,
            Self::Objects { bucket, .. } => Engine::S3 { bucket },
            Self::Queue { .. } => Engine::Sqs,
            Self::EventBus { .. } => Engine::EventBridge,
            Self::Socket { .. } => Engine::Socket,
            Self::Secret { secret } => Engine::Secret { secret },
            Self::Search { .. } => Engine::Search,
        }
    }
}

impl Engines {
    /// Creates the client of an engine, and opens a connection that the client keeps. Reads a secret.
    pub async fn connect(&self, engine: Engine) {
        match engine {
            // The client reuses the connection for the operations of the handlers.
            Engine::Dynamodb => {
                let asked = self.dynamodb().get_item().table_name("any").customize();
                let once = aws_sdk_dynamodb::config::Builder::new().retry_config(RetryConfig::disabled());
                let _ = asked.config_override(once).mutate_request(ping).send().await;
            }
            Engine::S3 { bucket } => {
                let asked = self.s3().head_object().bucket(self.config.bucket(bucket)).key("any").customize();
                let once = aws_sdk_s3::config::Builder::new().retry_config(RetryConfig::disabled());
                let _ = asked.config_override(once).mutate_request(preflight).send().await;
            }
            Engine::Sqs => {
                let asked = self.sqs().list_queues().customize();
                let once = aws_sdk_sqs::config::Builder::new().retry_config(RetryConfig::disabled());
                let _ = asked.config_override(once).mutate_request(ping).send().await;
            }
            Engine::EventBridge => {
                let asked = self.eventbridge().list_event_buses().customize();
                let once = aws_sdk_eventbridge::config::Builder::new().retry_config(RetryConfig::disabled());
                let _ = asked.config_override(once).mutate_request(ping).send().await;
            }
            // The path is not the one of a connection, so the answer is an error.
            Engine::Socket => {
                if let Ok(socket) = self.socket() {
                    let asked = socket.get_connection().connection_id("any").customize();
                    let _ = asked.mutate_request(ping).send().await;
                }
            }
            Engine::Secret { secret } => {
                let _ = self.secret(secret).await;
            }
            Engine::Search => {
                if let Ok(search) = self.search() {
                    let _ = search.ping().send().await;
                }
            }
        }
    }
}

/// Turns a request into the health check of DynamoDB and SQS, which needs no permission. Where an engine has none, the
/// answer is an error.
fn ping(request: &mut HttpRequest) {
    let _ = request.set_method("GET");
    let host = request.uri().trim_end_matches('/').to_owned();
    let _ = request.set_uri(format!("{host}/ping"));
    *request.body_mut() = SdkBody::empty();
    for name in ["content-length", "content-type", "x-amz-target"] {
        request.headers_mut().remove(name);
    }
}

/// Turns a request into a CORS preflight, which S3 answers without permission.
fn preflight(request: &mut HttpRequest) {
    let _ = request.set_method("OPTIONS");
    request.headers_mut().insert("origin", "https://localhost");
    request.headers_mut().insert("access-control-request-method", "GET");
}
