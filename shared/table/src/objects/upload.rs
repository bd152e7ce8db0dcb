//! An object that is uploaded in parts (S3, "Multipart upload"), by runs that may each crash at any point.

use std::error::Error as StdError;

use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{CompletedMultipartUpload, CompletedPart};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{Objects, fault, incomplete};
use crate::access::ObjectAction;
use crate::error::Error;

/// The minimum size of a part other than the last: 5 MiB.
pub const LEAST_PART: usize = 5 * 1024 * 1024;

/// The state of a multipart upload. Another run can resume it with this alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Upload {
    id: String,
    /// The entity tags of the parts.
    parts: Vec<String>,
}

impl Objects<'_> {
    /// Starts an upload. The object is invisible until it is completed. S3 aborts incomplete uploads by the bucket's
    /// lifecycle rule.
    pub async fn begin_upload(&self, name: &str, content_type: &str) -> Result<Upload, Error> {
        let (key, call) = self.permit(name, ObjectAction::PutObject)?;
        let request = self.client().create_multipart_upload().bucket(self.bucket()).key(key);
        let sent = request.content_type(content_type).send().await;
        self.record(call);
        let id = sent.map_err(fault)?.upload_id.ok_or_else(|| incomplete("multipart upload", "id"))?;
        Ok(Upload { id, parts: Vec::new() })
    }

    /// Uploads the next part, replacing one that a crashed run uploaded without saving its state. Fails with
    /// [`Error::NotFound`] if S3 has aborted the upload.
    pub async fn add_part(&self, name: &str, mut upload: Upload, body: Bytes) -> Result<Upload, Error> {
        let (key, call) = self.permit(name, ObjectAction::PutObject)?;
        let request = self.client().upload_part().bucket(self.bucket()).key(key).upload_id(&upload.id);
        let sent = request.part_number(number(upload.parts.len())).body(ByteStream::from(body)).send().await;
        self.record(call);
        let tag = sent.map_err(aborted_or_fault)?.e_tag.ok_or_else(|| incomplete("part of an upload", "ETag"))?;
        upload.parts.push(tag);
        Ok(upload)
    }

    /// Completes the object. Fails with [`Error::NotFound`] if it was already completed, or S3 has aborted the upload.
    pub async fn complete_upload(&self, name: &str, upload: &Upload) -> Result<(), Error> {
        let (key, call) = self.permit(name, ObjectAction::PutObject)?;
        let part = |(place, tag): (usize, &String)| {
            CompletedPart::builder().part_number(number(place)).e_tag(tag.as_str()).build()
        };
        let parts = upload.parts.iter().enumerate().map(part).collect();
        let parts = CompletedMultipartUpload::builder().set_parts(Some(parts)).build();
        let request = self.client().complete_multipart_upload().bucket(self.bucket()).key(key);
        let sent = request.upload_id(&upload.id).multipart_upload(parts).send().await;
        self.record(call);
        sent.map(|_| ()).map_err(aborted_or_fault)
    }
}

fn aborted_or_fault<E>(error: SdkError<E, HttpResponse>) -> Error
where
    E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
{
    if error.code() == Some("NoSuchUpload") { Error::NotFound } else { fault(error) }
}

/// Returns the number of a part. S3 counts from 1.
fn number(place: usize) -> i32 {
    i32::try_from(place + 1).unwrap_or(i32::MAX)
}
