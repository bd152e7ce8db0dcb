use aws_sdk_dynamodb::types::{StreamViewType, TimeToLiveStatus};
use table::create_tables;

use crate::shop::{SYSTEM, access_at, engine, engines};

#[tokio::test]
async fn tables_are_created_once_as_declared() {
    let endpoint = engine().await;
    let access = access_at(&endpoint).await;
    let client = access.engines().dynamodb();
    create_tables(client, &access.engines().config, &SYSTEM).await.unwrap();

    let shop = client.describe_table().table_name("test-shop").send().await.unwrap().table.unwrap();
    let indexes = shop.global_secondary_indexes();
    assert_eq!(indexes.iter().map(|index| index.index_name().unwrap()).collect::<Vec<_>>(), ["list"]);
    assert_eq!(indexes[0].key_schema().len(), 2);
    let stream = shop.stream_specification().unwrap();
    assert_eq!(stream.stream_view_type(), Some(&StreamViewType::NewAndOldImages));

    let visits = client.describe_table().table_name("test-visits").send().await.unwrap().table.unwrap();
    assert_eq!(visits.key_schema().len(), 1);
    assert!(visits.stream_specification().is_none());
    for table in ["test-shop", "test-visits"] {
        let ttl = client.describe_time_to_live().table_name(table).send().await.unwrap();
        let ttl = ttl.time_to_live_description.unwrap();
        assert_eq!(ttl.attribute_name(), Some("expires"));
        assert_eq!(ttl.time_to_live_status(), Some(&TimeToLiveStatus::Enabled));
    }
}

#[tokio::test]
async fn unreachable_engine_is_an_error() {
    let engines = engines("http://127.0.0.1:1");
    let error = create_tables(engines.dynamodb(), &engines.config, &SYSTEM).await.unwrap_err();
    assert_eq!(error.to_string(), "DynamoDB failed: it does not respond (connection refused)");
}
