//! A visitor's `GET` of one item through the Lambda adapter in this process, beside the `GetItem` in it.

use std::time::{Duration, Instant};

use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use serde_json::json;

use crate::Failure;
use crate::event::prose;
use crate::figure::{Figure, Goal, Table, milliseconds};
use crate::gateway::{COLLECTION, json_of};
use crate::platform::Platform;
use crate::timing::Times;

/// What API Gateway hands to the function.
const EVENT: &str = include_str!("../../../events/parks/getGeozone.json");

const WARM_UP: usize = 500;
const REQUESTS: usize = 5000;

pub async fn run(platform: &Platform, table: &mut Table) -> Result<(), Failure> {
    let path = format!("/parks/geozones/{COLLECTION}");
    let item = json!({
        "displayName": "Bedwell Lakes", "location": [-125.589, 49.498], "isVisible": true, "description": prose(500)
    });
    platform.gateway().create(&path, &item).await?;
    platform.caught_up().await;
    json_of(platform.gateway().get(&format!("{path}/1")).send().await?).await?;

    let function = platform.function("getGeozone")?;
    let invoke = || async {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
        let answer = function.invoke(EVENT, deadline).await.map_err(|failure| failure.error_message)?;
        if answer.get().contains(r#""statusCode":200"#) { Ok(()) } else { Err(Failure::from(answer.get())) }
    };
    let ask = || async {
        let answer = platform.gateway().get(&format!("{path}/1")).send().await?.error_for_status()?;
        answer.bytes().await.map(drop).map_err(Failure::from)
    };
    let (mut bare, mut adapter, mut gateway) = (Times::default(), Times::default(), Times::default());
    for request in 0..WARM_UP + REQUESTS {
        let times = [timed(get_item(platform)).await?, timed(invoke()).await?, timed(ask()).await?];
        if request >= WARM_UP {
            for (all, time) in [&mut bare, &mut adapter, &mut gateway].into_iter().zip(times) {
                all.add(time);
            }
        }
    }

    let over = |times: &Times| times.percentile(50).as_secs_f64() / bare.percentile(50).as_secs_f64();
    let baseline = format!("SDK GetItem: {}", milliseconds(bare.percentile(50)));
    table.add(&Figure {
        name: "get: visitor's GET through the Lambda adapter, p50",
        measured: milliseconds(adapter.percentile(50)),
        goal: Goal::at_most(1.2, over(&adapter), "≤ 1.2 × GetItem"),
        baseline: baseline.clone(),
        ratio: Some(over(&adapter)),
    });
    table.add(&Figure {
        name: "get: the same over HTTP through the local gateway, p50",
        measured: milliseconds(gateway.percentile(50)),
        goal: Goal::None,
        baseline,
        ratio: Some(over(&gateway)),
    });
    Ok(())
}

/// The call that the handler makes.
async fn get_item(platform: &Platform) -> Result<(), Failure> {
    let engines = platform.engines();
    let get = engines.dynamodb().get_item().table_name(engines.config.table("parks"));
    let get =
        get.key("pk", AttributeValue::S(format!("geozone::{COLLECTION}"))).key("sk", AttributeValue::S("1".into()));
    let got = get.consistent_read(false).return_consumed_capacity(ReturnConsumedCapacity::Total).send().await?;
    got.item.map(drop).ok_or_else(|| "the item is gone".into())
}

async fn timed(operation: impl Future<Output = Result<(), Failure>>) -> Result<Duration, Failure> {
    let start = Instant::now();
    operation.await?;
    Ok(start.elapsed())
}
