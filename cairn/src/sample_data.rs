//! Loads sample data into the platform of this process.

use clap::ValueEnum;
use local::identity::Person;
use local::sample::archive::Tokens;
use local::sample::{self, PEOPLE, SampleError, Size};
use local::{Platform, Progress};
use table::Clock;

use crate::failure::Failure;

/// How much sample data to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SampleSize {
    /// About 1 000 items, within seconds.
    Small,
    /// All countries, US counties and places in Iceland, 200 agencies, 10 000 issues, 50 000 records and 240 000 messages,
    /// within an hour or two.
    World,
}

impl From<SampleSize> for Size {
    fn from(size: SampleSize) -> Self {
        match size {
            SampleSize::Small => Self::Small,
            SampleSize::World => Self::World,
        }
    }
}

/// Loads the samples of all systems concurrently, prints refused items, and waits until all items are searchable.
pub async fn load(platform: &Platform, size: SampleSize, progress: &Progress) -> Result<(), Failure> {
    let token = |role| platform.identity.token("sample", &[role], &Clock::system());
    let (parks_admin, platform_admin) = (token("parks-admin")?, token("platform-admin")?);
    let editor = token("archive-editor")?;
    let (_, transcriber) = PEOPLE.into_iter().find(|(kind, _)| *kind == "archive-volunteer").unzip();
    let transcriber = transcriber.ok_or_else(|| Failure::new("the samples have no volunteer of the archive"))?;
    let volunteer = platform.identity.token_of(&transcriber, &Clock::system())?;
    let (url, size) = (&platform.url, Size::from(size));
    let people = |subject: &str, name: &str| {
        let person = Person { name: Some(name), ..Person::new(subject) };
        platform
            .identity
            .token_of(&person, &Clock::system())
            .map_err(|error| SampleError::Unreadable(error.to_string()))
    };
    let tokens = Tokens { editor: &editor, volunteer: &volunteer };
    let (parks, _, _, _, _) = tokio::try_join!(
        sample::load(size, url, &parks_admin, progress),
        sample::agencies::load(size, url, &platform_admin, progress),
        sample::tracker::load(size, url, &platform_admin, progress),
        sample::archive::load(size, &platform.engines, url, tokens, progress),
        sample::chat::load(size, url, &people, progress),
    )
    .map_err(Failure::new)?;
    for refused in &parks.refused {
        progress.note(format!("refused {} ({}): {}", refused.feature, refused.name, refused.fault));
    }
    progress.started("search");
    platform.searchable().await;
    progress.finished("search", "up to date");
    Ok(())
}

/// Loads the samples in the background. A failure is reported and does not stop the platform.
pub async fn load_while_serving(platform: &Platform, size: SampleSize, progress: &Progress) {
    match load(platform, size, progress).await {
        Ok(()) => progress.note("All sample data is loaded."),
        Err(failure) => {
            progress.note(format!("Loading the sample data failed: {failure}"));
            progress.note("The platform keeps running. Start it again with the same options to load the rest.");
        }
    }
}
