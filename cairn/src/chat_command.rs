//! `cairn chat`: makes the first administrator of chat.

use clap::{Args, Subcommand};

use crate::failure::Failure;
use crate::{StateFolder, running};

#[derive(Debug, Args)]
pub struct Chat {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    state: StateFolder,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Give a user the role of an administrator, who can then give it to others.
    Admin { username: String },
}

impl Chat {
    pub async fn run(self) -> Result<(), Failure> {
        let Command::Admin { username } = self.command;
        let engines = running::engines(&self.state.folder).await?;
        match chat::users::operator::make_admin(engines, &username).await.map_err(Failure::new)? {
            Some(id) => {
                println!("{username} ({id}) is an administrator of chat");
                Ok(())
            }
            None => Err(Failure::new(format!(
                "Chat has no user `{username}`.\nRegister first, or send GET /chat/me with a token of your issuer."
            ))),
        }
    }
}
