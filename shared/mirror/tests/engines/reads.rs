//! A relay in front of DynamoDB, which keeps what it passes on.

use std::io::{Read, Write, copy};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

/// The requests of all connections, one after the other.
#[derive(Clone, Default)]
pub struct Requests(Arc<Mutex<Vec<u8>>>);

impl Requests {
    /// Listens on a port that the operating system chooses. Returns its endpoint.
    pub fn relay(&self, endpoint: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let relay = format!("http://{}", listener.local_addr().unwrap());
        let (requests, target) = (self.clone(), endpoint.trim_start_matches("http://").to_owned());
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, engine) = (client.unwrap(), TcpStream::connect(&target).unwrap());
                let back = (engine.try_clone().unwrap(), client.try_clone().unwrap());
                let requests = requests.clone();
                thread::spawn(move || requests.pass_on(client, engine));
                thread::spawn(move || {
                    let (mut engine, mut client) = back;
                    // Ends with the connection.
                    let _ = copy(&mut engine, &mut client);
                });
            }
        });
        relay
    }

    /// Passes the requests of a connection on, each of which it keeps as a whole.
    fn pass_on(&self, mut client: TcpStream, mut engine: TcpStream) {
        let (mut kept, mut part) = (Vec::new(), [0; 65_536]);
        while let Ok(length @ 1..) = client.read(&mut part) {
            kept.extend_from_slice(&part[..length]);
            // Before the response to it can arrive.
            if is_whole(&kept) {
                self.0.lock().unwrap().append(&mut kept);
            }
            engine.write_all(&part[..length]).unwrap();
        }
        let _ = engine.shutdown(Shutdown::Both);
    }

    /// Returns the actions of these requests that read items, each with whether the read is consistent.
    pub fn reads(&self) -> Vec<(String, bool)> {
        let requests = self.0.lock().unwrap();
        let requests = str::from_utf8(&requests).unwrap().split("POST / HTTP/1.1\r\n");
        requests
            .filter_map(|request| request.split_once("\r\n\r\n"))
            .filter_map(|(head, body)| read(head, body))
            .collect()
    }
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

fn read(head: &str, body: &str) -> Option<(String, bool)> {
    let action = head.lines().find_map(|line| line.strip_prefix("x-amz-target: DynamoDB_20120810."))?;
    let body: Value = serde_json::from_str(body).unwrap();
    let is_consistent = |request: &Value| request["ConsistentRead"] == Value::Bool(true);
    let consistent = match action {
        "GetItem" | "Query" | "Scan" => is_consistent(&body),
        "BatchGetItem" => body["RequestItems"].as_object().unwrap().values().all(is_consistent),
        _ => return None,
    };
    Some((action.to_owned(), consistent))
}
