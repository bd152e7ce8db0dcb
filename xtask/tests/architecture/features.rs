//! Which features of dependencies the commands of a contributor compile.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Features by `name version`.
type Features = BTreeMap<String, BTreeSet<String>>;

/// What cargo compiles for this choice of packages and kinds of dependencies.
fn features(packages: &[&str], kinds: &str) -> Features {
    let mut tree = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    tree.current_dir(xtask::root()).arg("tree").args(packages);
    tree.args(["--edges", kinds, "--prefix", "none", "--format", "{p}|{f}"]);
    let output = tree.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut features = Features::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let Some((package, chosen)) = line.trim_end_matches(" (*)").split_once('|') else { continue };
        let chosen = chosen.split(',').filter(|feature| !feature.is_empty()).map(str::to_owned);
        features.entry(package.to_owned()).or_default().extend(chosen);
    }
    features
}

/// A dependency with other features is another dependency, and compiles again.
#[test]
fn commands_share_what_they_compile() {
    let tests = features(&["--workspace"], "normal,build,dev");
    for (packages, kinds) in [
        (["--package", "cairn"], "normal,build"),
        (["--package", "xtask"], "normal,build"),
        (["--package", "e2e"], "normal,build,dev"),
        (["--package", "cairn"], "normal,build,dev"),
    ] {
        for (dependency, chosen) in features(&packages, kinds) {
            let missing: BTreeSet<_> = tests[&dependency].difference(&chosen).collect();
            assert!(missing.is_empty(), "name these features of {dependency} in local/Cargo.toml: {missing:?}");
        }
    }
}
