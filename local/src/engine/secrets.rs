//! Secrets Manager over the files of a folder, in this process. A file is named for its secret and holds the value, as
//! `SecretString` has it on AWS.

use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::Request;
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::error::StartError;
use crate::listen::Server;
use crate::private_file::read_or_create;

/// A running Secrets Manager on a port of 127.0.0.1.
#[derive(Debug)]
pub struct Secrets {
    pub endpoint: String,
    folder: Arc<Path>,
    server: Server,
}

/// The maximum size of a request in bytes.
const MAX_REQUEST: usize = 64 * 1024;

/// The random bytes of a secret, which are 64 characters.
const RANDOM_BYTES: usize = 48;

impl Secrets {
    /// Starts Secrets Manager with the secrets in a folder, which it creates.
    pub async fn start(folder: &Path) -> Result<Self, StartError> {
        std::fs::create_dir_all(folder).map_err(|error| StartError::folder(folder, error))?;
        let failed = |error: std::io::Error| {
            StartError::new(
                format!("Starting the local Secrets Manager failed: {error}"),
                "Check the machine's network settings",
            )
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
        let endpoint = format!("http://{}", listener.local_addr().map_err(failed)?);
        let folder = Arc::<Path>::from(folder);
        let served = Arc::clone(&folder);
        let server = Server::start(listener, move |request| answer(Arc::clone(&served), request)).map_err(failed)?;
        Ok(Self { endpoint, folder, server })
    }

    /// Creates a secret with a random value unless it exists.
    pub fn create(&self, name: &str) -> Result<(), StartError> {
        let random = || {
            let mut value = [0; RANDOM_BYTES];
            let filled = getrandom::fill(&mut value);
            filled.map_err(|error| StartError::new(format!("Reading random bytes failed: {error}"), "Retry"))?;
            Ok(URL_SAFE_NO_PAD.encode(value).into_bytes())
        };
        read_or_create(&self.folder.join(name), random).map(|_| ())
    }

    pub async fn stop(self) {
        self.server.stop().await;
    }
}

async fn answer(folder: Arc<Path>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let target = parts.headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let answered = match (target, Limited::new(body, MAX_REQUEST).collect().await) {
        ("secretsmanager.GetSecretValue", Ok(body)) => get_secret_value(&folder, &body.to_bytes()).await,
        ("secretsmanager.GetSecretValue", Err(error)) => Err(("InvalidRequestException", error.to_string())),
        _ => Err(("InvalidRequestException", format!("`{target}` is not an operation of the local Secrets Manager"))),
    };
    let (status, body) = match answered {
        Ok(body) => (StatusCode::OK, body),
        Err((kind, message)) => (StatusCode::BAD_REQUEST, json!({ "__type": kind, "Message": message })),
    };
    let mut response = Response::new(Full::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.1"));
    response
}

/// Returns the answer of Secrets Manager ("GetSecretValue", AWS Secrets Manager API Reference), or the type and the
/// message of an error.
async fn get_secret_value(folder: &Path, body: &[u8]) -> Result<Value, (&'static str, String)> {
    let request: Value =
        serde_json::from_slice(body).map_err(|error| ("InvalidParameterException", error.to_string()))?;
    let missing = || ("ResourceNotFoundException", "Secrets Manager can't find the specified secret.".to_owned());
    let name = request.get("SecretId").and_then(Value::as_str).ok_or_else(missing)?;
    let path: PathBuf = [folder, Path::new(name)].iter().collect();
    // A name with `..` would lead out of the folder.
    if path.parent() != Some(folder) || path.file_name().is_none() {
        return Err(missing());
    }
    match tokio::fs::read_to_string(&path).await {
        Ok(value) => {
            let arn = format!("arn:aws:secretsmanager:local:000000000000:secret:{name}-local0");
            Ok(json!({ "ARN": arn, "Name": name, "SecretString": value, "VersionStages": ["AWSCURRENT"] }))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Err(missing()),
        Err(error) => Err(("InternalServiceError", error.to_string())),
    }
}
