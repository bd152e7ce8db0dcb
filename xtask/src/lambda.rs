//! `cargo xtask lambda`: runs the commands of docs/cargo-lambda.md. Systems run by `cargo lambda watch` on local
//! engines and receive every sample event by `cargo lambda invoke`. One of them is deployed to an emulated cloud.

mod bench;
mod deploy;
pub mod guide;
pub mod invoke;
mod sources;
mod watch;

use std::path::Path;

use local::identity::Person;
use local::{Options, Platform, Progress};
use reqwest::Client;
use table::{Clock, Config};

use crate::deployed::timed;
use crate::failure::{Doing, Failure};
use crate::python::environment;
use crate::rehearsal::{ADDRESS, Stage};
use crate::systems::{self, Declared};
use bench::Bench;
use guide::{Block, Values};
use invoke::Invoke;
use watch::Watch;

const GUIDE: &str = "docs/cargo-lambda.md";

/// Tests the named systems, or all, and deploys the first of them. Prints each step with its time.
pub async fn run(root: &Path, named: &[String]) -> Result<(), Failure> {
    let systems = systems::named(named)?;
    let Some(first) = systems.first() else { return Ok(()) };
    let folder = tempfile::tempdir().doing("creating a temporary folder")?;
    let python = environment(root, "cargo-lambda").await?;
    let guide = std::fs::read_to_string(root.join(GUIDE)).doing(GUIDE)?;

    let options = Options::new(local::systems::ALL.to_vec(), folder.path().join("state"));
    let platform = Platform::start(options, &Progress::silent()).await.doing("starting the platform")?;
    let values = values(&platform)?;
    let bench = Bench { root, python: &python, guide: &guide, values, folder: folder.path() };
    let tried = bench.watch(&systems, &platform).await;
    platform.stop().await;
    tried?;
    deploy::run(&bench, &first.app).await
}

/// Returns the values of the guide's placeholders.
fn values(platform: &Platform) -> Result<Values, Failure> {
    let config = &platform.engines.config;
    // A system has at most one socket, and these variables are those of the first system that has one.
    let apps = local::systems::ALL.iter().filter_map(|served| platform.app(served.system.name));
    let socket = apps.map(|app| &app.engines().config).find(|config| config.socket.is_some());
    let of_socket =
        |url: fn(&Config) -> &Option<String>| socket.and_then(|config| url(config).clone()).unwrap_or_default();
    Ok(vec![
        ("CAIRN_DYNAMODB_ENDPOINT", platform.dynamodb().to_owned()),
        ("CAIRN_S3_ENDPOINT", platform.s3().to_owned()),
        ("CAIRN_SQS_ENDPOINT", platform.sqs().to_owned()),
        ("CAIRN_EVENTS_ENDPOINT", platform.event_bus().to_owned()),
        ("CAIRN_SECRETS_ENDPOINT", platform.secrets().to_owned()),
        ("CAIRN_QUEUES", config.queues.clone().unwrap_or_default()),
        ("CAIRN_SOCKET_ENDPOINT", of_socket(|config| &config.socket)),
        ("CAIRN_SOCKET_URL", of_socket(|config| &config.socket_url)),
        ("CAIRN_SEARCH_ENDPOINT", config.search.clone()),
        ("CAIRN_ISSUERS", serde_json::to_string(&config.issuers).doing("serialising the issuers")?),
        ("CAIRN_CURSOR_SECRETS", platform.identity.cursor_secret.clone()),
    ])
}

impl Bench<'_> {
    /// Runs `cargo lambda watch`, and sends every event of these systems by `cargo lambda invoke`.
    async fn watch(&self, systems: &[Declared], platform: &Platform) -> Result<(), Failure> {
        let block = Block::of(self.guide, "cargo lambda watch ", &self.values)?;
        let watch = Watch::start(self, &block).await?;
        let tried = async {
            for declared in systems {
                let invoke = Invoke::new(self, &block, declared.app.system().name, &[])?;
                timed(&format!("cargo lambda watch: {}", invoke.system), watch.answers(&invoke)).await?;
                self.test_system(declared, platform, &invoke, &watch).await?;
            }
            Ok(())
        };
        let tried = tried.await.map_err(|failure: Failure| watch.with_log(&failure));
        watch.stop().await;
        tried
    }

    async fn test_system(
        &self,
        declared: &Declared,
        platform: &Platform,
        invoke: &Invoke<'_>,
        watch: &Watch,
    ) -> Result<(), Failure> {
        let (app, system) = (&declared.app, declared.app.system());
        let person = Person { roles: &[declared.role], address: Some(ADDRESS), ..Person::new("samples") };
        let token = platform.identity.token_of(&person, &Clock::system()).doing("creating a token")?;
        let (client, url) = (&Client::new(), platform.url.as_str());
        let stage = Stage { app, client, url, invoke: Some(invoke), token: &token, platform: Some(platform) };
        let answers = timed("cargo lambda invoke, every route once", stage.rehearse(declared.rehearsal)).await?;
        let wrong: Vec<String> = answers.iter().filter_map(|answered| answered.fault(self.root, system.name)).collect();
        if !wrong.is_empty() {
            return Err(Failure::new(wrong.join("\n")));
        }
        println!("{} routes of {} gave the expected responses", answers.len(), system.name);
        // These come last, since the items of the mirror's records are not in the tables.
        let served = sources::invoke(system, invoke, watch).await?;
        println!("{served} other events gave the expected responses");
        Ok(())
    }
}
