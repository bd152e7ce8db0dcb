//! Creation of a system's tables from its declaration, and comparison of existing ones.

mod difference;

use std::collections::BTreeSet;
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, ProjectionType,
    ScalarAttributeType, StreamSpecification, StreamViewType, TableStatus, TimeToLiveSpecification, TimeToLiveStatus,
};
use tokio::time::{Instant, sleep};

use crate::Config;
use crate::error::Error;
use crate::schema::{EXPIRES, Index, Projection, System, Table};

pub use difference::table_difference;

/// Creates the missing tables of a system, and returns when all are active. They are on demand, with their indexes, TTL
/// on `expires`, and a stream of both images if one is declared. Existing tables are left as they are.
pub async fn create_tables(client: &Client, config: &Config, system: &System) -> Result<(), Error> {
    for table in system.tables {
        let name = config.table(table.name);
        create(client, &name, table).await?;
        wait_until_active(client, &name).await?;
        expire(client, &name).await?;
    }
    Ok(())
}

async fn create(client: &Client, name: &str, table: &Table) -> Result<(), Error> {
    let indexes: Result<Vec<_>, _> = table.indexes.iter().map(index).collect();
    let request = client
        .create_table()
        .table_name(name)
        .billing_mode(BillingMode::PayPerRequest)
        .set_attribute_definitions(Some(attributes(table).map_err(unbuilt)?))
        .set_key_schema(Some(key_schema(table.pk, table.sk).map_err(unbuilt)?))
        .set_global_secondary_indexes(Some(indexes.map_err(unbuilt)?).filter(|indexes| !indexes.is_empty()));
    let request = if table.stream {
        let stream = StreamSpecification::builder()
            .stream_enabled(true)
            .stream_view_type(StreamViewType::NewAndOldImages)
            .build()
            .map_err(unbuilt)?;
        request.stream_specification(stream)
    } else {
        request
    };
    match request.send().await {
        Err(error) if error.as_service_error().is_some_and(|error| error.is_resource_in_use_exception()) => Ok(()),
        answer => answer.map(|_| ()).map_err(Error::of_dynamodb),
    }
}

async fn wait_until_active(client: &Client, name: &str) -> Result<(), Error> {
    let end = Instant::now() + Duration::from_secs(120);
    loop {
        let described = client.describe_table().table_name(name).send().await.map_err(Error::of_dynamodb)?;
        let status = described.table.and_then(|table| table.table_status);
        if status == Some(TableStatus::Active) {
            return Ok(());
        }
        if Instant::now() >= end {
            let message = format!("table `{name}` is not active after two minutes, its status is {status:?}");
            return Err(Error::Engine { engine: "DynamoDB", source: message.into() });
        }
        sleep(Duration::from_millis(200)).await;
    }
}

async fn expire(client: &Client, name: &str) -> Result<(), Error> {
    let described = client.describe_time_to_live().table_name(name).send().await.map_err(Error::of_dynamodb)?;
    let status = described.time_to_live_description.and_then(|description| description.time_to_live_status);
    if matches!(status, Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling)) {
        return Ok(());
    }
    let specification =
        TimeToLiveSpecification::builder().enabled(true).attribute_name(EXPIRES).build().map_err(unbuilt)?;
    let request = client.update_time_to_live().table_name(name).time_to_live_specification(specification);
    request.send().await.map(|_| ()).map_err(Error::of_dynamodb)
}

fn attributes(table: &Table) -> Result<Vec<AttributeDefinition>, BuildError> {
    let of_indexes = table.indexes.iter().flat_map(|index| [Some(index.pk), index.sk]);
    let names: BTreeSet<_> = [Some(table.pk), table.sk].into_iter().chain(of_indexes).flatten().collect();
    let string =
        |name| AttributeDefinition::builder().attribute_name(name).attribute_type(ScalarAttributeType::S).build();
    names.into_iter().map(string).collect()
}

fn key_schema(pk: &str, sk: Option<&str>) -> Result<Vec<KeySchemaElement>, BuildError> {
    let element = |(name, kind)| KeySchemaElement::builder().attribute_name(name).key_type(kind).build();
    [(pk, KeyType::Hash)].into_iter().chain(sk.map(|sk| (sk, KeyType::Range))).map(element).collect()
}

fn index(index: &Index) -> Result<GlobalSecondaryIndex, BuildError> {
    let projection = aws_sdk_dynamodb::types::Projection::builder();
    let projection = match index.projection {
        Projection::KeysOnly => projection.projection_type(ProjectionType::KeysOnly),
        Projection::All => projection.projection_type(ProjectionType::All),
        Projection::Include(names) => projection
            .projection_type(ProjectionType::Include)
            .set_non_key_attributes(Some(names.iter().map(|&name| name.to_owned()).collect())),
    };
    GlobalSecondaryIndex::builder()
        .index_name(index.name)
        .set_key_schema(Some(key_schema(index.pk, index.sk)?))
        .projection(projection.build())
        .build()
}

/// Returns the error of a declaration that the SDK cannot turn into a request.
fn unbuilt(error: BuildError) -> Error {
    Error::Engine { engine: "DynamoDB", source: Box::new(error) }
}
