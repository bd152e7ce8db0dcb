//! The first answer of a function's process beside its second, over TLS and at some distance from its engines.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use local::runtime_api::RuntimeApi;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::Failure;
use crate::figure::{Figure, Goal, Table, milliseconds};
use crate::function::{PATIENCE, built, environment};
use crate::gateway::COLLECTION;
use crate::platform::Platform;
use crate::timing::Times;
use crate::tls::{Distant, TRUSTED};

const GEOZONE: &str = include_str!("../../../events/parks/getGeozone.json");
const SUGGEST: &str = include_str!("../../../events/parks/suggest.json");

const ROUNDS: usize = 21;

/// From a function to an engine and back.
const TRIP: Duration = Duration::from_millis(4);

/// What the first answer may take longer than the second, beside a round trip.
const LATER: Duration = Duration::from_millis(5);

struct Case {
    handler: &'static str,
    event: &'static str,
    first: Times,
    second: Times,
}

pub async fn run(platform: &Platform, table: &mut Table) -> Result<(), Failure> {
    let parks = built("parks").await?;
    let item = json!({ "displayName": "Bedwell Lakes", "location": [-125.589, 49.498], "isVisible": true });
    platform.gateway().create(&format!("/parks/geozones/{COLLECTION}"), &item).await?;
    platform.caught_up().await;
    let config = &platform.engines().config;
    let dynamodb = Distant::before(config.dynamodb.as_deref().unwrap_or_default(), TRIP).await?;
    let search = Distant::before(&config.search, TRIP).await?;
    let changed = [
        ("CAIRN_DYNAMODB_ENDPOINT", dynamodb.url.clone()),
        ("CAIRN_SEARCH_ENDPOINT", search.url.clone()),
        ("SSL_CERT_FILE", TRUSTED.to_owned()),
    ];
    // A whole system makes nothing before its first event.
    let mut cases =
        [("getGeozone", GEOZONE), ("bootstrap", GEOZONE), ("suggest", SUGGEST), ("bootstrap", SUGGEST)].map(Case::new);
    for _ in 0..ROUNDS {
        for case in &mut cases {
            case.start(&parks, platform, &changed).await?;
        }
    }
    let [geozone, lazy_geozone, suggest, lazy_suggest] = &cases;
    geozone.add(table, lazy_geozone);
    suggest.add(table, lazy_suggest);
    Ok(())
}

impl Case {
    fn new((handler, event): (&'static str, &'static str)) -> Self {
        Self { handler, event, first: Times::default(), second: Times::default() }
    }

    /// One process, from its start to its end.
    async fn start(&mut self, program: &Path, platform: &Platform, changed: &[(&str, String)]) -> Result<(), Failure> {
        let mut api = RuntimeApi::start().await?;
        let mut command = Command::new(program);
        command.env_clear().envs(environment(platform)).envs(changed.iter().map(|(name, value)| (name, value)));
        command.envs(api.variables(self.handler));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let mut process = command.spawn()?;
        tokio::time::timeout(PATIENCE, api.asked()).await?;
        for times in [&mut self.first, &mut self.second] {
            let begun = Instant::now();
            let said = tokio::time::timeout(PATIENCE, api.invoke(self.event, "")).await?.unwrap_or_default();
            times.add(begun.elapsed());
            if said.get("statusCode") != Some(&Value::from(200)) {
                return Err(format!("{} answered {said}", self.handler).into());
            }
        }
        process.kill().await?;
        Ok(())
    }

    fn add(&self, table: &mut Table, lazy: &Self) {
        let [first, second, without] = [&self.first, &self.second, &lazy.first].map(|times| times.percentile(50));
        table.add(&Figure {
            name: &format!("cold: the first answer of {} over TLS", self.handler),
            measured: milliseconds(first),
            goal: Goal::at_most(
                (TRIP + LATER).as_secs_f64(),
                first.saturating_sub(second).as_secs_f64(),
                format!("≤ {TRIP:?} + {LATER:?} later"),
            ),
            baseline: format!("second: {}; unprepared: {}", milliseconds(second), milliseconds(without)),
            ratio: Some(first.as_secs_f64() / second.as_secs_f64()),
        });
    }
}
