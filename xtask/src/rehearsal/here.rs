//! A rehearsal on this machine, and the answers that it gives.

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

/// What is answered to each sample event of every system, by a platform with nothing in it.
pub async fn answers() -> Result<Vec<(&'static str, Vec<Answered>)>, Failure> {
    let state = tempfile::tempdir().doing("a folder")?;
    let options = Options::new(local::systems::ALL.to_vec(), state.path().join("state"));
    let platform = Platform::start(options, &Progress::silent()).await.doing("the platform")?;
    let client = Client::new();
    let mut all = Vec::new();
    for declared in systems::all() {
        let system = declared.app.system().name;
        let person = Person { roles: &[declared.role], address: Some(ADDRESS), ..Person::new("samples") };
        let token = platform.identity.token_of(&person, &Clock::system()).doing("a token")?;
        let (app, url) = (&declared.app, &platform.url);
        let stage = Stage { app, client: &client, url, invoke: None, token: &token, platform: Some(&platform) };
        let mut answers = stage.rehearse(declared.rehearsal).await?;
        // Last, since the mirror's records are of items that are not in the tables.
        let serving = platform.app(system).ok_or_else(|| Failure::new(format!("{system} does not run")))?;
        for source in app.system().sources {
            let handler = source.handler();
            let event = events::kept(crate::root(), system, handler)?;
            let deadline = Instant::now() + Duration::from_secs(60);
            let answer = serving.event(handler, event.into(), deadline).await.doing(handler)?;
            answers.push(Answered::event(handler, String::from_utf8_lossy(&answer).into_owned()));
        }
        all.push((system, answers));
    }
    platform.stop().await;
    Ok(all)
}

/// Writes each answer beside its event.
pub async fn keep(root: &Path) -> Result<(), Failure> {
    for (system, answers) in answers().await? {
        for answered in answers {
            let file = root.join(answered.path(system));
            fs::write(&file, answered.file()).doing(file.display())?;
        }
    }
    Ok(())
}
