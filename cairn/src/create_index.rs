//! `cairn create-index`: creates the index of a deployed system whose tables take longer than a function may run.

use std::sync::Arc;

use clap::Args;
use serde_json::json;

use crate::failure::Failure;
use crate::filling::Filling;
use crate::retrying::Retrying;
use crate::show::Show;
use crate::target::Target;

#[derive(Debug, Args)]
pub struct CreateIndex {
    #[command(flatten)]
    target: Target,
}

impl CreateIndex {
    /// Creates the index, fills it from the tables, and points the readers' alias to it. After an interruption the next
    /// call resumes it. If the index exists, nothing changes.
    pub async fn run(self) -> Result<(), Failure> {
        let (engines, served) = self.target.open().await?;
        let show = Show::new();
        let filling = Filling::new(show.progress(), served.count_items(&engines).await);
        let retrying = Retrying::new(show.progress());
        let step = move |step| match step {
            mirror::Progress::Retrying { reason, left } => retrying.show(&reason, left),
            mirror::Progress::Scanned { items, .. } => filling.scanned(items),
            mirror::Progress::Filled => filling.finished(),
            // The first index is not audited.
            _ => {}
        };
        let generation = (served.first_index)(Arc::clone(&engines), Box::new(step)).await.map_err(Failure::new);
        show.clear();
        let generation = generation?;
        // An index that is published already may be lost.
        if let Some(wrong) = mirror::wrong_indexes(served.system, &engines).await.map_err(Failure::new)? {
            return Err(Failure::new(wrong));
        }
        if self.target.json {
            println!("{:#}", json!({ "index": generation.index }));
        } else {
            println!("{}", generation.index);
        }
        Ok(())
    }
}
