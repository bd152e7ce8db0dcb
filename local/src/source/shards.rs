//! Reading a table's stream: its shards in the order of their writes, and their records from a position on.

use aws_sdk_dynamodbstreams::Client;
use aws_sdk_dynamodbstreams::error::{DisplayErrorContext, ProvideErrorMetadata};
use aws_sdk_dynamodbstreams::types::{Record as Read, ShardIteratorType};
use jiff::Timestamp;

use super::checkpoint::{Checkpoints, Position};
use super::filter::Filter;
use super::record::Record;

/// A shard that is being read.
#[derive(Debug)]
pub struct Shard {
    pub id: String,
    parent: Option<String>,
    /// Where to read on; found from the checkpoint when absent.
    iterator: Option<String>,
}

/// Some records of a shard.
#[derive(Debug)]
pub struct Page {
    pub records: Vec<Record>,
    /// The sequence number of the last record, if the filter leaves that out.
    pub left_out: Option<String>,
    /// Whether the shard had no more than these when it was read.
    pub at_end: bool,
    /// Whether the shard is closed and these were its last.
    pub finished: bool,
}

/// The stream could not be read; asking again may help.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unread(String);

/// Records in one page, which is the most that DynamoDB gives.
const PAGE: i32 = 1000;
/// DynamoDB ends a page at 1 MB; one of at least this size may not be the last.
const LARGE_PAGE: usize = 500_000;

/// The shards to read now: those that are not finished and whose parents are.
pub async fn open(client: &Client, stream_arn: &str, checkpoints: &Checkpoints) -> Result<Vec<Shard>, Unread> {
    let mut shards = Vec::new();
    let mut after = None;
    loop {
        let request = client.describe_stream().stream_arn(stream_arn).set_exclusive_start_shard_id(after);
        let answer = request.send().await.map_err(|error| Unread(DisplayErrorContext(error).to_string()))?;
        let Some(description) = answer.stream_description else { break };
        shards.extend(
            description
                .shards
                .unwrap_or_default()
                .into_iter()
                .filter_map(|shard| Some(Shard { id: shard.shard_id?, parent: shard.parent_shard_id, iterator: None })),
        );
        after = description.last_evaluated_shard_id;
        if after.is_none() {
            break;
        }
    }
    let known: Vec<String> = shards.iter().map(|shard| shard.id.clone()).collect();
    let finished = |id: &str| checkpoints.position(id) == Some(&Position::Finished);
    shards.retain(|shard| {
        // A parent that is listed no more was trimmed with all of its records.
        let ready = shard.parent.as_ref().is_none_or(|parent| finished(parent) || !known.contains(parent));
        ready && !finished(&shard.id)
    });
    Ok(shards)
}

impl Shard {
    /// Reads one page after the last, or after the checkpoint.
    pub async fn read(
        &mut self,
        (client, stream_arn): (&Client, &str),
        filter: Option<&Filter>,
        checkpoints: &Checkpoints,
        now: Timestamp,
    ) -> Result<Page, Unread> {
        let iterator = match self.iterator.take() {
            Some(iterator) => iterator,
            None => self.find(client, stream_arn, checkpoints).await?,
        };
        let answer = client.get_records().shard_iterator(iterator).limit(PAGE).send().await;
        let answer = answer.map_err(|error| Unread(DisplayErrorContext(error).to_string()))?;
        let read = answer.records.unwrap_or_default();
        let count = read.len();
        let passes = |read: &&Read| filter.is_none_or(|filter| filter.lets_through(read));
        let passing = read.iter().filter(passes);
        let records: Vec<Record> = passing.filter_map(|read| Record::new(read, stream_arn, now)).collect();
        let size = |read: &Read| read.dynamodb()?.size_bytes();
        let bytes: i64 = read.iter().filter_map(size).sum();
        let bytes =
            usize::try_from(bytes).unwrap_or_default().max(records.iter().map(|record| record.json.len()).sum());
        let last = read.last().filter(|last| !passes(last)).and_then(|last| last.dynamodb()?.sequence_number());
        let left_out = last.map(str::to_owned);
        let finished = answer.next_shard_iterator.is_none();
        self.iterator = answer.next_shard_iterator;
        let at_end = !finished && i32::try_from(count).is_ok_and(|count| count < PAGE) && bytes < LARGE_PAGE;
        Ok(Page { records, left_out, at_end, finished })
    }

    async fn find(&self, client: &Client, stream_arn: &str, checkpoints: &Checkpoints) -> Result<String, Unread> {
        let request = || client.get_shard_iterator().stream_arn(stream_arn).shard_id(&self.id);
        let from_start = || request().shard_iterator_type(ShardIteratorType::TrimHorizon).send();
        let answer = match checkpoints.position(&self.id) {
            Some(Position::After(number)) => {
                let after = request().shard_iterator_type(ShardIteratorType::AfterSequenceNumber);
                match after.sequence_number(number).send().await {
                    Err(error) if error.code() == Some("TrimmedDataAccessException") => from_start().await,
                    answer => answer,
                }
            }
            _ => from_start().await,
        };
        let answer = answer.map_err(|error| Unread(DisplayErrorContext(error).to_string()))?;
        answer.shard_iterator.ok_or_else(|| Unread("the stream gave no shard iterator".to_owned()))
    }
}
