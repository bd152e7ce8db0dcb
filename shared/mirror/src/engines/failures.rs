//! The bucket to which Lambda writes what it gave up.

use aws_sdk_s3::Client;
use aws_sdk_s3::error::ProvideErrorMetadata;
use bytes::Bytes;
use table::Engines;
use table::schema::{System, failures_bucket};

use super::fault;
use crate::ports::{Failures, Fault, GivenUp};

#[derive(Debug)]
pub struct ObjectFailures<'e> {
    client: &'e Client,
    bucket: String,
}

const ENGINE: &str = "s3";

/// The first bytes of an object, in which Lambda names the function.
const FIRST_BYTES: &str = "bytes=0-4095";

impl<'e> ObjectFailures<'e> {
    pub fn new(engines: &'e Engines, system: &System) -> Self {
        Self { client: engines.s3(), bucket: engines.config.bucket(&failures_bucket(system.name)) }
    }

    /// Reads the first bytes of an object. Returns `None` if it does not exist.
    pub(crate) async fn read_start(&self, name: &str) -> Result<Option<Bytes>, Fault> {
        self.get(name, Some(FIRST_BYTES)).await
    }

    async fn get(&self, name: &str, range: Option<&str>) -> Result<Option<Bytes>, Fault> {
        let request = self.client.get_object().bucket(&self.bucket).key(name);
        match request.set_range(range.map(str::to_owned)).send().await {
            Ok(object) => {
                let body = object.body.collect().await.map_err(|error| Fault::passing(ENGINE, error))?;
                Ok(Some(body.into_bytes()))
            }
            Err(error) if error.code() == Some("NoSuchKey") => Ok(None),
            // An empty object has no first bytes.
            Err(error) if error.code() == Some("InvalidRange") => Ok(Some(Bytes::new())),
            Err(error) => Err(fault(ENGINE, &error)),
        }
    }
}

impl Failures for ObjectFailures<'_> {
    async fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<GivenUp>, Fault> {
        let request = self.client.list_objects_v2().bucket(&self.bucket).set_start_after(after.map(str::to_owned));
        let page = request.max_keys(i32::try_from(limit).unwrap_or(i32::MAX)).send().await;
        let page = page.map_err(|error| fault(ENGINE, &error))?;
        let objects = page.contents.unwrap_or_default().into_iter();
        let given_up = objects.map(|object| {
            let since = object.last_modified.and_then(|time| i64::try_from(time.as_nanos() / 1000).ok());
            object.key.zip(since).map(|(name, since)| GivenUp { name, since })
        });
        let unreadable = || Fault::lasting(ENGINE, "an object in a list has no name or no time");
        given_up.collect::<Option<_>>().ok_or_else(unreadable)
    }

    async fn read(&self, name: &str) -> Result<Option<Bytes>, Fault> {
        self.get(name, None).await
    }

    async fn delete(&self, name: &str) -> Result<(), Fault> {
        let answer = self.client.delete_object().bucket(&self.bucket).key(name).send().await;
        answer.map(drop).map_err(|error| fault(ENGINE, &error))
    }
}
