//! `cairn`: runs the platform on one machine, and has the commands of operators.

mod audit;
mod chat_command;
mod create_index;
mod failure;
mod gazetteer;
mod import;
mod local_command;
mod log;
mod quarantine;
mod rebuild;
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
    /// Import a GeoJSON or CSV file: create an item for each row, or update the item with its external id.
    Import(import::Import),
    /// Load the archive's places: countries, divisions and cities of GeoNames.
    Gazetteer(gazetteer::Gazetteer),
    /// Make the first administrator of chat.
    Chat(chat_command::Chat),
    /// Create the first index of a deployed system from its tables, or resume an interrupted run.
    CreateIndex(create_index::CreateIndex),
    /// List items that could not be indexed, with the reasons.
    Quarantine(quarantine::Quarantine),
    /// Rebuild the index of a system while it serves.
    Rebuild(rebuild::Rebuild),
    /// Rebuild the search document of one item from the table.
    Repair(repair::Repair),
    /// Compare the tables of a system with its indexes, and repair what differs. Exits with 3 if something is left.
    Audit(audit::Audit),
}

/// The state folder of a local platform.
#[derive(Clone, Debug, Args)]
struct StateFolder {
    /// State folder of the local platform, with all its data.
    #[arg(long = "state", value_name = "FOLDER", default_value = ".cairn", global = true)]
    folder: PathBuf,
}

#[tokio::main]
async fn main() -> ExitCode {
    let outcome = match Cairn::parse().command {
        Command::Local(local) => local.run().await,
        Command::Token(token) => token.run(),
        Command::Import(import) => import.run().await,
        Command::Gazetteer(gazetteer) => gazetteer.run().await,
        Command::Chat(chat) => chat.run().await,
        Command::CreateIndex(create) => create.run().await,
        Command::Quarantine(quarantine) => quarantine.run().await,
        Command::Rebuild(rebuild) => rebuild.run().await,
        Command::Repair(repair) => repair.run().await,
        Command::Audit(audit) => match audit.run().await {
            Ok(code) => return code,
            Err(failure) => Err(failure),
        },
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}
