//! The readers' alias, which names exactly the index that serves, with a filter that hides tombstones. If it was changed
//! by hand, searches fail or read another index, and neither the mirror nor an audit of the documents can see it.

use table::Engines;
use table::schema::System;

use crate::engines::{AliasedIndex, DynamoState, OpenSearchIndex};
use crate::generation::{Generation, Generations, Phase};
use crate::ports::{Fault, State};

/// Returns what is wrong with the readers' alias, with the command that corrects it.
pub(crate) async fn wrong_readers_alias(
    system: &System,
    state: &DynamoState<'_>,
    index: &OpenSearchIndex<'_>,
    config: &Generations,
) -> Result<Option<String>, Fault> {
    let Some(wrong) = difference(config, &index.indexes_of_alias(&config.alias).await?) else { return Ok(None) };
    // A command may have moved the alias since the config item was read.
    let present = state.generations().await?;
    let is_present = present.is_some_and(|present| present.epoch == config.epoch);
    Ok(is_present.then(|| format!("{wrong}: `cairn rebuild {} {}`", remedy(config), system.name)))
}

/// Whether the readers' alias is as the config item says.
pub async fn is_readers_alias_right(config: &Generations, engines: &Engines) -> Result<bool, Fault> {
    let indexes = OpenSearchIndex::new(engines)?.indexes_of_alias(&config.alias).await?;
    Ok(difference(config, &indexes).is_none())
}

/// Returns how the alias differs from what it must be.
fn difference(config: &Generations, named: &[AliasedIndex]) -> Option<String> {
    let (alias, serving) = (&config.alias, config.of(Phase::Serving)?);
    // The alias is moved before the config item says so.
    let next = config.of(Phase::Audited);
    let may_serve = |one: &AliasedIndex| [Some(serving), next].into_iter().flatten().any(|it| it.index == one.index);
    if named.is_empty() {
        return Some(format!("the readers' alias {alias} does not exist"));
    }
    if !named.iter().all(may_serve) || named.len() > 1 && next.is_none() {
        let names: Vec<&str> = named.iter().map(|one| one.index.as_str()).collect();
        return Some(format!("the readers' alias {alias} names {} instead of {}", names.join(" and "), serving.index));
    }
    let is_open = named.iter().any(|one| !one.is_filtered);
    is_open.then(|| format!("the readers' alias {alias} has no filter, so searches find deleted items"))
}

/// Returns the order that moves the alias to an index that has every document.
fn remedy(config: &Generations) -> &'static str {
    match config.written.as_slice() {
        // The request that deletes the kept index also adds the alias to the one that serves.
        [Generation { phase: Phase::Kept, .. }, .., Generation { phase: Phase::Serving, .. }] => "finish",
        _ => "start",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(phases: &[Phase]) -> Generations {
        let written = phases.iter().zip(1..).map(|(phase, number)| Generation {
            index: format!("toy-{number}"),
            mapping: 1,
            phase: *phase,
        });
        Generations { written: written.collect(), ..Generations::none("toy") }
    }

    fn aliased(indexes: &[&str], is_filtered: bool) -> Vec<AliasedIndex> {
        indexes.iter().map(|index| AliasedIndex { index: (*index).to_owned(), is_filtered }).collect()
    }

    #[test]
    fn readers_alias_must_name_exactly_the_index_that_serves() {
        let alone = config(&[Phase::Serving]);
        for (indexes, expected) in [
            (&["toy-1"][..], None),
            (&[], Some("the readers' alias toy does not exist")),
            (&["toy-2"], Some("the readers' alias toy names toy-2 instead of toy-1")),
            (&["toy-1", "toy-2"], Some("the readers' alias toy names toy-1 and toy-2 instead of toy-1")),
        ] {
            assert_eq!(difference(&alone, &aliased(indexes, true)).as_deref(), expected);
        }
        let unfiltered = difference(&alone, &aliased(&["toy-1"], false)).unwrap();
        assert!(unfiltered.contains("has no filter"), "{unfiltered}");
        assert_eq!(remedy(&alone), "start");
        let kept = config(&[Phase::Kept, Phase::Serving]);
        assert!(difference(&kept, &aliased(&["toy-1"], true)).is_some());
        assert_eq!(remedy(&kept), "finish");
    }

    #[test]
    fn readers_alias_may_name_the_index_that_is_about_to_serve() {
        let advancing = config(&[Phase::Serving, Phase::Audited]);
        for indexes in [&["toy-1"][..], &["toy-2"], &["toy-1", "toy-2"]] {
            assert_eq!(difference(&advancing, &aliased(indexes, true)), None);
        }
        assert!(difference(&advancing, &aliased(&["toy-3"], true)).is_some());
        assert_eq!(difference(&config(&[Phase::Filling]), &[]), None);
    }
}
