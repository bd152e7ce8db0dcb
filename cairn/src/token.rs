//! `cairn token`: a bearer token of the local platform's own issuers.

use clap::Args;
use local::identity::{ISSUER, Identity, Person};
use table::Clock;

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
        if !folder.is_dir() {
            let folder = folder.display();
            return Err(Failure::new(format!(
                "There is no platform in `{folder}`.\nStart it first with `cargo local`."
            )));
        }
        let roles: Vec<&str> = self.roles.iter().map(String::as_str).collect();
        let person = Person {
            issuer: &self.issuer,
            subject: self.subject.as_deref().or(roles.first().copied()).unwrap_or_default(),
            roles: &roles,
            name: self.name.as_deref(),
            address: self.address.as_deref(),
        };
        println!("{}", Identity::open(folder)?.token_of(&person, &Clock::system())?);
        Ok(())
    }
}
