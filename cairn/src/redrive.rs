//! `cairn redrive`: repairs what Lambda gave up and what is in quarantine.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use mirror::{Redriven, Repairs};
use serde_json::{Value, json};
use table::schema::failures_bucket;

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
            let bucket = engines.config.bucket(&failures_bucket(served.system.name));
            println!("{}", message(&redriven, self.dry_run, &bucket));
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

fn message(redriven: &Redriven, dry_run: bool, bucket: &str) -> String {
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
    if let Some(name) = &redriven.unreadable_object {
        let object = format!("s3://{bucket}/{name}");
        lines.push(format!(
            "{unreadable} objects of the mirror cannot be read. `aws s3 cp {object} -` prints one of them, `aws s3 rm \
             {object}` deletes it, and `cairn audit` then repairs what its records have changed"
        ));
    }
    if *unrepairable > 0 {
        lines.push(format!(
            "no repair clears {unrepairable} entries in quarantine: `cairn quarantine dismiss`, or delete the items whose \
             keys fit no template"
        ));
    }
    lines.join("\n")
}

fn as_json(redriven: &Redriven, dry_run: bool) -> Value {
    let Redriven {
        objects,
        records,
        keys,
        waiting,
        others,
        unreadable,
        unreadable_object,
        unrepairable,
        repairs,
        reasons,
    } = redriven;
    let Repairs { written, hidden, deleted, stamped, nothing, quarantined, failed } = repairs;
    json!({
        "dryRun": dry_run,
        "objects": objects,
        "records": records,
        "keys": keys,
        "waiting": waiting,
        "others": others,
        "unreadable": unreadable,
        "unreadableObject": unreadable_object,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_that_cannot_be_read_is_named_with_the_commands_for_it() {
        let redriven =
            Redriven { unreadable: 2, unreadable_object: Some("aws/lambda/a".to_owned()), ..Redriven::default() };
        let message = message(&redriven, false, "cairn-parks-failures");
        let expected = "2 objects of the mirror cannot be read. `aws s3 cp s3://cairn-parks-failures/aws/lambda/a -` \
                        prints one of them, `aws s3 rm s3://cairn-parks-failures/aws/lambda/a` deletes it, and `cairn \
                        audit` then repairs what its records have changed";
        assert_eq!(message.lines().last(), Some(expected));
    }
}
