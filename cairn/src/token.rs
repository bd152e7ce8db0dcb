//! `cairn token`: a bearer token of the local platform's own issuers.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::Args;
use local::StartError;
use local::identity::{self, ISSUER, Identity, Person};
use table::{Clock, Idpid};

use crate::StateFolder;
use crate::failure::Failure;

#[derive(Debug, Args)]
pub struct Token {
    /// The roles of whoever it is for, such as `parks-admin` or `platform-admin`; none for somebody who is only signed in.
    #[arg(value_name = "ROLE")]
    roles: Vec<String>,
    /// Whom it is for; the first role, if not given.
    #[arg(long, required_unless_present = "roles")]
    subject: Option<String>,
    /// Which of the platform's issuers says so: in keys, people are `{issuer}:{subject}`.
    #[arg(long, default_value = ISSUER)]
    issuer: String,
    /// What the person is called; the subject, if not given.
    #[arg(long)]
    name: Option<String>,
    /// A verified email address, to which invitations are found.
    #[arg(long, value_name = "EMAIL")]
    address: Option<String>,
    #[command(flatten)]
    state: StateFolder,
}

impl Token {
    pub fn run(self) -> Result<(), Failure> {
        let folder = &self.state.folder;
        let Some(issuers) = identity::issuers(folder)? else {
            let folder = folder.display();
            return Err(Failure::new(format!(
                "There is no platform in `{folder}`.\nStart it first with `cargo local`."
            )));
        };
        let roles: Vec<&str> = self.roles.iter().map(String::as_str).collect();
        let person = Person {
            issuer: &self.issuer,
            subject: self.subject.as_deref().or(roles.first().copied()).unwrap_or_default(),
            roles: &roles,
            name: self.name.as_deref(),
            address: self.address.as_deref(),
        };
        check(&person, &issuers)?;
        println!("{}", Identity::open(folder)?.token_of(&person, &Clock::system())?);
        Ok(())
    }
}

/// Refuses whom no system would let in, whatever the token.
fn check(person: &Person<'_>, issuers: &[String]) -> Result<(), Failure> {
    let Person { issuer, subject, .. } = person;
    if !issuers.iter().any(|known| known == issuer) {
        let known: Vec<String> = issuers.iter().map(|known| format!("`{known}`")).collect();
        return Err(Failure::new(format!(
            "This platform has no issuer `{issuer}`: it has {}; `cargo local --issuer NAME` adds one.",
            known.join(", ")
        )));
    }
    if Idpid::new(issuer, subject).is_none() {
        return Err(Failure::new(format!(
            "`{subject}` is no subject: it must not be empty, and escaped as in keys, with `{issuer}:` before it, it \
             must have at most {} bytes.",
            Idpid::LONGEST
        )));
    }
    Ok(())
}

/// Writes somebody's token into a file of the state folder that only its owner reads, named after their kind. Returns
/// where it is.
pub fn keep(folder: &Path, kind: &str, token: &str) -> Result<PathBuf, StartError> {
    let tokens = folder.join("tokens");
    let file = tokens.join(kind);
    let write = || {
        std::fs::create_dir_all(&tokens)?;
        let mut opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&file)?;
        writeln!(opened, "{token}")
    };
    write().map_err(|error| StartError::folder(&file, error))?;
    Ok(file)
}

/// The command that makes somebody's token.
pub fn command(folder: &Path, person: &Person<'_>) -> String {
    let mut command = "cargo cairn token".to_owned();
    for role in person.roles {
        command.push_str(&format!(" {role}"));
    }
    let folder = folder.display().to_string();
    let subject = Some(person.subject).filter(|subject| person.roles.first() != Some(subject));
    let folder = Some(folder.as_str()).filter(|folder| *folder != ".cairn");
    for (option, value) in [("subject", subject), ("address", person.address), ("state", folder)] {
        if let Some(value) = value {
            command.push_str(&format!(" --{option} {value}"));
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_says_what_differs_from_the_usual() {
        let here = Path::new(".cairn");
        let administrator = Person { roles: &["parks-admin"], ..Person::new("parks-admin") };
        assert_eq!(command(here, &administrator), "cargo cairn token parks-admin");
        let ada = Person { roles: &["parks-admin"], ..Person::new("ada") };
        assert_eq!(command(here, &ada), "cargo cairn token parks-admin --subject ada");
        let ann = Person { address: Some("ann@example.org"), ..Person::new("ann") };
        let expected = "cargo cairn token --subject ann --address ann@example.org --state other";
        assert_eq!(command(Path::new("other"), &ann), expected);
    }

    #[test]
    fn nobody_gets_a_token_who_would_not_be_let_in() {
        let issuers = [ISSUER.to_owned(), "acme".to_owned()];
        let told = |person: Person<'_>| check(&person, &issuers).map_err(|failure| failure.to_string());
        assert_eq!(told(Person { issuer: "acme", ..Person::new("auth0|a#b") }), Ok(()));
        let refused = told(Person { issuer: "nobody", ..Person::new("ann") }).unwrap_err();
        assert!(refused.contains("it has `local`, `acme`;") && refused.lines().count() == 1, "{refused}");
        for subject in ["", &"a".repeat(195), &"#".repeat(65)] {
            let refused = told(Person::new(subject)).unwrap_err();
            assert!(refused.contains("at most 200 bytes") && refused.lines().count() == 1, "{refused}");
        }
    }
}
