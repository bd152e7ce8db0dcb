//! `cairn sweep`: deletes old tombstones now.

use std::process::ExitCode;

use clap::Args;
use mirror::{MAX_SWEEP_COUNT, Swept};
use serde_json::json;

use crate::exit::TO_DO;
use crate::failure::Failure;
use crate::target::Target;

#[derive(Debug, Args)]
pub struct Sweep {
    #[command(flatten)]
    target: Target,
    /// Only count the tombstones that would be deleted.
    #[arg(long)]
    dry_run: bool,
}

impl Sweep {
    /// Deletes the tombstones that are older than the deployment's retention.
    pub async fn run(self) -> Result<ExitCode, Failure> {
        let (engines, served) = self.target.open().await?;
        let swept = mirror::sweep_by_hand(served.system, &engines, self.dry_run).await.map_err(Failure::new)?;
        let Swept { deleted, skipped } = swept;
        if self.target.json {
            println!("{}", json!({ "dryRun": self.dry_run, "deleted": deleted, "skipped": skipped }));
        } else if self.dry_run {
            let more = if deleted >= MAX_SWEEP_COUNT { " or more" } else { "" };
            println!("would delete {deleted}{more} tombstones");
        } else {
            println!("{deleted} tombstones deleted, {skipped} skipped since they had changed");
        }
        Ok(if self.dry_run && deleted > 0 { ExitCode::from(TO_DO) } else { ExitCode::SUCCESS })
    }
}
