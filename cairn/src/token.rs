//! `cairn token`: a bearer token of the local platform's own issuer.

use clap::Args;
use local::identity::Identity;
use table::Clock;

use crate::StateFolder;
use crate::failure::Failure;

#[derive(Debug, Args)]
pub struct Token {
    /// The roles of whoever it is for, such as `parks-admin`.
    #[arg(required = true, value_name = "ROLE")]
    roles: Vec<String>,
    /// Whom it is for; the first role, if not given.
    #[arg(long)]
    subject: Option<String>,
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
        let subject = self.subject.as_deref().or(roles.first().copied()).unwrap_or_default();
        println!("{}", Identity::open(folder)?.token(subject, &roles, &Clock::system())?);
        Ok(())
    }
}
