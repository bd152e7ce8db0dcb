//! `cairn create-index`: creates the index of a deployed system whose tables take longer than a function may run.

use std::sync::Arc;

use clap::Args;
use mirror::StatusWord;

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
        let generation = (served.first_index)(Arc::clone(&engines), Box::new(step)).await.map_err(Failure::new);
        show.clear();
        let generation = generation?;
        // An index that is published already may be lost.
        let status = mirror::status(served.system, &engines, (served.mapping)().version).await.map_err(Failure::new)?;
        if let (StatusWord::Down, Some(reason)) = (status.word, status.reason) {
            return Err(Failure::new(reason));
        }
        println!("{}", generation.index);
        Ok(())
    }
}
