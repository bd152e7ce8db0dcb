//! `cairn repair`: rebuilds the search document of one item from the table.

use clap::Args;
use local::{Served, systems};
use mirror::{RepairOutcome, Repaired};
use table::Key;
use table::schema::{Search, Table};

use crate::failure::Failure;
use crate::{StateFolder, running};

#[derive(Debug, Args)]
pub struct Repair {
    /// The document id of the item, such as `geozone::bcparks_1#1`. If several tables could have the item, the table
    /// comes first, as in the names of `cairn quarantine ls`: `parks/geozone::bcparks_1#1`.
    key: String,
    #[command(flatten)]
    state: StateFolder,
}

impl Repair {
    pub async fn run(self) -> Result<(), Failure> {
        let engines = running::engines(&self.state.folder).await?;
        let candidates = candidates(systems::ALL, &self.key);
        let (served, table, key) = match candidates.as_slice() {
            [one] => one.clone(),
            [] => {
                return Err(Failure::new(format!(
                    "No searchable item can have the key `{}`.\nUse its partition key, `#` and its sort key: \
                     `geozone::bcparks_1#1`.",
                    self.key
                )));
            }
            [(_, first, _), ..] => {
                let tables: Vec<&str> = candidates.iter().map(|(_, table, _)| table.name).collect();
                return Err(Failure::new(format!(
                    "The key fits several tables: {}.\nPut the table before it: `{}/{}`.",
                    tables.join(", "),
                    first.name,
                    self.key
                )));
            }
        };
        let repaired = (served.repair)(engines, table, key).await.map_err(Failure::new)?;
        let repaired =
            repaired.ok_or_else(|| Failure::new(format!("`{}` is not the key of a searchable item.", self.key)))?;
        for Repaired { generation, outcome } in &repaired {
            println!("{generation}  {}", message(outcome));
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

/// Returns the tables that could have the key. If it has several `#`, the templates of the entities decide where the
/// partition key ends.
fn candidates<'a>(known: &'a [Served], text: &str) -> Vec<(&'a Served, &'static Table, Key)> {
    let tables = known.iter().flat_map(|served| served.system.tables.iter().map(move |table| (served, *table)));
    tables
        .filter_map(|(served, table)| {
            let id = text.strip_prefix(table.name).and_then(|rest| rest.strip_prefix('/')).unwrap_or(text);
            let cuts = id.match_indices('#').filter_map(|(at, _)| Some(Key::new(id.get(..at)?, id.get(at + 1..)?)));
            let keys = cuts.chain([Key::partition(id)]);
            let searched = |key: &Key| table.entity_of(key).is_some_and(|entity| entity.search == Search::Document);
            keys.into_iter().find(searched).map(|key| (served, table, key))
        })
        .collect()
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
