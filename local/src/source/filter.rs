//! The filter of an event source, as in the templates.

use aws_sdk_dynamodbstreams::types::Record;
use table::Key;
use table::filter::KeyPattern;
use table::schema::Table;

/// Passes the records of keys that may have documents.
#[derive(Clone, Debug)]
pub struct Filter {
    table: &'static Table,
    patterns: Vec<KeyPattern>,
}

impl Filter {
    pub fn new(table: &'static Table) -> Self {
        Self { table, patterns: table.documents() }
    }

    pub fn lets_through(&self, record: &Record) -> bool {
        let keys = record.dynamodb().and_then(|change| change.keys());
        let text = |name: &str| Some(keys?.get(name)?.as_s().ok()?.clone());
        let Some(pk) = text(self.table.pk) else {
            table::never!("a stream record of table `{}` has no partition key", self.table.name);
            return true;
        };
        let key = Key { pk, sk: self.table.sk.and_then(text) };
        self.patterns.iter().any(|pattern| pattern.lets_through(&key))
    }
}
