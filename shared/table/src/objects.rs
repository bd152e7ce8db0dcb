//! Objects in S3, under one prefix of one bucket, as one access pattern uses them.

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

/// How long a link for sending lives.
const PUT_LINK: Duration = Duration::from_secs(15 * 60);
/// How long a link for fetching lives.
const GET_LINK: Duration = Duration::from_secs(5 * 60);

/// The objects under a prefix. Their names are what follows it.
#[derive(Clone, Copy, Debug)]
pub struct Objects<'a> {
    access: &'a Access,
    pattern: &'static AccessPattern,
    bucket: &'static str,
    prefix: &'static str,
}

/// What is known of an object without fetching it.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectHead {
    pub bytes: u64,
    pub content_type: Option<String>,
}

/// What a client may send by a link: exactly so many bytes, of this SHA-256 if it stated one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Declared<'a> {
    pub bytes: u64,
    pub sha256: Option<&'a [u8; 32]>,
}

/// A signed link, and the headers without which S3 refuses the request.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    pub url: String,
    pub headers: Vec<(String, String)>,
}

impl Access {
    /// The objects under a prefix, such as `uploads/`, of a bucket in its logical name.
    pub fn objects(&self, pattern: &'static AccessPattern, bucket: &'static str, prefix: &'static str) -> Objects<'_> {
        Objects { access: self, pattern, bucket, prefix }
    }
}

impl Objects<'_> {
    /// Stores an object where none is; [`Error::Exists`] where one is, whatever it holds.
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
                // Another put of the same name is under way.
                Err((Some(code), _)) if code == "ConditionalRequestConflict" => {
                    if !backoff.wait().await {
                        return Err(Error::Conflict);
                    }
                }
                Err((_, error)) => return Err(error),
            }
        }
    }

    /// The whole object. [`Error::NotFound`] means that it is gone, where the pattern declares
    /// [`ObjectAction::ListBucket`]; whatever else S3 refuses is a fault, which may end.
    pub async fn get(&self, name: &str) -> Result<Bytes, Error> {
        let (key, call) = self.permit(name, ObjectAction::GetObject)?;
        let sent = self.client().get_object().bucket(self.bucket()).key(key).send().await;
        self.record(call);
        let body = sent.map_err(|error| self.missing_or_fault(error))?.body;
        Ok(body.collect().await.map_err(|error| Error::Engine { engine: "S3", source: Box::new(error) })?.into_bytes())
    }

    /// A part of an object: so many bytes from this one on, fewer where it ends before. [`Error::NotFound`] as for
    /// [`Objects::get`]. The range must begin in the object.
    pub async fn get_range(&self, name: &str, from: u64, length: u64) -> Result<Bytes, Error> {
        let (key, call) = self.permit(name, ObjectAction::GetObject)?;
        let range = format!("bytes={from}-{}", from.saturating_add(length).saturating_sub(1));
        let sent = self.client().get_object().bucket(self.bucket()).key(key).range(range).send().await;
        self.record(call);
        let body = sent.map_err(|error| self.missing_or_fault(error))?.body;
        Ok(body.collect().await.map_err(|error| Error::Engine { engine: "S3", source: Box::new(error) })?.into_bytes())
    }

    /// Stores an object, over an earlier one of the same name.
    pub async fn put(&self, name: &str, body: Bytes, content_type: &str) -> Result<(), Error> {
        let (key, call) = self.permit(name, ObjectAction::PutObject)?;
        let request = self.client().put_object().bucket(self.bucket()).key(key).content_type(content_type);
        let sent = request.body(ByteStream::from(body)).send().await;
        self.record(call);
        sent.map(|_| ()).map_err(fault)
    }

    /// Size and type of an object; [`Error::NotFound`] as for [`Objects::get`].
    pub async fn head(&self, name: &str) -> Result<ObjectHead, Error> {
        let (key, call) = self.permit(name, ObjectAction::HeadObject)?;
        let sent = self.client().head_object().bucket(self.bucket()).key(key).send().await;
        self.record(call);
        let head = sent.map_err(|error| self.missing_or_fault(error))?;
        let bytes = head.content_length.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or_default();
        Ok(ObjectHead { bytes, content_type: head.content_type })
    }

    /// Removes an object, if it is there.
    pub async fn delete(&self, name: &str) -> Result<(), Error> {
        let (key, call) = self.permit(name, ObjectAction::DeleteObject)?;
        let sent = self.client().delete_object().bucket(self.bucket()).key(key).send().await;
        self.record(call);
        sent.map(|_| ()).map_err(fault)
    }

    /// A link by which a client sends one object within 15 minutes, once: a second sending gets 412.
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

    /// A link by which a client fetches one object within 5 minutes.
    pub async fn get_link(&self, name: &str) -> Result<Link, Error> {
        let (key, call) = self.permit(name, ObjectAction::GetObject)?;
        let request = self.client().get_object().bucket(self.bucket()).key(key);
        let link = request.presigned(lives(GET_LINK)?).await;
        self.record(call);
        link.map(Link::from).map_err(fault)
    }

    /// The key of a name. Names are ours; a client's would have to be a part of a key first.
    fn permit(&self, name: &str, action: ObjectAction) -> Result<(String, Call), Error> {
        if name.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
            return Err(Error::ForeignName(name.to_owned()));
        }
        let call = Call::Objects { bucket: self.bucket, prefix: self.prefix, action };
        self.access.permit(self.pattern, call)?;
        Ok((format!("{}{name}", self.prefix), call))
    }

    /// 404 means missing only to who may list the prefix; to others S3 says 403, which is a fault, and so is a 404 that
    /// the pattern does not declare to be told. A missing bucket is a fault, too, though an answer to HEAD has no body
    /// that could tell it.
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
        // The trace is of who signs, not of who sends, and is no part of the signature.
        let needed = request.headers().filter(|(name, _)| *name != trace::HEADER);
        let headers = needed.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self { url: request.uri().to_owned(), headers }
    }
}

fn lives(time: Duration) -> Result<PresigningConfig, Error> {
    PresigningConfig::expires_in(time).map_err(|error| Error::Engine { engine: "S3", source: Box::new(error) })
}

fn fault<E: StdError + Send + Sync + 'static>(error: SdkError<E, HttpResponse>) -> Error {
    let refused = error.raw_response().is_some_and(|response| response.status().as_u16() == 403);
    let source: Box<dyn StdError + Send + Sync> = Box::new(error);
    Error::Engine { engine: "S3", source: if refused { Box::new(Refusal(source)) } else { source } }
}
