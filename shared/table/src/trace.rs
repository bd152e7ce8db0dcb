//! Trace ids of requests and events. Every request to DynamoDB, S3, SQS, EventBridge, API Gateway and OpenSearch has the
//! trace id of its request or event in the header `x-amzn-trace-id`, and so does the log line ("AWS X-Ray concepts",
//! tracing header).

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::context::BeforeTransmitInterceptorContextMut;
use aws_smithy_runtime_api::client::interceptors::{Intercept, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;
use opensearch::http::headers::{HeaderName, HeaderValue};

use crate::Clock;

/// The header of a trace id.
pub const HEADER: &str = "x-amzn-trace-id";

/// The maximum length of a trace id from outside, in bytes. AWS's own have about 100.
const MAX_BYTES: usize = 512;

/// A trace id in AWS's form, `Root=1-67891233-abcdef012345678912345678`. AWS or a client may add fields such as
/// `;Parent=463ac35c9f6413ad;Sampled=1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace(String);

tokio::task_local! {
    static CURRENT: Trace;
}

impl Trace {
    /// Creates a trace id, as API Gateway does for a request without one.
    pub fn new(clock: &Clock) -> Self {
        Self(format!("Root=1-{:08x}-{:024x}", clock.seconds(), fastrand::u128(..) >> 32))
    }

    /// Reads a header. A well-formed one consists of fields `name=value` separated by `;`, exactly one of them a
    /// `Root`.
    pub fn read(header: &str) -> Option<Self> {
        let mut roots = 0;
        for field in header.split(';') {
            let (name, value) = field.trim().split_once('=')?;
            let is_word = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
            if !is_word(name) || !is_word(value) {
                return None;
            }
            if name == "Root" {
                roots += 1;
                is_root(value).then_some(())?;
            }
        }
        (roots == 1 && header.len() <= MAX_BYTES).then(|| Self(header.to_owned()))
    }

    /// Returns the trace id of the present task, if it runs within [`Trace::scope`].
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Self::clone).ok()
    }

    /// Runs a future with this trace id. A task that it spawns is outside the scope, and needs one of its own.
    pub fn scope<F: Future>(self, future: F) -> impl Future<Output = F::Output> {
        CURRENT.scope(self, future)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the header for a request to OpenSearch in the present scope.
    pub fn current_header() -> Option<(HeaderName, HeaderValue)> {
        let value = HeaderValue::from_str(Self::current()?.as_str()).ok()?;
        Some((HeaderName::from_static(HEADER), value))
    }
}

/// Whether a value is `1-`, the time in 8 hexadecimal digits, `-`, and a random number in 24.
fn is_root(value: &str) -> bool {
    let is_hex = |text: &str, digits: usize| text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts = value.strip_prefix("1-").and_then(|rest| rest.split_once('-'));
    parts.is_some_and(|(time, number)| is_hex(time, 8) && is_hex(number, 24))
}

/// Sets the header of the AWS clients' requests. The clients set one from a variable of the process, which may be
/// another invocation's, and this replaces it.
#[derive(Debug)]
pub(crate) struct TraceInterceptor;

#[dyn_dispatch_hint]
impl Intercept for TraceInterceptor {
    fn name(&self) -> &'static str {
        "TraceInterceptor"
    }

    fn modify_before_signing(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(trace) = Trace::current() {
            context.request_mut().headers_mut().try_insert(HEADER, trace.0)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_trace_is_well_formed_and_has_the_time() {
        let clock = Clock::system();
        let (trace, now) = (Trace::new(&clock), clock.seconds());
        assert_eq!(Trace::read(trace.as_str()), Some(trace.clone()));
        let seconds = i64::from_str_radix(trace.as_str().split('-').nth(1).unwrap(), 16).unwrap();
        assert!((now - 1..=now).contains(&seconds), "{trace:?}");
        assert_ne!(Trace::new(&clock), trace);
    }

    #[test]
    fn trace_with_more_fields_is_read() {
        let root = "Root=1-67891233-abcdef012345678912345678";
        for more in ["", ";Parent=463ac35c9f6413ad;Sampled=1", ";CalledFrom=app", ";Lineage=a87bd80c:1|68fd508a:5"] {
            assert!(Trace::read(&format!("{root}{more}")).is_some(), "{more}");
        }
        assert!(Trace::read(&format!("Self=1-67891234-12456789abcdef012345678;{root}")).is_some());
    }

    #[test]
    fn malformed_trace_is_refused() {
        let long = format!("Root=1-67891233-abcdef012345678912345678;x={}", "x".repeat(MAX_BYTES));
        for wrong in [
            "",
            "x",
            "Root=",
            "Sampled=1",
            "Root=2-67891233-abcdef012345678912345678",
            "Root=1-67891233-abcdef01234567891234567",
            "Root=1-6789123x-abcdef012345678912345678",
            "Root=1-67891233-abcdef012345678912345678;",
            "Root=1-67891233-abcdef012345678912345678;x=é",
            "Root=1-67891233-abcdef012345678912345678;x=a b",
            "Root=1-67891233-abcdef012345678912345678;Root=1-67891233-abcdef012345678912345678",
            &long,
        ] {
            assert_eq!(Trace::read(wrong), None, "{wrong}");
        }
    }
}
