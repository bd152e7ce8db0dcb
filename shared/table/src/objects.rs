//! Objects in S3 under one prefix of one bucket, by one access pattern.

mod blocks;
mod gathered;
mod upload;

pub use blocks::Blocks;
pub use gathered::Gathered;
pub use upload::{LEAST_PART, Upload};

use std::error::Error as StdError;
use std::time::Duration;

use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::presigning::{PresignedRequest, PresigningConfig};
use aws_sdk_s3::primitives::ByteStream;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use crate::access::{Access, AccessPattern, Call, ObjectAction};
use crate::backoff::Backoff;
use crate::error::{Error, Refusal};
use crate::trace;

/// How long an upload link is valid.
const PUT_LINK: Duration = Duration::from_secs(15 * 60);
/// How long a download link is valid.
const GET_LINK: Duration = Duration::from_secs(5 * 60);

/// The objects under a prefix. An object's name is the part of its key after the prefix.
#[derive(Clone, Copy, Debug)]
pub struct Objects<'a> {
    access: &'a Access,
    pattern: &'static AccessPattern,
    bucket: &'static str,
    prefix: &'static str,
}

/// The size and type of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectHead {
    pub bytes: u64,
    pub content_type: Option<String>,
}

/// The body that a client declares for an upload link: its size in bytes and, optionally, its SHA-256.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Declared<'a> {
    pub bytes: u64,
    pub sha256: Option<&'a [u8; 32]>,
}

/// A signed link, and the headers that S3 requires with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    pub url: String,
    pub headers: Vec<(String, String)>,
}

impl Access {
    /// Returns the objects under a prefix, such as `uploads/`, of a bucket with this logical name.
    pub fn objects(&self, pattern: &'static AccessPattern, bucket: &'static str, prefix: &'static str) -> Objects<'_> {
        Objects { access: self, pattern, bucket, prefix }
    }
}

impl Objects<'_> {
    /// Creates an object. Fails with [`Error::Exists`] if one with this name exists.
    pub async fn put_new(&self, name: &str, body: Bytes, content_type: &str) -> Result<(), Error> {
        let (key, call) = self.permit(name, ObjectAction::PutObject)?;
        let mut backoff = Backoff::new();
        loop {
            let request = self.client().put_object().bucket(self.bucket()).key(&key).if_none_match("*");
            let request = request.content_type(content_type).body(ByteStream::from(body.clone()));
            let sent = request.send().await;
            self.record(call);
            match sent.map_err(|error| (error.code().map(str::to_owned), fault(error))) {
                Ok(_) => return Ok(()),
                Err((Some(code), _)) if code == "PreconditionFailed" => return Err(Error::Exists),
                // Another put of the same name is in progress.
                Err((Some(code), _)) if code == "ConditionalRequestConflict" => {
                    if !backoff.wait().await {
                        return Err(Error::Conflict);
                    }
                }
                Err((_, error)) => return Err(error),
            }
        }
    }

    /// Reads an object. Fails with [`Error::NotFound`] if it does not exist and the pattern declares
    /// [`ObjectAction::ListBucket`]. Any other refusal is an engine error, which may be temporary.
    pub async fn get(&self, name: &str) -> Result<Bytes, Error> {
        let (key, call) = self.permit(name, ObjectAction::GetObject)?;
        let sent = self.client().get_object().bucket(self.bucket()).key(key).send().await;
        self.record(call);
        let body = sent.map_err(|error| self.missing_or_fault(error))?.body;
        Ok(body.collect().await.map_err(|error| Error::Engine { engine: "S3", source: Box::new(error) })?.into_bytes())
    }

    /// Reads `length` bytes of an object from an offset, or fewer at its end. Fails with [`Error::NotFound`] as
    /// [`Objects::get`] does. The range must begin within the object.
    pub async fn get_range(&self, name: &str, from: u64, length: u64) -> Result<Bytes, Error> {
        let (key, call) = self.permit(name, ObjectAction::GetObject)?;
        let range = format!("bytes={from}-{}", from.saturating_add(length).saturating_sub(1));
        let sent = self.client().get_object().bucket(self.bucket()).key(key).range(range).send().await;
        self.record(call);
        let body = sent.map_err(|error| self.missing_or_fault(error))?.body;
        Ok(body.collect().await.map_err(|error| Error::Engine { engine: "S3", source: Box::new(error) })?.into_bytes())
    }

    /// Stores an object, replacing one with the same name.
    pub async fn put(&self, name: &str, body: Bytes, content_type: &str) -> Result<(), Error> {
        let (key, call) = self.permit(name, ObjectAction::PutObject)?;
        let request = self.client().put_object().bucket(self.bucket()).key(key).content_type(content_type);
        let sent = request.body(ByteStream::from(body)).send().await;
        self.record(call);
        sent.map(|_| ()).map_err(fault)
    }

    /// Returns size and type of an object. Fails with [`Error::NotFound`] as [`Objects::get`] does.
    pub async fn head(&self, name: &str) -> Result<ObjectHead, Error> {
        let (key, call) = self.permit(name, ObjectAction::HeadObject)?;
        let sent = self.client().head_object().bucket(self.bucket()).key(key).send().await;
        self.record(call);
        let head = sent.map_err(|error| self.missing_or_fault(error))?;
        let bytes = head.content_length.and_then(|bytes| u64::try_from(bytes).ok());
        let bytes = bytes.ok_or_else(|| incomplete("HEAD of an object", "size"))?;
        Ok(ObjectHead { bytes, content_type: head.content_type })
    }

    /// Deletes an object, if it exists.
    pub async fn delete(&self, name: &str) -> Result<(), Error> {
        let (key, call) = self.permit(name, ObjectAction::DeleteObject)?;
        let sent = self.client().delete_object().bucket(self.bucket()).key(key).send().await;
        self.record(call);
        sent.map(|_| ()).map_err(fault)
    }

    /// Creates a link by which a client uploads one object within 15 minutes. A second upload gets 412.
    pub async fn put_link(&self, name: &str, declared: Declared<'_>) -> Result<Link, Error> {
        let (key, call) = self.permit(name, ObjectAction::PutObject)?;
        let bytes = i64::try_from(declared.bytes).map_err(|_| Error::TooLarge)?;
        let request =
            self.client().put_object().bucket(self.bucket()).key(key).if_none_match("*").content_length(bytes);
        let request = request.set_checksum_sha256(declared.sha256.map(|sha256| STANDARD.encode(sha256)));
        let link = request.presigned(lives(PUT_LINK)?).await;
        self.record(call);
        link.map(Link::from).map_err(fault)
    }

    /// Creates a link by which a client downloads one object within 5 minutes.
    pub async fn get_link(&self, name: &str) -> Result<Link, Error> {
        let (key, call) = self.permit(name, ObjectAction::GetObject)?;
        let request = self.client().get_object().bucket(self.bucket()).key(key);
        let link = request.presigned(lives(GET_LINK)?).await;
        self.record(call);
        link.map(Link::from).map_err(fault)
    }

    /// Returns the key of a name. Names never come from clients unescaped.
    fn permit(&self, name: &str, action: ObjectAction) -> Result<(String, Call), Error> {
        if name.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
            return Err(Error::ForeignName(name.to_owned()));
        }
        let call = Call::Objects { bucket: self.bucket, prefix: self.prefix, action };
        self.access.permit(self.pattern, call)?;
        Ok((format!("{}{name}", self.prefix), call))
    }

    /// Distinguishes a missing object from an engine error. S3 answers 404 only if the role may list the prefix, and
    /// 403 otherwise. So 404 counts as missing only if the pattern declares it. A missing bucket is an engine error,
    /// except for HEAD, whose answer has no body to tell it by.
    fn missing_or_fault<E>(&self, error: SdkError<E, HttpResponse>) -> Error
    where
        E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
    {
        let told = Call::Objects { bucket: self.bucket, prefix: self.prefix, action: ObjectAction::ListBucket };
        let missing = error.raw_response().is_some_and(|response| response.status().as_u16() == 404);
        if missing && error.code() != Some("NoSuchBucket") && self.pattern.calls.contains(&told) {
            Error::NotFound
        } else {
            fault(error)
        }
    }

    fn record(&self, call: Call) {
        self.access.record(self.pattern, call, (0.0, 0.0));
    }

    fn client(&self) -> &aws_sdk_s3::Client {
        self.access.engines().s3()
    }

    fn bucket(&self) -> String {
        self.access.engines().config.bucket(self.bucket)
    }
}

impl From<PresignedRequest> for Link {
    fn from(request: PresignedRequest) -> Self {
        // The trace is that of the signing request, and is not part of the signature.
        let needed = request.headers().filter(|(name, _)| *name != trace::HEADER);
        let headers = needed.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self { url: request.uri().to_owned(), headers }
    }
}

fn lives(time: Duration) -> Result<PresigningConfig, Error> {
    PresigningConfig::expires_in(time).map_err(|error| Error::Engine { engine: "S3", source: Box::new(error) })
}

/// Returns the error of an answer that lacks a member.
fn incomplete(answer: &str, member: &str) -> Error {
    Error::Engine { engine: "S3", source: format!("the answer to a {answer} has no {member}").into() }
}

fn fault<E: StdError + Send + Sync + 'static>(error: SdkError<E, HttpResponse>) -> Error {
    let refused = error.raw_response().is_some_and(|response| response.status().as_u16() == 403);
    let source: Box<dyn StdError + Send + Sync> = Box::new(error);
    Error::Engine { engine: "S3", source: if refused { Box::new(Refusal(source)) } else { source } }
}
