//! `cairn create-index`: the index of a deployed system, where its tables take longer than a function may run.

use clap::Args;

use crate::failure::Failure;
use crate::{StateFolder, running, system};

#[derive(Debug, Args)]
pub struct CreateIndex {
    /// The system: `parks`, `agencies` or `tracker`.
    system: String,
    #[command(flatten)]
    state: StateFolder,
}

impl CreateIndex {
    /// Makes the index, fills it from what the tables have, and gives it to the readers. Stopped anywhere, it goes on
    /// when it is called again; where the index is there, it changes nothing.
    pub async fn run(self) -> Result<(), Failure> {
        let engines = running::engines(&self.state.folder).await?;
        let served = system::named(&self.system)?;
        let generation = (served.first_index)(engines, Box::new(|_| ())).await.map_err(Failure::new)?;
        println!("{}", generation.index);
        Ok(())
    }
}
