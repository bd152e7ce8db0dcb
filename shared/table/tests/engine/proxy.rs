//! A proxy before the engine that loses answers: the engine does what it is asked, and nobody hears of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Passes requests on to an engine.
pub struct Proxy {
    pub endpoint: String,
    /// How many of the next answers are lost; then the connection is cut.
    pub lose: Arc<AtomicUsize>,
    pub lost: Arc<AtomicUsize>,
}

pub async fn before(engine: &str) -> Proxy {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let (lose, lost) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let engine = engine.trim_start_matches("http://").to_owned();
    let proxy = Proxy { endpoint, lose: Arc::clone(&lose), lost: Arc::clone(&lost) };
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let engine = TcpStream::connect(&engine).await.unwrap();
            tokio::spawn(pass_on(client, engine, Arc::clone(&lose), Arc::clone(&lost)));
        }
    });
    proxy
}

async fn pass_on(client: TcpStream, engine: TcpStream, lose: Arc<AtomicUsize>, lost: Arc<AtomicUsize>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_engine, mut to_engine) = engine.into_split();
    tokio::spawn(async move { tokio::io::copy(&mut from_client, &mut to_engine).await });
    let mut answer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from_engine.read(&mut answer).await {
        let one_less = |count: usize| count.checked_sub(1);
        if lose.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok() {
            lost.fetch_add(1, Ordering::SeqCst);
            return;
        }
        if to_client.write_all(&answer[..length]).await.is_err() {
            return;
        }
    }
}
