//! A function as it is deployed, from the start of its process on, beside a hello-world of `lambda_http`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use local::runtime_api::RuntimeApi;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::Failure;
use crate::figure::{Figure, Goal, Table, megabytes, milliseconds};
use crate::gateway::COLLECTION;
use crate::platform::Platform;
use crate::timing::Times;

const DESCRIPTION: &str = include_str!("../../../events/parks/getApiDescription.json");
const GEOZONE: &str = include_str!("../../../events/parks/getGeozone.json");

const ROUNDS: usize = 51;

/// How much later than the baseline a function may be ready.
const LATER: Duration = Duration::from_millis(10);

/// What the zip for arm64 should have at most, in bytes.
const ZIP: f64 = 4e6;

/// What a zip has beside the deflated bytes: 30, 46 and 22 bytes, and twice the name. (APPNOTE.TXT, 4.3)
const HEADERS: usize = 30 + 46 + 22 + 2 * "bootstrap".len();

/// Longer than any of it takes.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A program with what is asked of it, and what was measured.
struct Case<'a> {
    program: &'a Path,
    handler: &'static str,
    event: &'static str,
    ready: Times,
    answered: Times,
    /// Resident in the process after its first answer, in bytes.
    memory: Vec<usize>,
}

pub async fn run(platform: &Platform, table: &mut Table) -> Result<(), Failure> {
    let (parks, hello) = (built("parks").await?, built("hello").await?);
    let item = json!({ "displayName": "Bedwell Lakes", "location": [-125.589, 49.498], "isVisible": true });
    platform.gateway().create(&format!("/parks/geozones/{COLLECTION}"), &item).await?;

    let mut cases = [
        Case::new(&hello, "bootstrap", DESCRIPTION),
        Case::new(&parks, "getApiDescription", DESCRIPTION),
        Case::new(&parks, "getGeozone", GEOZONE),
    ];
    for _ in 0..ROUNDS {
        for case in &mut cases {
            case.start(platform).await?;
        }
    }
    let [hello_world, description, geozone] = &cases;
    times(table, "from its start until it is ready", &description.ready, &hello_world.ready, Some(LATER));
    times(
        table,
        "the same, to its first answer (getApiDescription)",
        &description.answered,
        &hello_world.answered,
        None,
    );
    times(table, "the same, with an item read (getGeozone)", &geozone.answered, &hello_world.answered, None);
    for case in [description, geozone] {
        bytes(table, &format!("memory after {}", case.handler), case.resident(), hello_world.resident(), Goal::None);
    }
    let (zip, least) = (zipped(&parks)?, zipped(&hello)?);
    bytes(table, &format!("zip for {}", std::env::consts::ARCH), zip, least, Goal::None);
    let target = parks.ancestors().nth(2).unwrap_or(&parks);
    for system in local::systems::ALL.iter().map(|served| served.system.name) {
        let arm = target.join("aarch64-unknown-linux-gnu/release").join(system);
        if arm.exists() {
            let zip = zipped(&arm)?;
            bytes(table, &format!("zip of {system} for arm64, as cargo-lambda last built it"), zip, least, goal(zip));
        }
    }
    Ok(())
}

/// The program of this package with the release profile, built as for a deployment.
pub async fn built(name: &str) -> Result<PathBuf, Failure> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--release", "--package", name, "--bin", name]);
    if !cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status().await?.success() {
        return Err(format!("{name} does not build").into());
    }
    // Beside the folder in which this program is.
    let release = std::env::current_exe()?.parent().and_then(Path::parent).map(Path::to_owned);
    Ok(release.ok_or("this program is nowhere")?.join(name))
}

impl<'a> Case<'a> {
    fn new(program: &'a Path, handler: &'static str, event: &'static str) -> Self {
        let (ready, answered) = (Times::default(), Times::default());
        Self { program, handler, event, ready, answered, memory: Vec::new() }
    }

    /// One process, from its start to its end.
    async fn start(&mut self, platform: &Platform) -> Result<(), Failure> {
        let mut api = RuntimeApi::start().await?;
        let mut command = Command::new(self.program);
        command.env_clear().envs(environment(platform)).envs(api.variables(self.handler));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let begun = Instant::now();
        let mut process = command.spawn()?;
        tokio::time::timeout(PATIENCE, api.asked()).await?;
        self.ready.add(begun.elapsed());
        let said = tokio::time::timeout(PATIENCE, api.invoke(self.event, "")).await?.unwrap_or_default();
        self.answered.add(begun.elapsed());
        if said.get("statusCode") != Some(&Value::from(200)) {
            return Err(format!("{} answered {said}", self.handler).into());
        }
        self.memory.extend(process.id().and_then(resident));
        process.kill().await?;
        Ok(())
    }

    fn resident(&self) -> usize {
        let mut sorted = self.memory.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}

/// What a function's template sets, for the engines of this platform.
pub fn environment(platform: &Platform) -> Vec<(&'static str, String)> {
    let config = &platform.engines().config;
    let (id, secret) = config.credentials.clone().unwrap_or_default();
    vec![
        ("AWS_REGION", config.region.clone()),
        ("AWS_ACCESS_KEY_ID", id),
        ("AWS_SECRET_ACCESS_KEY", secret),
        ("CAIRN_PREFIX", config.prefix.clone()),
        ("CAIRN_DYNAMODB_ENDPOINT", config.dynamodb.clone().unwrap_or_default()),
        ("CAIRN_S3_ENDPOINT", config.s3.clone().unwrap_or_default()),
        ("CAIRN_SQS_ENDPOINT", config.sqs.clone().unwrap_or_default()),
        ("CAIRN_EVENTS_ENDPOINT", config.eventbridge.clone().unwrap_or_default()),
        ("CAIRN_SECRETS_ENDPOINT", config.secretsmanager.clone().unwrap_or_default()),
        ("CAIRN_QUEUES", config.queues.clone().unwrap_or_default()),
        ("CAIRN_SEARCH_ENDPOINT", config.search.clone()),
        ("CAIRN_CURSOR_SECRETS", config.cursor_secrets.join(",")),
    ]
}

/// The memory of a process, in bytes; none where the system does not say it as Linux does.
fn resident(process: u32) -> Option<usize> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<usize>().ok()? * 1024)
}

/// The bytes of a zip with the program alone in it, as `bootstrap`.
fn zipped(program: &Path) -> Result<usize, Failure> {
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::best());
    deflate.write_all(&fs::read(program)?)?;
    Ok(deflate.finish()?.len() + HEADERS)
}

fn goal(zip: usize) -> Goal {
    Goal::at_most(ZIP, zip as f64, format!("≤ {}", megabytes(ZIP as usize)))
}

fn times(table: &mut Table, name: &str, times: &Times, baseline: &Times, later: Option<Duration>) {
    let (measured, least) = (times.percentile(50), baseline.percentile(50));
    table.add(&Figure {
        name: &format!("function: {name}"),
        measured: milliseconds(measured),
        goal: later.map_or(Goal::None, |later| {
            let text = format!("≤ {later:?} later");
            Goal::at_most(later.as_secs_f64(), measured.saturating_sub(least).as_secs_f64(), text)
        }),
        baseline: format!("a hello-world: {}", milliseconds(least)),
        ratio: Some(measured.as_secs_f64() / least.as_secs_f64()),
    });
}

fn bytes(table: &mut Table, name: &str, measured: usize, least: usize, goal: Goal) {
    table.add(&Figure {
        name: &format!("function: {name}"),
        measured: megabytes(measured),
        goal,
        baseline: format!("a hello-world: {}", megabytes(least)),
        ratio: Some(measured as f64 / least as f64),
    });
}
