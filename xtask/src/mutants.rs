//! `cargo xtask mutants`: puts one fault after the other into a copy of the mirror's source, and requires that a test
//! fails that is named for it. So the tests that prove the mirror are tested themselves.

mod list;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::process::Command;

use self::list::MUTANTS;
use crate::failure::{Doing, Failure};

/// A fault, as an edit of one file.
struct Mutant {
    name: &'static str,
    /// The path below `shared/mirror/src`.
    file: &'static str,
    /// A text that occurs once.
    text: &'static str,
    replacement: &'static str,
    /// The tests of which at least one must fail.
    tests: Tests,
}

/// Tests of the mirror, by their full names.
#[derive(Clone, Copy)]
enum Tests {
    /// Of the library.
    Library(&'static [&'static str]),
    /// Of the adapters against engines in process.
    Engines(&'static [&'static str]),
}

/// The seed of the random schedules. It is the same in each run, so that a mutant is found by the same schedule.
const SEED: &str = "1";

/// Tests the named mutants, or all. Fails if one of them survives or does not compile.
pub async fn run(root: &Path, named: &[String]) -> Result<(), Failure> {
    if let Some(unknown) = named.iter().find(|name| MUTANTS.iter().all(|mutant| mutant.name != **name)) {
        let names: Vec<_> = MUTANTS.iter().map(|mutant| mutant.name).collect();
        return Err(Failure::new(format!("there is no mutant `{unknown}`; the mutants are {}", names.join(", "))));
    }
    let tree = copy(root).await?;
    let mutants = || MUTANTS.iter().filter(|mutant| named.is_empty() || named.iter().any(|name| name == mutant.name));
    let started = Instant::now();
    passes_without_faults(&tree, mutants()).await?;
    println!("without a fault: every test passes ({})", seconds(started.elapsed()));
    let mut wrong = Vec::new();
    for mutant in mutants() {
        let started = Instant::now();
        let found = mutant.find(&tree).await?;
        println!("{} ({})", mutant.describe(&found), seconds(started.elapsed()));
        if !matches!(found, Found::By(_)) {
            wrong.push(mutant.name);
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(Failure::new(format!("not found by any test: {}", wrong.join(", ")))) }
}

/// What the tests have said of a mutant.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    /// The tests that failed, with the first line of the reason.
    By(Vec<(String, String)>),
    Survived,
    /// The mutant does not compile. Contains the end of the compiler's output.
    NoProgram(String),
}

impl Mutant {
    async fn find(&self, tree: &Path) -> Result<Found, Failure> {
        let path = tree.join("shared/mirror/src").join(self.file);
        let original = fs::read_to_string(&path).doing(path.display())?;
        fs::write(&path, original.replacen(self.text, self.replacement, 1)).doing(path.display())?;
        let found = test(tree, self.tests).await;
        fs::write(&path, original).doing(path.display())?;
        Ok(found?.found())
    }

    fn describe(&self, found: &Found) -> String {
        let name = self.name;
        match found {
            Found::By(tests) => {
                let missed = self.tests.names().iter().filter(|name| !tests.iter().any(|(found, _)| found == *name));
                let missed = missed.map(|name| format!("\n  not by {name}"));
                let by = tests.iter().map(|(test, reason)| format!("\n  by {test}: {reason}"));
                format!("{name}: found{}", by.chain(missed).collect::<String>())
            }
            Found::Survived => format!("{name}: SURVIVED {}", self.tests.names().join(", ")),
            Found::NoProgram(errors) => format!("{name}: DOES NOT COMPILE\n{errors}"),
        }
    }
}

impl Tests {
    const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Library(names) | Self::Engines(names) => names,
        }
    }

    const fn target(self) -> &'static [&'static str] {
        match self {
            Self::Library(_) => &["--lib"],
            Self::Engines(_) => &["--test", "engines"],
        }
    }
}

/// Checks that every test of these mutants exists and passes, so that it is the fault that it finds.
async fn passes_without_faults(tree: &Path, mutants: impl Iterator<Item = &'static Mutant>) -> Result<(), Failure> {
    let (mut library, mut engines) = (Vec::new(), Vec::new());
    for mutant in mutants {
        match mutant.tests {
            Tests::Library(names) => library.extend(names),
            Tests::Engines(names) => engines.extend(names),
        }
    }
    for (target, mut names) in [(&["--lib"][..], library), (&["--test", "engines"][..], engines)] {
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            continue;
        }
        let output = test_names(tree, target, &names).await?;
        if let Some(name) = names.iter().find(|name| !output.passed(name)) {
            let Output { out, errors } = output;
            return Err(Failure::new(format!("{name} does not pass without a fault:\n{out}{errors}")));
        }
    }
    Ok(())
}

async fn test(tree: &Path, tests: Tests) -> Result<Output, Failure> {
    test_names(tree, tests.target(), tests.names()).await
}

/// Runs tests of the mirror in the copy. It has a target folder of its own: cargo would take what was built of the copy
/// for what was built of the workspace.
async fn test_names(tree: &Path, target: &[&str], names: &[&str]) -> Result<Output, Failure> {
    let mut command = Command::new("cargo");
    command.args(["test", "--package", "mirror"]).args(target).args(["--", "--exact"]).args(names);
    command
        .current_dir(tree)
        .env("CARGO_TARGET_DIR", tree.with_file_name("build"))
        .env("CAIRN_SEED", SEED)
        .env("CAIRN_TIER", "complete")
        .env("RUST_BACKTRACE", "0");
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = command.output().await.doing("cargo test")?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Output { out: text(&output.stdout), errors: text(&output.stderr) })
}

/// The output of `cargo test`.
struct Output {
    out: String,
    errors: String,
}

impl Output {
    fn passed(&self, name: &str) -> bool {
        self.out.lines().any(|line| line == format!("test {name} ... ok"))
    }

    fn found(&self) -> Found {
        let failed: Vec<_> = self.out.lines().filter_map(failed_test).collect();
        if !failed.is_empty() {
            return Found::By(failed.into_iter().map(|name| (name.to_owned(), self.reason(name))).collect());
        }
        if self.out.lines().any(|line| line.starts_with("test result: ok")) {
            return Found::Survived;
        }
        // A process that was aborted has no result either.
        match self.out.lines().find(|line| line.starts_with("running ")) {
            Some(_) => Found::By(vec![("the end of the process".to_owned(), last_lines(&self.errors, 1))]),
            None => Found::NoProgram(last_lines(&self.errors, 30)),
        }
    }

    /// Returns the first line of the message with which a test has panicked.
    fn reason(&self, name: &str) -> String {
        let heading = format!("---- {name} stdout ----");
        let of_test = self.out.lines().skip_while(|line| *line != heading);
        let message = of_test.skip_while(|line| !line.contains("panicked at ")).nth(1).unwrap_or_default();
        message.chars().take(200).collect()
    }
}

fn failed_test(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

fn last_lines(text: &str, number: usize) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines.get(lines.len().saturating_sub(number)..).unwrap_or_default().join("\n")
}

/// Copies the files that git tracks into `target/mutants/tree`. They keep their times, so that only what has changed is
/// compiled again, except the mirror, of which the last mutant was built.
async fn copy(root: &Path) -> Result<PathBuf, Failure> {
    let tree = root.join("target/mutants/tree");
    if tree.exists() {
        fs::remove_dir_all(&tree).doing(tree.display())?;
    }
    let mut list = Command::new("git");
    let listed = list.args(["ls-files", "-z"]).current_dir(root).output().await.doing("git ls-files")?;
    let listed = String::from_utf8(listed.stdout).doing("git ls-files")?;
    for name in listed.split_terminator('\0') {
        let (from, to) = (root.join(name), tree.join(name));
        // A tracked file may have been deleted.
        let Ok(metadata) = from.metadata() else { continue };
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder).doing(folder.display())?;
        }
        fs::copy(&from, &to).doing(from.display())?;
        if name.starts_with("shared/mirror/") {
            continue;
        }
        let written = metadata.modified().doing(from.display())?;
        fs::File::options().append(true).open(&to).and_then(|file| file.set_modified(written)).doing(to.display())?;
    }
    Ok(tree)
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn text_of_each_mutant_occurs_once() {
        for Mutant { name, file, text, replacement, tests } in MUTANTS {
            let path = crate::root().join("shared/mirror/src").join(file);
            let source = fs::read_to_string(path).unwrap();
            assert_eq!(source.matches(text).count(), 1, "{name}: {text}");
            assert!(text != replacement && !tests.names().is_empty(), "{name}");
        }
        let names: BTreeSet<_> = MUTANTS.iter().map(|mutant| mutant.name).collect();
        assert_eq!(names.len(), MUTANTS.len());
    }

    #[test]
    fn output_of_the_tests_says_what_has_found_a_mutant() {
        let output = |out: &str, errors: &str| Output { out: out.to_owned(), errors: errors.to_owned() };
        let failed = "running 2 tests\ntest a::x ... ok\ntest a::y ... FAILED\n\nfailures:\n\n---- a::y stdout ----\n\
                      states\n\nthread 'a::y' (7) panicked at a.rs:1:2:\nbroken after 4 steps\n";
        let by = vec![("a::y".to_owned(), "broken after 4 steps".to_owned())];
        assert_eq!(output(failed, "").found(), Found::By(by));
        assert_eq!(
            output("running 1 test\ntest a::x ... ok\n\ntest result: ok. 1 passed", "").found(),
            Found::Survived
        );
        assert_eq!(output("", "error: no").found(), Found::NoProgram("error: no".to_owned()));
    }
}
