//! `cairn token`: creates a bearer token of an issuer of the local platform.

use std::borrow::Cow;
use std::fs::{OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use clap::Args;
use local::StartError;
use local::identity::{self, ISSUER, Identity, Person};
use table::{Clock, Idpid};

use crate::StateFolder;
use crate::failure::Failure;

#[derive(Debug, Args)]
pub struct Token {
    /// Roles of the person, such as `parks-admin` or `platform-admin`. May be omitted.
    #[arg(value_name = "ROLE")]
    roles: Vec<String>,
    /// The subject of the token [default: the first role].
    #[arg(long, required_unless_present = "roles")]
    subject: Option<String>,
    /// An issuer of the platform. A person's id is `{issuer}:{subject}`.
    #[arg(long, default_value = ISSUER)]
    issuer: String,
    /// The person's name [default: the subject].
    #[arg(long)]
    name: Option<String>,
    /// A verified email address, for finding invitations.
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
                "There is no platform in `{folder}`.\nStart one first with `cargo local`."
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

/// Refuses a person whose token no system would accept.
fn check(person: &Person<'_>, issuers: &[String]) -> Result<(), Failure> {
    let Person { issuer, subject, .. } = person;
    if !issuers.iter().any(|known| known == issuer) {
        let known: Vec<String> = issuers.iter().map(|known| format!("`{known}`")).collect();
        return Err(Failure::new(format!(
            "This platform has no issuer `{issuer}`; it has {}; `cargo local --issuer NAME` adds one.",
            known.join(", ")
        )));
    }
    if Idpid::new(issuer, subject).is_none() {
        return Err(Failure::new(format!(
            "`{subject}` is not a valid subject; it must not be empty, and `{issuer}:` with the escaped subject must have \
             at most {} bytes.",
            Idpid::LONGEST
        )));
    }
    Ok(())
}

/// Writes the token of a kind of caller into a file of the state folder that only its owner can read. Returns its path.
pub fn keep(folder: &Path, kind: &str, token: &str) -> Result<PathBuf, StartError> {
    let tokens = folder.join("tokens");
    let file = tokens.join(kind);
    let write = || {
        std::fs::create_dir_all(&tokens)?;
        let mut opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&file)?;
        // An existing file keeps its mode, and a copy of a folder may have another one.
        opened.set_permissions(Permissions::from_mode(0o600))?;
        writeln!(opened, "{token}")
    };
    write().map_err(|error| StartError::folder(&file, error))?;
    Ok(file)
}

/// Returns the command that creates a person's token, for a shell.
pub fn command(folder: &Path, person: &Person<'_>) -> String {
    let mut command = "cargo cairn token".to_owned();
    for role in person.roles {
        command.push_str(&format!(" {}", quoted(role)));
    }
    let folder = folder.display().to_string();
    let subject = Some(person.subject).filter(|subject| person.roles.first() != Some(subject));
    let folder = Some(folder.as_str()).filter(|folder| *folder != ".cairn");
    for (option, value) in [("subject", subject), ("address", person.address), ("state", folder)] {
        if let Some(value) = value {
            command.push_str(&format!(" --{option} {}", quoted(value)));
        }
    }
    command
}

/// Quotes an argument for a shell, if it must be.
fn quoted(argument: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:@%+=,".contains(letter);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        Cow::Borrowed(argument)
    } else {
        Cow::Owned(format!("'{}'", argument.replace('\'', r"'\''")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_leaves_out_defaults() {
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
    fn command_is_quoted_for_a_shell() {
        let ada = Person { roles: &["parks-admin"], ..Person::new("auth0|ada") };
        let expected = "cargo cairn token parks-admin --subject 'auth0|ada' --state '/my data/ada'\\''s'";
        assert_eq!(command(Path::new("/my data/ada's"), &ada), expected);
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn token_file_is_private_even_if_it_was_not() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |file: &Path| std::fs::metadata(file).unwrap().permissions().mode() & 0o777;
        let file = keep(folder.path(), "ada", "first").unwrap();
        assert_eq!(mode(&file), 0o600);
        std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        assert_eq!(keep(folder.path(), "ada", "second").unwrap(), file);
        assert_eq!((mode(&file), std::fs::read_to_string(&file).unwrap().as_str()), (0o600, "second\n"));
    }

    #[test]
    fn unknown_issuer_and_invalid_subject_get_no_token() {
        let issuers = [ISSUER.to_owned(), "acme".to_owned()];
        let result = |person: Person<'_>| check(&person, &issuers).map_err(|failure| failure.to_string());
        assert_eq!(result(Person { issuer: "acme", ..Person::new("auth0|a#b") }), Ok(()));
        let refused = result(Person { issuer: "nobody", ..Person::new("ann") }).unwrap_err();
        assert!(refused.contains("it has `local`, `acme`;") && refused.lines().count() == 1, "{refused}");
        for subject in ["", &"a".repeat(195), &"#".repeat(65)] {
            let refused = result(Person::new(subject)).unwrap_err();
            assert!(refused.contains("at most 200 bytes") && refused.lines().count() == 1, "{refused}");
        }
    }
}
