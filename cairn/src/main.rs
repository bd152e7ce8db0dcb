//! `cairn`: the whole platform on one machine, and the operator's commands.

mod create_index;
mod failure;
mod import;
mod local_command;
mod log;
mod quarantine;
mod repair;
mod running;
mod sample_data;
mod show;
mod system;
mod token;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

/// Back ends on DynamoDB and OpenSearch: run them on this machine, and operate them.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
struct Cairn {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the whole platform on this machine.
    Local(local_command::Local),
    /// Print a bearer token for the local platform.
    Token(token::Token),
    /// Make items of the rows of a file, or change those that have their external ids.
    Import(import::Import),
    /// Make the first index of a deployed system, filled from its tables, or go on with it.
    CreateIndex(create_index::CreateIndex),
    /// See what could not be indexed, and why.
    Quarantine(quarantine::Quarantine),
    /// Bring the document of one item to what the table has.
    Repair(repair::Repair),
}

/// Where a local platform keeps everything.
#[derive(Clone, Debug, Args)]
struct StateFolder {
    /// The folder with everything that the local platform keeps.
    #[arg(long = "state", value_name = "FOLDER", default_value = ".cairn", global = true)]
    folder: PathBuf,
}

#[tokio::main]
async fn main() -> ExitCode {
    let outcome = match Cairn::parse().command {
        Command::Local(local) => local.run().await,
        Command::Token(token) => token.run(),
        Command::Import(import) => import.run().await,
        Command::CreateIndex(create) => create.run().await,
        Command::Quarantine(quarantine) => quarantine.run().await,
        Command::Repair(repair) => repair.run().await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}
