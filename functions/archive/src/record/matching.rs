//! Which row of an earlier file a row of a new one is, so that it keeps its permanent id.

use std::collections::{BTreeSet, HashMap};

/// What identifies a row, besides its place in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowIdentity {
    /// The columns that name the row for good.
    pub key: Option<Vec<String>>,
    /// The digest of its raw cells.
    pub digest: [u8; 32],
    pub household: Option<String>,
    /// Whether it has a place among the rows of its file. A row that only an earlier file had has none: it is found by its
    /// key or its cells alone, and is not gone once more.
    pub has_place: bool,
}

/// The rows of a new file with the earlier ones that they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matches {
    /// For each new row the index of the old row, or none for a row that is new.
    pub old_of_new: Vec<Option<usize>>,
    /// The old rows that no new row is, in their order.
    pub gone: Vec<usize>,
}

/// Matches the rows of a new file with those of the last published one. Both are in the order of their files.
///
/// 1. Rows with the same key are the same row. Two rows with different keys never are.
/// 2. Rows with the same cells are the same. Of several, the first is the first.
/// 3. In a household of both files, the rows between two matched neighbours are the same in their order, if none was
///    added or removed between them. If its order changed, the only row that is left in both files is the same.
/// 4. The same holds in the whole file, for rows without a household, or with another one.
///
/// An old row without a place takes part in the first two only, after those with a place if it comes after them.
///
/// The neighbours are the longest series of matched rows that has the same order in both files. So a row that was moved
/// counts where it is now, and does not shift the place of others.
///
/// A changed row next to an added or removed one has no match: an id that ends is better than the id of another person.
pub fn matches(old: &[RowIdentity], new: &[RowIdentity]) -> Matches {
    let mut matching = Matching { old, new, new_of_old: vec![None; old.len()], old_of_new: vec![None; new.len()] };
    matching.by_key();
    matching.by_digest();
    matching.by_household();
    let places = |rows: &[RowIdentity]| -> Vec<usize> {
        rows.iter().enumerate().filter(|(_, row)| row.has_place).map(|(index, _)| index).collect()
    };
    let (old_rows, new_rows) = (places(old), places(new));
    matching.between_neighbours(&old_rows, &new_rows);
    let gone = matching.open_old(&old_rows);
    Matches { old_of_new: matching.old_of_new, gone }
}

/// Whether the matched rows have one order in both files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Same,
    Changed,
}

struct Matching<'a> {
    old: &'a [RowIdentity],
    new: &'a [RowIdentity],
    new_of_old: Vec<Option<usize>>,
    old_of_new: Vec<Option<usize>>,
}

impl Matching<'_> {
    fn by_key(&mut self) {
        let old = unique(self.old.iter().map(|row| row.key.as_ref()));
        for (key, new) in unique(self.new.iter().map(|row| row.key.as_ref())) {
            if let Some(old) = old.get(key) {
                self.pair(*old, new);
            }
        }
    }

    fn by_digest(&mut self) {
        let mut old: HashMap<[u8; 32], Vec<usize>> = HashMap::new();
        // The first is taken first, from the end of its list.
        for (index, row) in self.old.iter().enumerate().rev().filter(|(index, _)| self.is_open_old(*index)) {
            old.entry(row.digest).or_default().push(index);
        }
        for (index, row) in self.new.iter().enumerate() {
            if !self.is_open_new(index) {
                continue;
            }
            let Some(same) = old.get_mut(&row.digest) else { continue };
            if let Some(first) = same.pop() {
                self.pair(first, index);
            }
        }
    }

    fn by_household(&mut self) {
        let (old, new) = (members(self.old), members(self.new));
        let households: BTreeSet<&str> = old.keys().copied().collect();
        for household in households {
            let (Some(old), Some(new)) = (old.get(household), new.get(household)) else { continue };
            if self.between_neighbours(old, new) == Order::Changed {
                self.last_of_both(old, new);
            }
        }
    }

    /// Matches the open rows, if there is only one in both files.
    fn last_of_both(&mut self, old: &[usize], new: &[usize]) {
        let (open_old, open_new) = (self.open_old(old), self.open_new(new));
        if let ([old], [new]) = (open_old.as_slice(), open_new.as_slice()) {
            self.pair(*old, *new);
        }
    }

    /// Matches the open rows between two matched neighbours, if there are as many in both of these parts of the files.
    fn between_neighbours(&mut self, old: &[usize], new: &[usize]) -> Order {
        let place_of_old: HashMap<usize, usize> =
            old.iter().enumerate().map(|(place, index)| (*index, place)).collect();
        let matched = new.iter().enumerate().filter_map(|(place, index)| {
            let old = self.old_of_new.get(*index).copied().flatten()?;
            Some((*place_of_old.get(&old)?, place))
        });
        let matched: Vec<_> = matched.collect();
        let mut neighbours = longest_rising(&matched);
        let order = if neighbours.len() == matched.len() { Order::Same } else { Order::Changed };
        neighbours.push((old.len(), new.len()));
        let (mut old_from, mut new_from) = (0, 0);
        for (old_to, new_to) in neighbours {
            let open_old = self.open_old(old.get(old_from..old_to).unwrap_or_default());
            let open_new = self.open_new(new.get(new_from..new_to).unwrap_or_default());
            if open_old.len() == open_new.len() {
                open_old.into_iter().zip(open_new).for_each(|(old, new)| self.pair(old, new));
            }
            (old_from, new_from) = (old_to + 1, new_to + 1);
        }
        order
    }

    fn open_old(&self, rows: &[usize]) -> Vec<usize> {
        rows.iter().copied().filter(|index| self.is_open_old(*index)).collect()
    }

    fn open_new(&self, rows: &[usize]) -> Vec<usize> {
        rows.iter().copied().filter(|index| self.is_open_new(*index)).collect()
    }

    fn is_open_old(&self, index: usize) -> bool {
        self.new_of_old.get(index).is_some_and(Option::is_none)
    }

    fn is_open_new(&self, index: usize) -> bool {
        self.old_of_new.get(index).is_some_and(Option::is_none)
    }

    /// Matches two open rows, unless their keys differ.
    fn pair(&mut self, old: usize, new: usize) {
        let (of_old, of_new) = (self.old.get(old), self.new.get(new));
        let keys = of_old.and_then(|row| row.key.as_ref()).zip(of_new.and_then(|row| row.key.as_ref()));
        if keys.is_some_and(|(old, new)| old != new) {
            return;
        }
        if let (Some(of_old), Some(of_new)) = (self.new_of_old.get_mut(old), self.old_of_new.get_mut(new)) {
            (*of_old, *of_new) = (Some(new), Some(old));
        }
    }
}

/// Returns the index of each value that occurs once.
fn unique<T: Eq + std::hash::Hash>(values: impl Iterator<Item = Option<T>>) -> HashMap<T, usize> {
    let mut found: HashMap<T, Option<usize>> = HashMap::new();
    for (index, value) in values.enumerate() {
        if let Some(value) = value {
            found.entry(value).and_modify(|known| *known = None).or_insert(Some(index));
        }
    }
    found.into_iter().filter_map(|(value, index)| Some((value, index?))).collect()
}

/// Returns the rows of each household, in the order of the file.
fn members(rows: &[RowIdentity]) -> HashMap<&str, Vec<usize>> {
    let mut members: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| row.has_place) {
        if let Some(household) = &row.household {
            members.entry(household).or_default().push(index);
        }
    }
    members
}

/// Returns the longest series of pairs whose first numbers rise. The second numbers rise already, and no number occurs
/// twice.
fn longest_rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length the index of the series' last pair whose first number is the lowest; and for each pair the index of
    // the one before it in its series.
    let (mut last_of_length, mut before): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
    let first = |index: usize| pairs.get(index).map(|pair| pair.0);
    for (index, pair) in pairs.iter().enumerate() {
        let length = last_of_length.partition_point(|last| first(*last) < Some(pair.0));
        before.push(length.checked_sub(1).and_then(|shorter| last_of_length.get(shorter).copied()));
        match last_of_length.get_mut(length) {
            Some(last) => *last = index,
            None => last_of_length.push(index),
        }
    }
    let last = last_of_length.last().copied();
    let series = std::iter::successors(last, |index| before.get(*index).copied().flatten());
    let mut series: Vec<(usize, usize)> = series.filter_map(|index| pairs.get(index).copied()).collect();
    series.reverse();
    series
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A row of a household, or of none if that is `-`, with a text that stands for its cells.
    fn row(household: &str, cells: &str) -> RowIdentity {
        let mut digest = [0; 32];
        digest.iter_mut().zip(cells.bytes().chain(household.bytes())).for_each(|(to, from)| *to = from);
        RowIdentity { key: None, digest, household: (household != "-").then(|| household.to_owned()), has_place: true }
    }

    fn keyed(key: &str, cells: &str) -> RowIdentity {
        RowIdentity { key: Some(vec![key.to_owned()]), ..row("-", cells) }
    }

    /// Reads `14:Evan 14:Margaret -:Wm`.
    fn rows(text: &str) -> Vec<RowIdentity> {
        let split = |row: &str| row.split_once(':').map(|(household, cells)| (household.to_owned(), cells.to_owned()));
        text.split_whitespace().filter_map(split).map(|(household, cells)| row(&household, &cells)).collect()
    }

    fn check(old: &str, new: &str, old_of_new: &[Option<usize>], gone: &[usize]) {
        let expected = Matches { old_of_new: old_of_new.to_vec(), gone: gone.to_vec() };
        assert_eq!(matches(&rows(old), &rows(new)), expected, "{old} | {new}");
    }

    #[test]
    fn moved_rows_keep_their_ids() {
        check("1:A 1:B 2:C", "2:C 1:A 1:B", &[Some(2), Some(0), Some(1)], &[]);
        check("-:A -:B -:C", "-:B -:C -:A", &[Some(1), Some(2), Some(0)], &[]);
    }

    #[test]
    fn changed_row_keeps_its_id_by_its_place_in_the_household() {
        check("14:A 14:B 14:C 15:D", "14:A 14:b 14:C 15:D", &[Some(0), Some(1), Some(2), Some(3)], &[]);
        check("14:A 14:B 15:C", "14:a 14:b 15:c", &[Some(0), Some(1), Some(2)], &[]);
        // The household moved, and another one grew.
        check("14:A 14:B 15:C", "15:C 15:X 14:a 14:B", &[Some(2), None, Some(0), Some(1)], &[]);
    }

    #[test]
    fn only_changed_row_of_a_sorted_household_keeps_its_id() {
        check("1:A 1:B 1:C", "1:C 1:b 1:A", &[Some(2), Some(1), Some(0)], &[]);
        check("1:A 1:B 1:C 1:D", "1:D 1:b 1:c 1:A", &[Some(3), None, None, Some(0)], &[1, 2]);
        // In the old order, a row between others is not one after them.
        check("1:A 1:B 1:C", "1:A 1:C 1:X", &[Some(0), Some(2), None], &[1]);
    }

    #[test]
    fn changed_row_without_a_household_keeps_its_id_by_its_place_between_its_neighbours() {
        check("-:A -:B -:C", "-:A -:b -:C", &[Some(0), Some(1), Some(2)], &[]);
        check("-:A -:B -:C -:D -:E", "-:X -:A -:b -:C -:E", &[None, Some(0), Some(1), Some(2), Some(4)], &[3]);
        check("14:A -:B", "14:A 15:b", &[Some(0), Some(1)], &[]);
    }

    #[test]
    fn inserted_row_is_new_and_removed_row_is_gone() {
        check("14:A 14:B", "14:A 14:X 14:B", &[Some(0), None, Some(1)], &[]);
        check("14:A 14:B 14:C", "14:A 14:C", &[Some(0), Some(2)], &[1]);
        check("14:A", "", &[], &[0]);
        check("", "14:A", &[None], &[]);
    }

    #[test]
    fn changed_row_next_to_an_inserted_one_has_no_match() {
        check("14:A 14:B 14:C", "14:A 14:X 14:b 14:C", &[Some(0), None, None, Some(2)], &[1]);
    }

    #[test]
    fn equal_rows_are_matched_in_their_order() {
        check("1:A 1:A 1:A", "1:A 1:A", &[Some(0), Some(1)], &[2]);
        check("1:A 1:A", "1:A 1:A 1:A", &[Some(0), Some(1), None], &[]);
    }

    #[test]
    fn key_names_a_row_whatever_else_changes() {
        let old = [keyed("1", "A"), keyed("2", "B"), keyed("3", "C")];
        let new = [keyed("3", "c"), keyed("1", "B"), keyed("4", "B")];
        let expected = Matches { old_of_new: vec![Some(2), Some(0), None], gone: vec![1] };
        assert_eq!(matches(&old, &new), expected);
    }

    #[test]
    fn row_without_a_place_is_found_by_key_and_cells_alone_and_is_never_gone() {
        let without = |row: RowIdentity| RowIdentity { has_place: false, ..row };
        let old = [row("14", "A"), row("14", "B"), without(row("14", "C")), without(keyed("1", "D"))];
        let check = |new: &[RowIdentity], old_of_new: &[Option<usize>], gone: &[usize]| {
            assert_eq!(matches(&old, new), Matches { old_of_new: old_of_new.to_vec(), gone: gone.to_vec() });
        };
        // The changed row at the end keeps its id, and one more is new.
        check(&[row("14", "A"), row("14", "b")], &[Some(0), Some(1)], &[]);
        check(&[row("14", "A"), row("14", "B"), row("14", "X")], &[Some(0), Some(1), None], &[]);
        // Where it is back, it is not the changed row of its place.
        check(&[row("14", "A"), row("14", "C"), keyed("1", "d")], &[Some(0), Some(2), Some(3)], &[1]);
    }

    #[test]
    fn key_that_occurs_twice_names_no_row_and_blank_keys_match_by_cells() {
        let blank = |cells| row("-", cells);
        let old = [keyed("1", "A"), keyed("1", "B"), blank("C"), blank("D")];
        let new = [keyed("1", "B"), keyed("1", "A"), blank("D"), keyed("2", "C")];
        let expected = Matches { old_of_new: vec![Some(1), Some(0), Some(3), Some(2)], gone: vec![] };
        assert_eq!(matches(&old, &new), expected);
    }

    /// Returns 5 000 rows in households of five, or in none, and a later version of them: 50 rows removed, 200 of the others
    /// changed, 300 moved, 50 added. Each new row has the old row that it is.
    fn versions(in_households: bool, seed: u64) -> (Vec<RowIdentity>, Vec<(Option<usize>, RowIdentity)>) {
        let mut state = seed;
        let mut below = |end: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % end
        };
        let household = |number: usize| if in_households { number.to_string() } else { "-".to_owned() };
        let old: Vec<_> = (0..5_000).map(|index| row(&household(index / 5), &format!("row {index} of "))).collect();
        let mut new: Vec<_> = old.iter().cloned().enumerate().map(|(index, row)| (Some(index), row)).collect();
        for _ in 0..50 {
            new.remove(below(new.len()));
        }
        let mut changed = BTreeSet::new();
        while changed.len() < 200 {
            changed.insert(below(new.len()));
        }
        for index in changed {
            new[index].1.digest[31] = 1;
        }
        for _ in 0..300 {
            let moved = new.remove(below(new.len()));
            new.insert(below(new.len()), moved);
        }
        for number in 0..50 {
            let added = row(&household(below(1_000)), &format!("added {number} to "));
            new.insert(below(new.len()), (None, added));
        }
        (old, new)
    }

    /// Returns how many of the 4 950 rows that are in both versions keep their id, and how many rows get the id of
    /// another.
    fn kept_and_wrong(in_households: bool, seed: u64) -> (usize, usize) {
        let (old, new) = versions(in_households, seed);
        let rows: Vec<_> = new.iter().map(|(_, row)| row.clone()).collect();
        let found = matches(&old, &rows).old_of_new;
        let kept = found.iter().zip(&new).filter(|(found, (old, _))| found.is_some() && *found == old).count();
        let wrong = found.iter().zip(&new).filter(|(found, (old, _))| found.is_some() && *found != old).count();
        (kept, wrong)
    }

    #[test]
    fn nearly_all_rows_of_a_much_edited_file_keep_their_ids() {
        for in_households in [true, false] {
            for seed in 0..10 {
                let (kept, wrong) = kept_and_wrong(in_households, seed);
                // A wrong one is an added row in the place of a removed one: it looks like a changed row.
                assert!(kept >= 4_900 && wrong <= 8, "{kept} kept, {wrong} wrong");
            }
        }
    }

    fn file() -> impl Strategy<Value = Vec<RowIdentity>> {
        let key = prop::option::of((0..20_u8).prop_map(|key| vec![key.to_string()]));
        let row = (key, 0..12_u8, prop::option::of((0..6_u8).prop_map(|household| household.to_string())));
        let row = row.prop_map(|(key, cells, household)| RowIdentity {
            key,
            digest: [cells; 32],
            household,
            has_place: true,
        });
        prop::collection::vec(row, 0..30)
    }

    /// The distinct cells of a key are part of the digest in real files.
    fn consistent(mut rows: Vec<RowIdentity>) -> Vec<RowIdentity> {
        for row in &mut rows {
            row.digest[0] = row.key.as_ref().map_or(0, |key| key[0].parse::<u8>().unwrap() + 1);
            row.digest[1] = row.household.as_ref().map_or(0, |household| household.parse::<u8>().unwrap() + 1);
        }
        rows
    }

    proptest! {
        #[test]
        fn file_matches_itself_row_by_row(rows in file().prop_map(consistent)) {
            let found = matches(&rows, &rows);
            prop_assert_eq!(found.old_of_new, (0..rows.len()).map(Some).collect::<Vec<_>>());
            prop_assert_eq!(found.gone, Vec::<usize>::new());
        }

        #[test]
        fn each_old_row_is_one_new_row_or_gone(old in file(), new in file()) {
            let found = matches(&old, &new);
            let mut seen: Vec<usize> = found.old_of_new.iter().copied().flatten().chain(found.gone).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..old.len()).collect::<Vec<_>>());
            prop_assert_eq!(found.old_of_new.len(), new.len());
            let both = new.iter().zip(&found.old_of_new).filter_map(|(new, found)| Some((new, &old[(*found)?])));
            for (new, old) in both {
                prop_assert!(new.key.is_none() || old.key.is_none() || new.key == old.key);
            }
        }

        #[test]
        fn rows_in_any_other_order_all_keep_their_ids(
            (old, new) in (1..40_usize).prop_map(|count| (0..count).collect::<Vec<_>>())
                .prop_flat_map(|order| (Just(order.clone()), Just(order).prop_shuffle()))
        ) {
            let file = |order: &[usize]| order.iter().map(|cells| row("-", &cells.to_string())).collect::<Vec<_>>();
            let found = matches(&file(&old), &file(&new));
            prop_assert_eq!(found.old_of_new, new.into_iter().map(Some).collect::<Vec<_>>());
        }

        #[test]
        fn rising_series_is_the_longest(order in Just((0..9_usize).collect::<Vec<_>>()).prop_shuffle()) {
            let pairs: Vec<_> = order.iter().copied().zip(0..).collect();
            let is_rising = |series: &[usize]| series.is_sorted();
            let longest = (0..1_u32 << 9)
                .map(|chosen| (0..9).filter(|at| chosen >> at & 1 == 1).map(|at| order[at]).collect::<Vec<_>>())
                .filter(|series| is_rising(series)).map(|series| series.len()).max();
            let found: Vec<usize> = longest_rising(&pairs).into_iter().map(|pair| pair.0).collect();
            prop_assert!(is_rising(&found));
            prop_assert_eq!(Some(found.len()), longest);
        }
    }
}
