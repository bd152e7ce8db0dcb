//! Given names that mean one another: nicknames, abbreviations and forms of other languages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

const FILES: [&str; 2] = [include_str!("nicknames.txt"), include_str!("given_names.txt")];

static RELATED: LazyLock<Related> = LazyLock::new(|| Related::read(FILES));

/// The names of each base name, and the base names of each name.
struct Related {
    names: BTreeMap<&'static str, BTreeSet<&'static str>>,
    bases: BTreeMap<&'static str, BTreeSet<&'static str>>,
}

/// Returns the other names that share a base name with a folded given name. Bill, Wm, Will and William share `william`.
pub fn related(word: &str) -> Vec<&'static str> {
    let bases = RELATED.bases.get(word).into_iter().flatten();
    let names: BTreeSet<&str> = bases.filter_map(|base| RELATED.names.get(base)).flatten().copied().collect();
    names.into_iter().filter(|name| *name != word).collect()
}

impl Related {
    /// Reads lines of names, the base name first.
    fn read(files: [&'static str; 2]) -> Self {
        let mut related = Self { names: BTreeMap::new(), bases: BTreeMap::new() };
        for line in files.into_iter().flat_map(str::lines).filter(|line| !line.starts_with('#')) {
            let Some(base) = line.split(' ').next().filter(|base| !base.is_empty()) else { continue };
            for name in line.split(' ') {
                related.names.entry(base).or_default().insert(name);
                related.bases.entry(name).or_default().insert(base);
            }
        }
        related
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::words;

    #[test]
    fn nicknames_and_abbreviations_of_a_name_reach_each_other() {
        let names = ["bill", "wm", "will", "william"];
        for name in names {
            for other in names.into_iter().filter(|other| *other != name) {
                assert!(related(name).contains(&other), "{name} {other}");
            }
        }
        for (name, other) in [("jno", "johannes"), ("margt", "peggy"), ("istvan", "stephen"), ("geo", "jerzy")] {
            assert!(related(name).contains(&other) && related(other).contains(&name), "{name} {other}");
        }
    }

    #[test]
    fn names_that_share_a_nickname_only_are_not_related() {
        assert!(related("ted").contains(&"edward") && related("ted").contains(&"theodore"));
        assert!(!related("edward").contains(&"theodore"));
        assert!(related("nobody").is_empty());
    }

    #[test]
    fn every_name_of_the_files_is_a_folded_word_once_on_its_line() {
        for line in FILES.into_iter().flat_map(str::lines).filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let names: Vec<&str> = line.split(' ').collect();
            assert_eq!(words(line), names, "{line}");
            assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{line}");
        }
    }
}
