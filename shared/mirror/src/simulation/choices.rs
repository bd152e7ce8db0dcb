//! The choices of a schedule: one list of numbers. A schedule that is run with the same list is the same schedule, and a
//! shorter list with lower numbers is a simpler one, so shrinking a failure needs to know nothing of schedules.
//!
//! Each choice has the number 0 for the simplest case: a request is answered, an event does not happen.

use fastrand::Rng;

/// A source of numbers.
pub(crate) trait Random {
    /// Returns a number from 0 to `end - 1`.
    fn below(&mut self, end: usize) -> usize;

    /// Returns true once in `number` times.
    fn one_in(&mut self, number: usize) -> bool {
        self.below(number) + 1 == number
    }

    /// Returns a number from `first` to `last`.
    fn between(&mut self, first: usize, last: usize) -> usize {
        first + self.below(last + 1 - first)
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

impl Random for Rng {
    fn below(&mut self, end: usize) -> usize {
        self.usize(0..end)
    }
}

/// The source of a schedule's choices, and the numbers that were drawn so far.
pub(crate) struct Choices {
    source: Source,
    pub(crate) drawn: Vec<u32>,
}

enum Source {
    Seed(Rng),
    /// Numbers that were drawn before. 0 follows the last.
    List(std::vec::IntoIter<u32>),
}

impl Choices {
    pub(crate) fn of_seed(seed: u64) -> Self {
        Self { source: Source::Seed(Rng::with_seed(seed)), drawn: Vec::new() }
    }

    pub(crate) fn of_list(list: Vec<u32>) -> Self {
        Self { source: Source::List(list.into_iter()), drawn: Vec::new() }
    }
}

impl Random for Choices {
    fn below(&mut self, end: usize) -> usize {
        let end = u32::try_from(end).unwrap();
        let number = match &mut self.source {
            Source::Seed(rng) => rng.u32(0..end),
            Source::List(list) => list.next().unwrap_or_default() % end,
        };
        self.drawn.push(number);
        number as usize
    }
}

/// The number of numbers that are drawn while one failure shrinks.
const EFFORT: usize = 2_000_000;

/// Deletes and lowers entries of a list as long as it still fails. `fails` returns the numbers that were drawn, if the
/// list fails.
pub(crate) fn shrink(list: Vec<u32>, fails: impl Fn(Vec<u32>) -> Option<Vec<u32>>) -> Vec<u32> {
    let mut shrinking = Shrinking { list, fails, drawn: 0 };
    while shrinking.delete() | shrinking.lower() {}
    shrinking.list
}

struct Shrinking<F> {
    list: Vec<u32>,
    fails: F,
    /// The number of numbers that were drawn so far.
    drawn: usize,
}

impl<F: Fn(Vec<u32>) -> Option<Vec<u32>>> Shrinking<F> {
    /// Replaces the list if the other one fails and is simpler.
    fn replace(&mut self, other: Vec<u32>) -> bool {
        if self.drawn > EFFORT {
            return false;
        }
        // A list that fails draws about as many numbers as it has.
        self.drawn += other.len();
        let simpler = |drawn: &Vec<u32>| (drawn.len(), drawn) < (self.list.len(), &self.list);
        let drawn = (self.fails)(other).filter(simpler);
        let is_simpler = drawn.is_some();
        self.list = drawn.unwrap_or_else(|| std::mem::take(&mut self.list));
        is_simpler
    }

    /// Deletes runs of entries, long ones first.
    fn delete(&mut self) -> bool {
        let mut deleted = false;
        let mut length = self.list.len() / 2;
        while length > 0 {
            let mut from = 0;
            while from + length <= self.list.len() {
                let mut other = self.list.clone();
                other.drain(from..from + length);
                if self.replace(other) {
                    deleted = true;
                } else {
                    from += length.div_ceil(2);
                }
            }
            length /= 2;
        }
        deleted
    }

    fn lower(&mut self) -> bool {
        let mut lowered = false;
        let mut place = 0;
        while let Some(number) = self.list.get(place).copied() {
            for lower in [0, number / 2, number.saturating_sub(1)] {
                let mut other = self.list.clone();
                if lower < number && other.get(place) == Some(&number) {
                    other[place] = lower;
                    lowered |= self.replace(other);
                }
            }
            place += 1;
        }
        lowered
    }
}

#[test]
fn shrunk_list_is_the_simplest_that_fails() {
    // A list fails if it has a number above 6 behind one above 2.
    let fails = |list: Vec<u32>| {
        let at = list.iter().position(|number| *number > 2)?;
        list[at + 1..].iter().any(|number| *number > 6).then_some(list)
    };
    let list: Vec<u32> = (0..200).map(|number| number * 7 % 13).collect();
    assert_eq!(shrink(list, fails), [3, 7]);
}

#[test]
fn list_of_drawn_numbers_draws_the_same_numbers() {
    let draw = |choices: &mut Choices| -> Vec<usize> { (1..50).map(|end| choices.below(end)).collect() };
    let mut first = Choices::of_seed(7);
    let numbers = draw(&mut first);
    assert_eq!(draw(&mut Choices::of_list(first.drawn)), numbers);
}
