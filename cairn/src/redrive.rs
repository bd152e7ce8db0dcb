//! `cairn redrive`: repairs what Lambda gave up and what is in quarantine.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use mirror::{Redriven, Repairs};
use serde_json::{Value, json};

use crate::exit::TO_DO;
use crate::failure::Failure;
use crate::show::Show;
use crate::target::Target;

#[derive(Debug, Args)]
pub struct Redrive {
    #[command(flatten)]
    target: Target,
    /// Only print what would be done.
    #[arg(long)]
    dry_run: bool,
}

const STAGE: &str = "keys";

impl Redrive {
    /// Repairs the key of each record and of each item in quarantine, in every generation. After an interruption the
    /// next call resumes it.
    pub async fn run(self) -> Result<ExitCode, Failure> {
        let (engines, served) = self.target.open().await?;
        let show = Show::new();
        let progress = show.progress();
        progress.started(STAGE);
        let counted = progress.clone();
        let note = Box::new(move |redriven: &Redriven| counted.advanced(STAGE, redriven.keys as u64, None));
        let redriven = (served.redrive)(Arc::clone(&engines), self.dry_run, note).await.map_err(Failure::new);
        progress
            .finished(STAGE, redriven.as_ref().map_or_else(|_| String::new(), |redriven| redriven.keys.to_string()));
        show.clear();
        let redriven = redriven?;
        if self.target.json {
            println!("{}", as_json(&redriven, self.dry_run));
        } else {
            println!("{}", message(&redriven, self.dry_run));
        }
        if redriven.repairs.failed > 0 {
            let reasons = redriven.reasons.join("\n");
            return Err(Failure::new(format!("{reasons}\nRun the command again once the cause is removed.")));
        }
        let Redriven { objects, keys, waiting, unreadable, unrepairable, repairs, .. } = &redriven;
        let is_left = waiting + unreadable + unrepairable + repairs.quarantined > 0;
        let would_do = self.dry_run && keys + objects > 0;
        Ok(if is_left || would_do { ExitCode::from(TO_DO) } else { ExitCode::SUCCESS })
    }
}

fn message(redriven: &Redriven, dry_run: bool) -> String {
    let Redriven { objects, records, keys, waiting, others, unreadable, unrepairable, repairs, .. } = redriven;
    let Repairs { written, hidden, deleted, stamped, nothing, quarantined, failed } = repairs;
    let mut lines = if dry_run {
        vec![format!(
            "would repair {keys} keys and delete {objects} objects with {records} records that Lambda gave up"
        )]
    } else {
        vec![
            format!("{objects} objects with {records} records that Lambda gave up are redriven and deleted"),
            format!(
                "{keys} keys: {written} written, {hidden} hidden, {deleted} deleted, {stamped} stamped, {nothing} had \
                 nothing to repair, {quarantined} in quarantine, {failed} failed"
            ),
        ]
    };
    if *waiting > 0 {
        lines.push(format!("{waiting} objects wait: they can be redriven 20 minutes after Lambda stored them"));
    }
    if *others > 0 {
        lines.push(format!("{others} objects are not of the mirror"));
    }
    if *unreadable > 0 {
        lines.push(format!("{unreadable} objects of the mirror cannot be read: look at them, and delete them"));
    }
    if *unrepairable > 0 {
        lines.push(format!("{unrepairable} entries in quarantine are cleared only by `cairn quarantine dismiss`"));
    }
    lines.join("\n")
}

fn as_json(redriven: &Redriven, dry_run: bool) -> Value {
    let Redriven { objects, records, keys, waiting, others, unreadable, unrepairable, repairs, reasons } = redriven;
    let Repairs { written, hidden, deleted, stamped, nothing, quarantined, failed } = repairs;
    json!({
        "dryRun": dry_run,
        "objects": objects,
        "records": records,
        "keys": keys,
        "waiting": waiting,
        "others": others,
        "unreadable": unreadable,
        "unrepairable": unrepairable,
        "repairs": {
            "written": written,
            "hidden": hidden,
            "deleted": deleted,
            "stamped": stamped,
            "nothing": nothing,
            "quarantined": quarantined,
            "failed": failed,
        },
        "reasons": reasons,
    })
}
