//! S3 over a folder, in this process, which reports every stored object.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri, header};
use hyper::Request;
use hyper::body::Incoming;
use percent_encoding::percent_decode_str;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use web::cors;

use crate::error::StartError;
use crate::failpoint;
use crate::listen::Server;

/// A stored object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub bucket: String,
    pub key: String,
    /// The size in bytes.
    pub size: u64,
    /// The `ETag` without its quotes.
    pub entity_tag: String,
}

/// A running S3 on a port of 127.0.0.1.
#[derive(Debug)]
pub struct Objects {
    pub endpoint: String,
    folder: PathBuf,
    server: Server,
}

impl Objects {
    /// Starts S3 with the buckets in `folder` and these credentials. It sends every stored object to `stored`.
    pub async fn start(
        folder: &Path,
        (access_key, secret_key): (&str, &str),
        stored: mpsc::UnboundedSender<Stored>,
    ) -> Result<Self, StartError> {
        std::fs::create_dir_all(folder).map_err(|error| StartError::folder(folder, error))?;
        delete_lost_metadata(folder).map_err(|error| StartError::folder(folder, error))?;
        let files = FileSystem::new(folder).map_err(|error| StartError::folder(folder, format!("{error:?}")))?;
        let mut service = S3ServiceBuilder::new(files);
        service.set_auth(SimpleAuth::from_single(access_key, secret_key));
        let service = service.build();

        let failed = |error: std::io::Error| {
            StartError::new(format!("Starting the local S3 failed: {error}"), "Check the machine's network settings")
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
        let root = folder.to_owned();
        let handle = move |request| answer(service.clone(), root.clone(), stored.clone(), request);
        let server = Server::start(listener, handle).map_err(failed)?;
        Ok(Self { endpoint: format!("http://{}", server.address), folder: folder.to_owned(), server })
    }

    /// Creates a bucket, if it does not exist.
    pub fn create_bucket(&self, name: &str) -> Result<(), StartError> {
        let bucket = self.folder.join(name);
        std::fs::create_dir_all(&bucket).map_err(|error| StartError::folder(&bucket, error))
    }

    pub async fn stop(self) {
        self.server.stop().await;
    }
}

/// Deletes the metadata of objects that were deleted, which `s3s-fs` leaves in the root.
fn delete_lost_metadata(root: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(root)? {
        let entry = entry?;
        let object = entry.file_name().to_str().and_then(described);
        if object.is_some_and(|object| matches!(root.join(object).try_exists(), Ok(false))) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Returns the path of the object whose metadata a file of this name has. That of a multipart upload in progress, whose
/// name also has its id, belongs to no object yet.
fn described(name: &str) -> Option<PathBuf> {
    let name = name.strip_prefix(".bucket-")?;
    let name = name.strip_suffix(".internal.json").or_else(|| name.strip_suffix(".metadata.json"))?;
    let (bucket, key) = name.split_once(".object-")?;
    let decoded = |text: &str| String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok();
    Some(Path::new(&decoded(bucket)?).join(decoded(key)?))
}

async fn answer(
    service: S3Service,
    root: PathBuf,
    stored: mpsc::UnboundedSender<Stored>,
    request: Request<Incoming>,
) -> Response<s3s::Body> {
    let is_allowed = is_allowed(&request);
    if request.method() == Method::OPTIONS {
        return preflight(is_allowed);
    }
    let target = stores(request.method(), request.uri());
    let response = match service.call(request.map(s3s::Body::from)).await {
        Ok(response) => response,
        Err(error) => {
            tracing::error!(error = ?error, "local S3 failed");
            let mut response = Response::new(s3s::Body::empty());
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            response
        }
    };
    if let Some((bucket, key)) = target
        && response.status() == StatusCode::OK
    {
        failpoint::pass(failpoint::OBJECTS_STORED);
        let size = tokio::fs::metadata(root.join(&bucket).join(&key)).await.map_or(0, |file| file.len());
        let entity_tag = entity_tag(response.headers());
        // While the platform stops, there is no receiver. The next start sends missed events.
        let _ = stored.send(Stored { bucket, key, size, entity_tag });
    }
    if is_allowed { with_cors(response) } else { response }
}

/// Returns the object that a request stores if it succeeds, by a PUT or by completing a multipart upload.
fn stores(method: &Method, uri: &Uri) -> Option<(String, String)> {
    let query = uri.query().unwrap_or_default();
    let asks = |name: &str| query.split('&').any(|pair| pair.split('=').next() == Some(name));
    let whole =
        *method == Method::PUT && !["uploadId", "tagging", "acl", "retention", "legal-hold"].into_iter().any(asks);
    let completed = *method == Method::POST && asks("uploadId");
    if !whole && !completed {
        return None;
    }
    let path = percent_decode_str(uri.path()).decode_utf8().ok()?;
    let (bucket, key) = path.strip_prefix('/')?.split_once('/')?;
    (!bucket.is_empty() && !key.is_empty()).then(|| (bucket.to_owned(), key.to_owned()))
}

fn entity_tag(headers: &HeaderMap) -> String {
    let tag = headers.get(header::ETAG).and_then(|tag| tag.to_str().ok()).unwrap_or_default();
    tag.trim_matches('"').to_owned()
}

/// Whether the buckets' CORS rules let a web page send this request, or the one that a preflight asks for.
fn is_allowed(request: &Request<Incoming>) -> bool {
    let headers = request.headers();
    let asked = headers.get(header::ACCESS_CONTROL_REQUEST_METHOD).filter(|_| request.method() == Method::OPTIONS);
    let method = asked.map_or(request.method().as_str().as_bytes(), HeaderValue::as_bytes);
    headers.contains_key(header::ORIGIN) && cors::LINK_METHODS.iter().any(|allowed| allowed.as_bytes() == method)
}

/// Returns the response of S3 to a CORS preflight.
fn preflight(is_allowed: bool) -> Response<s3s::Body> {
    let mut response = Response::new(s3s::Body::empty());
    if is_allowed {
        return with_cors(response);
    }
    *response.status_mut() = StatusCode::FORBIDDEN;
    response
}

/// Adds the headers of the buckets' CORS rules. Web pages use signed links, so every origin is allowed.
fn with_cors(mut response: Response<s3s::Body>) -> Response<s3s::Body> {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    if let Ok(methods) = HeaderValue::try_from(cors::LINK_METHODS.join(", ")) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    }
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("ETag"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_that_store_an_object_have_a_target() {
        let target = |method, uri: &str| stores(&method, &uri.parse().unwrap());
        let stored = Some(("toy".to_owned(), "uploads/a b".to_owned()));
        assert_eq!(target(Method::PUT, "/toy/uploads/a%20b?x-id=PutObject"), stored);
        assert_eq!(target(Method::POST, "/toy/uploads/a%20b?uploadId=1"), stored);
        assert_eq!(target(Method::PUT, "/toy/uploads/a%20b?partNumber=1&uploadId=1"), None);
        assert_eq!(target(Method::PUT, "/toy"), None);
        assert_eq!(target(Method::GET, "/toy/uploads/a%20b"), None);
    }

    #[test]
    fn metadata_is_that_of_the_object_in_its_name() {
        let object = Some(PathBuf::from("toy/a b"));
        assert_eq!(described(".bucket-dG95.object-YSBi.internal.json"), object);
        assert_eq!(described(".bucket-dG95.object-YSBi.metadata.json"), object);
        let upload = ".bucket-dG95.object-YSBi.upload-67e55044-10b1-426f-9247-bb680e5fe0c8.metadata.json";
        for other in [upload, ".bucket-dG95.object-YSBi", ".bucket-%.object-YSBi.internal.json", "toy"] {
            assert_eq!(described(other), None, "{other}");
        }
    }
}
