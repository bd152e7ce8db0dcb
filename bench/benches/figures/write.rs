//! How long after a write a search finds it: single writes, with nothing else running.

use std::time::{Duration, Instant};

use parks::documents::MAPPING;
use serde_json::{Value, json};

use crate::Failure;
use crate::figure::{Figure, Goal, Table, milliseconds};
use crate::gateway::{COLLECTION, json_of};
use crate::platform::Platform;
use crate::timing::Times;

const WRITES: usize = 1000;

/// One bare put for so many writes.
const BARE: usize = 4;

/// The index's refresh interval, which no write escapes.
const REFRESH: Duration = Duration::from_millis(200);

/// Between two searches for one thing.
const PAUSE: Duration = Duration::from_millis(4);
const PATIENCE: Duration = Duration::from_secs(60);

const BARE_INDEX: &str = "bench-bare";

pub async fn run(platform: &Platform, table: &mut Table) -> Result<(), Failure> {
    let search = &platform.engines().config.search;
    let index =
        platform.gateway().client().put(format!("{search}/{BARE_INDEX}")).header("content-type", "application/json");
    json_of(index.body(MAPPING.body).send().await?).await?;
    let (mut writes, mut bare) = (Times::default(), Times::default());
    for write in 0..WRITES {
        // A hit comes just after a refresh; the next write is not to profit from that, nor to suffer.
        tokio::time::sleep(REFRESH.mul_f64(fastrand::f64())).await;
        writes.add(write_to_hit(platform, &word()).await?);
        if write % BARE == 0 {
            tokio::time::sleep(REFRESH.mul_f64(fastrand::f64())).await;
            bare.add(put_to_hit(platform, &word()).await?);
        }
    }

    let goals = [(50, Goal::None), (99, Goal::within(Duration::from_secs(1), writes.percentile(99)))];
    for (percent, goal) in goals {
        let (time, alone) = (writes.percentile(percent), bare.percentile(percent));
        table.add(&Figure {
            name: &format!("write: POST through the gateway to search hit, p{percent}"),
            measured: milliseconds(time),
            goal,
            baseline: format!("bare put, refresh {REFRESH:?}: {}", milliseconds(alone)),
            ratio: Some(time.as_secs_f64() / alone.as_secs_f64()),
        });
    }
    Ok(())
}

/// From the request that makes an item to the answer that has it as a hit.
async fn write_to_hit(platform: &Platform, word: &str) -> Result<Duration, Failure> {
    let item = json!({"displayName": word, "location": [-125.589, 49.498], "isVisible": true});
    let start = Instant::now();
    let made = platform.gateway().create(&format!("/parks/geozones/{COLLECTION}"), &item).await?;
    let path = format!("/parks/search?q={word}");
    until(start, || async {
        let found = json_of(platform.gateway().get(&path).send().await?).await?;
        let items = found.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        Ok(items.iter().any(|item| item.get("globalId") == made.get("globalId")))
    })
    .await
}

/// The same for a document that is put straight into an index with the same mapping.
async fn put_to_hit(platform: &Platform, word: &str) -> Result<Duration, Failure> {
    let index = format!("{}/{BARE_INDEX}", platform.engines().config.search);
    let document = json!({"name": word, "location": [-125.589, 49.498], "isVisible": true, "isDeleted": false});
    let start = Instant::now();
    json_of(platform.gateway().client().put(format!("{index}/_doc/{word}")).json(&document).send().await?).await?;
    let path = format!("{index}/_search?q=name:{word}");
    until(start, || async {
        let found = json_of(platform.gateway().client().get(&path).send().await?).await?;
        Ok(found.pointer("/hits/total/value").is_some_and(|total| *total == 1))
    })
    .await
}

/// How long it takes until it is found.
pub async fn until<F: Future<Output = Result<bool, Failure>>>(
    start: Instant,
    found: impl Fn() -> F,
) -> Result<Duration, Failure> {
    while start.elapsed() < PATIENCE {
        if found().await? {
            return Ok(start.elapsed());
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(format!("a write was not found within {PATIENCE:?}").into())
}

/// A name that nothing else has.
pub fn word() -> String {
    std::iter::repeat_with(fastrand::lowercase).take(16).collect()
}
