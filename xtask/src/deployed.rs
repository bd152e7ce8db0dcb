//! `cargo xtask deployed`: deploys the systems to an emulated cloud by SAM, with the permissions of their roles
//! enforced, and tests them there over HTTP.

pub mod emulator;
pub mod publisher;
pub mod rebuild;
pub mod schedule;
pub mod smoke;
pub mod stack;
pub mod variant;
pub mod zip;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use local::Progress;
use local::identity::{self, Identity, Person};
use local::install::{Cache, Tools};
use local::search::{self, Choice};
use local::state::State;
use reqwest::Client;
use table::Clock;
use web::App;

use crate::failure::{Doing, Failure};
use crate::infra;
use crate::infra::node::to_yaml;
use crate::python::{self, Environment, environment};
use crate::rehearsal::{ADDRESS, Stage};
use crate::systems::{self, Declared};
use emulator::{ACCOUNT, Emulator, REGION};
use publisher::Publisher;
use stack::{Outputs, Sam};
use variant::Variant;

/// Deploys, tests, updates and deletes the named systems, or all. Prints each step with its time.
pub async fn run(root: &Path, named: &[String]) -> Result<(), Failure> {
    let systems = systems::named(named)?;
    let folder = tempfile::tempdir().doing("creating a temporary folder")?;
    let sam = environment(root, "sam").await?;
    let ministack = environment(root, "ministack").await?;
    for declared in &systems {
        zip::build(root, declared.app.system().name).await?;
    }
    let state = State::open(&folder.path().join("state")).doing("opening the state folder")?;
    let identity = Identity::open(&folder.path().join("state")).doing("opening the keys")?;
    let (tools, cache, silent) = (Tools::from_env(), Cache::from_env(), Progress::silent());
    let search = search::start(&Choice::Best, &tools, &cache, &state, &silent).await.doing("starting search")?;
    let emulator = Emulator::start(&ministack, folder.path()).await?;
    let sam = Sam { environment: &sam, emulator: &emulator, root };
    let cloud = Cloud { root, sam, python: &ministack, search: &search.url };

    let arn = format!("arn:aws:es:{REGION}:{ACCOUNT}:domain/cairn");
    let shared = [("ExistingSearchEndpoint", search.url.as_str()), ("ExistingSearchDomainArn", arn.as_str())];
    // The shared stack publishes the endpoint of search for the others.
    timed("sam deploy --config-env shared", cloud.sam.deploy("shared", None, &shared)).await?;
    let publisher = Publisher::start(identity.issuer(identity::ISSUER)).await?;
    let issuers = serde_json::to_string(&[&publisher.issuer]).doing("serialising the issuer")?;
    let parameters = [
        ("Architecture", zip::ARCHITECTURE.name),
        ("Issuers", issuers.as_str()),
        ("CursorSecrets", SECRET),
        ("DeletionProtection", "false"),
    ];
    for declared in &systems {
        cloud.test_system(declared, &parameters, &identity).await?;
    }
    cloud.sam.delete("shared").await?;
    Ok(())
}

/// The secret of the cursors of this run.
const SECRET: &str = "a-secret-of-the-cursors-of-an-emulated-cloud";

/// An emulated cloud and the tools that deploy to it.
struct Cloud<'a> {
    root: &'a Path,
    sam: Sam<'a>,
    python: &'a Environment,
    /// The URL of search.
    search: &'a str,
}

impl Cloud<'_> {
    async fn test_system(
        &self,
        declared: &Declared,
        parameters: &[(&str, &str)],
        identity: &Identity,
    ) -> Result<(), Failure> {
        let system = declared.app.system().name;
        let outputs = self.deploy(&declared.app, Variant::Usual, parameters).await?;
        let api = Api::at(outputs.get("ApiUrl")?, self.sam.emulator.port)?;

        // Responses contain the creator of an item.
        let person = Person { roles: &[declared.role], address: Some(ADDRESS), ..Person::new("samples") };
        let token = identity.token_of(&person, &Clock::system()).doing("creating a token")?;
        let (app, client, url) = (&declared.app, &api.client, api.url.as_str());
        let stage = Stage { app, client, url, invoke: None, token: &token, platform: None };
        let stranger = identity.token("stranger", &[], &Clock::system()).doing("creating a token")?;
        // The rehearsal comes first, since it expects an empty deployment.
        let answers = timed("every route once", stage.rehearse(declared.rehearsal)).await?;
        let wrong: Vec<String> = answers.iter().filter_map(|answered| answered.fault(self.root, system)).collect();
        if !wrong.is_empty() {
            return Err(Failure::new(wrong.join("\n")));
        }
        println!("{} routes gave the expected responses, each with its own role", answers.len());
        timed("smoke suite", (declared.smoke)(&stage, &stranger)).await?;
        let invoked = schedule::invoke(self.root, self.python, self.sam.emulator, declared.app.system()).await?;
        println!("{invoked} scheduled functions succeeded, each with its own role");

        let rebuilding = rebuild::rebuild(self.root, self.sam.emulator, self.search, system);
        timed("rebuild by the state machine", rebuilding).await?;

        self.updates(parameters, &stage).await?;
        self.remove_permission(parameters, &stage, declared.denied).await?;
        self.sam.delete(system).await
    }

    /// Tests that a route whose role lacks a declared action fails with a problem, and works again with the action.
    async fn remove_permission(
        &self,
        parameters: &[(&str, &str)],
        stage: &Stage<'_>,
        (function, action): (&'static str, &'static str),
    ) -> Result<(), Failure> {
        for (variant, expected) in [(Variant::Without { function, action }, Some(503)), (Variant::Usual, None)] {
            self.deploy(stage.app, variant, parameters).await?;
            let answered = stage.sample(function).await?;
            let expected = expected.or(answered.expected).unwrap_or_default();
            if answered.status != Some(expected) {
                return Err(Failure::new(format!("{variant:?}: expected {expected}: {answered:?}")));
            }
            println!("{variant:?}: {function} answers {expected}");
        }
        Ok(())
    }

    /// Tests updates of a deployment: without a change, with one function changed, and with new code.
    async fn updates(&self, parameters: &[(&str, &str)], stage: &Stage<'_>) -> Result<(), Failure> {
        let before = self.functions().await?;
        self.deploy(stage.app, Variant::Usual, parameters).await?;
        let same = self.functions().await?;
        expect("a deployment with no change changes", &changed(&before, &same), 0)?;

        self.deploy(stage.app, Variant::Larger { function: "getHealth" }, parameters).await?;
        let one = self.functions().await?;
        expect("a deployment with one route's memory changed changes", &changed(&same, &one), 1)?;

        let zip = zip::path(self.root, stage.app.system().name);
        let bytes = fs::read(&zip).doing(zip.display())?;
        // A zip may begin with any bytes, so this is another file with the same program.
        fs::write(&zip, [b"#\n".as_slice(), &bytes].concat()).doing(zip.display())?;
        let deployed = self.deploy(stage.app, Variant::Usual, parameters).await;
        fs::write(&zip, bytes).doing(zip.display())?;
        deployed?;
        let new = self.functions().await?;
        expect("a deployment with new code changes", &changed(&one, &new), new.len())?;
        let answered = stage.sample("getHealth").await?;
        if answered.is_expected() {
            Ok(())
        } else {
            Err(Failure::new(format!("after an update getHealth failed: {answered:?}")))
        }
    }

    async fn deploy(&self, app: &App, variant: Variant, parameters: &[(&str, &str)]) -> Result<Outputs, Failure> {
        let system = app.system().name;
        // Tests list the folder of the committed templates. The zip's path is relative to the template.
        let folder = self.root.join("target/deployed");
        let file = folder.join(format!("{system}-{}.yaml", std::process::id()));
        let template =
            to_yaml("a deployment under trial", &variant.of(infra::system::node(app), &self.sam.emulator.endpoint()));
        fs::create_dir_all(&folder).doing(folder.display())?;
        fs::write(&file, template.replace("../target/", "../")).doing(file.display())?;
        let deploying = self.sam.deploy(system, Some(file.as_path()), parameters);
        let deployed = timed(&format!("sam deploy --config-env {system}"), deploying).await;
        fs::remove_file(&file).doing(file.display())?;
        deployed
    }

    /// Returns the time of the last change of each function.
    async fn functions(&self) -> Result<BTreeMap<String, String>, Failure> {
        let mut command = self.python.command("python");
        command.arg(self.root.join("infra/python/functions.py")).arg("cairn-").envs(self.sam.emulator.variables());
        let said = python::run(command).await?;
        serde_json::from_str(&said).doing("parsing the list of functions")
    }
}

/// An API of the emulator, which routes by host.
struct Api {
    client: Client,
    url: String,
}

impl Api {
    fn at(url: &str, port: u16) -> Result<Self, Failure> {
        let url = reqwest::Url::parse(url).doing(url)?;
        let host = url.host_str().ok_or_else(|| Failure::new(format!("the API's URL {url} has no host")))?;
        let here = std::net::SocketAddr::from(([127, 0, 0, 1], port));
        let client = Client::builder().resolve(host, here).build().doing("creating an HTTP client")?;
        Ok(Self { client, url: url.as_str().trim_end_matches('/').to_owned() })
    }
}

fn changed<'a>(before: &BTreeMap<String, String>, after: &'a BTreeMap<String, String>) -> Vec<&'a str> {
    after.iter().filter(|(name, when)| before.get(*name) != Some(when)).map(|(name, _)| name.as_str()).collect()
}

fn expect(what: &str, changed: &[&str], expected: usize) -> Result<(), Failure> {
    println!("{what} {} functions", changed.len());
    if changed.len() == expected {
        return Ok(());
    }
    Err(Failure::new(format!("{what} {} functions, not {expected}: {}", changed.len(), changed.join(", "))))
}

/// Runs a step and prints its time.
pub async fn timed<T>(what: &str, doing: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let started = Instant::now();
    let done = doing.await?;
    println!("{what}: {:.1} s", started.elapsed().as_secs_f64());
    Ok(done)
}
