//! Batches of the mirror where many items are in quarantine, beside the same batches where none is.

use std::time::Instant;

use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use futures::{StreamExt, TryStreamExt, stream};

use crate::Failure;
use crate::event::{self, event, modified};
use crate::figure::{Figure, Goal, Table, milliseconds};
use crate::platform::Platform;
use crate::timing::Times;

/// As the source hands them over at most, and a few.
const BATCHES: [(&str, usize); 2] = [("1 000 records", 1000), ("10 records", 10)];

const MARKERS: usize = 100_000;

const WARM_UP: u64 = 5;
const ROUNDS: u64 = 60;

/// In one `BatchWriteItem`.
const WRITES: usize = 25;

pub async fn run(platform: &Platform, table: &mut Table) -> Result<(), Failure> {
    let (clean, marked) = (platform.beside("unmarked-").await?, platform.beside("marked-").await?);
    open_markers(&marked).await?;
    let functions = [(&clean, clean.function("mirror")?), (&marked, marked.function("mirror")?)];
    let mut rev = 4;
    for (name, records) in BATCHES {
        let mut times = [Times::default(), Times::default()];
        for round in 0..WARM_UP + ROUNDS {
            rev += 2;
            let batch = event((0..records).map(|number| modified(number, rev)));
            // They take turns at being first.
            let mut turns: Vec<_> = functions.iter().zip(&mut times).collect();
            if round % 2 == 0 {
                turns.reverse();
            }
            for ((platform, function), times) in turns {
                let batch = event::on_platform(&batch, &platform.engines().config);
                let start = Instant::now();
                platform.mirror(function, &batch).await?;
                if round >= WARM_UP {
                    times.add(start.elapsed());
                }
            }
        }
        let [clean, marked] = times.map(|times| times.percentile(50));
        let ratio = marked.as_secs_f64() / clean.as_secs_f64();
        table.add(&Figure {
            name: &format!("markers: a batch of {name} beside 100 000, p50"),
            measured: milliseconds(marked),
            goal: Goal::at_most(1.1, ratio, "≤ 1.1 ×"),
            baseline: format!("nothing in quarantine: {}", milliseconds(clean)),
            ratio: Some(ratio),
        });
    }
    drop(functions);
    clean.stop().await;
    marked.stop().await;
    Ok(())
}

/// Marks so many items that no batch has.
async fn open_markers(platform: &Platform) -> Result<(), Failure> {
    let engines = platform.engines();
    let generations = mirror::generations(&parks::SYSTEM, engines).await?;
    let index = generations.and_then(|generations| generations.written.into_iter().next()).ok_or("no index")?.index;
    let state = engines.config.table("parks-mirror");
    let marker = |number: usize| {
        let text = |text: String| AttributeValue::S(text);
        let put = PutRequest::builder()
            .item("pk", text(format!("marker#{index}")))
            // As long as a subject's name.
            .item("sk", text(format!("{number:064x}")))
            .item("table", text("parks".to_owned()))
            .item("itemPk", text("facility::bench".to_owned()))
            .item("itemSk", text(format!("marked::{number}")))
            .item("markedRev", AttributeValue::N("4".to_owned()))
            .item("code", text("unfit".to_owned()))
            .item("reason", text("attribute `displayName` is no string".to_owned()))
            .item("object", text(format!("quarantine/{index}/{number:064x}.json")))
            .item("since", AttributeValue::N("1767225600000000".to_owned()))
            .build()?;
        Ok::<_, Failure>(WriteRequest::builder().put_request(put).build())
    };
    let write = async |from: usize| {
        let writes = (from..from + WRITES).map(marker).collect::<Result<Vec<_>, _>>()?;
        engines.dynamodb().batch_write_item().request_items(&state, writes).send().await?;
        Ok::<_, Failure>(())
    };
    stream::iter((0..MARKERS).step_by(WRITES).map(write)).buffer_unordered(4).try_collect::<()>().await
}
