//! `cairn repair`: brings the document of one item to what the table has.

use clap::Args;
use local::{Served, systems};
use mirror::{RepairOutcome, Repaired};
use table::Key;
use table::schema::{Search, Table};

use crate::failure::Failure;
use crate::{StateFolder, running};

#[derive(Debug, Args)]
pub struct Repair {
    /// The item, by its document id: `geozone::bcparks_1#1`; with the table before it, as `cairn quarantine ls` has it,
    /// where several tables could have it: `parks/geozone::bcparks_1#1`.
    key: String,
    #[command(flatten)]
    state: StateFolder,
}

impl Repair {
    pub async fn run(self) -> Result<(), Failure> {
        let engines = running::engines(&self.state.folder).await?;
        let (served, table, key) = match found(systems::ALL, &self.key).as_slice() {
            [one] => one.clone(),
            [] => {
                return Err(Failure::new(format!(
                    "No item that is searched has the key `{}`.\nGive its partition key, `#` and its sort key: \
                     `geozone::bcparks_1#1`.",
                    self.key
                )));
            }
            several => {
                let tables: Vec<&str> = several.iter().map(|(_, table, _)| table.name).collect();
                return Err(Failure::new(format!(
                    "The key may be one of several tables: {}.\nPut the table before it: `{}/{}`.",
                    tables.join(", "),
                    tables.first().unwrap_or(&"table"),
                    self.key
                )));
            }
        };
        let repaired = (served.repair)(engines, table, key).await.map_err(Failure::new)?;
        let repaired = repaired.unwrap_or_default();
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

/// The tables that could have the key. Where it could be cut in several places, only an entity's templates fit.
fn found<'a>(known: &'a [Served], text: &str) -> Vec<(&'a Served, &'static Table, Key)> {
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
            let given = "the item was below its document, or had no revision: it has a new one";
            format!("{given}, and its stream record will be indexed")
        }
        RepairOutcome::Overtaken => {
            "the item was changed during the repair: the stream record of that change will be indexed".to_owned()
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
