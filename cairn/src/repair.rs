//! `cairn repair`: rebuilds the search document of one item from the table.

use clap::Args;
use mirror::{RepairOutcome, Repaired};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::{StateFolder, document_key, running};

#[derive(Debug, Args)]
pub struct Repair {
    /// The document id of the item, such as `geozone::bcparks_1#1`. If several tables could have the item, the table
    /// comes first, as in the names of `cairn quarantine ls`: `parks/geozone::bcparks_1#1`.
    key: String,
    /// Print JSON, one object for each generation per line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    state: StateFolder,
}

impl Repair {
    pub async fn run(self) -> Result<(), Failure> {
        let engines = running::engines(&self.state.folder).await?;
        let (served, table, key) = document_key::find(&self.key)?;
        let repaired = (served.repair)(engines, table, key).await.map_err(Failure::new)?;
        let repaired =
            repaired.ok_or_else(|| Failure::new(format!("`{}` is not the key of a searchable item.", self.key)))?;
        for Repaired { generation, outcome } in &repaired {
            if self.json {
                println!("{}", as_json(generation, outcome));
            } else {
                println!("{generation}  {}", message(outcome));
            }
        }
        if repaired.iter().any(|one| matches!(one.outcome, RepairOutcome::Quarantined { .. })) {
            return Err(Failure::new(format!(
                "`{}` is in quarantine and not searchable.\nFix the item; its next write is indexed.",
                self.key
            )));
        }
        Ok(())
    }
}

fn message(outcome: &RepairOutcome) -> String {
    match outcome {
        RepairOutcome::Written(revision) => format!("written at revision {revision}"),
        RepairOutcome::Hidden(revision) => {
            format!("hidden at revision {revision}: the item is not searchable in its present state")
        }
        RepairOutcome::Deleted(version) => format!("the item is deleted: a tombstone was written at version {version}"),
        RepairOutcome::Stamped => {
            let given = "the item had no revision, or one below its document's, and has a new one now";
            format!("{given}; its stream record will be indexed")
        }
        RepairOutcome::Quarantined { code, reason } => format!("quarantined, {}: {reason}", code.name()),
        RepairOutcome::Nothing => {
            "nothing to do: the document is up to date, or neither item nor document exists".to_owned()
        }
    }
}

fn as_json(generation: &str, outcome: &RepairOutcome) -> Value {
    let (name, rev, code, reason) = match outcome {
        RepairOutcome::Written(revision) => ("written", Some(*revision), None, None),
        RepairOutcome::Hidden(revision) => ("hidden", Some(*revision), None, None),
        RepairOutcome::Deleted(version) => ("deleted", Some(*version), None, None),
        RepairOutcome::Stamped => ("stamped", None, None, None),
        RepairOutcome::Quarantined { code, reason } => ("quarantined", None, Some(code.name()), Some(reason)),
        RepairOutcome::Nothing => ("nothing", None, None, None),
    };
    json!({ "generation": generation, "outcome": name, "version": rev, "code": code, "reason": reason })
}

#[cfg(test)]
mod tests {
    use mirror::Code;

    use super::*;

    #[test]
    fn message_for_quarantine_has_the_reason_and_says_nothing_of_a_written_document() {
        let outcome = RepairOutcome::Quarantined { code: Code::Unfit, reason: "attribute `size`".to_owned() };
        assert_eq!(message(&outcome), "quarantined, unfit: attribute `size`");
        assert_eq!(message(&RepairOutcome::Written(14)), "written at revision 14");
    }
}
