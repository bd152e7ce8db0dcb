//! The baseline: a server that does nothing but broadcast the texts of one socket to all others.

use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use futures::{SinkExt, StreamExt};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep_until, timeout};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use tokio_tungstenite::{accept_async, connect_async};

use crate::delays::print_delays;
use crate::member::{Frame, Socket, text};
use crate::{Outcome, SERVE_BROADCAST, TIMEOUT};

/// The first texts of a socket: it sends what is broadcast, or receives it.
const SENDS: &str = "sends";
const RECEIVES: &str = "receives";

/// The response to each text of the sender.
const ACCEPTED: &str = "accepted";

type Receivers = Arc<Mutex<Vec<mpsc::UnboundedSender<Utf8Bytes>>>>;

/// Serves broadcasts on a free port, and prints its address.
pub async fn serve() -> Outcome<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let receivers = Receivers::default();
    loop {
        let (stream, _) = listener.accept().await?;
        let receivers = Arc::clone(&receivers);
        // A connection that ends is of no interest.
        tokio::spawn(async move { serve_one(stream, receivers).await.ok() });
    }
}

async fn serve_one(stream: TcpStream, receivers: Receivers) -> Outcome<()> {
    stream.set_nodelay(true)?;
    let mut socket = accept_async(stream).await?;
    let mut sends = false;
    while let Some(message) = socket.next().await {
        let Message::Text(text) = message? else { continue };
        if sends {
            // The response comes first, as that of chat does.
            socket.send(Message::text(ACCEPTED)).await?;
            let receivers = receivers.lock().unwrap_or_else(PoisonError::into_inner);
            receivers.iter().for_each(|receiver| drop(receiver.send(text.clone())));
            continue;
        }
        sends = text.as_str() == SENDS;
        let (sender, mut texts) = mpsc::unbounded_channel();
        if !sends {
            receivers.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        }
        socket.send(Message::text(ACCEPTED)).await?;
        while !sends && let Some(text) = texts.recv().await {
            socket.send(Message::Text(text)).await?;
        }
    }
    Ok(())
}

/// Broadcasts these frames to as many sockets, each at its time, and prints the delays.
pub async fn measure(receivers: usize, frames: &[(Duration, String)]) -> Outcome<()> {
    let mut command = Command::new(std::env::current_exe()?);
    let mut server = command.arg(SERVE_BROADCAST).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    let output = server.stdout.take().ok_or("the server has no output")?;
    let address = BufReader::new(output).lines().next_line().await?.ok_or("the server does not start")?;
    let url = format!("ws://{address}");
    let mut sender = open(&url, SENDS).await?;
    let sockets = try_join_all((0..receivers).map(|_| open(&url, RECEIVES))).await?;
    let mut receiving = JoinSet::new();
    let number = frames.len();
    for socket in sockets {
        receiving.spawn(timeout(TIMEOUT + Duration::from_secs(60), receive(socket, number)));
    }
    let (start, mut answered) = (Instant::now(), Vec::with_capacity(number));
    for (at, frame) in frames {
        sleep_until((start + *at).into()).await;
        sender.send(Message::text(frame.as_str())).await?;
        text(&mut sender).await?;
        answered.push(Instant::now());
    }
    let mut delays = Vec::with_capacity(number * receivers);
    for arrivals in receiving.join_all().await {
        let arrivals = arrivals??;
        let pairs = answered.iter().zip(arrivals);
        delays.extend(pairs.map(|(answered, arrival)| arrival.saturating_duration_since(*answered)));
    }
    let bytes: usize = frames.iter().map(|(_, frame)| frame.len()).sum();
    println!("baseline: {number} frames of {} bytes on average", bytes / number.max(1));
    print_delays("baseline, a bare broadcast", delays.into_iter());
    server.kill().await?;
    Ok(())
}

async fn open(url: &str, role: &str) -> Outcome<Socket> {
    let mut socket = connect_async(url).await?.0;
    socket.send(Message::text(role)).await?;
    text(&mut socket).await?;
    Ok(socket)
}

/// Returns when each of the frames has arrived. They are parsed as members parse them.
async fn receive(mut socket: Socket, number: usize) -> Outcome<Vec<Instant>> {
    let mut arrivals = Vec::with_capacity(number);
    while arrivals.len() < number {
        let text = text(&mut socket).await?;
        arrivals.push(Instant::now());
        if serde_json::from_str::<Frame<'_>>(&text)?.frame_type != "events" {
            return Err(format!("this is not a frame of events: {text}").into());
        }
    }
    Ok(arrivals)
}
