//! What the handlers of one process share: configuration, clock, and the clients of the engines.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_apigatewaymanagement::config::retry::RetryConfig;
use aws_sdk_s3::config::{RequestChecksumCalculation, ResponseChecksumValidation};
use aws_smithy_http_client::Builder;
use aws_smithy_types::timeout::TimeoutConfig;
use opensearch::OpenSearch;
use opensearch::http::Url;
use opensearch::http::transport::{SingleNodeConnectionPool, TransportBuilder};

use crate::trace::TraceInterceptor;
use crate::{Clock, Config, secret};

/// How long an attempt of a request to DynamoDB may take before the SDK retries it.
const DYNAMODB_ATTEMPT_TIMEOUT: Duration = Duration::from_secs(8);
/// How long S3 may take until its answer begins. A large object may take longer in total.
const S3_READ_TIMEOUT: Duration = Duration::from_secs(15);

/// How long a call to SQS may take with its retries. A request waits for it, and what a lost message asks for is done
/// by a schedule, too.
const SQS_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a call to EventBridge may take with its retries. A failed call is made again with the records of its stream.
const EVENTBRIDGE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a call to the management API of a socket may take. It is made once: a caller that needs the delivery decides
/// on a retry, and others must not wait for one slow connection.
const SOCKET_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a call to Secrets Manager may take with its retries. The start of a function or a request waits for it.
const SECRETS_TIMEOUT: Duration = Duration::from_secs(3);

/// The configuration, clock and clients of one process. A client is created at its first use, or by
/// [`Engines::connect`].
#[derive(Debug)]
pub struct Engines {
    pub config: Config,
    pub clock: Clock,
    winding_down: Arc<AtomicBool>,
    credentials: SharedCredentialsProvider,
    dynamodb: OnceLock<aws_sdk_dynamodb::Client>,
    s3: OnceLock<aws_sdk_s3::Client>,
    sqs: OnceLock<aws_sdk_sqs::Client>,
    eventbridge: OnceLock<aws_sdk_eventbridge::Client>,
    socket: OnceLock<aws_sdk_apigatewaymanagement::Client>,
    secretsmanager: OnceLock<aws_sdk_secretsmanager::Client>,
    search: OnceLock<OpenSearch>,
    pub(crate) secrets: secret::Cache,
}

/// The configuration has no endpoint of a socket.
#[derive(Debug, thiserror::Error)]
#[error("the management API of the socket is not configured; set CAIRN_SOCKET_ENDPOINT")]
pub struct NoSocket;

/// The endpoint of OpenSearch is not a URL, or TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("creating the client of OpenSearch at `{endpoint}` failed: {reason}")]
pub struct SearchClientError {
    pub endpoint: String,
    pub reason: String,
}

impl Engines {
    /// Creates engines that sign with the configuration's credentials, or with those in the environment, as on Lambda.
    pub fn new(config: Config, clock: Clock) -> Arc<Self> {
        let credentials = match &config.credentials {
            Some((id, secret)) => {
                SharedCredentialsProvider::new(Credentials::new(id, secret, None, None, "configuration"))
            }
            None => SharedCredentialsProvider::new(EnvironmentVariableCredentialsProvider::new()),
        };
        Self::signed(config, clock, credentials)
    }

    /// Creates engines that sign with these credentials. For operators' commands: functions need no other source of
    /// credentials than the environment, and their binaries are smaller without.
    pub fn signed(config: Config, clock: Clock, credentials: SharedCredentialsProvider) -> Arc<Self> {
        Self::of(config, clock, Arc::default(), credentials)
    }

    /// Creates engines with another configuration that share this one's clock, credentials and wind-down.
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
            sqs: OnceLock::new(),
            eventbridge: OnceLock::new(),
            socket: OnceLock::new(),
            secretsmanager: OnceLock::new(),
            search: OnceLock::new(),
            secrets: secret::Cache::default(),
        })
    }

    /// Asks background jobs to stop at their next checkpoint, since the process is about to end.
    pub fn wind_down(&self) {
        self.winding_down.store(true, Ordering::Relaxed);
    }

    pub fn is_winding_down(&self) -> bool {
        self.winding_down.load(Ordering::Relaxed)
    }

    pub fn dynamodb(&self) -> &aws_sdk_dynamodb::Client {
        self.dynamodb.get_or_init(|| {
            let mut config = aws_sdk_dynamodb::config::Builder::from(&self.aws());
            let timeouts = TimeoutConfig::builder().operation_attempt_timeout(DYNAMODB_ATTEMPT_TIMEOUT).build();
            config.set_endpoint_url(self.config.dynamodb.clone()).set_timeout_config(Some(timeouts));
            aws_sdk_dynamodb::Client::from_conf(config.interceptor(TraceInterceptor).build())
        })
    }

    /// Returns the client of S3. Local servers know buckets by path only. The SDK's own checksums are off, since they
    /// would become part of a signed link and bind its client to an empty body.
    pub fn s3(&self) -> &aws_sdk_s3::Client {
        self.s3.get_or_init(|| {
            let mut config = aws_sdk_s3::config::Builder::from(&self.aws());
            let timeouts = TimeoutConfig::builder().read_timeout(S3_READ_TIMEOUT).build();
            config
                .set_endpoint_url(self.config.s3.clone())
                .set_force_path_style(Some(self.config.s3.is_some()))
                .set_request_checksum_calculation(Some(RequestChecksumCalculation::WhenRequired))
                .set_response_checksum_validation(Some(ResponseChecksumValidation::WhenRequired))
                .set_timeout_config(Some(timeouts));
            aws_sdk_s3::Client::from_conf(config.interceptor(TraceInterceptor).build())
        })
    }

    pub fn sqs(&self) -> &aws_sdk_sqs::Client {
        self.sqs.get_or_init(|| {
            let mut config = aws_sdk_sqs::config::Builder::from(&self.aws());
            let timeouts = TimeoutConfig::builder().operation_timeout(SQS_TIMEOUT).build();
            config.set_endpoint_url(self.config.sqs.clone()).set_timeout_config(Some(timeouts));
            aws_sdk_sqs::Client::from_conf(config.interceptor(TraceInterceptor).build())
        })
    }

    pub fn eventbridge(&self) -> &aws_sdk_eventbridge::Client {
        self.eventbridge.get_or_init(|| {
            let mut config = aws_sdk_eventbridge::config::Builder::from(&self.aws());
            let timeouts = TimeoutConfig::builder().operation_timeout(EVENTBRIDGE_TIMEOUT).build();
            config.set_endpoint_url(self.config.eventbridge.clone()).set_timeout_config(Some(timeouts));
            aws_sdk_eventbridge::Client::from_conf(config.interceptor(TraceInterceptor).build())
        })
    }

    /// Returns the client of the management API of the system's socket. It retries nothing.
    pub fn socket(&self) -> Result<&aws_sdk_apigatewaymanagement::Client, NoSocket> {
        let endpoint = self.config.socket.as_ref().ok_or(NoSocket)?;
        Ok(self.socket.get_or_init(|| {
            let mut config = aws_sdk_apigatewaymanagement::config::Builder::from(&self.aws());
            let timeouts = TimeoutConfig::builder().operation_timeout(SOCKET_TIMEOUT).build();
            config.set_endpoint_url(Some(endpoint.clone())).set_timeout_config(Some(timeouts));
            let config = config.retry_config(RetryConfig::disabled()).interceptor(TraceInterceptor);
            aws_sdk_apigatewaymanagement::Client::from_conf(config.build())
        }))
    }

    pub fn secretsmanager(&self) -> &aws_sdk_secretsmanager::Client {
        self.secretsmanager.get_or_init(|| {
            let mut config = aws_sdk_secretsmanager::config::Builder::from(&self.aws());
            let timeouts = TimeoutConfig::builder().operation_timeout(SECRETS_TIMEOUT).build();
            config.set_endpoint_url(self.config.secretsmanager.clone()).set_timeout_config(Some(timeouts));
            aws_sdk_secretsmanager::Client::from_conf(config.interceptor(TraceInterceptor).build())
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
        let config = SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(self.region())
            .credentials_provider(self.credentials.clone());
        // A proxy that the environment names does not lead to the engines of this machine.
        let is_local = self.config.dynamodb.as_ref().is_some_and(|endpoint| endpoint.starts_with("http://"));
        let config = if is_local { config.http_client(Builder::new().build_http()) } else { config };
        config.build()
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
            sqs: Some("http://127.0.0.1:1".to_owned()),
            eventbridge: Some("http://127.0.0.1:1".to_owned()),
            socket: Some("http://127.0.0.1:1".to_owned()),
            secretsmanager: Some("http://127.0.0.1:1".to_owned()),
            credentials: Some(("local".to_owned(), "local".to_owned())),
            cursor_secrets: vec!["secret".to_owned()],
            ..Config::new("ca-central-1", search)
        };
        Engines::new(config, Clock::system())
    }

    #[test]
    fn client_is_created_once() {
        let engines = engines("http://127.0.0.1:1");
        assert!(std::ptr::eq(engines.dynamodb(), engines.dynamodb()));
        assert!(std::ptr::eq(engines.s3(), engines.s3()));
        assert!(std::ptr::eq(engines.sqs(), engines.sqs()));
        assert!(std::ptr::eq(engines.eventbridge(), engines.eventbridge()));
        assert!(std::ptr::eq(engines.socket().unwrap(), engines.socket().unwrap()));
        assert!(std::ptr::eq(engines.secretsmanager(), engines.secretsmanager()));
        assert!(std::ptr::eq(engines.search().unwrap(), engines.search().unwrap()));
    }

    #[test]
    fn engines_of_one_process_share_clock_and_wind_down() {
        let one = engines("http://127.0.0.1:1");
        let other = one.at(Config { search: "http://127.0.0.1:2".to_owned(), ..one.config.clone() });
        other.clock.advance(Duration::from_secs(3600));
        assert!(one.clock.seconds() > Clock::system().seconds() + 3000);
        one.wind_down();
        assert!(other.is_winding_down());
    }

    #[test]
    fn search_endpoint_without_scheme_is_an_error() {
        assert_eq!(engines("search.example").search().unwrap_err().endpoint, "search.example");
    }
}
