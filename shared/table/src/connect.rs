//! Connections that are opened before the first request needs them, so that it does not wait for TLS. The clients keep
//! them. What is asked is something that nobody needs a right for: an answer of any kind shows that the connection is
//! there, and so does none, for whoever needs it then tries again.

use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;

use crate::Engines;
use crate::access::Call;

/// An engine, as far as it is one host to connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    Dynamodb,
    /// A bucket of S3 has a host of its own; this is its logical name.
    S3 {
        bucket: &'static str,
    },
    Search,
}

impl Call {
    /// Which engine it is made to.
    pub fn engine(&self) -> Engine {
        match *self {
            Self::Table { .. } | Self::Index { .. } => Engine::Dynamodb,
            Self::Objects { bucket, .. } => Engine::S3 { bucket },
            Self::Search { .. } => Engine::Search,
        }
    }
}

impl Engines {
    /// Makes the client of this engine, and opens a connection that it keeps.
    pub async fn connect(&self, engine: Engine) {
        match engine {
            // Each by an operation that functions make in any case: its client takes the same connection for them.
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
            Engine::Search => {
                if let Ok(search) = self.search() {
                    let _ = search.ping().send().await;
                }
            }
        }
    }
}

/// What DynamoDB tells anybody: that it is healthy.
fn ping(request: &mut HttpRequest) {
    let _ = request.set_method("GET");
    let host = request.uri().trim_end_matches('/').to_owned();
    let _ = request.set_uri(format!("{host}/ping"));
    *request.body_mut() = SdkBody::empty();
    for name in ["content-length", "content-type", "x-amz-target"] {
        request.headers_mut().remove(name);
    }
}

/// What a browser asks, and S3 answers anybody: whether a page may fetch the object.
fn preflight(request: &mut HttpRequest) {
    let _ = request.set_method("OPTIONS");
    request.headers_mut().insert("origin", "https://localhost");
    request.headers_mut().insert("access-control-request-method", "GET");
}
