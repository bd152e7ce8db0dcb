//! The on-failure destination: discarded records, with their payload, in the bucket.

use aws_sdk_s3::Client;
use aws_sdk_s3::error::DisplayErrorContext;
use jiff::Timestamp;
use serde_json::json;

use super::batch;
use super::record::Record;

/// The destination of discarded records.
#[derive(Clone, Debug)]
pub struct GivenUp {
    pub client: Client,
    /// The bucket's physical name.
    pub bucket: String,
    /// The physical name of the function that failed.
    pub function: String,
}

/// The prefix of Lambda's objects in the bucket.
pub const PREFIX: &str = "aws/lambda/";

impl GivenUp {
    /// Writes one object in the form of Lambda's S3 destinations ("Retain discarded records for a DynamoDB event
    /// source"), with the event as text in `payload`. Its name has the function where Lambda has the id of the event
    /// source mapping. Returns its name.
    pub async fn keep(
        &self,
        stream_arn: &str,
        shard: &str,
        records: &[Record],
        now: Timestamp,
    ) -> Result<String, String> {
        let (Some(first), Some(last)) = (records.first(), records.last()) else {
            table::never!("no records to discard");
            return Err("there are no records".to_owned());
        };
        let id = uuid::Uuid::now_v7();
        let Self { client, bucket, function } = self;
        let key = format!("{PREFIX}{function}/{shard}/{}-{id}", now.strftime("%Y/%m/%d/%Y-%m-%dT%H.%M.%S"));
        let body = json!({
            "requestContext": {
                "requestId": id,
                "functionArn": format!("arn:aws:lambda:local:000000000000:function:{function}"),
                "condition": "RecordAgeExceeded",
            },
            "version": "1.0",
            "timestamp": format!("{now:.3}"),
            "DDBStreamBatchInfo": {
                "shardId": shard,
                "startSequenceNumber": first.sequence_number,
                "endSequenceNumber": last.sequence_number,
                "approximateArrivalOfFirstRecord": format!("{:.0}", first.created),
                "approximateArrivalOfLastRecord": format!("{:.0}", last.created),
                "batchSize": records.len(),
                "streamArn": stream_arn,
            },
            "payload": batch::payload(records),
        });
        let request = client.put_object().bucket(bucket).key(&key).content_type("application/json");
        let sent = request.body(body.to_string().into_bytes().into()).send().await;
        sent.map_err(|error| DisplayErrorContext(error).to_string())?;
        Ok(key)
    }
}
