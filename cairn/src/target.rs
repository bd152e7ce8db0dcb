//! The arguments that the commands for one system share.

use std::sync::Arc;

use clap::Args;
use local::Served;
use table::Engines;

use crate::failure::Failure;
use crate::{StateFolder, running, system};

/// A system, where it runs, and the form of the output.
#[derive(Debug, Args)]
pub struct Target {
    /// The system, such as `parks`.
    pub system: String,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub state: StateFolder,
}

impl Target {
    /// Returns the engines of the running platform or of the deployment, and the system.
    pub async fn open(&self) -> Result<(Arc<Engines>, &'static Served), Failure> {
        let engines = running::engines(&self.state.folder).await?;
        Ok((engines, system::named(&self.system)?))
    }
}
