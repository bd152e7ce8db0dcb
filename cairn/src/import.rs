//! `cairn import`: sends a layer, shows how far its job has come, and names the rows that could not be.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use local::Progress;
use local::identity::Identity;
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use table::Clock;

use crate::failure::Failure;
use crate::show::Show;
use crate::{StateFolder, running};

#[derive(Debug, Args)]
pub struct Import {
    /// The file: a GeoJSON FeatureCollection, or CSV with a header.
    file: PathBuf,
    /// The collection that the items lie in.
    #[arg(long)]
    collection: String,
    /// What the rows are: `geozone`, `facility`, `activity`.
    #[arg(long)]
    entity: String,
    /// The file's format; by its name, if not given.
    #[arg(long)]
    format: Option<Format>,
    /// What becomes of properties and columns that items of the kind do not have; each is a fault, if not given.
    #[arg(long)]
    unknown: Option<Unknown>,
    /// The gateway of a deployment; the platform on the state folder, if not given.
    #[arg(long)]
    url: Option<String>,
    /// An administrator's bearer token; `CAIRN_TOKEN` in the environment, or a token of the local platform's own, if not
    /// given.
    #[arg(long)]
    token: Option<String>,
    #[command(flatten)]
    state: StateFolder,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Geojson,
    Csv,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Unknown {
    Refuse,
    Ignore,
}

const SENDING: &str = "file";
const ROWS: &str = "rows";

/// How often the job is looked at.
const EVERY: Duration = Duration::from_millis(250);

/// Where requests go, and as whom.
struct Gateway {
    client: Client,
    url: String,
    token: String,
}

impl Import {
    pub async fn run(self) -> Result<(), Failure> {
        let gateway = self.gateway()?;
        let file = tokio::fs::read(&self.file)
            .await
            .map_err(|error| Failure::new(format!("`{}` cannot be read: {error}.", self.file.display())))?;
        let format = match self.format.or_else(|| self.format_by_name()) {
            Some(Format::Geojson) => "geojson",
            Some(Format::Csv) => "csv",
            None => return Err(Failure::new("The file's name does not tell its format.\nSay it with `--format`.")),
        };
        let show = Show::new();
        let outcome = self.import(&gateway, format, file, &show.progress()).await;
        show.clear();
        outcome
    }

    async fn import(&self, gateway: &Gateway, format: &str, file: Vec<u8>, progress: &Progress) -> Result<(), Failure> {
        let new = json!({
            "collectionId": self.collection, "entity": self.entity, "format": format, "bytes": file.len(),
            "unknown": if matches!(self.unknown, Some(Unknown::Ignore)) { "ignore" } else { "refuse" },
        });
        progress.started(SENDING);
        let announced = gateway.client.post(format!("{}/parks/imports", gateway.url)).json(&new);
        let announced = answered(announced.bearer_auth(&gateway.token)).await?;
        let mut sending = gateway.client.put(text(&announced, "link")).body(file);
        for (name, value) in announced.get("headers").and_then(Value::as_object).into_iter().flatten() {
            // The client counts the bytes itself.
            if !name.eq_ignore_ascii_case("content-length") {
                sending = sending.header(name, value.as_str().unwrap_or_default());
            }
        }
        answered(sending).await?;
        progress.finished(SENDING, "sent");

        progress.started(ROWS);
        let job = format!("{}/parks/jobs/{}", gateway.url, text(&announced, "jobId"));
        let ended = loop {
            let read = answered(gateway.client.get(&job).bearer_auth(&gateway.token)).await?;
            let count =
                |name: &str| read.pointer(&format!("/counts/{name}")).and_then(Value::as_u64).unwrap_or_default();
            let total = Some(count("total")).filter(|total| *total > 0);
            progress.advanced(ROWS, count("done") + count("failed"), total);
            if !matches!(text(&read, "status"), "waiting" | "running") {
                progress.finished(ROWS, format!("{} done, {} refused", count("done"), count("failed")));
                break read;
            }
            tokio::time::sleep(EVERY).await;
        };
        if let Some(link) = ended.get("faults").and_then(Value::as_str) {
            tell(&answered(gateway.client.get(link)).await?);
        }
        let failed = ended.pointer("/counts/failed").and_then(Value::as_u64).unwrap_or_default();
        match text(&ended, "status") {
            "done" if failed == 0 => Ok(()),
            "done" => Err(Failure::new(format!("{failed} rows were refused.\nMend them and send the file again."))),
            status => Err(Failure::new(format!("The import has {status}: {}.", text(&ended, "reason")))),
        }
    }

    fn gateway(&self) -> Result<Gateway, Failure> {
        let url = match &self.url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => running::gateway(&self.state.folder)?,
        };
        let token = match self.token.clone().or_else(|| std::env::var("CAIRN_TOKEN").ok()) {
            Some(token) => token,
            None if self.url.is_some() => {
                return Err(Failure::new("A deployment wants a token.\nGive it with `--token` or in CAIRN_TOKEN."));
            }
            None => Identity::open(&self.state.folder)?.token("import", &["parks-admin"], &Clock::system())?,
        };
        Ok(Gateway { client: Client::new(), url, token })
    }

    fn format_by_name(&self) -> Option<Format> {
        match self.file.extension()?.to_str()? {
            "geojson" | "json" => Some(Format::Geojson),
            "csv" => Some(Format::Csv),
            _ => None,
        }
    }
}

/// The answer's JSON; null where it has none.
async fn answered(request: RequestBuilder) -> Result<Value, Failure> {
    let answer = request.send().await.map_err(Failure::new)?;
    let status = answer.status();
    let body = answer.text().await.map_err(Failure::new)?;
    let value: Value = serde_json::from_str(&body).unwrap_or_default();
    if status.is_success() {
        return Ok(value);
    }
    let detail = value.get("detail").and_then(Value::as_str);
    Err(Failure::new(format!("It was answered {status}: {}", detail.unwrap_or(&body))))
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A line for each fault, on standard output.
fn tell(faults: &Value) {
    let listed = faults.get("faults").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for fault in listed {
        let counted = ["feature", "row"].into_iter().find_map(|name| Some((name, fault.get(name)?.as_u64()?)));
        let place = counted.map_or_else(|| "file".to_owned(), |(name, number)| format!("{name} {number}"));
        let id = match text(fault, "externalId") {
            "" => String::new(),
            id => format!(" ({id})"),
        };
        println!("{place}{id} {}: {}", text(fault, "pointer"), text(fault, "detail"));
    }
    let all = faults.get("faultCount").and_then(Value::as_u64).unwrap_or_default();
    if all > listed.len() as u64 {
        println!("and {} more", all - listed.len() as u64);
    }
}
