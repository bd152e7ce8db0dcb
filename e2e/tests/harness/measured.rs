//! The capacity units that uses of a system consume, compared with its recorded costs.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use table::{Clock, Engines};
use tokio::time::Instant;
use tracing::instrument::WithSubscriber;
use tracing_subscriber::layer::SubscriberExt;
use web::App;

use super::lines::{Lines, OF_THE_RUN, Units};
use super::{Answer, Cairn};

/// The first line of a record, and what a failing test asks for.
const RECORD: &str = "Recorded by `CAIRN_RECORD=1 cargo test --test e2e costs::`";

/// The uses that were measured, in order.
#[derive(Default)]
pub struct Measured(Vec<(&'static str, Units)>);

impl Measured {
    /// The answer to a request, and what it consumed.
    pub async fn of(&mut self, what: &'static str, call: impl IntoFuture<Output = Answer>, status: u16) -> Answer {
        let answer = call.await.is(status);
        self.0.push((what, OF_THE_RUN.of(answer.header("apigw-requestid")).consumed()));
        answer
    }

    /// The same of an event that comes so much later, on a clock of its own: the platform's schedule stays behind.
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

    /// Asserts that the uses consumed what `functions/{system}/costs.json` records. With `CAIRN_RECORD` set it writes
    /// that file instead.
    pub fn match_record(&self, system: &str) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../functions/{system}/costs.json"));
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

    /// One line for each use and pattern.
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
