//! Secrets where they must not be: in a log line of any platform of the run; in a response or a frame of chat; in what
//! chat has stored when a platform stops, such as items, feed entries, documents, event files and the quarantine.
//!
//! The tests' secrets can be told from all other text: passwords contain [`PASSWORD`], hashes and tokens have their own
//! forms, and addresses of people are at [`ADDRESS`]. Tickets and reset codes have no form of their own, so those of the
//! run are compared with all texts of their length at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Debug, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use reqwest::Method;
use table::Engines;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use super::Answer;
use super::relay::HTTP;

/// A part of each password of the tests.
pub const PASSWORD: &str = "on stones";

/// The domain of each address of the tests.
pub const ADDRESS: &str = "@example.org";

/// What has a secret: log lines, and what is stored.
static LEAKED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The tickets and reset codes of the run.
static RANDOM: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// The texts that may be one of them, with the place where each was first found.
static FOUND: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// The lengths of tickets and reset codes, in base64 or hexadecimal.
const RANDOM_LENGTHS: std::ops::RangeInclusive<usize> = 40..=64;

/// Operations whose responses have tokens.
const ISSUING: [&str; 2] = ["/chat/sessions", "/chat/sessions/refresh"];

/// Operations whose responses have a ticket or a reset code.
const TICKETS: &str = "/chat/live/tickets";
const RESETS: &str = "/password-resets";

/// Returns the kind of a secret in a text.
pub fn secret_in(text: &str) -> Option<&'static str> {
    let has = |mark: &str| text.contains(mark);
    if has(PASSWORD) {
        Some("a password")
    } else if has("$argon2") {
        Some("a hash")
    } else if has("eyJ0eXAi") || has("eyJhbGci") {
        Some("an access token")
    } else if has_refresh_token(text) {
        Some("a refresh token")
    } else {
        None
    }
}

/// Whether a text has two ids with a dot between.
fn has_refresh_token(text: &str) -> bool {
    let is_id = |text: &str| text.len() == 36 && uuid::Uuid::parse_str(text).is_ok();
    text.match_indices('.').any(|(dot, _)| {
        let before = dot.checked_sub(36).and_then(|start| text.get(start..dot));
        let after = text.get(dot + 1..dot + 37);
        before.is_some_and(is_id) && after.is_some_and(is_id)
    })
}

/// Asserts that a response of chat has no secret but those that its operation returns to their owner.
pub fn check(method: &Method, path: &str, answer: &Answer) {
    // The API description has made-up people in its samples.
    if !path.starts_with("/chat") || path.ends_with("/openapi.json") {
        return;
    }
    let path = path.split('?').next().unwrap_or_default();
    let text = format!("{} {:?}", String::from_utf8_lossy(&answer.bytes), answer.headers);
    let issues = ISSUING.contains(&path) && answer.status < 300;
    let secret = secret_in(&text).filter(|secret| !(issues && secret.ends_with("token")));
    assert!(secret.is_none(), "{} in a response: {}", secret.unwrap_or_default(), answer.told());
    let issued = ["ticket", "code"].into_iter().filter_map(|name| answer[name].as_str());
    if method == Method::POST && (path == TICKETS || path.ends_with(RESETS)) && answer.status == 201 {
        RANDOM.lock().unwrap().extend(issued.map(str::to_owned));
    } else {
        keep(&text, || format!("the response to {}", answer.request));
    }
    let own = path.starts_with("/chat/me") || (method == Method::POST && path == "/chat/users" && answer.status == 201);
    assert!(own || !text.contains(ADDRESS), "the address of a person in a response: {}", answer.told());
}

/// Asserts that a frame of a socket has no secret.
pub fn check_frame(frame: &str) {
    let secret = secret_in(frame).or_else(|| frame.contains(ADDRESS).then_some("an address"));
    assert!(secret.is_none(), "{} in a frame: {frame}", secret.unwrap_or_default());
    keep(frame, || format!("the frame {frame}"));
}

/// Searches what chat has stored for secrets outside their places: passwords are stored as hashes of users, and addresses
/// with users and in the exports of their owners.
pub async fn search_stored(engines: &Arc<Engines>, objects: &Path) {
    for table in ::chat::SYSTEM.tables {
        let mut pages = engines.dynamodb().scan().table_name(engines.config.table(table.name)).into_paginator().send();
        while let Some(page) = pages.next().await {
            let page = match page {
                Ok(page) => page,
                Err(error) => {
                    LEAKED
                        .lock()
                        .unwrap()
                        .push(format!("perhaps something in {}, whose scan failed: {error}", table.name));
                    break;
                }
            };
            for mut item in page.items.unwrap_or_default() {
                let is_user = table.name == ::chat::schema::USERS.name;
                if is_user {
                    item.remove("PasswordHash");
                }
                search(&format!("{item:?}"), is_user, || format!("an item of {}", table.name));
            }
        }
    }
    for file in files(objects) {
        let text = std::fs::read(&file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        let is_export = file.components().any(|part| part.as_os_str() == "exports");
        search(&text, is_export, || format!("the object {}", file.display()));
    }
    let index = format!("{}-000001", engines.config.search_name(::chat::SYSTEM.name));
    let all = serde_json::json!({ "query": { "match_all": {} }, "size": 10_000 }).to_string();
    let call = HTTP.post(format!("{}/{index}/_search", engines.config.search)).body(all);
    // The engine of a test that stops it has no documents any more.
    if let Ok(answer) = call.header("content-type", "application/json").send().await {
        search(&answer.text().await.unwrap_or_default(), false, || "a document".to_owned());
    }
}

/// Records a secret in a text.
fn search(text: &str, may_have_address: bool, place: impl Fn() -> String) {
    let address = || (!may_have_address && text.contains(ADDRESS)).then_some("an address");
    if let Some(secret) = secret_in(text).or_else(address) {
        LEAKED.lock().unwrap().push(format!("{secret} in {}", place()));
    }
    keep(text, place);
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Keeps the parts of a text that may be a ticket or a reset code.
fn keep(text: &str, place: impl Fn() -> String) {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let parts = text.split(|letter| !is_part(letter)).filter(|part| RANDOM_LENGTHS.contains(&part.len()));
    let mut found = FOUND.lock().unwrap();
    for part in parts {
        if !found.contains_key(part) {
            found.insert(part.to_owned(), place());
        }
    }
}

/// Prints each place with a secret. Returns whether there is none.
pub fn judge() -> bool {
    let (leaked, found, random) = (LEAKED.lock().unwrap(), FOUND.lock().unwrap(), RANDOM.lock().unwrap());
    let random = random.iter().filter_map(|secret| found.get(secret));
    let random = random.map(|place| format!("a ticket or reset code in {place}"));
    let all: BTreeSet<String> = leaked.iter().cloned().chain(random).collect();
    for leak in &all {
        println!("leak: {leak}");
    }
    all.is_empty()
}

/// Reads each log line, metrics lines among them.
pub struct Leaks;

impl<S: Subscriber> Layer<S> for Leaks {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        keep(&text.0, || format!("a line of {}", event.metadata().target()));
        let secret = secret_in(&text.0).or_else(|| text.0.contains(ADDRESS).then_some("an address"));
        if let Some(secret) = secret {
            let line: String = text.0.chars().take(500).collect();
            LEAKED.lock().unwrap().push(format!("{secret} in a line of {}: {line}", event.metadata().target()));
        }
    }
}

struct Text(String);

impl Visit for Text {
    fn record_str(&mut self, field: &Field, value: &str) {
        let _ = write!(self.0, "{}={value} ", field.name());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, "{}={value:?} ", field.name());
    }
}
