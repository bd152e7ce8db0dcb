//! Scheduled events, with and without anything to do.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::mirror::AUDIT;
use local::systems;
use table::schema::EventSource;
use tokio::time::Instant;

use crate::harness::{Cairn, Setup, recorder};
use crate::tests;

tests! { schedules:
    #[long] idle_schedule_writes_no_metrics,
}

/// The price of a metric depends on the hours in which it is written, and schedules run in every hour.
async fn idle_schedule_writes_no_metrics() {
    for served in systems::ALL {
        let cairn = Cairn::with(Setup::of(served.system.name)).await;
        let lines = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::clone(&lines);
        let app = (served.app)(recorder::OF_THE_RUN.before(cairn.engines()));
        let app = app.metrics_to(move |line| written.lock().unwrap().push(line.to_owned()));
        for source in served.system.sources {
            if let EventSource::Schedule { handler, .. } = source {
                let call =
                    async || app.event(handler, "{}".into(), Instant::now() + Duration::from_secs(60)).await.unwrap();
                if *handler == AUDIT {
                    // There is something to do once a day.
                    call().await;
                    let line = std::mem::take(&mut *lines.lock().unwrap()).concat();
                    assert!(line.contains(r#""Audits":1"#) && line.contains(r#""Differences":0"#), "{line}");
                }
                call().await;
            }
        }
        assert_eq!(*lines.lock().unwrap(), Vec::<String>::new(), "{}", served.system.name);
    }
}
