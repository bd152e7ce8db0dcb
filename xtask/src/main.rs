//! - `cargo xtask generate` writes all generated files; `cargo xtask check` lists those that have drifted.
//! - `cargo xtask rehearse` sends all sample events, and writes the responses beside them.
//! - `cargo xtask templates` checks the templates for AWS with the tools that deploy them.
//! - `cargo xtask dependencies` checks licences, sources and known vulnerabilities of all dependencies.
//! - `cargo xtask zip` builds the zips of systems for this machine.
//! - `cargo xtask deployed` deploys systems to an emulated cloud and tests them there.
//! - `cargo xtask lambda` tests systems with cargo-lambda, by the commands of docs/cargo-lambda.md.
//! - `cargo xtask judge` sends the searches of `samples/judged.tsv` and prints the quality of the answers.
//! - `cargo xtask nightly` runs the third tier of the tests: full sizes, all sets of engines, each system deployed.
//! - `cargo xtask mutants` puts faults into the mirror's source, and requires that a test finds each.
//! - `cargo xtask import` writes a template by which a new stack imports the resources that a deleted one left.

use std::process::ExitCode;

use xtask::drift;
use xtask::failure::Failure;
use xtask::import::Deployment;

#[tokio::main]
async fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    let named: Vec<String> = std::env::args().skip(2).collect();
    let done = match command.as_str() {
        "generate" | "check" if let Err(failure) = xtask::versions::check(xtask::root()) => {
            return exit_code(Err(failure));
        }
        "generate" => drift::fix(xtask::root(), &xtask::artefacts()).map(|fixed| {
            fixed.iter().for_each(|change| println!("{change}"));
            ExitCode::SUCCESS
        }),
        "check" => drift::find(xtask::root(), &xtask::artefacts()).map(|drifted| {
            drifted.iter().for_each(|change| eprintln!("{change}"));
            if drifted.is_empty() {
                ExitCode::SUCCESS
            } else {
                eprintln!("Run `cargo xtask generate`.");
                ExitCode::FAILURE
            }
        }),
        "rehearse" => return exit_code(xtask::rehearsal::here::write(xtask::root()).await),
        "templates" => return exit_code(xtask::templates::check(xtask::root()).await),
        "dependencies" => return exit_code(xtask::dependencies::check(xtask::root()).await),
        "zip" => return exit_code(zip(&named).await),
        "deployed" => return exit_code(xtask::deployed::run(xtask::root(), &named).await),
        "lambda" => return exit_code(xtask::lambda::run(xtask::root(), &named).await),
        "judge" => return exit_code(xtask::judge::run(named.first().map(String::as_str)).await),
        "nightly" => return exit_code(xtask::nightly::run(xtask::root(), &named).await),
        "mutants" => return exit_code(xtask::mutants::run(xtask::root(), &named).await),
        "import" if let [stack, prefix, account, region] = named.as_slice() => {
            let deployment = Deployment { prefix, account, region };
            let files = xtask::import::write(xtask::root(), stack, &deployment);
            return exit_code(files.map(|files| files.iter().for_each(|file| println!("{file}"))));
        }
        _ => {
            eprintln!(
                "usage: cargo xtask generate | check | rehearse | templates | dependencies | zip [SYSTEM…] | deployed [SYSTEM…] | lambda [SYSTEM…] | judge [URL] | nightly [STEP…] | mutants [NAME…] \
                 | import shared|SYSTEM PREFIX ACCOUNT REGION"
            );
            return ExitCode::from(2);
        }
    };
    done.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::FAILURE
    })
}

async fn zip(named: &[String]) -> Result<(), Failure> {
    for declared in xtask::systems::named(named)? {
        xtask::deployed::zip::build(xtask::root(), declared.app.system().name).await?;
    }
    Ok(())
}

fn exit_code(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}
