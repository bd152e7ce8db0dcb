//! An object sent in parts (S3, "Multipart upload"), by runs that may each die anywhere.

use std::error::Error as StdError;

use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{CompletedMultipartUpload, CompletedPart};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{Objects, fault};
use crate::access::ObjectAction;
use crate::error::Error;

/// The least that a part may have, unless it is the last: 5 MiB.
pub const LEAST_PART: usize = 5 * 1024 * 1024;

/// What was sent of an object so far. Whoever goes on with it need not know more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Upload {
    id: String,
    /// The entity tags of the parts.
    parts: Vec<String>,
}

impl Objects<'_> {
    /// Begins an object. Nobody sees it before it is completed; what is never completed S3 removes by the bucket's rule.
    pub async fn begin_upload(&self, name: &str, content_type: &str) -> Result<Upload, Error> {
        let (key, call) = self.permit(name, ObjectAction::PutObject)?;
        let request = self.client().create_multipart_upload().bucket(self.bucket()).key(key);
        let sent = request.content_type(content_type).send().await;
        self.record(call);
        let id = sent.map_err(fault)?.upload_id.unwrap_or_default();
        Ok(Upload { id, parts: Vec::new() })
    }

    /// Sends the next part, in place of one that a run before has sent and not kept the upload of. [`Error::NotFound`]
    /// where S3 has given up the object.
    pub async fn add_part(&self, name: &str, mut upload: Upload, body: Bytes) -> Result<Upload, Error> {
        let (key, call) = self.permit(name, ObjectAction::PutObject)?;
        let request = self.client().upload_part().bucket(self.bucket()).key(key).upload_id(&upload.id);
        let sent = request.part_number(number(upload.parts.len())).body(ByteStream::from(body)).send().await;
        self.record(call);
        upload.parts.push(sent.map_err(given_up_or_fault)?.e_tag.unwrap_or_default());
        Ok(upload)
    }

    /// Makes the object of its parts. [`Error::NotFound`] where it was made already, or S3 has given it up.
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
        sent.map(|_| ()).map_err(given_up_or_fault)
    }
}

fn given_up_or_fault<E>(error: SdkError<E, HttpResponse>) -> Error
where
    E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
{
    if error.code() == Some("NoSuchUpload") { Error::NotFound } else { fault(error) }
}

/// Parts count from 1.
fn number(place: usize) -> i32 {
    i32::try_from(place + 1).unwrap_or(i32::MAX)
}
