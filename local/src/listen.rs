//! An HTTP/1.1 server for clients on this machine, with graceful shutdown.

use std::convert::Infallible;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::uri::Authority;
use http::{HeaderMap, StatusCode, header};
use http_body_util::{Either, Full};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// The address of every client, since the servers listen on this machine only.
pub(crate) const CLIENT: &str = "127.0.0.1";

/// How long requests in progress may take after the stop. It is longer than any request may last.
const GRACE_PERIOD: Duration = Duration::from_secs(30);

/// A running server.
#[derive(Debug)]
pub struct Server {
    pub address: SocketAddr,
    stop: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl Server {
    /// Starts a server that answers every request to this machine by `handle`.
    pub fn start<H, F, B>(listener: TcpListener, handle: H) -> std::io::Result<Self>
    where
        H: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        Self::with_hosts(listener, Vec::new(), handle)
    }

    /// Starts a server that also accepts these names as the `Host`.
    pub fn with_hosts<H, F, B>(listener: TcpListener, hosts: Vec<String>, handle: H) -> std::io::Result<Self>
    where
        H: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let address = listener.local_addr()?;
        let (stop, stopped) = watch::channel(false);
        let accepting = tokio::spawn(accept(listener, hosts.into(), handle, stopped));
        Ok(Self { address, stop, accepting })
    }

    /// Stops accepting connections, and waits for the requests in progress.
    pub async fn stop(self) {
        let _ = self.stop.send(true);
        let _ = self.accepting.await;
    }
}

async fn accept<H, F, B>(listener: TcpListener, hosts: Arc<[String]>, handle: H, mut stopped: watch::Receiver<bool>)
where
    H: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop_requested(&mut stopped) => break,
        };
        match accepted {
            Ok((stream, _)) => {
                connections.spawn(serve(stream, Arc::clone(&hosts), handle.clone(), stopped.clone()));
            }
            // Usually too many files are open, and some of them must be closed first.
            Err(error) => {
                tracing::warn!(%error, "accepting a connection failed");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    let _ = tokio::time::timeout(GRACE_PERIOD, async { while connections.join_next().await.is_some() {} }).await;
}

async fn serve<H, F, B>(stream: TcpStream, hosts: Arc<[String]>, handle: H, mut stopped: watch::Receiver<bool>)
where
    H: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<B>>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: Request<Incoming>| {
        let answer = is_local(request.headers(), &hosts).then(|| handle(request));
        async move {
            Ok::<_, Infallible>(match answer {
                Some(answer) => answer.await.map(Either::Left),
                None => forbidden().map(Either::Right),
            })
        }
    });
    let connection = http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service);
    let connection = connection.with_upgrades();
    let mut connection = pin!(connection);
    // hyper has already answered errors of the connection, such as malformed HTTP, as far as possible.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = stop_requested(&mut stopped) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// Whether the `Host` is a name of this machine, an address, or one of `hosts`. Other names can belong to a web page that
/// has let its name point to this machine ("DNS rebinding") in order to read the responses.
fn is_local(headers: &HeaderMap, hosts: &[String]) -> bool {
    // Browsers always send it.
    let Some(host) = headers.get(header::HOST) else { return true };
    let Ok(host) = Authority::try_from(host.as_bytes()) else { return false };
    let name = host.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    // A name with a full stop at its end is the same name.
    let name = name.strip_suffix('.').unwrap_or(&name);
    name == "localhost"
        || name.ends_with(".localhost")
        || name.parse::<IpAddr>().is_ok()
        || hosts.iter().any(|host| host.eq_ignore_ascii_case(name))
}

const FORBIDDEN: &str = "Use `localhost` or `127.0.0.1` as the host. The gateway accepts another name by `cargo local \
                         --host NAME`.\n";

fn forbidden() -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(FORBIDDEN));
    *response.status_mut() = StatusCode::FORBIDDEN;
    response
}

async fn stop_requested(stopped: &mut watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stop| *stop).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_and_addresses_of_machines_are_local() {
        let hosts = ["Host.docker.internal".to_owned()];
        let is_local =
            |host: &'static str| is_local(&HeaderMap::from_iter([(header::HOST, host.parse().unwrap())]), &hosts);
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "toys.localhost:80",
            "127.0.0.1:1",
            "10.0.0.1",
            "[::1]:8080",
            "localhost.:80",
        ] {
            assert!(is_local(host), "{host}");
        }
        for host in ["host.docker.internal", "HOST.docker.internal:8080"] {
            assert!(is_local(host), "{host}");
        }
        for host in ["evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "a b"] {
            assert!(!is_local(host), "{host}");
        }
        assert!(super::is_local(&HeaderMap::new(), &[]));
    }
}
