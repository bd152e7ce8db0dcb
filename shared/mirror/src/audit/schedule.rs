//! The daily audit: an event handler that a schedule calls every hour. It starts an audit once a day, and resumes one
//! whose time was up.

use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;
use table::Engines;
use tokio::time::{Instant, sleep};
use web::{Event, EventFailure, EventHandler};

use super::options::{AuditOptions, AuditPurpose};
use super::results::report_audits;
use super::run::AuditStep;
use super::system::{Audited, audit_generations, check_readers};
use crate::engines::Production;
use crate::group::after;
use crate::mirrored::{ENGINES, Mirrored, ONE_VCPU_MEMORY};
use crate::ports::{Fault, Ports as _, Time as _};

/// The handler's name in every system.
pub const AUDIT: &str = "auditIndex";

/// The minutes between two calls of the handler.
pub const AUDIT_MINUTES: u32 = 60;

/// The age of the last audit at which another one starts. A schedule of an hour then starts one each day.
pub(crate) const DAY: Duration = Duration::from_hours(23);

/// The options of one invocation, which an operator can give. A schedule gives none.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Request {
    /// Whether an audit is started even if the last one is younger than a day.
    now: bool,
    dry_run: bool,
    wait_seconds: Option<u64>,
}

/// Creates the event handler that audits the indexes of a system on a schedule.
pub fn audit_index<M: Mirrored>() -> EventHandler {
    let handler = EventHandler::new(AUDIT, on_schedule::<M>).patterns(M::PATTERNS).engines(ENGINES);
    handler.timeout(Duration::from_mins(15)).memory(ONE_VCPU_MEMORY)
}

async fn on_schedule<M: Mirrored>(event: Event) -> Result<Bytes, EventFailure> {
    let request: Request = serde_json::from_slice(&event.payload).unwrap_or_default();
    let (documents, shapes, engines) = (M::default(), M::shapes(event.access().clone()), event.engines());
    let system = documents.tables();
    let ports = Production::new(engines, system, &shapes, Some(event.deadline)).map_err(EventFailure::new)?;
    let time_limit = event.deadline.saturating_duration_since(Instant::now());
    let options = request.options(time_limit).map_err(EventFailure::new)?;
    let now = ports.time().micros();
    let until = after(now, time_limit.saturating_sub(options.reserve(time_limit)));
    let since = (!request.is_manual()).then(|| now.saturating_sub(after(0, DAY)));
    let step = |step| {
        if let AuditStep::Repaired { differences } = step {
            tracing::info!(differences, "differences between the tables and search were repaired");
        }
    };
    let audited = tokio::select! {
        audited = audit_generations(&ports, &documents, options, since, Some(until), &step) => {
            audited
        }
        // The next call resumes it.
        () = winding_down(engines) => return Ok(Bytes::from_static(b"{}")),
    };
    let report = |audit| event.report_audit(audit);
    let has_reported = report_audits(&ports, system, report).await.map_err(EventFailure::new)?;
    let audited = audited.and_then(Audited::complete).map_err(EventFailure::new)?;
    check_readers(&ports, system).await.map_err(EventFailure::new)?;
    if audited.is_empty() && !has_reported {
        event.found_nothing();
    }
    let response = if request.is_manual() { json!({ "audits": audited }) } else { json!({}) };
    Ok(response.to_string().into())
}

impl Request {
    /// Whether an operator asks for an audit.
    fn is_manual(self) -> bool {
        self.now || self.dry_run
    }

    fn options(self, time_limit: Duration) -> Result<AuditOptions, Fault> {
        let longest = AuditOptions::longest_wait(time_limit);
        let wait = match self.wait_seconds.map(Duration::from_secs) {
            Some(wait) if wait > longest => {
                return Err(Fault::lasting(
                    "mirror",
                    format_args!(
                        "a wait of {} s does not fit a run of {} s: give at most {} s, or run `cairn audit`, which has \
                         no time limit",
                        wait.as_secs(),
                        time_limit.as_secs(),
                        longest.as_secs(),
                    ),
                ));
            }
            Some(wait) => wait,
            None => AuditOptions::DAILY.wait.min(longest),
        };
        let purpose = if self.dry_run { AuditPurpose::DryRun } else { AuditPurpose::Daily };
        Ok(AuditOptions { purpose, wait, ..AuditOptions::DAILY })
    }
}

/// Completes when the process is about to end.
async fn winding_down(engines: &Engines) {
    while !engines.is_winding_down() {
        sleep(Duration::from_millis(250)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_mins(15);

    fn options(request: &str) -> Result<AuditOptions, Fault> {
        serde_json::from_str::<Request>(request).unwrap().options(LIMIT)
    }

    #[test]
    fn wait_that_does_not_fit_the_time_limit_is_refused() {
        assert_eq!(options(r#"{"waitSeconds":300}"#).unwrap().wait, Duration::from_mins(5));
        let refused = options(r#"{"waitSeconds":301}"#).unwrap_err().to_string();
        assert!(refused.contains("a wait of 301 s does not fit a run of 900 s: give at most 300 s"), "{refused}");
        let short = Request::default().options(Duration::from_mins(1)).unwrap();
        assert_eq!(short.wait, Duration::from_secs(20));
    }

    #[test]
    fn request_of_a_schedule_is_a_daily_audit() {
        for (request, is_manual, purpose) in [
            ("{}", false, "daily"),
            (r#"{"source":"aws.events"}"#, false, "daily"),
            (r#"{"now":true}"#, true, "daily"),
            (r#"{"dryRun":true}"#, true, "dry-run"),
        ] {
            let parsed: Request = serde_json::from_str(request).unwrap();
            assert_eq!(
                (parsed.is_manual(), options(request).unwrap().purpose.name()),
                (is_manual, purpose),
                "{request}"
            );
        }
    }
}
