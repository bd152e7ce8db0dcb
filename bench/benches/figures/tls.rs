//! Engines as a function on AWS meets them: behind TLS, and at a distance.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional, duplex, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::Failure;

/// Large enough for whatever is under way.
const BUFFER: usize = 64 * 1024;

/// A certificate for `localhost` and its key, which were made for this and are trusted nowhere else.
const CERTIFICATE: &[u8] = include_bytes!("localhost.der");
const KEY: &[u8] = include_bytes!("localhost-key.der");

/// The file by which a program trusts the certificate.
pub const TRUSTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/figures/localhost.pem");

/// A server that passes everything on to an engine; gone when it is dropped.
#[derive(Debug)]
pub struct Distant {
    pub url: String,
    accepting: AbortHandle,
}

impl Distant {
    /// Before the engine at this URL. All that passes takes half of `trip` in its direction.
    pub async fn before(engine: &str, trip: Duration) -> Result<Self, Failure> {
        let engine: SocketAddr = engine.strip_prefix("http://").unwrap_or(engine).trim_end_matches('/').parse()?;
        let acceptor = acceptor()?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("https://localhost:{}", listener.local_addr()?.port());
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, engine, acceptor.clone(), trip / 2));
            }
        });
        Ok(Self { url, accepting: accepting.abort_handle() })
    }
}

fn acceptor() -> Result<TlsAcceptor, Failure> {
    let (certificate, key) = (CertificateDer::from(CERTIFICATE), PrivateKeyDer::try_from(KEY)?);
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

impl Drop for Distant {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// One connection; whoever breaks it off ends it.
async fn serve(stream: TcpStream, engine: SocketAddr, acceptor: TlsAcceptor, way: Duration) -> Result<(), Failure> {
    stream.set_nodelay(true)?;
    // TLS is spoken at the far end, so its own messages take their time as well.
    let (near, far) = duplex(BUFFER);
    let ((from_function, to_function), (from_far, to_far)) = (stream.into_split(), split(near));
    let there = tokio::spawn(delayed(from_function, to_far, way));
    let back = tokio::spawn(delayed(from_far, to_function, way));
    let mut decrypted = acceptor.accept(far).await?;
    let mut engine = TcpStream::connect(engine).await?;
    engine.set_nodelay(true)?;
    let _ = copy_bidirectional(&mut decrypted, &mut engine).await;
    there.abort();
    back.abort();
    Ok(())
}

async fn delayed(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    way: Duration,
) -> std::io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        let read = from.read(&mut buffer).await?;
        let Some(part) = buffer.get(..read).filter(|part| !part.is_empty()) else { return to.shutdown().await };
        sleep(way).await;
        to.write_all(part).await?;
    }
}
