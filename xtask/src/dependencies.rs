//! `cargo xtask dependencies`: checks licences and sources of all dependencies with cargo-deny, and known
//! vulnerabilities with cargo-audit. Both tools are pinned by hash.

use std::fmt;
use std::path::Path;

use serde::Deserialize;

use crate::failure::{Doing, Failure};
use crate::python::{self, Environment, environment};

/// The members that we need of the report of `cargo audit --json`.
#[derive(Debug, Deserialize)]
struct Audit {
    database: Database,
    vulnerabilities: Vulnerabilities,
}

/// The advisories of RustSec.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Database {
    advisory_count: u64,
    /// The time of their last change.
    last_updated: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Vulnerabilities {
    list: Vec<Vulnerability>,
}

#[derive(Debug, Deserialize)]
struct Vulnerability {
    advisory: Advisory,
    package: Package,
}

#[derive(Debug, Deserialize)]
struct Advisory {
    id: String,
    title: String,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    version: String,
}

/// Fails if `deny.toml` does not allow a licence, a source or a second version, or if an advisory names a dependency.
/// If the advisories cannot be downloaded, it uses the last ones, and prints a note if there are none.
pub async fn check(root: &Path) -> Result<(), Failure> {
    let tools = environment(root, "dependencies").await?;
    let mut deny = tools.script("cargo deny --log-level error check bans licenses sources")?;
    deny.current_dir(root);
    python::run(deny).await?;
    println!("deny.toml allows all licences, sources and versions");
    let audited = match audit(root, &tools, "").await? {
        report @ Audited::Report(_) => report,
        Audited::NoDatabase(_) => audit(root, &tools, "--no-fetch --stale").await?,
    };
    match audited {
        Audited::Report(report) => println!("{}", summary(&report)?),
        Audited::NoDatabase(reason) => println!("advisories: not checked, since downloading them failed: {reason}"),
    }
    Ok(())
}

/// The outcome of cargo-audit.
enum Audited {
    Report(String),
    NoDatabase(String),
}

async fn audit(root: &Path, tools: &Environment, options: &str) -> Result<Audited, Failure> {
    let mut command = tools.script(&format!("cargo audit --json {options}"))?;
    let output = command.current_dir(root).kill_on_drop(true).output().await.doing("cargo audit")?;
    // cargo-audit fails for findings, too, but only without a database it has no report.
    if output.stdout.is_empty() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Ok(Audited::NoDatabase(errors.lines().last().unwrap_or("no reason").trim().to_owned()));
    }
    Ok(Audited::Report(String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// Returns the number and date of the advisories. Fails if one names a dependency.
fn summary(report: &str) -> Result<String, Failure> {
    let audit: Audit = serde_json::from_str(report).doing("parsing the report of cargo audit")?;
    let Database { advisory_count, last_updated } = audit.database;
    let date = last_updated.as_deref().unwrap_or("an unknown date");
    let database = format!("{advisory_count} advisories of {date}");
    let named: Vec<String> = audit.vulnerabilities.list.iter().map(ToString::to_string).collect();
    match named.as_slice() {
        [] => Ok(format!("{database} name no dependency")),
        named => Err(Failure::new(format!("{database} name dependencies:\n{}", named.join("\n")))),
    }
}

impl fmt::Display for Vulnerability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Advisory { id, title }, Package { name, version }) = (&self.advisory, &self.package);
        write!(formatter, "{id}: {name} {version}: {title}")
    }
}

#[cfg(test)]
mod tests {
    use super::summary;

    fn report(vulnerabilities: &str) -> String {
        format!(
            r#"{{"database":{{"advisory-count":2,"last-commit":"3157","last-updated":"2026-08-21T10:00:00Z"}},
                "lockfile":{{"dependency-count":457}},"vulnerabilities":{{"found":true,"list":[{vulnerabilities}]}}}}"#
        )
    }

    #[test]
    fn summary_has_number_and_date_of_advisories() {
        assert_eq!(summary(&report("")).unwrap(), "2 advisories of 2026-08-21T10:00:00Z name no dependency");
    }

    #[test]
    fn advisory_that_names_a_dependency_is_a_failure() {
        let found = r#"{"advisory":{"id":"RUSTSEC-2026-9999","package":"toy","title":"It breaks"},
            "versions":{"patched":[]},"package":{"name":"toy","version":"1.0.0"}}"#;
        let failure = summary(&report(found)).unwrap_err().to_string();
        assert!(failure.ends_with("name dependencies:\nRUSTSEC-2026-9999: toy 1.0.0: It breaks"), "{failure}");
    }
}
