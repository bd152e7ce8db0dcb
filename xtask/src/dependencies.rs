//! `cargo xtask dependencies`: licences and sources of all dependencies by cargo-deny, known faults of them by
//! cargo-audit, both pinned and checked by hash.

use std::path::Path;

use serde::Deserialize;

use crate::failure::{Doing, Failure};
use crate::python::{self, Environment, environment};

/// What `cargo audit --json` says, as far as it is asked.
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
    /// When they were last changed.
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

/// Fails if a licence, a source or a second version is not allowed by `deny.toml`, or if an advisory names a dependency.
/// Where the advisories cannot be fetched it takes those that were fetched last, and says so if there are none.
pub async fn check(root: &Path) -> Result<(), Failure> {
    let tools = environment(root, "dependencies").await?;
    let mut deny = tools.script("cargo deny --log-level error check bans licenses sources")?;
    deny.current_dir(root);
    python::run(deny).await?;
    println!("licences, sources and versions are those that deny.toml allows");
    let said = match audit(root, &tools, "").await? {
        fetched @ Said::Report(_) => fetched,
        Said::NoDatabase(_) => audit(root, &tools, "--no-fetch --stale").await?,
    };
    match said {
        Said::Report(report) => {
            let told = judge(&report)?;
            println!("{told}");
        }
        Said::NoDatabase(reason) => println!("advisories: not looked at, since they cannot be fetched here: {reason}"),
    }
    Ok(())
}

enum Said {
    Report(String),
    NoDatabase(String),
}

async fn audit(root: &Path, tools: &Environment, options: &str) -> Result<Said, Failure> {
    let mut command = tools.script(&format!("cargo audit --json {options}"))?;
    let output = command.current_dir(root).kill_on_drop(true).output().await.doing("cargo audit")?;
    // It fails for a finding as it does without a database; only then it reports nothing.
    if output.stdout.is_empty() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Ok(Said::NoDatabase(errors.lines().last().unwrap_or("no reason is given").trim().to_owned()));
    }
    Ok(Said::Report(String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// How many advisories there are and how old they are, or what they name.
fn judge(report: &str) -> Result<String, Failure> {
    let audit: Audit = serde_json::from_str(report).doing("the report of cargo audit")?;
    let Database { advisory_count, last_updated } = audit.database;
    let date = last_updated.as_deref().unwrap_or("an unknown date");
    let database = format!("{advisory_count} advisories of {date}");
    let named: Vec<String> = audit.vulnerabilities.list.iter().map(Vulnerability::told).collect();
    match named.as_slice() {
        [] => Ok(format!("{database} name no dependency")),
        named => Err(Failure::new(format!("{database} name dependencies:\n{}", named.join("\n")))),
    }
}

impl Vulnerability {
    fn told(&self) -> String {
        let (Advisory { id, title }, Package { name, version }) = (&self.advisory, &self.package);
        format!("{id}: {name} {version}: {title}")
    }
}

#[cfg(test)]
mod tests {
    use super::judge;

    fn report(vulnerabilities: &str) -> String {
        format!(
            r#"{{"database":{{"advisory-count":2,"last-commit":"3157","last-updated":"2026-08-21T10:00:00Z"}},
                "lockfile":{{"dependency-count":457}},"vulnerabilities":{{"found":true,"list":[{vulnerabilities}]}}}}"#
        )
    }

    #[test]
    fn the_age_of_the_advisories_is_told() {
        assert_eq!(judge(&report("")).unwrap(), "2 advisories of 2026-08-21T10:00:00Z name no dependency");
    }

    #[test]
    fn an_advisory_that_names_a_dependency_fails() {
        let found = r#"{"advisory":{"id":"RUSTSEC-2026-9999","package":"toy","title":"It breaks"},
            "versions":{"patched":[]},"package":{"name":"toy","version":"1.0.0"}}"#;
        let failure = judge(&report(found)).unwrap_err().to_string();
        assert!(failure.ends_with("name dependencies:\nRUSTSEC-2026-9999: toy 1.0.0: It breaks"), "{failure}");
    }
}
