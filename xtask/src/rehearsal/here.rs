//! A rehearsal on this machine.

use std::fs;
use std::path::Path;

use local::identity::Person;
use local::{Options, Platform, Progress};
use reqwest::Client;
use table::Clock;
use tokio::time::{Duration, Instant};

use super::{ADDRESS, Answered, Stage};
use crate::failure::{Doing, Failure};
use crate::{events, systems};

/// Returns the responses to all sample events of every system, by an empty platform.
pub async fn answers() -> Result<Vec<(&'static str, Vec<Answered>)>, Failure> {
    let state = tempfile::tempdir().doing("creating a temporary folder")?;
    let options = Options::new(local::systems::ALL.to_vec(), state.path().join("state"));
    let platform = Platform::start(options, &Progress::silent()).await.doing("starting the platform")?;
    let client = Client::new();
    let mut all = Vec::new();
    for declared in systems::all() {
        let system = declared.app.system().name;
        let person = Person { roles: &[declared.role], address: Some(ADDRESS), ..Person::new("samples") };
        let token = platform.identity.token_of(&person, &Clock::system()).doing("creating a token")?;
        let (app, url) = (&declared.app, &platform.url);
        let stage = Stage { app, client: &client, url, invoke: None, token: &token, platform: Some(&platform) };
        let mut answers = stage.rehearse(declared.rehearsal).await?;
        // These come last, since the items of the mirror's records are not in the tables.
        let serving =
            platform.app(system).ok_or_else(|| Failure::new(format!("the platform does not run {system}")))?;
        for (name, handler) in app.system().sources.iter().flat_map(events::names) {
            let event = events::read(crate::root(), system, name)?;
            let deadline = Instant::now() + Duration::from_secs(60);
            let answer = serving.event(handler, event.into(), deadline).await.doing(handler)?;
            answers.push(Answered::event(name, String::from_utf8_lossy(&answer).into_owned()));
        }
        all.push((system, answers));
    }
    platform.stop().await;
    Ok(all)
}

/// Writes each response beside its event.
pub async fn write(root: &Path) -> Result<(), Failure> {
    for (system, answers) in answers().await? {
        for answered in answers {
            let file = root.join(answered.path(system));
            fs::write(&file, answered.file()).doing(file.display())?;
        }
    }
    Ok(())
}
