//! Which Java to run engines with.

use std::path::PathBuf;

use tokio::process::Command;

use super::Tools;

/// The oldest Java that runs the engines.
pub const OLDEST: u32 = 17;

/// A Java runtime that is new enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Java {
    pub command: PathBuf,
    /// Its feature release, such as 17.
    pub version: u32,
    /// The build, in letters, digits, `.`, `-` and `_`, such as `17.0.15_6-Debian-1deb12u1`.
    pub build: String,
    /// The folder that `JAVA_HOME` would name, for tools that want it.
    pub home: PathBuf,
}

/// `JAVA_HOME`'s Java, else the path's. The error says what is missing.
pub async fn find(tools: &Tools) -> Result<Java, String> {
    let candidates = [tools.java_home.as_ref().map(|home| home.join("bin/java")), tools.find("java")];
    let mut missing = format!("there is no Java {OLDEST} or newer in JAVA_HOME or on the PATH");
    for command in candidates.into_iter().flatten() {
        match ask(command).await {
            Some(java) if java.version >= OLDEST => return Ok(java),
            Some(java) => {
                missing = format!("`{}` is Java {}, and {OLDEST} is needed", java.command.display(), java.version);
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

/// 17 of `17`, 8 of `1.8`.
fn feature_release(text: &str) -> Option<u32> {
    text.strip_prefix("1.").unwrap_or(text).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_java_prints_them() {
        let text = "Property settings:\n    java.home = /opt/java\n    java.specification.version = 21\n";
        assert_eq!(property(text, "java.home"), Some("/opt/java"));
        assert_eq!(property(text, "java.specification.version").and_then(feature_release), Some(21));
        assert_eq!(feature_release("1.8"), Some(8));
    }

    #[tokio::test]
    async fn without_java_the_answer_says_what_is_missing() {
        let missing = find(&Tools::default()).await.unwrap_err();
        assert_eq!(missing, "there is no Java 17 or newer in JAVA_HOME or on the PATH");
    }
}
