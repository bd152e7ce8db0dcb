//! `cairn create-index`: the first index of a deployed system, where its tables take longer than a deployment waits.

use clap::Args;
use local::systems;

use crate::failure::Failure;
use crate::{StateFolder, running};

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
        let Some(served) = systems::named(&self.system) else {
            let names: Vec<&str> = systems::ALL.iter().map(|served| served.system.name).collect();
            return Err(Failure::new(format!(
                "There is no system `{}`.\nGive one of: {}.",
                self.system,
                names.join(", ")
            )));
        };
        let generation = (served.first_index)(engines, Box::new(|_| ())).await.map_err(Failure::new)?;
        println!("{}", generation.index);
        Ok(())
    }
}
