//! `cairn local`: runs the platform until it is stopped or an engine dies. `cairn local reset` deletes its state.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use local::identity::ISSUER;
use local::platform::EVENT_LOG;
use local::sample::PEOPLE;
use local::search::Choice;
use local::source::Settings;
use local::state::Reset;
use local::{Dynamodb, Options, Platform, systems};
use table::Clock;
use table::config::{Issuer, LEASE};
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Failure;
use crate::running::Running;
use crate::sample_data::{self, SampleSize};
use crate::show::{Show, print_message};
use crate::{StateFolder, exit, log, token};

#[derive(Debug, Args)]
pub struct Local {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    state: StateFolder,
    /// Load sample data. `small` (the default) is loaded before the platform is ready, `world` after it, while it
    /// serves.
    /// Existing items stay as they are.
    #[arg(long, value_name = "SIZE", num_args = 0..=1, require_equals = true, default_missing_value = "small")]
    sample: Option<SampleSize>,
    /// The gateway's port on 127.0.0.1; 0 chooses a free one.
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// An additional name of this machine in requests to the gateway, such as `host.docker.internal`. May be repeated.
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// The search engine: `opensearch`, `osmem`, or the URL of a running one [default: opensearch, or osmem if Java or
    /// Maven is missing].
    #[arg(long, value_name = "ENGINE")]
    search: Option<Choice>,
    /// The engine for DynamoDB: `dynoxide`, or `local` for Amazon's DynamoDB Local.
    #[arg(long, value_name = "ENGINE", value_parser = dynamodb, default_value = "dynoxide")]
    dynamodb: Dynamodb,
    /// An additional issuer of tokens, for `cargo cairn token --issuer NAME`. May be repeated.
    #[arg(long = "issuer", value_name = "NAME", value_parser = issuer)]
    issuers: Vec<String>,
    /// Lease of a background job in seconds: how long after a crash until another worker may resume it.
    #[arg(long, value_name = "SECONDS", default_value_t = LEASE.as_secs(), value_parser = clap::value_parser!(u64).range(1..))]
    lease: u64,
    /// The longest time in seconds that an invocation of a mirror may take. `cairn rebuild` waits for that long.
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(2..=60))]
    mirror_timeout: u64,
    /// Limits that differ from their defaults, such as `sends=300,searches=600`. docs/chat.md lists them.
    #[arg(long, value_name = "LIMITS", value_parser = limits, default_value = "", hide_default_value = true)]
    limits: BTreeMap<String, u32>,
    /// At the start, keep an index with the mapping of the release before; `cairn rebuild` rebuilds it while the
    /// platform serves.
    #[arg(long)]
    keep_indexes: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Delete the state folder: tables, objects, index, keys and logs.
    Reset,
}

fn dynamodb(text: &str) -> Result<Dynamodb, String> {
    match text {
        "dynoxide" => Ok(Dynamodb::Dynoxide),
        "local" => Ok(Dynamodb::Local),
        _ => Err("use `dynoxide` or `local`".to_owned()),
    }
}

fn issuer(text: &str) -> Result<String, String> {
    if Issuer::may_be_named(text) { Ok(text.to_owned()) } else { Err(format!("use {}", Issuer::NAME)) }
}

fn limits(text: &str) -> Result<BTreeMap<String, u32>, String> {
    table::config::limits::read(text).map_err(|error| error.fault)
}

impl Local {
    /// Whether the command runs the platform.
    pub fn runs_platform(&self) -> bool {
        self.command.is_none()
    }

    pub async fn run(self) -> Result<ExitCode, Failure> {
        if let Some(Command::Reset) = self.command {
            return self.reset();
        }
        log::start(&self.state.folder)?;
        let mut signals = StopSignals::listen()?;
        let issuers: BTreeSet<String> = self.issuers.iter().filter(|name| *name != ISSUER).cloned().collect();
        let sources = Settings { mirror_timeout: Duration::from_secs(self.mirror_timeout), ..Settings::default() };
        let options = Options {
            port: self.port,
            hosts: self.hosts.clone(),
            sources,
            rebuilds: !self.keep_indexes,
            search: self.search.clone().unwrap_or_default(),
            dynamodb: self.dynamodb.clone(),
            lease: Duration::from_secs(self.lease),
            limits: self.limits.clone(),
            issuers: [ISSUER.to_owned()].into_iter().chain(issuers).collect(),
            ..Options::new(systems::ALL.to_vec(), &self.state.folder)
        };
        let show = Show::new();
        let progress = show.progress();
        let started = tokio::select! {
            started = Platform::start(options, &progress) => started,
            () = signals.next() => return Ok(ExitCode::SUCCESS),
        };
        let platform = started?;
        if self.sample == Some(SampleSize::Small) {
            let loaded = tokio::select! {
                loaded = sample_data::load(&platform, SampleSize::Small, &progress) => loaded,
                death = platform.died() => Err(Failure::new(death)),
                () = signals.next() => {
                    return stop(platform, &mut signals).await.map(|()| ExitCode::SUCCESS);
                }
            };
            show.clear();
            loaded?;
        }
        show.clear();
        let running = Running::announce(&platform, &self.state.folder)?;
        let tokens = self.keep_tokens(&platform)?;
        if let Err(error) = self.print_ready(&platform, &tokens, &mut io::stdout()) {
            drop(running);
            stop(platform, &mut signals).await?;
            return closed_pipe(&error);
        }

        let load = async {
            if self.sample == Some(SampleSize::World) {
                sample_data::load_while_serving(&platform, SampleSize::World, &progress).await;
            }
            std::future::pending::<Infallible>().await
        };
        let death = tokio::select! {
            never = load => match never {},
            death = platform.died() => Some(death),
            () = signals.next() => None,
        };
        show.clear();
        drop(running);
        if let Some(death) = death {
            return Err(Failure::new(death));
        }
        print_message("Stopping after the requests in progress. Press Ctrl-C again to stop at once.");
        stop(platform, &mut signals).await.map(|()| ExitCode::SUCCESS)
    }

    fn reset(&self) -> Result<ExitCode, Failure> {
        let folder = &self.state.folder;
        let reset = local::state::reset(folder)?;
        let folder = folder.display();
        match reset {
            Reset::Absent => println!("There is no state folder `{folder}`."),
            Reset::Deleted => println!("The state folder `{folder}` was deleted."),
            Reset::Emptied => println!("The state folder `{folder}`, a link, was emptied."),
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Writes a token for each kind of caller into the state folder. Returns a line for each.
    fn keep_tokens(&self, platform: &Platform) -> Result<Vec<String>, Failure> {
        let folder = &self.state.folder;
        let mut lines = Vec::new();
        for (kind, person) in &PEOPLE {
            let file = token::keep(folder, kind, &platform.identity.token_of(person, &Clock::system())?)?;
            lines.push(format!("token      {kind:<21} {:<70} {}", token::command(folder, person), file.display()));
        }
        Ok(lines)
    }

    /// Prints the addresses, the lines of the tokens, and finally `ready`.
    fn print_ready(&self, platform: &Platform, tokens: &[String], out: &mut impl Write) -> io::Result<()> {
        let config = &platform.engines.config;
        for served in systems::ALL {
            let name = served.system.name;
            let kind = if served.is_example { "; an example" } else { "" };
            writeln!(out, "{name:<10} {}/{name} (description: /{name}/openapi.json{kind})", platform.url)?;
        }
        for app in systems::ALL.iter().filter_map(|served| platform.app(served.system.name)) {
            let config = &app.engines().config;
            if let (Some(url), Some(endpoint)) = (&config.socket_url, &config.socket) {
                writeln!(out, "socket     {url} (management API: {endpoint})")?;
            }
        }
        writeln!(out, "app        {}/chat/app (a small client of chat)", platform.url)?;
        writeln!(out, "search     {}", config.search)?;
        writeln!(out, "DynamoDB   {}", platform.dynamodb())?;
        writeln!(out, "S3         {}", platform.s3())?;
        writeln!(out, "SQS        {}", platform.sqs())?;
        writeln!(out, "events     {} (log: {})", platform.event_bus(), self.state.folder.join(EVENT_LOG).display())?;
        writeln!(out, "secrets    {}", platform.secrets())?;
        // A value of `CAIRN_ISSUERS`, for functions that accept the platform's tokens.
        writeln!(out, "issuers    {}", serde_json::to_string(&config.issuers)?)?;
        writeln!(out, "state      {}", self.state.folder.display())?;
        for line in tokens {
            writeln!(out, "{line}")?;
        }
        writeln!(out, "ready {}", platform.url)
    }
}

/// Stops the platform after the requests in progress, or at once at the next signal.
async fn stop(platform: Platform, signals: &mut StopSignals) -> Result<(), Failure> {
    tokio::select! {
        () = platform.stop() => Ok(()),
        () = signals.next() => Err(Failure::new("Stopped at once.")),
    }
}

/// Returns the exit code of a process whose output nothing reads, or the failure to write it.
fn closed_pipe(error: &io::Error) -> Result<ExitCode, Failure> {
    if error.kind() == ErrorKind::BrokenPipe {
        return Ok(ExitCode::from(exit::CLOSED_PIPE));
    }
    Err(Failure::new(format!("Writing to standard output failed: {error}.")))
}

/// Ctrl-C and SIGTERM.
struct StopSignals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl StopSignals {
    fn listen() -> Result<Self, Failure> {
        let listen =
            |kind| signal(kind).map_err(|error| Failure::new(format!("Listening for signals failed: {error}.")));
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
