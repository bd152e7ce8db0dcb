//! The capacity units that requests and events of a system consume, compared with its recorded costs.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use local::systems;
use serde_json::Value;
use table::{Clock, Engines};
use tokio::time::Instant;
use tracing::instrument::WithSubscriber;
use tracing_subscriber::layer::SubscriberExt;
use web::App;

use super::lines::{Lines, OF_THE_RUN, Units};
use super::{Answer, Cairn};

/// The first line of a record, which says how to record the costs again.
const RECORD: &str = "Recorded by `CAIRN_RECORD=1 cargo test --test e2e costs::`";

/// The measured uses, in order.
#[derive(Default)]
pub struct Measured(Vec<(&'static str, Units)>);

impl Measured {
    /// Sends a request. Returns its response, and records the consumed units.
    pub async fn of(&mut self, what: &'static str, call: impl IntoFuture<Output = Answer>, status: u16) -> Answer {
        let answer = call.await.is(status);
        self.0.push((what, OF_THE_RUN.of(answer.header("apigw-requestid")).consumed()));
        answer
    }

    /// Sends an event at a later time, and records the consumed units. The event has its own clock, so that the
    /// platform's schedule is not affected.
    pub async fn of_event(
        &mut self,
        what: &'static str,
        cairn: &Cairn,
        app: fn(Arc<Engines>) -> App,
        (handler, payload): (&str, &Value),
        later: Duration,
    ) {
        let clock = Clock::system();
        clock.advance(later);
        let app = app(Engines::new(cairn.engines().config.clone(), clock));
        let lines = Lines::default();
        let here = tracing_subscriber::registry().with(lines.clone());
        let deadline = Instant::now() + Duration::from_secs(60);
        app.event(handler, payload.to_string().into(), deadline).with_subscriber(here).await.unwrap();
        self.0.push((what, lines.of(handler).consumed()));
    }

    /// Asserts that the consumed units are those in `costs.json` of the system's crate. With `CAIRN_RECORD` set, it writes
    /// that file instead.
    pub fn match_record(&self, system: &str) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join(systems::named(system).unwrap().folder())
            .join("costs.json");
        let measured = self.record();
        if std::env::var_os("CAIRN_RECORD").is_some() {
            return fs::write(&file, measured).unwrap();
        }
        let recorded = fs::read_to_string(&file).unwrap_or_default();
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let (measured, recorded) = (lines(&measured), lines(&recorded));
        let new: Vec<_> = measured.iter().filter(|line| !recorded.contains(line)).collect();
        let gone: Vec<_> = recorded.iter().filter(|line| !measured.contains(line)).collect();
        let differs = format!("measured {new:#?}; recorded {gone:#?}");
        assert!(
            measured == recorded,
            "{differs}; if this is right, run `CAIRN_RECORD=1 cargo test --test e2e costs::`"
        );
    }

    /// Returns one line for each use and access pattern.
    fn record(&self) -> String {
        let costs = self.0.iter().flat_map(|(of, units)| {
            units.iter().map(move |(pattern, (read, write))| {
                let of = Value::from(*of);
                format!(r#"    {{"use":{of},"pattern":"{pattern}","read":{read},"write":{write}}}"#)
            })
        });
        let costs: Vec<String> = costs.collect();
        format!("{{\n  \"x-recorded\": \"{RECORD}\",\n  \"costs\": [\n{}\n  ]\n}}\n", costs.join(",\n"))
    }
}
