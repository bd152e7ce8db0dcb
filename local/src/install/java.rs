//! Lookup of a Java runtime for the engines.

use std::path::PathBuf;

use tokio::process::Command;

use super::Tools;

/// The minimum version of Java.
pub const MIN_VERSION: u32 = 17;

/// A Java runtime that is new enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Java {
    pub command: PathBuf,
    /// The feature release, such as 17.
    pub version: u32,
    /// The build, in letters, digits, `.`, `-` and `_`, such as `17.0.15_6-Debian-1deb12u1`.
    pub build: String,
    /// The value of `JAVA_HOME` for other tools.
    pub home: PathBuf,
}

/// Finds the Java of `JAVA_HOME`, or else of the path. The error says what is missing.
pub async fn find(tools: &Tools) -> Result<Java, String> {
    let candidates = [tools.java_home.as_ref().map(|home| home.join("bin/java")), tools.find("java")];
    let mut missing = format!("there is no Java {MIN_VERSION} or newer in JAVA_HOME or on the PATH");
    for command in candidates.into_iter().flatten() {
        match ask(command).await {
            Some(java) if java.version >= MIN_VERSION => return Ok(java),
            Some(java) => {
                missing = format!("`{}` is Java {}, and {MIN_VERSION} is needed", java.command.display(), java.version);
            }
            None => {}
        }
    }
    Err(missing)
}

async fn ask(command: PathBuf) -> Option<Java> {
    let output = Command::new(&command).args(["-XshowSettings:properties", "-version"]).output().await.ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let version = feature_release(property(&text, "java.specification.version")?)?;
    let build = property(&text, "java.runtime.version")?;
    let build = build.replace(|letter: char| !letter.is_ascii_alphanumeric() && !".-".contains(letter), "_");
    let home = PathBuf::from(property(&text, "java.home")?);
    Some(Java { command, version, build, home })
}

fn property<'a>(settings: &'a str, name: &str) -> Option<&'a str> {
    settings.lines().find_map(|line| line.trim().strip_prefix(name)?.trim_start().strip_prefix('=')).map(str::trim)
}

/// Parses a version: 17 of `17`, 8 of `1.8`.
fn feature_release(text: &str) -> Option<u32> {
    text.strip_prefix("1.").unwrap_or(text).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_java_are_parsed() {
        let text = "Property settings:\n    java.home = /opt/java\n    java.specification.version = 21\n";
        assert_eq!(property(text, "java.home"), Some("/opt/java"));
        assert_eq!(property(text, "java.specification.version").and_then(feature_release), Some(21));
        assert_eq!(feature_release("1.8"), Some(8));
    }

    #[tokio::test]
    async fn missing_java_is_an_error() {
        let missing = find(&Tools::default()).await.unwrap_err();
        assert_eq!(missing, "there is no Java 17 or newer in JAVA_HOME or on the PATH");
    }
}
