//! `cairn create-index`: creates the index of a deployed system whose tables take longer than a function may run.

use clap::Args;

use crate::failure::Failure;
use crate::retrying::Retrying;
use crate::show::Show;
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
        let show = Show::new();
        let retrying = Retrying::new(show.progress());
        let step = move |step| {
            if let mirror::Progress::Retrying { reason, left } = step {
                retrying.show(&reason, left);
            }
        };
        let generation = (served.first_index)(engines, Box::new(step)).await.map_err(Failure::new);
        show.clear();
        let generation = generation?;
        println!("{}", generation.index);
        Ok(())
    }
}
