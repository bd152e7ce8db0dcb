//! The objects in the system's bucket that keep quarantined records.

use aws_sdk_s3::Client;
use aws_sdk_s3::primitives::ByteStream;
use table::Engines;
use table::schema::System;

use super::fault;
use crate::ports::{Fault, Quarantine};

#[derive(Debug)]
pub struct ObjectQuarantine<'e> {
    client: &'e Client,
    bucket: String,
}

impl<'e> ObjectQuarantine<'e> {
    /// Creates the port for the system's bucket, which has the system's name.
    pub fn new(engines: &'e Engines, system: &System) -> Self {
        Self { client: engines.s3(), bucket: engines.config.bucket(system.name) }
    }
}

impl Quarantine for ObjectQuarantine<'_> {
    async fn keep(&self, name: &str, body: String) -> Result<(), Fault> {
        let request = self.client.put_object().bucket(&self.bucket).key(name).content_type("application/json");
        let answer = request.body(ByteStream::from(body.into_bytes())).send().await;
        answer.map(drop).map_err(|error| fault("s3", &error))
    }
}
