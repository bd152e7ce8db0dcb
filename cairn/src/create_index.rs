//! `cairn create-index`: creates the index of a deployed system whose tables take longer than a function may run.

use clap::Args;

use crate::failure::Failure;
use crate::{StateFolder, running, system};

#[derive(Debug, Args)]
pub struct CreateIndex {
    /// The system, such as `parks`.
    system: String,
    #[command(flatten)]
    state: StateFolder,
}

impl CreateIndex {
    /// Creates the index, fills it from the tables, and points the readers' alias to it. After an interruption the next
    /// call resumes it. If the index exists, nothing changes.
    pub async fn run(self) -> Result<(), Failure> {
        let engines = running::engines(&self.state.folder).await?;
        let served = system::named(&self.system)?;
        let generation = (served.first_index)(engines, Box::new(|_| ())).await.map_err(Failure::new)?;
        println!("{}", generation.index);
        Ok(())
    }
}
