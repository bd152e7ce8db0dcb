//! `cairn`: runs the platform on one machine, and has the commands of operators.

mod audit;
mod chat_command;
mod create_index;
mod document_key;
mod executions;
mod exit;
mod failure;
mod filling;
mod gateway;
mod gazetteer;
mod import;
mod lag;
mod local_command;
mod log;
mod quarantine;
mod rebuild;
mod redrive;
mod repair;
mod retrying;
mod running;
mod sample_data;
mod show;
mod show_command;
mod state_folder;
mod status;
mod sweep;
mod system;
mod target;
mod time;
mod token;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use state_folder::StateFolder;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
    /// Repair what Lambda gave up and what is in quarantine.
    Redrive(redrive::Redrive),
    /// Print the status of search in one word for each system, with the reason.
    Status(status::Status),
    /// Print how far search is behind the tables.
    Lag(lag::Lag),
    /// Print an item, its document, version and marker side by side.
    Show(show_command::ShowKey),
    /// Delete old tombstones from search now.
    Sweep(sweep::Sweep),
}

/// Exits quietly when the output is a closed pipe, as in `cairn status | head -1`. `println!` panics there.
fn exit_on_closed_pipe() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let said = panic.payload_as_str().unwrap_or_default();
        if said.starts_with("failed printing to std") && said.contains("Broken pipe") {
            std::process::exit(exit::CLOSED_PIPE.into());
        }
        report(panic);
    }));
}

#[tokio::main]
async fn main() -> ExitCode {
    let command = Cairn::parse().command;
    // A running platform stops its engines when it ends, which an exit would not.
    if !matches!(&command, Command::Local(local) if local.runs_platform()) {
        exit_on_closed_pipe();
    }
    let done = |outcome: Result<(), failure::Failure>| outcome.map(|()| ExitCode::SUCCESS);
    let outcome = match command {
        Command::Local(local) => local.run().await,
        Command::Token(token) => done(token.run()),
        Command::Import(import) => done(import.run().await),
        Command::Gazetteer(gazetteer) => done(gazetteer.run().await),
        Command::Chat(chat) => done(chat.run().await),
        Command::CreateIndex(create) => done(create.run().await),
        Command::Quarantine(quarantine) => quarantine.run().await,
        Command::Rebuild(rebuild) => rebuild.run().await,
        Command::Audit(audit) => audit.run().await,
        Command::Repair(repair) => done(repair.run().await),
        Command::Redrive(redrive) => redrive.run().await,
        Command::Status(status) => status.run().await,
        Command::Lag(lag) => lag.run().await,
        Command::Show(show) => show.run().await,
        Command::Sweep(sweep) => sweep.run().await,
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            show::print_message(failure);
            ExitCode::FAILURE
        }
    }
}
