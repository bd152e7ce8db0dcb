//! Expiry of objects by a bucket's lifecycle rules.

use aws_sdk_s3::Client;
use aws_sdk_s3::error::DisplayErrorContext;
use jiff::{SignedDuration, Timestamp};

/// A lifecycle rule: objects under the prefix expire after these days.
#[derive(Clone, Debug)]
pub struct Expiring {
    /// The bucket's physical name.
    pub bucket: String,
    pub prefix: &'static str,
    pub days: u32,
}

/// Deletes the objects that have expired. Returns their number.
pub async fn delete_expired(client: &Client, rule: &Expiring, now: Timestamp) -> Result<usize, String> {
    let oldest = now.saturating_sub(SignedDuration::from_hours(24 * i64::from(rule.days))).unwrap_or(Timestamp::MIN);
    let mut pages = client.list_objects_v2().bucket(&rule.bucket).prefix(rule.prefix).into_paginator().send();
    let mut deleted = 0;
    while let Some(page) = pages.next().await {
        let page = page.map_err(|error| DisplayErrorContext(error).to_string())?;
        for object in page.contents.unwrap_or_default() {
            let expired = object.last_modified.is_some_and(|modified| modified.secs() < oldest.as_second());
            let Some(key) = object.key.filter(|_| expired) else { continue };
            let gone = client.delete_object().bucket(&rule.bucket).key(key).send().await;
            gone.map_err(|error| DisplayErrorContext(error).to_string())?;
            deleted += 1;
        }
    }
    Ok(deleted)
}
