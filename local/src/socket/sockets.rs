//! The sockets of all systems on the gateway's port: handshakes, and the handlers of each connection's events.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use jiff::Timestamp;
use serde::Deserialize;
use table::schema::{EventSource, SOCKET_STAGE};
use table::{Trace, trace};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use web::App;

use super::Settings;
use super::connection::Open;
use super::connections::{Closing, Connections, Frame};
use super::event::Connected;
use super::handshake;

/// The sockets of all systems, by their systems' names.
#[derive(Debug)]
pub struct Sockets {
    sockets: BTreeMap<&'static str, Arc<Socket>>,
    connections: Arc<Connections>,
    /// The connections' tasks, from the handshake to the end of `$disconnect`.
    tasks: Mutex<JoinSet<()>>,
    stopping: AtomicBool,
}

/// The socket of one system.
#[derive(Debug)]
struct Socket {
    app: Arc<App>,
    connect: Option<&'static str>,
    disconnect: Option<&'static str>,
    receive: Option<&'static str>,
    connections: Arc<Connections>,
    settings: Settings,
}

/// The time after which API Gateway stops waiting for a handler.
const INTEGRATION_TIMEOUT: Duration = Duration::from_secs(29);

/// How long the client of an accepted handshake may take to switch to the protocol.
const UPGRADE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a stop waits for connections and their handlers.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// The messages of a connection that wait for its handler. The client is not read while there are so many.
const WAITING_MESSAGES: usize = 16;

impl Sockets {
    /// Creates the sockets of those of the systems that have one. Handlers in `without` are not called.
    pub fn new(apps: &[Arc<App>], connections: Arc<Connections>, settings: &Settings, without: &[&str]) -> Self {
        let mut sockets = BTreeMap::new();
        let called = |handler: &'static str| (!without.contains(&handler)).then_some(handler);
        for app in apps {
            for source in app.system().sources {
                let EventSource::Socket { connect, disconnect, receive } = *source else { continue };
                let socket = Socket {
                    app: Arc::clone(app),
                    connect: called(connect),
                    disconnect: called(disconnect),
                    receive: called(receive),
                    connections: Arc::clone(&connections),
                    settings: settings.clone(),
                };
                sockets.insert(app.system().name, Arc::new(socket));
            }
        }
        Self { sockets, connections, tasks: Mutex::default(), stopping: AtomicBool::default() }
    }

    /// Returns whether a request opens a socket: a handshake at `/{system}/live`.
    pub fn is_for(&self, request: &Request<Incoming>) -> bool {
        self.of(request.uri().path()).is_some() && handshake::is_asked(request.method(), request.headers())
    }

    /// Answers a handshake: with 101 if `$connect` accepts the client, or else with the status of its response.
    pub async fn open(&self, mut request: Request<Incoming>) -> Response<Full<Bytes>> {
        let Some(socket) = self.of(request.uri().path()) else { return handshake::refuse(StatusCode::NOT_FOUND) };
        let upgrade = hyper::upgrade::on(&mut request);
        let (parts, _) = request.into_parts();
        let Some(accepted) = handshake::accept(&parts) else { return handshake::refuse(StatusCode::BAD_REQUEST) };
        let (answer, answered) = oneshot::channel();
        {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            if self.stopping.load(Ordering::SeqCst) {
                return handshake::refuse(StatusCode::SERVICE_UNAVAILABLE);
            }
            while tasks.try_join_next().is_some() {}
            // A task of its own, since hyper drops this future if the client goes away.
            tasks.spawn(socket.serve(parts, accepted, upgrade, answer));
        }
        answered.await.unwrap_or_else(|_| handshake::refuse(StatusCode::INTERNAL_SERVER_ERROR))
    }

    /// Closes all connections, and waits for their `$disconnect`.
    pub async fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        let mut tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        let ended = async {
            loop {
                // A handshake in progress may add a connection at any time.
                self.connections.close_all(&Closing::going_away());
                if let Ok(None) = timeout(Duration::from_millis(100), tasks.join_next()).await {
                    break;
                }
            }
        };
        let _ = timeout(STOP_TIMEOUT, ended).await;
    }

    fn of(&self, path: &str) -> Option<Arc<Socket>> {
        let (system, stage) = path.strip_prefix('/')?.split_once('/')?;
        self.sockets.get(system).filter(|_| stage == SOCKET_STAGE).cloned()
    }
}

impl Socket {
    /// Serves a connection from its handshake to the end of `$disconnect`.
    async fn serve(
        self: Arc<Self>,
        parts: Parts,
        accepted: Response<Full<Bytes>>,
        upgrade: OnUpgrade,
        answer: oneshot::Sender<Response<Full<Bytes>>>,
    ) {
        let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let connected = Connected { connection: new_id(), at: self.now(), host: host.to_owned() };
        if let Err(status) = self.connect(&connected, &parts).await {
            let _ = answer.send(handshake::refuse(status));
            return;
        }
        let key = Connections::key(self.app.system().name, &connected.connection);
        let inlet = self.connections.add(key.clone(), self.settings.waiting_frames);
        // From now on handlers may post: the frames wait for the client.
        let _ = answer.send(accepted);
        let (messages, received) = mpsc::channel(WAITING_MESSAGES);
        let handling = tokio::spawn(Arc::clone(&self).receive(connected.clone(), key.clone(), received));
        let closing = match timeout(UPGRADE_TIMEOUT, upgrade).await {
            Ok(Ok(upgraded)) => {
                let open =
                    Open { connections: &self.connections, key: &key, inlet, settings: &self.settings, messages };
                open.run(TokioIo::new(upgraded)).await
            }
            // The client went away during the handshake.
            Ok(Err(_)) | Err(_) => {
                self.connections.remove(&key);
                drop(messages);
                Closing::new(1006, "")
            }
        };
        let _ = handling.await;
        self.disconnect(&connected, &closing).await;
    }

    /// Asks the handler whether the client may connect. The error is the status for the client.
    async fn connect(&self, connected: &Connected, parts: &Parts) -> Result<(), StatusCode> {
        #[derive(Deserialize)]
        struct Answer {
            #[serde(rename = "statusCode")]
            status: u16,
        }
        let Some(handler) = self.connect else { return Ok(()) };
        let event = connected.connect(&parts.headers, parts.uri.query().unwrap_or_default());
        let sent = parts.headers.get(trace::HEADER).and_then(|header| header.to_str().ok()).and_then(Trace::read);
        let call = self.call(handler, event);
        let answer = match sent {
            Some(trace) => trace.scope(call).await,
            None => call.await,
        };
        let answer = answer.ok_or(StatusCode::INTERNAL_SERVER_ERROR)?;
        let status = serde_json::from_slice(&answer).map(|Answer { status }| StatusCode::from_u16(status));
        match status {
            Ok(Ok(status)) if status.is_success() => Ok(()),
            Ok(Ok(status)) => Err(status),
            Ok(Err(_)) | Err(_) => {
                tracing::error!(handler, "the response to `$connect` has no status code");
                Err(StatusCode::BAD_GATEWAY)
            }
        }
    }

    /// Passes messages to the handler, one at a time. API Gateway does not wait for one before it passes the next, so a
    /// system must not rely on their order.
    async fn receive(self: Arc<Self>, connected: Connected, key: String, mut messages: mpsc::Receiver<String>) {
        while let Some(text) = messages.recv().await {
            let Some(handler) = self.receive else { continue };
            if self.call(handler, connected.message(&text, self.now())).await.is_none() {
                self.connections.send(&key, Frame::Text(connected.failure()));
            }
        }
    }

    async fn disconnect(&self, connected: &Connected, closing: &Closing) {
        if let Some(handler) = self.disconnect {
            self.call(handler, connected.disconnect(closing, self.now())).await;
        }
    }

    /// Calls a handler. A failure is logged and not repeated, as by API Gateway.
    async fn call(&self, handler: &'static str, event: Bytes) -> Option<Bytes> {
        let answer = self.app.event(handler, event, Instant::now() + INTEGRATION_TIMEOUT).await;
        answer.inspect_err(|failure| tracing::warn!(handler, %failure, "handling an event of a socket failed")).ok()
    }

    fn now(&self) -> Timestamp {
        self.app.engines().clock.now()
    }
}

/// Returns an id for a connection in API Gateway's form.
fn new_id() -> String {
    let mut bytes = [0; 11];
    fastrand::fill(&mut bytes);
    URL_SAFE.encode(bytes)
}
