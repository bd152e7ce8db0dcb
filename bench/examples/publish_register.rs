//! Measures how long a register takes from its upload until search finds its last record, and the peak memory of the
//! platform meanwhile.
//!
//! ```sh
//! cargo run --release -p cairn -- local --port 8090 --state /tmp/cairn-bench &
//! TOKEN=$(cargo run --release -p cairn -- token archive-administrator --state /tmp/cairn-bench)
//! cargo run -p bench --example publish_register -- http://127.0.0.1:8090 "$TOKEN" 100000 "$(pgrep -nx cairn)"
//! ```
//!
//! The arguments are the URL and a token of a running platform, the number of rows, and the process id of the platform.
//! The file has 20 columns, and is the same in each run.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::time::{Duration, Instant};

use fastrand::Rng;
use reqwest::{Client, Method};
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// How long each wait may take.
const TIMEOUT: Duration = Duration::from_secs(1_800);

/// The surname of the last row.
const LAST: &str = "Zwingli";

const SURNAMES: [&str; 10] =
    ["Pugh", "Jones", "Davies", "Roberts", "Lewis", "Müller", "Schneider", "Dupont", "Kowalski", "Nagy"];
const FORENAMES: [&str; 10] =
    ["Evan", "Margaret", "Griffith", "Johann", "Anna Maria", "Wm.", "Catrin", "Jean", "Zofia", "István"];
const RELATIONS: [(&str, &str); 5] = [("Head", "M"), ("Wife", "F"), ("Son", "M"), ("Daughter", "F"), ("Lodger", "M")];
const PLACES: [&str; 8] = ["Bala", "Dolgellau", "London", "Zürich", "Paris, Texas", "Kraków", "Glasgow", "Nowhere"];
const TRADES: [&str; 6] = ["weaver", "farmer", "slate quarryman", "scholar", "clerk", "domestic servant"];

/// The mapped columns. Eleven others are stored and shown.
const MAPPED: [(&str, &str); 9] = [
    ("Entry", "key"),
    ("House", "household"),
    ("Surname", "surname"),
    ("Forenames", "given"),
    ("Rel", "relation"),
    ("Sex", "sex"),
    ("Born", "birthDate"),
    ("Birthplace", "birthPlace"),
    ("Occupation", "keywords"),
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, token, rows, pid] = arguments.as_slice() else {
        return Err("the arguments must be a URL, a token, a number of rows and a process id".into());
    };
    let (rows, platform) = (rows.parse()?, Platform { client: Client::new(), url, token });
    let file = register(rows);
    println!("{rows} rows, {:.1} MB; peak memory before: {}", megabytes(file.len()), peak_memory(pid)?);
    let post = platform.post().await?;

    let began = Instant::now();
    platform.upload(&post, file).await?;
    let uploaded = began.elapsed();
    let run = platform.send(Method::POST, &format!("{post}/publish"), Some(json!({}))).await?;
    let run = format!("{post}/runs/{}", run.pointer("/run").unwrap_or(&Value::Null));
    let mut phases: Vec<(String, Duration)> = Vec::new();
    let ended = platform
        .wait(&run, |run| {
            let phase = run.pointer("/phase").and_then(Value::as_str).unwrap_or_default();
            if phases.last().is_none_or(|(last, _)| last != phase) {
                phases.push((phase.to_owned(), began.elapsed()));
            }
            phase == "ended"
        })
        .await?;
    if ended.pointer("/status").and_then(Value::as_str) != Some("published") {
        return Err(ended.to_string().into());
    }
    platform.wait(&format!("/archive/search?surname={LAST}&match=exact"), |found| total(found) == Some(1)).await?;
    let searchable = began.elapsed();
    let all = platform.send(Method::GET, "/archive/search?date=1700-1900&limit=1", None).await?;

    println!("uploaded and read: {:.1} s", uploaded.as_secs_f64());
    for (phase, at) in phases {
        println!("{phase} at {:.1} s", at.as_secs_f64());
    }
    let seconds = searchable.as_secs_f64();
    println!("searchable: {seconds:.1} s, {:.0} rows a second", f64::from(rows) / seconds);
    println!("search finds {} records", total(&all).unwrap_or_default());
    println!("peak memory after: {}", peak_memory(pid)?);
    Ok(())
}

/// Returns a register in households of five.
fn register(rows: u32) -> String {
    let mut random = Rng::with_seed(1871);
    let mut one = |of: &[&'static str]| random.choice(of.iter().copied()).unwrap_or_default();
    let mut csv: String = MAPPED.map(|(header, _)| header).join(",");
    for column in 1..=11 {
        let _ = write!(csv, ",Column {column}");
    }
    for (row, (relation, sex)) in (1..=rows).zip(RELATIONS.iter().cycle()) {
        let surname = if row == rows { LAST } else { one(&SURNAMES) };
        let (forenames, place, trade) = (one(&FORENAMES), one(&PLACES), one(&TRADES));
        let (house, born) = (row.div_ceil(5), 1790 + row % 80);
        let _ = write!(csv, "\nE{row:06},{house},{surname},{forenames},{relation},{sex},{born},\"{place}\",{trade}");
        for column in 1..=11 {
            let _ = write!(csv, ",cell {column} of row {row}");
        }
    }
    csv
}

struct Platform<'a> {
    client: Client,
    url: &'a str,
    token: &'a str,
}

impl Platform<'_> {
    async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Outcome<Value> {
        let mut request = self.client.request(method, format!("{}{path}", self.url)).bearer_auth(self.token);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let response = request.send().await?;
        let failed = !response.status().is_success();
        let text = response.text().await?;
        if failed { Err(format!("{path}: {text}").into()) } else { Ok(serde_json::from_str(&text)?) }
    }

    /// Creates an item. Returns its id.
    async fn create(&self, list: &str, new: Value) -> Outcome<String> {
        let created = self.send(Method::POST, list, Some(new)).await?;
        Ok(created.pointer("/id").and_then(Value::as_str).ok_or("an item has no id")?.to_owned())
    }

    /// Creates a post in a category of its own. Returns its path.
    async fn post(&self) -> Outcome<String> {
        let name = format!("Bench {}", fastrand::u64(..));
        let category = self.create("/archive/categories", json!({ "name": name })).await?;
        let collection = json!({ "name": name, "categoryIds": [category] });
        let collection = self.create("/archive/collections", collection).await?;
        let columns = MAPPED.map(|(header, field)| json!({ "header": header, "field": field }));
        let post = json!({ "name": name, "collectionId": collection, "mapping": columns });
        Ok(format!("/archive/posts/{}", self.create("/archive/posts", post).await?))
    }

    /// Uploads the file of a post, and waits until it is read.
    async fn upload(&self, post: &str, file: String) -> Outcome<()> {
        let path = format!("{post}/file");
        let announced = self.send(Method::POST, &path, Some(json!({ "bytes": file.len() }))).await?;
        let link = announced.pointer("/link").and_then(Value::as_str).ok_or("an upload has no link")?;
        let mut request = self.client.put(link).body(file);
        for (name, value) in announced.pointer("/headers").and_then(Value::as_object).into_iter().flatten() {
            // The client sets the length itself.
            if let Some(value) = value.as_str().filter(|_| !name.eq_ignore_ascii_case("content-length")) {
                request = request.header(name, value);
            }
        }
        request.send().await?.error_for_status()?;
        self.wait(&path, |file| file.pointer("/waitsFor").is_none()).await.map(drop)
    }

    /// Reads a path until it answers so.
    async fn wait(&self, path: &str, mut is_done: impl FnMut(&Value) -> bool) -> Outcome<Value> {
        let end = Instant::now() + TIMEOUT;
        loop {
            let answer = self.send(Method::GET, path, None).await?;
            if is_done(&answer) {
                return Ok(answer);
            }
            if Instant::now() > end {
                return Err(format!("{path} takes too long: {answer}").into());
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

fn total(found: &Value) -> Option<u64> {
    found.pointer("/total/value")?.as_u64()
}

fn megabytes(bytes: usize) -> f64 {
    u32::try_from(bytes).map_or(f64::INFINITY, |bytes| f64::from(bytes) / 1e6)
}

/// Returns the most memory that a process has had resident, as Linux counts it.
fn peak_memory(pid: &str) -> Outcome<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(line.ok_or("the process has no VmHWM")?.trim().to_owned())
}
