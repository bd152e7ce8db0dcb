//! Physical names and endpoints of one deployment. No other module reads the environment for them.

mod issuer;
pub mod limits;

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::time::Duration;

pub use issuer::{ClaimNames, Issuer, Keys};

/// The endpoints of a deployment's engines and the names of its resources.
#[derive(Clone)]
pub struct Config {
    /// Prefix of every table, bucket, function and index name.
    pub prefix: String,
    pub region: String,
    /// Suffix of every bucket's name, which must be unique in all of AWS. On AWS it is the account and the region.
    pub bucket_suffix: String,
    /// Endpoint of DynamoDB, absent on AWS.
    pub dynamodb: Option<String>,
    /// Endpoint of S3, absent on AWS.
    pub s3: Option<String>,
    /// Endpoint of SQS, absent on AWS.
    pub sqs: Option<String>,
    /// Endpoint of EventBridge, absent on AWS.
    pub eventbridge: Option<String>,
    /// Endpoint of Secrets Manager, absent on AWS.
    pub secretsmanager: Option<String>,
    /// The URL of a queue before its name, with a slash at the end. Absent if the system has no queue.
    pub queues: Option<String>,
    /// The name of the event bus that receives the events of changes.
    pub event_bus: String,
    /// Endpoint of the management API of the system's socket. Absent if the system has no socket.
    pub socket: Option<String>,
    /// The URL at which clients open the system's socket. Absent if the system has no socket.
    pub socket_url: Option<String>,
    /// Endpoint of OpenSearch.
    pub search: String,
    /// Static credentials for local engines. Absent on AWS, where the function's role is used.
    pub credentials: Option<(String, String)>,
    /// Secrets of cursors. The first encrypts and all decrypt, so that a secret can be rotated.
    pub cursor_secrets: Vec<String>,
    pub issuers: Vec<Issuer>,
    /// The lease of a background job: how long after its worker's death until another worker may resume it.
    pub lease: Duration,
    /// The most actions in one transaction of a background job, from 10 to 100. Smaller transactions conflict less
    /// often.
    pub batch: usize,
    /// How long search keeps tombstones, at least [`TOMBSTONES`].
    pub tombstones: Duration,
    /// Whether request metrics are recorded for each route, or for the system as a whole.
    pub route_metrics: bool,
    /// The limits that differ from their defaults, by name.
    pub limits: BTreeMap<String, u32>,
    /// Whether people can register and log in to a system that issues tokens itself.
    pub own_login: bool,
    /// How long a secret is used before it is read again.
    pub secret_lifetime: Duration,
}

/// The default and the minimum of [`Config::tombstones`]: 25 hours. A stream keeps a record for 24 hours, and no
/// invocation uses what it read more than 15 minutes ago.
pub const TOMBSTONES: Duration = Duration::from_hours(25);

/// The default of [`Config::event_bus`]: the bus that every account has.
pub const EVENT_BUS: &str = "default";

/// The default of [`Config::batch`], the most that DynamoDB takes.
pub const BATCH: usize = 100;

/// The default of [`Config::secret_lifetime`]: five minutes. Within it all functions use a new value.
pub const SECRET_LIFETIME: Duration = Duration::from_secs(300);

/// The default of [`Config::lease`]: two minutes.
pub const LEASE: Duration = Duration::from_secs(120);

/// A variable that is missing or has an invalid value.
#[derive(Debug, thiserror::Error)]
#[error("{variable} {fault}")]
pub struct ConfigError {
    pub variable: &'static str,
    pub fault: String,
}

impl Config {
    /// Creates the configuration of a deployment on AWS in this region, with search at this URL and defaults for the
    /// rest.
    pub fn new(region: &str, search: &str) -> Self {
        Self {
            prefix: String::new(),
            region: region.to_owned(),
            bucket_suffix: String::new(),
            dynamodb: None,
            s3: None,
            sqs: None,
            eventbridge: None,
            secretsmanager: None,
            queues: None,
            event_bus: EVENT_BUS.to_owned(),
            socket: None,
            socket_url: None,
            search: search.to_owned(),
            credentials: None,
            cursor_secrets: Vec::new(),
            issuers: Vec::new(),
            lease: LEASE,
            batch: BATCH,
            tombstones: TOMBSTONES,
            route_metrics: false,
            limits: BTreeMap::new(),
            own_login: true,
            secret_lifetime: SECRET_LIFETIME,
        }
    }

    /// Reads the environment of a deployed function or of an operator's shell:
    ///
    /// | variable | value |
    /// |---|---|
    /// | `CAIRN_PREFIX` | prefix of every physical name; may be absent |
    /// | `CAIRN_BUCKET_SUFFIX` | suffix of every bucket's name; may be absent |
    /// | `AWS_REGION` | the region |
    /// | `CAIRN_DYNAMODB_ENDPOINT`, `CAIRN_S3_ENDPOINT`, `CAIRN_SQS_ENDPOINT`, `CAIRN_EVENTS_ENDPOINT`, `CAIRN_SECRETS_ENDPOINT` | local engines; absent on AWS |
    /// | `AWS_ENDPOINT_URL_DYNAMODB`, `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL_SQS`, `AWS_ENDPOINT_URL_EVENTBRIDGE`, `AWS_ENDPOINT_URL_SECRETS_MANAGER`, `AWS_ENDPOINT_URL` | an emulated cloud, where the function's role is used as on AWS |
    /// | `CAIRN_QUEUES` | the URL of a queue before its name, such as `https://sqs.ca-central-1.amazonaws.com/123456789012/`; absent if the system has no queue |
    /// | `CAIRN_EVENT_BUS` | the name of the event bus that receives the events of changes; `default` if absent |
    /// | `CAIRN_SOCKET_ENDPOINT` | the URL of the management API of the system's socket, such as `https://a1b2c3.execute-api.ca-central-1.amazonaws.com/live`; absent if the system has no socket |
    /// | `CAIRN_SOCKET_URL` | the URL at which clients open the socket, such as `wss://a1b2c3.execute-api.ca-central-1.amazonaws.com/live`; absent if the system has no socket |
    /// | `CAIRN_SEARCH_ENDPOINT` | the URL of OpenSearch |
    /// | `CAIRN_ISSUERS` | a JSON list of `{"name", "issuer", "audience"}` with `keys`, a JWK set, or `jwks`, the URL of one; each name is unique and [valid in keys](Issuer::may_be_named). `audienceClaim` and `rolesClaim` are the paths of these claims in its tokens, `roleNames` maps its roles to ours; may be absent |
    /// | `CAIRN_CURSOR_SECRETS` | comma separated; the first encrypts, all decrypt |
    /// | `CAIRN_LEASE_SECONDS` | lease of a background job; 120 if absent |
    /// | `CAIRN_TOMBSTONE_HOURS` | how long search keeps tombstones, at least 25; 25 if absent |
    /// | `CAIRN_ROUTE_METRICS` | `true` for request metrics of each route; `false` if absent |
    /// | `CAIRN_LIMITS` | limits that differ from their defaults, such as `sends=300,searches=600`; may be absent |
    /// | `CAIRN_OWN_LOGIN` | `false` if people log in to a system that issues tokens by other issuers only; `true` if absent |
    /// | `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` | read here only for local engines |
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::read(|variable| env::var(variable).ok().filter(|value| !value.is_empty()))
    }

    fn read(get: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let required = |variable: &'static str, holds: &str| {
            get(variable).ok_or_else(|| ConfigError { variable, fault: format!("is not set; set it to {holds}") })
        };
        let emulated = |service| get(service).or_else(|| get("AWS_ENDPOINT_URL"));
        let dynamodb = get("CAIRN_DYNAMODB_ENDPOINT");
        let credentials = dynamodb.as_ref().map(|_| {
            let or_local = |variable| get(variable).unwrap_or_else(|| "local".to_owned());
            (or_local("AWS_ACCESS_KEY_ID"), or_local("AWS_SECRET_ACCESS_KEY"))
        });
        let cursor_secrets: Vec<String> = required("CAIRN_CURSOR_SECRETS", "the secrets that encrypt cursors")?
            .split(',')
            .map(|secret| secret.trim().to_owned())
            .filter(|secret| !secret.is_empty())
            .collect();
        if cursor_secrets.is_empty() {
            return Err(ConfigError {
                variable: "CAIRN_CURSOR_SECRETS",
                fault: "has no secret; set it to the secrets that encrypt cursors".to_owned(),
            });
        }
        Ok(Self {
            prefix: get("CAIRN_PREFIX").unwrap_or_default(),
            region: required("AWS_REGION", "the region of the deployment")?,
            bucket_suffix: get("CAIRN_BUCKET_SUFFIX").unwrap_or_default(),
            dynamodb: dynamodb.or_else(|| emulated("AWS_ENDPOINT_URL_DYNAMODB")),
            s3: get("CAIRN_S3_ENDPOINT").or_else(|| emulated("AWS_ENDPOINT_URL_S3")),
            sqs: get("CAIRN_SQS_ENDPOINT").or_else(|| emulated("AWS_ENDPOINT_URL_SQS")),
            eventbridge: get("CAIRN_EVENTS_ENDPOINT").or_else(|| emulated("AWS_ENDPOINT_URL_EVENTBRIDGE")),
            secretsmanager: get("CAIRN_SECRETS_ENDPOINT").or_else(|| emulated("AWS_ENDPOINT_URL_SECRETS_MANAGER")),
            queues: get("CAIRN_QUEUES"),
            event_bus: get("CAIRN_EVENT_BUS").unwrap_or_else(|| EVENT_BUS.to_owned()),
            socket: get("CAIRN_SOCKET_ENDPOINT"),
            socket_url: get("CAIRN_SOCKET_URL"),
            search: required("CAIRN_SEARCH_ENDPOINT", "the URL of OpenSearch")?,
            credentials,
            cursor_secrets,
            issuers: get("CAIRN_ISSUERS").map_or_else(|| Ok(Vec::new()), |text| issuer::read(&text))?,
            batch: BATCH,
            lease: get("CAIRN_LEASE_SECONDS").map_or(Ok(LEASE), |text| lease(&text))?,
            tombstones: get("CAIRN_TOMBSTONE_HOURS").map_or(Ok(TOMBSTONES), |text| tombstones(&text))?,
            route_metrics: get("CAIRN_ROUTE_METRICS").map_or(Ok(false), |text| flag("CAIRN_ROUTE_METRICS", &text))?,
            limits: limits::read(&get("CAIRN_LIMITS").unwrap_or_default())?,
            own_login: get("CAIRN_OWN_LOGIN").map_or(Ok(true), |text| flag("CAIRN_OWN_LOGIN", &text))?,
            secret_lifetime: SECRET_LIFETIME,
        })
    }

    /// Whether requests to OpenSearch carry an AWS signature. They do where the function's role is used.
    pub fn signs_search(&self) -> bool {
        self.credentials.is_none()
    }

    pub fn table(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    pub fn bucket(&self, name: &str) -> String {
        format!("{}{name}{}", self.prefix, self.bucket_suffix)
    }

    /// Returns the physical name of the function of a system's handler.
    pub fn function(&self, system: &str, handler: &str) -> String {
        format!("{}{system}-{handler}", self.prefix)
    }

    /// Returns the physical name of a queue.
    pub fn queue(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Returns the source of a system's events, as rules of the event bus match it.
    pub fn event_source(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Returns the physical name of a secret.
    pub fn secret(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Returns the URL of a queue, if the URL of queues is configured.
    pub fn queue_url(&self, name: &str) -> Option<String> {
        self.queues.as_ref().map(|queues| format!("{queues}{}", self.queue(name)))
    }

    /// Returns the physical name of an alias or index of OpenSearch.
    pub fn search_name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

/// Leaves out secrets, so that a log of the whole configuration has none.
impl fmt::Debug for Config {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Config")
            .field("prefix", &self.prefix)
            .field("region", &self.region)
            .field("dynamodb", &self.dynamodb)
            .field("s3", &self.s3)
            .field("sqs", &self.sqs)
            .field("eventbridge", &self.eventbridge)
            .field("secretsmanager", &self.secretsmanager)
            .field("queues", &self.queues)
            .field("event_bus", &self.event_bus)
            .field("socket", &self.socket)
            .field("socket_url", &self.socket_url)
            .field("search", &self.search)
            .field("issuers", &self.issuers)
            .finish_non_exhaustive()
    }
}

fn lease(text: &str) -> Result<Duration, ConfigError> {
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0);
    seconds.map(Duration::from_secs).ok_or_else(|| ConfigError {
        variable: "CAIRN_LEASE_SECONDS",
        fault: "must be a whole number of seconds above 0".to_owned(),
    })
}

fn tombstones(text: &str) -> Result<Duration, ConfigError> {
    let hours = text.parse().ok().filter(|hours| (25..=MAX_HOURS).contains(hours));
    hours.map(Duration::from_hours).ok_or_else(|| ConfigError {
        variable: "CAIRN_TOMBSTONE_HOURS",
        fault: format!("must be a whole number of hours from 25 to {MAX_HOURS}"),
    })
}

fn flag(variable: &'static str, text: &str) -> Result<bool, ConfigError> {
    text.parse().map_err(|_| ConfigError { variable, fault: "must be `true` or `false`".to_owned() })
}

/// The maximum of `CAIRN_TOMBSTONE_HOURS`: eleven years.
const MAX_HOURS: u64 = 99_999;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(set: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::read(|name| set.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned()))
    }

    const AWS: &[(&str, &str)] = &[
        ("AWS_REGION", "ca-central-1"),
        ("CAIRN_SEARCH_ENDPOINT", "https://search.example"),
        ("CAIRN_CURSOR_SECRETS", "new, old"),
        ("AWS_ACCESS_KEY_ID", "temporary"),
    ];

    #[test]
    fn config_on_aws_uses_the_role_and_signs_search() {
        let config = read(AWS).unwrap();
        assert!(config.credentials.is_none() && config.signs_search());
        assert_eq!(config.cursor_secrets, ["new", "old"]);
        assert_eq!(config.table("toy"), "toy");
    }

    #[test]
    fn config_with_a_local_engine_has_static_credentials() {
        let config =
            read(&[AWS, &[("CAIRN_DYNAMODB_ENDPOINT", "http://127.0.0.1:1"), ("CAIRN_PREFIX", "dev-")]].concat());
        let config = config.unwrap();
        assert_eq!(config.credentials, Some(("temporary".to_owned(), "local".to_owned())));
        assert!(!config.signs_search());
        assert_eq!(config.bucket("toy"), "dev-toy");
    }

    #[test]
    fn config_with_an_emulated_cloud_uses_the_role() {
        let emulator = [("AWS_ENDPOINT_URL", "http://127.0.0.1:1"), ("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:2")];
        let config = read(&[AWS, &emulator, &[("CAIRN_BUCKET_SUFFIX", "-1")]].concat()).unwrap();
        assert_eq!(config.dynamodb.as_deref(), Some("http://127.0.0.1:1"));
        assert_eq!(config.s3.as_deref(), Some("http://127.0.0.1:2"));
        assert!(config.credentials.is_none());
        assert_eq!(config.sqs.as_deref(), Some("http://127.0.0.1:1"));
        assert_eq!(config.secretsmanager.as_deref(), Some("http://127.0.0.1:1"));
        assert_eq!(config.bucket("toy"), "toy-1");
    }

    #[test]
    fn queue_url_consists_of_the_configured_url_the_prefix_and_the_name() {
        let queues = [("CAIRN_QUEUES", "https://sqs.example/1/"), ("CAIRN_PREFIX", "dev-")];
        let config = read(&[AWS, &queues].concat()).unwrap();
        assert_eq!(config.queue_url("toy").as_deref(), Some("https://sqs.example/1/dev-toy"));
        assert_eq!(read(AWS).unwrap().queue_url("toy"), None);
    }

    #[test]
    fn missing_required_variable_is_named() {
        for (left_out, _) in &AWS[..3] {
            let rest: Vec<_> = AWS.iter().copied().filter(|(name, _)| name != left_out).collect();
            assert_eq!(read(&rest).unwrap_err().variable, *left_out);
        }
    }

    #[test]
    fn lease_defaults_to_two_minutes() {
        assert_eq!(read(AWS).unwrap().lease, LEASE);
        let set = |text| read(&[AWS, &[("CAIRN_LEASE_SECONDS", text)]].concat());
        assert_eq!(set("3").unwrap().lease, Duration::from_secs(3));
        for wrong in ["0", "-1", "1.5", "x"] {
            assert_eq!(set(wrong).unwrap_err().variable, "CAIRN_LEASE_SECONDS");
        }
    }

    #[test]
    fn tombstone_retention_below_25_hours_is_refused() {
        assert_eq!(read(AWS).unwrap().tombstones, TOMBSTONES);
        let set = |text| read(&[AWS, &[("CAIRN_TOMBSTONE_HOURS", text)]].concat());
        assert_eq!(set("48").unwrap().tombstones, Duration::from_secs(48 * 3600));
        for wrong in ["24", "-25", "25.5", "x", "100000"] {
            assert_eq!(set(wrong).unwrap_err().variable, "CAIRN_TOMBSTONE_HOURS");
        }
    }

    #[test]
    fn route_metrics_default_to_off() {
        let set = |text| read(&[AWS, &[("CAIRN_ROUTE_METRICS", text)]].concat());
        assert!(!read(AWS).unwrap().route_metrics && !set("false").unwrap().route_metrics);
        assert!(set("true").unwrap().route_metrics);
        assert_eq!(set("yes").unwrap_err().variable, "CAIRN_ROUTE_METRICS");
    }

    #[test]
    fn debug_output_has_no_secret() {
        let printed =
            format!("{:?}", read(&[AWS, &[("CAIRN_DYNAMODB_ENDPOINT", "http://127.0.0.1:1")]].concat()).unwrap());
        assert!(!printed.contains("old") && !printed.contains("temporary"), "{printed}");
    }
}
