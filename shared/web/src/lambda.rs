//! The Lambda adapter. It passes invocations of the Runtime API to the same [`App`] that the local gateway serves. HTTP
//! requests come in API Gateway's payload format 2.0 only.

mod http_event;
mod source;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use lambda_runtime::{Context, Diagnostic, LambdaEvent, service_fn};
use serde_json::value::RawValue;
use table::{Clock, Config, Engines, Trace};
use tokio::time::Instant;

use crate::app::{App, UnknownHandler};
use crate::deployment;
use crate::event::EventFailure;
use source::Source;

pub use http_event::NotPayload2;

/// The part of a system that a function serves, as `_HANDLER` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One route or one event handler.
    Only(String),
    /// The whole system, if `_HANDLER` is unset or `bootstrap`. The payload selects the handler.
    Whole,
}

/// The reason why a function cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("AWS_LAMBDA_RUNTIME_API is not set: this binary serves Lambda's Runtime API; run it with `cargo lambda`")]
    NoRuntimeApi,
    #[error("{0}")]
    Environment(Arc<str>),
    #[error(transparent)]
    UnknownHandler(#[from] UnknownHandler),
    #[error("invalid routes: {}", .0.join("; "))]
    Misdeclared(Vec<String>),
    #[error("the Runtime API failed: {0}")]
    Runtime(lambda_runtime::Error),
}

/// Runs a system's `main`: serves its app with the engines of the environment.
pub async fn serve(app: fn(Arc<Engines>) -> App) -> ExitCode {
    crate::log::to_standard_output();
    let outcome = match Config::from_env() {
        Ok(config) => run(app(Engines::new(config, Clock::system()))).await,
        Err(error) => refuse(Arc::from(error.to_string())).await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error = error.to_string(), "function failed to start");
            ExitCode::FAILURE
        }
    }
}

/// Fails each invocation because the environment is not valid. If the function exited instead, CloudFormation would wait for
/// its response for an hour.
async fn refuse(reason: Arc<str>) -> Result<(), StartError> {
    if std::env::var_os("AWS_LAMBDA_RUNTIME_API").is_none() {
        return Err(StartError::Environment(reason));
    }
    let service = service_fn(move |event: LambdaEvent<Box<RawValue>>| {
        let reason = Arc::clone(&reason);
        async move {
            tracing::error!(error = &*reason, "event failed, since the environment is not valid");
            let refused = deployment::refuse(event.payload.get(), &reason).await;
            let response = refused.map_err(|EventFailure(reason)| diagnostic("Environment", reason))?;
            raw(String::from_utf8_lossy(&response).into_owned())
        }
    });
    lambda_runtime::Runtime::new(service).run().await.map_err(StartError::Runtime)
}

/// Serves invocations until the process ends. Logs are JSON lines on standard output, filtered by `RUST_LOG`
/// (`info` unless it is set).
pub async fn run(app: App) -> Result<(), StartError> {
    crate::log::to_standard_output();
    if std::env::var_os("AWS_LAMBDA_RUNTIME_API").is_none() {
        return Err(StartError::NoRuntimeApi);
    }
    let function = Arc::new(Function::new(app, Scope::of(std::env::var("_HANDLER").ok().as_deref()))?);
    function.app.prepare().await;
    let service = service_fn(move |event: LambdaEvent<Box<RawValue>>| {
        let function = Arc::clone(&function);
        async move {
            let invocation = function.invoke(event.payload.get(), deadline(&event.context));
            match event.context.xray_trace_id.as_deref().and_then(Trace::read) {
                Some(trace) => trace.scope(invocation).await,
                None => invocation.await,
            }
        }
    });
    lambda_runtime::Runtime::new(service).run().await.map_err(StartError::Runtime)
}

impl Scope {
    pub fn of(handler: Option<&str>) -> Self {
        match handler {
            None | Some("" | "bootstrap") => Self::Whole,
            Some(name) => Self::Only(name.to_owned()),
        }
    }
}

/// A function that handles invocations, of Lambda's Runtime API or of a test.
#[derive(Debug)]
pub struct Function {
    app: App,
    scope: Scope,
}

impl Function {
    pub fn new(app: App, scope: Scope) -> Result<Self, StartError> {
        let app = match &scope {
            Scope::Only(handler) => app.only(handler)?,
            Scope::Whole => app,
        };
        match app.unroutable() {
            [] => Ok(Self { app, scope }),
            unroutable => Err(StartError::Misdeclared(unroutable.to_vec())),
        }
    }

    /// Handles an invocation. Payload and response are Lambda's JSON. Lambda kills the function at the deadline.
    pub async fn invoke(&self, payload: &str, deadline: Instant) -> Result<Box<RawValue>, Diagnostic> {
        let source = match &self.scope {
            Scope::Only(handler) if self.app.event_handlers().iter().any(|own| own.name == handler) => {
                Source::Event(handler.clone())
            }
            Scope::Only(_) => Source::Http,
            Scope::Whole => Source::of(payload, self.app.system(), &self.app.engines().config.bucket_suffix)
                .ok_or_else(|| diagnostic("UnknownEvent", "the event is of no source that the system declares"))?,
        };
        let response = match source {
            Source::Http => {
                let request =
                    http_event::request(payload, deadline).map_err(|error| diagnostic("NotPayload2", error))?;
                http_event::response(&self.app.handle(request).await)
            }
            Source::Event(handler) => {
                let payload = Bytes::copy_from_slice(payload.as_bytes());
                let response = self.app.event(&handler, payload, deadline).await;
                let response = response.map_err(|EventFailure(reason)| diagnostic("EventFailure", reason))?;
                String::from_utf8_lossy(&response).into_owned()
            }
        };
        raw(response)
    }
}

fn raw(response: String) -> Result<Box<RawValue>, Diagnostic> {
    RawValue::from_string(response).map_err(|error| diagnostic("NotJson", error))
}

/// Returns the time when Lambda kills the function. A time in the past is ignored: `cargo lambda watch` sends one of 1970.
fn deadline(context: &Context) -> Instant {
    let left = context.deadline().duration_since(SystemTime::now()).ok().filter(|left| !left.is_zero());
    Instant::now() + left.unwrap_or(MAX_TIMEOUT)
}

/// Lambda's longest timeout of a function.
const MAX_TIMEOUT: Duration = Duration::from_secs(15 * 60);

fn diagnostic(kind: &str, reason: impl ToString) -> Diagnostic {
    Diagnostic { error_type: kind.to_owned(), error_message: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn deadline_in_the_past_is_ignored() {
        let until = |millis: u64| {
            let mut context = Context::default();
            context.deadline = millis;
            deadline(&context).duration_since(Instant::now())
        };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as u64;
        assert!(until(now + 10_000) <= Duration::from_secs(10));
        assert!(until(600_000) > Duration::from_secs(600));
    }

    #[test]
    fn scope_of_bootstrap_is_the_whole_system() {
        for handler in [None, Some(""), Some("bootstrap")] {
            assert_eq!(Scope::of(handler), Scope::Whole);
        }
        assert_eq!(Scope::of(Some("getAnimal")), Scope::Only("getAnimal".into()));
    }
}
