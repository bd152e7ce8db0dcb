//! `cairn local`: runs the platform until it is told to stop or an engine dies; `cairn local reset` empties its folder.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::time::Duration;

use clap::{Args, Subcommand};
use local::identity::ISSUER;
use local::sample::PEOPLE;
use local::search::Choice;
use local::{Dynamodb, Options, Platform, systems};
use table::Clock;
use table::config::{Issuer, LEASE};
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Failure;
use crate::running::Running;
use crate::sample_data::{self, SampleSize};
use crate::show::Show;
use crate::{StateFolder, log, token};

#[derive(Debug, Args)]
pub struct Local {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    state: StateFolder,
    /// Load sample data. `small` (the default) is loaded before the platform is ready; `world` afterwards, while it
    /// serves. Items that exist stay as they are.
    #[arg(long, value_name = "SIZE", num_args = 0..=1, require_equals = true, default_missing_value = "small")]
    sample: Option<SampleSize>,
    /// The gateway's port on 127.0.0.1; 0 takes any that is free.
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// `opensearch`, `osmem`, or the URL of one that runs; the best that this machine has, if not given.
    #[arg(long, value_name = "ENGINE")]
    search: Option<Choice>,
    /// `dynoxide`, or `local` for Amazon's DynamoDB Local.
    #[arg(long, value_name = "ENGINE", value_parser = dynamodb, default_value = "dynoxide")]
    dynamodb: Dynamodb,
    /// A further name under which the platform issues tokens: `cargo cairn token --issuer NAME`.
    #[arg(long = "issuer", value_name = "NAME", value_parser = issuer)]
    issuers: Vec<String>,
    /// Seconds for which long work is its worker's: after a crash nobody goes on with it before.
    #[arg(long, value_name = "SECONDS", default_value_t = LEASE.as_secs(), value_parser = clap::value_parser!(u64).range(1..))]
    lease: u64,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Empty the state folder: tables, objects, index, keys and logs.
    Reset,
}

fn dynamodb(text: &str) -> Result<Dynamodb, String> {
    match text {
        "dynoxide" => Ok(Dynamodb::Dynoxide),
        "local" => Ok(Dynamodb::Local),
        _ => Err("give `dynoxide` or `local`".to_owned()),
    }
}

fn issuer(text: &str) -> Result<String, String> {
    if Issuer::may_be_named(text) { Ok(text.to_owned()) } else { Err(format!("give {}", Issuer::NAME)) }
}

impl Local {
    pub async fn run(self) -> Result<(), Failure> {
        if let Some(Command::Reset) = self.command {
            local::state::reset(&self.state.folder)?;
            println!("`{}` is empty.", self.state.folder.display());
            return Ok(());
        }
        log::start(&self.state.folder);
        let mut told_to_stop = StopSignals::listen()?;
        let issuers: BTreeSet<String> = self.issuers.iter().filter(|name| *name != ISSUER).cloned().collect();
        let options = Options {
            port: self.port,
            search: self.search.clone().unwrap_or_default(),
            dynamodb: self.dynamodb.clone(),
            lease: Duration::from_secs(self.lease),
            issuers: [ISSUER.to_owned()].into_iter().chain(issuers).collect(),
            ..Options::new(systems::ALL.to_vec(), &self.state.folder)
        };
        let show = Show::new();
        let progress = show.progress();
        let started = tokio::select! {
            started = Platform::start(options, &progress) => started,
            () = told_to_stop.next() => return Ok(()),
        };
        let platform = started?;
        if self.sample == Some(SampleSize::Small) {
            let loaded = tokio::select! {
                loaded = sample_data::load(&platform, SampleSize::Small, &progress) => loaded,
                death = platform.died() => Err(Failure::new(death)),
                () = told_to_stop.next() => {
                    platform.stop().await;
                    return Ok(());
                }
            };
            show.clear();
            loaded?;
        }
        show.clear();
        let running = Running::announce(&platform, &self.state.folder)?;
        self.tell(&platform)?;

        let load = async {
            if self.sample == Some(SampleSize::World) {
                sample_data::load_while_serving(&platform, SampleSize::World, &progress).await;
            }
            std::future::pending::<Infallible>().await
        };
        let death = tokio::select! {
            never = load => match never {},
            death = platform.died() => Some(death),
            () = told_to_stop.next() => None,
        };
        show.clear();
        drop(running);
        if let Some(death) = death {
            return Err(Failure::new(death));
        }
        eprintln!("Stopping; what is under way is finished first. Again to stop at once.");
        tokio::select! {
            () = platform.stop() => Ok(()),
            () = told_to_stop.next() => Err(Failure::new("Stopped at once.")),
        }
    }

    /// Says where everything is, how to come as anybody, and then that it is ready.
    fn tell(&self, platform: &Platform) -> Result<(), Failure> {
        let config = &platform.engines.config;
        for served in systems::ALL {
            let name = served.system.name;
            println!("{name:<10} {}/{name} (description: /{name}/openapi.json)", platform.url);
        }
        println!("search     {}", config.search);
        println!("DynamoDB   {}", platform.dynamodb());
        println!("S3         {}", config.s3.as_deref().unwrap_or_default());
        // As `CAIRN_ISSUERS` has it, for functions that are to take the platform's tokens.
        println!("issuers    {}", serde_json::to_string(&config.issuers).unwrap_or_default());
        println!("state      {}", self.state.folder.display());
        let folder = &self.state.folder;
        for (kind, person) in &PEOPLE {
            let file = token::keep(folder, kind, &platform.identity.token_of(person, &Clock::system())?)?;
            println!("token      {kind:<14} {:<70} {}", token::command(folder, person), file.display());
        }
        println!("ready {}", platform.url);
        Ok(())
    }
}

/// Ctrl-C and the signal that `kill` sends.
struct StopSignals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl StopSignals {
    fn listen() -> Result<Self, Failure> {
        let listen = |kind| signal(kind).map_err(|error| Failure::new(format!("No signals on this machine: {error}.")));
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
