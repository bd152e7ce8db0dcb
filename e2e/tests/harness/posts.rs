//! Posts to connections that fail on demand: a relay in front of the management API of a platform's sockets.

use std::collections::HashMap;
use std::future;
use std::sync::{Arc, LazyLock, Mutex};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use table::{Config, Engines};

use super::counted_clients::CountedClients;
use super::relay::pass_on;
use super::server::Server;

/// The relays of all platforms of the run.
pub static OF_THE_RUN: LazyLock<Posts> = LazyLock::new(Posts::default);

#[derive(Default)]
pub struct Posts {
    /// The relays of each running platform, by its prefix.
    relays: Mutex<HashMap<String, Vec<Server>>>,
    /// The statuses of requests to connections that are refused, by the connection's id. Ids are unique in a run.
    refused: Mutex<HashMap<String, u16>>,
    /// The clients of each platform that have no socket, by its prefix.
    counted: Mutex<HashMap<String, Arc<CountedClients>>>,
}

impl Posts {
    /// Returns these engines with a relay in front of the management API, if they have one.
    pub fn before(&'static self, engines: &Arc<Engines>) -> Arc<Engines> {
        let config = &engines.config;
        let Some(target) = config.socket.clone() else { return Arc::clone(engines) };
        let prefix = Arc::<str>::from(config.prefix.as_str());
        let server = Server::at_once(move |request| self.relay(prefix.clone(), target.clone(), request));
        let relayed = engines.at(Config { socket: Some(server.url.clone()), ..config.clone() });
        self.relays.lock().unwrap().entry(config.prefix.clone()).or_default().push(server);
        relayed
    }

    /// Answers later requests to a connection with this status, or passes them on again.
    pub fn refuse(&self, connection: &str, status: Option<u16>) {
        let mut refused = self.refused.lock().unwrap();
        match status {
            Some(status) => refused.insert(connection.to_owned(), status),
            None => refused.remove(connection),
        };
    }

    /// Lets these clients answer later posts to their connections.
    pub fn count(&self, engines: &Engines, clients: Arc<CountedClients>) {
        self.counted.lock().unwrap().insert(engines.config.prefix.clone(), clients);
    }

    /// Removes the relays of these engines.
    pub fn stop(&self, engines: &Engines) {
        self.counted.lock().unwrap().remove(&engines.config.prefix);
        self.relays.lock().unwrap().remove(&engines.config.prefix);
    }

    async fn relay(
        &self,
        prefix: Arc<str>,
        target: String,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Box<dyn std::error::Error + Send + Sync>> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let connection = parts.uri.path().rsplit('/').next().unwrap_or_default().replace("%3D", "=");
        let refused = self.refused.lock().unwrap().get(&connection).copied();
        let counted = self.counted.lock().unwrap().get(&*prefix).cloned();
        if counted.as_ref().is_some_and(|clients| clients.hangs(&connection)) {
            return future::pending().await;
        }
        let answered = counted.and_then(|clients| clients.post(&connection, body.clone()));
        if answered == Some(200) {
            return Ok(Response::new(Full::default()));
        }
        if let Some(status) = refused.or(answered) {
            return Ok(Response::builder().status(status).body(Full::from(r#"{"message":"refused on purpose"}"#))?);
        }
        Ok(pass_on(format!("{target}{}", parts.uri.path()), parts, body).await?)
    }
}
