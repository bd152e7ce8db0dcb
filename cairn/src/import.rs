//! `cairn import`: uploads a file, shows the progress of its job, and prints the rows that failed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use local::Progress;
use local::identity::Identity;
use serde::Deserialize;
use serde_json::json;
use table::Clock;

use crate::failure::Failure;
use crate::gateway::Gateway;
use crate::show::Show;
use crate::{StateFolder, running};

#[derive(Debug, Args)]
pub struct Import {
    /// The file, a GeoJSON FeatureCollection or CSV with a header.
    file: PathBuf,
    /// The collection of the items.
    #[arg(long)]
    collection: String,
    /// The kind of the items: `geozone`, `facility` or `activity`.
    #[arg(long)]
    entity: String,
    /// The file's format [default: by the extension of its name].
    #[arg(long)]
    format: Option<Format>,
    /// How to treat properties and columns that items of this kind do not have [default: refuse].
    #[arg(long)]
    unknown: Option<Unknown>,
    /// The URL of a deployment's gateway [default: the platform that runs on the state folder].
    #[arg(long)]
    url: Option<String>,
    /// An administrator's bearer token [default: `CAIRN_TOKEN` in the environment, or a token of the local platform].
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

/// The interval at which the job is polled at first.
const POLL_AT_FIRST: Duration = Duration::from_millis(250);

/// The interval at which the job is polled after [`FREQUENT_POLLING_TIME`].
const POLL_LATER: Duration = Duration::from_secs(1);

/// How long the job is polled frequently. A small file is imported by then.
const FREQUENT_POLLING_TIME: Duration = Duration::from_secs(5);

/// The response to a new import.
#[derive(Deserialize)]
struct Announced {
    id: String,
    link: String,
    headers: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Job {
    status: String,
    counts: Counts,
    /// A link to the faults, if there are any.
    faults_link: Option<String>,
    reason: Option<String>,
}

/// The numbers of rows.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Counts {
    total: u64,
    done: u64,
    failed: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Faults {
    fault_count: u64,
    faults: Vec<Fault>,
}

/// A fault of a feature, of a row, or of the whole file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fault {
    feature: Option<u64>,
    row: Option<u64>,
    external_id: Option<String>,
    pointer: String,
    detail: String,
}

impl Import {
    pub async fn run(self) -> Result<(), Failure> {
        let gateway = self.gateway()?;
        let file = tokio::fs::read(&self.file)
            .await
            .map_err(|error| Failure::new(format!("Reading `{}` failed: {error}.", self.file.display())))?;
        let format = match self.format.or_else(|| self.format_by_name()) {
            Some(Format::Geojson) => "geojson",
            Some(Format::Csv) => "csv",
            None => {
                return Err(Failure::new(format!(
                    "The format of `{}` is unknown.\nSet it with `--format`, or use a name with `.geojson`, `.json` or `.csv`.",
                    self.file.display()
                )));
            }
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
        let announced: Announced = gateway.post("/parks/imports", &new).await?;
        gateway.upload(&announced.link, &announced.headers, file).await?;
        progress.finished(SENDING, "sent");

        let job = watch(gateway, &announced.id, progress).await.map_err(|failure| {
            let path = format!("/parks/jobs/{}", announced.id);
            Failure::new(format!("{failure}\nThe import may still succeed: `GET {path}` shows its job."))
        })?;
        if let Some(link) = &job.faults_link {
            print(&gateway.follow(link, progress).await?);
        }
        match (job.status.as_str(), job.counts.failed) {
            ("succeeded", 0) => Ok(()),
            ("succeeded", failed) => {
                let refused = if failed == 1 { "1 row was".to_owned() } else { format!("{failed} rows were") };
                Err(Failure::new(format!("{refused} refused. Correct the file and import it again.")))
            }
            (status, _) => {
                let reason = job.reason.as_deref().unwrap_or("the job has no reason");
                Err(Failure::new(format!("The import has status `{status}`: {reason}.")))
            }
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
                return Err(Failure::new("A deployment needs a token.\nPass one with `--token` or in CAIRN_TOKEN."));
            }
            None => Identity::open(&self.state.folder)?.token("import", &["parks-admin"], &Clock::system())?,
        };
        Gateway::new(url, token)
    }

    fn format_by_name(&self) -> Option<Format> {
        match self.file.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "geojson" | "json" => Some(Format::Geojson),
            "csv" => Some(Format::Csv),
            _ => None,
        }
    }
}

/// Polls a job until it has ended.
async fn watch(gateway: &Gateway, id: &str, progress: &Progress) -> Result<Job, Failure> {
    progress.started(ROWS);
    let started = Instant::now();
    loop {
        let job: Job = gateway.get(&format!("/parks/jobs/{id}"), progress).await?;
        let Counts { total, done, failed } = job.counts;
        progress.advanced(ROWS, done + failed, Some(total).filter(|total| *total > 0));
        if !matches!(job.status.as_str(), "queued" | "running") {
            progress.finished(ROWS, format!("{done} done, {failed} refused"));
            return Ok(job);
        }
        let is_new = started.elapsed() < FREQUENT_POLLING_TIME;
        tokio::time::sleep(if is_new { POLL_AT_FIRST } else { POLL_LATER }).await;
    }
}

/// Prints a line for each fault.
fn print(faults: &Faults) {
    for fault in &faults.faults {
        let place = match (fault.feature, fault.row) {
            (Some(number), _) => format!("feature {number}"),
            (None, Some(number)) => format!("row {number}"),
            (None, None) => "file".to_owned(),
        };
        let id = fault.external_id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
        println!("{place}{id} {}: {}", fault.pointer, fault.detail);
    }
    let more = faults.fault_count.saturating_sub(faults.faults.len() as u64);
    if more > 0 {
        println!("and {more} more");
    }
}
