//! What uses of a system consume of DynamoDB's capacity, and whether that is what is said.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use table::access::Cost;
use table::{Clock, Engines};
use tokio::time::Instant;
use tracing::instrument::WithSubscriber;
use tracing_subscriber::layer::SubscriberExt;
use web::App;

use super::lines::{Lines, OF_THE_RUN, Units};
use super::{Answer, Cairn};

/// What was measured, in the order of measuring.
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

    /// All of it is said, and nothing else.
    pub fn are(&self, costs: &[Cost]) {
        let told = self.0.iter().flat_map(|(of, units)| {
            units.iter().map(move |(pattern, (read, write))| format!("{of}: {pattern} {read} R {write} W"))
        });
        let said = costs
            .iter()
            .map(|cost| format!("{}: {} {} R {} W", cost.of, cost.pattern.name, cost.read_units, cost.write_units));
        let (told, said): (Vec<_>, Vec<_>) = (told.collect(), said.collect());
        let unsaid: Vec<_> = told.iter().filter(|line| !said.contains(line)).collect();
        let untrue: Vec<_> = said.iter().filter(|line| !told.contains(line)).collect();
        assert!(told == said, "measured and not said: {unsaid:#?}; said and not measured: {untrue:#?}");
    }
}
