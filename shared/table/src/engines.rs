//! What handlers of one process share: configuration, clock, and clients made when first needed, or before ([`crate::connect`]).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_s3::config::{RequestChecksumCalculation, ResponseChecksumValidation};
use aws_smithy_types::timeout::TimeoutConfig;
use opensearch::OpenSearch;
use opensearch::http::Url;
use opensearch::http::transport::{SingleNodeConnectionPool, TransportBuilder};

use crate::trace::TraceInterceptor;
use crate::{Clock, Config};

/// A request without an answer is sent again after this time.
const DYNAMODB_PATIENCE: Duration = Duration::from_secs(8);
/// The same for S3, counted until the answer begins: a large object may take its time.
const S3_PATIENCE: Duration = Duration::from_secs(15);

/// One per process; handlers, the mirror and the operator's commands share it.
#[derive(Debug)]
pub struct Engines {
    pub config: Config,
    pub clock: Clock,
    winding_down: Arc<AtomicBool>,
    credentials: SharedCredentialsProvider,
    dynamodb: OnceLock<aws_sdk_dynamodb::Client>,
    s3: OnceLock<aws_sdk_s3::Client>,
    search: OnceLock<OpenSearch>,
}

/// The endpoint of OpenSearch is no URL, or TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("no client for OpenSearch at `{endpoint}`: {reason}")]
pub struct SearchClientError {
    pub endpoint: String,
    pub reason: String,
}

impl Engines {
    /// Signs with the configuration's credentials, else with those in the environment, where Lambda puts its function's.
    pub fn new(config: Config, clock: Clock) -> Arc<Self> {
        let credentials = match &config.credentials {
            Some((id, secret)) => {
                SharedCredentialsProvider::new(Credentials::new(id, secret, None, None, "configuration"))
            }
            None => SharedCredentialsProvider::new(EnvironmentVariableCredentialsProvider::new()),
        };
        Self::signed(config, clock, credentials)
    }

    /// Signs with credentials from elsewhere, as an operator's command does. A function does not need AWS's other
    /// sources, and its program is smaller without them.
    pub fn signed(config: Config, clock: Clock, credentials: SharedCredentialsProvider) -> Arc<Self> {
        Self::of(config, clock, Arc::default(), credentials)
    }

    /// The same process with other names or endpoints: one clock, and told together that it winds down.
    pub fn at(&self, config: Config) -> Arc<Self> {
        Self::of(config, self.clock.clone(), Arc::clone(&self.winding_down), self.credentials.clone())
    }

    fn of(
        config: Config,
        clock: Clock,
        winding_down: Arc<AtomicBool>,
        credentials: SharedCredentialsProvider,
    ) -> Arc<Self> {
        Arc::new(Self {
            config,
            clock,
            winding_down,
            credentials,
            dynamodb: OnceLock::new(),
            s3: OnceLock::new(),
            search: OnceLock::new(),
        })
    }

    /// Tells work that could go on for long to stop at its next checkpoint: the process is about to end.
    pub fn wind_down(&self) {
        self.winding_down.store(true, Ordering::Relaxed);
    }

    pub fn is_winding_down(&self) -> bool {
        self.winding_down.load(Ordering::Relaxed)
    }

    pub fn dynamodb(&self) -> &aws_sdk_dynamodb::Client {
        self.dynamodb.get_or_init(|| {
            let mut config = aws_sdk_dynamodb::config::Builder::from(&self.aws());
            let timeouts = TimeoutConfig::builder().operation_attempt_timeout(DYNAMODB_PATIENCE).build();
            config.set_endpoint_url(self.config.dynamodb.clone()).set_timeout_config(Some(timeouts));
            aws_sdk_dynamodb::Client::from_conf(config.interceptor(TraceInterceptor).build())
        })
    }

    /// Local S3 servers know buckets by path only. Checksums are sent where we state them and nowhere else: the SDK's
    /// own would become part of a signed link, and bind its client to an empty body.
    pub fn s3(&self) -> &aws_sdk_s3::Client {
        self.s3.get_or_init(|| {
            let mut config = aws_sdk_s3::config::Builder::from(&self.aws());
            let timeouts = TimeoutConfig::builder().read_timeout(S3_PATIENCE).build();
            config
                .set_endpoint_url(self.config.s3.clone())
                .set_force_path_style(Some(self.config.s3.is_some()))
                .set_request_checksum_calculation(Some(RequestChecksumCalculation::WhenRequired))
                .set_response_checksum_validation(Some(ResponseChecksumValidation::WhenRequired))
                .set_timeout_config(Some(timeouts));
            aws_sdk_s3::Client::from_conf(config.interceptor(TraceInterceptor).build())
        })
    }

    pub fn search(&self) -> Result<&OpenSearch, SearchClientError> {
        if let Some(client) = self.search.get() {
            return Ok(client);
        }
        let failed = |reason: String| SearchClientError { endpoint: self.config.search.clone(), reason };
        let url = Url::parse(&self.config.search).map_err(|error| failed(error.to_string()))?;
        let transport = TransportBuilder::new(SingleNodeConnectionPool::new(url));
        let transport = if self.config.signs_search() {
            transport.auth(opensearch::auth::Credentials::AwsSigV4(self.credentials.clone(), self.region()))
        } else {
            transport.disable_proxy()
        };
        let transport = transport.build().map_err(|error| failed(error.to_string()))?;
        Ok(self.search.get_or_init(|| OpenSearch::new(transport)))
    }

    fn aws(&self) -> SdkConfig {
        SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(self.region())
            .credentials_provider(self.credentials.clone())
            .build()
    }

    fn region(&self) -> Region {
        Region::new(self.config.region.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engines(search: &str) -> Arc<Engines> {
        let config = Config {
            dynamodb: Some("http://127.0.0.1:1".to_owned()),
            s3: Some("http://127.0.0.1:1".to_owned()),
            credentials: Some(("local".to_owned(), "local".to_owned())),
            cursor_secrets: vec!["secret".to_owned()],
            ..Config::new("ca-central-1", search)
        };
        Engines::new(config, Clock::system())
    }

    #[test]
    fn clients_are_made_once() {
        let engines = engines("http://127.0.0.1:1");
        assert!(std::ptr::eq(engines.dynamodb(), engines.dynamodb()));
        assert!(std::ptr::eq(engines.s3(), engines.s3()));
        assert!(std::ptr::eq(engines.search().unwrap(), engines.search().unwrap()));
    }

    #[test]
    fn a_process_winds_down_as_one() {
        let one = engines("http://127.0.0.1:1");
        let other = one.at(Config { search: "http://127.0.0.1:2".to_owned(), ..one.config.clone() });
        other.clock.advance(Duration::from_secs(3600));
        assert!(one.clock.seconds() > Clock::system().seconds() + 3000);
        one.wind_down();
        assert!(other.is_winding_down());
    }

    #[test]
    fn an_endpoint_that_is_no_url_is_named() {
        assert_eq!(engines("search.example").search().unwrap_err().endpoint, "search.example");
    }
}
