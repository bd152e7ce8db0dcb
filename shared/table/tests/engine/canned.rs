//! A listener with fixed answers, for answers that no engine in process gives.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Gives every request the same answer. Returns the endpoint and the requests that it receives.
pub async fn answering(status: u16, body: &str) -> (String, UnboundedReceiver<String>) {
    answering_in_turn(&[(status, body)]).await
}

/// Gives each request the next of these answers, and the last one from then on. Returns the endpoint and the requests
/// that it receives.
pub async fn answering_in_turn(answers: &[(u16, &str)]) -> (String, UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let mut answers: Vec<String> = answers.iter().rev().map(|(status, body)| answer(*status, body)).collect();
    let (asked, requests) = unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let request = request(&mut stream).await;
            let answer = if answers.len() > 1 { answers.pop().unwrap() } else { answers[0].clone() };
            stream.write_all(answer.as_bytes()).await.unwrap();
            if asked.send(request).is_err() {
                return;
            }
        }
    });
    (endpoint, requests)
}

fn answer(status: u16, body: &str) -> String {
    format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

async fn request(stream: &mut TcpStream) -> String {
    let mut request = String::new();
    let mut part = [0; 4096];
    while !is_whole(&request) {
        let length = stream.read(&mut part).await.unwrap();
        request.push_str(std::str::from_utf8(&part[..length]).unwrap());
    }
    request
}

fn is_whole(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else { return false };
    let length = head.lines().filter_map(|line| line.split_once(": "));
    let length = length.filter(|(name, _)| name.eq_ignore_ascii_case("content-length")).map(|(_, value)| value).next();
    body.len() >= length.map_or(0, |length| length.parse().unwrap())
}
