//! - `cargo xtask generate` writes what is made from the declarations; `cargo xtask check` says what of it has drifted.
//! - `cargo xtask rehearse` writes beside each sample event what it is answered.
//! - `cargo xtask templates` has the templates for AWS checked by the tools of those who deploy them.
//! - `cargo xtask dependencies` looks at the licences, sources and known faults of all dependencies.
//! - `cargo xtask zip` builds all systems, or those that are named, as they are deployed, for this machine.
//! - `cargo xtask deployed` deploys all systems, or those that are named, to an emulated cloud and tries them there.
//! - `cargo xtask lambda` tries them with cargo-lambda, as docs/cargo-lambda.md says.
//! - `cargo xtask judge` asks the searches of `samples/judged.tsv` and prints how well they are answered.
//! - `cargo xtask nightly` runs what takes hours: full sizes, all sets of engines, each system deployed.
//! - `cargo xtask import` writes by what a new stack takes over the tables, buckets or the domain of a deleted one.

use std::process::ExitCode;

use xtask::drift;
use xtask::failure::Failure;
use xtask::import::Deployment;

#[tokio::main]
async fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    let named: Vec<String> = std::env::args().skip(2).collect();
    let done = match command.as_str() {
        "generate" => drift::mend(xtask::root(), &xtask::artefacts()).map(|mended| {
            mended.iter().for_each(|change| println!("{change}"));
            ExitCode::SUCCESS
        }),
        "check" => drift::find(xtask::root(), &xtask::artefacts()).map(|drifted| {
            drifted.iter().for_each(|change| eprintln!("{change}"));
            if drifted.is_empty() {
                ExitCode::SUCCESS
            } else {
                eprintln!("run `cargo xtask generate`");
                ExitCode::FAILURE
            }
        }),
        "rehearse" => return told(xtask::rehearsal::here::keep(xtask::root()).await),
        "templates" => return told(xtask::templates::check(xtask::root()).await),
        "dependencies" => return told(xtask::dependencies::check(xtask::root()).await),
        "zip" => return told(zip(&named).await),
        "deployed" => return told(xtask::deployed::run(xtask::root(), &named).await),
        "lambda" => return told(xtask::lambda::run(xtask::root(), &named).await),
        "judge" => return told(xtask::judge::run(named.first().map(String::as_str)).await),
        "nightly" => return told(xtask::nightly::run(xtask::root(), &named).await),
        "import" if let [stack, prefix, account, region] = named.as_slice() => {
            let deployment = Deployment { prefix, account, region };
            let files = xtask::import::write(xtask::root(), stack, &deployment);
            return told(files.map(|files| files.iter().for_each(|file| println!("{file}"))));
        }
        _ => {
            eprintln!(
                "usage: cargo xtask generate | check | rehearse | templates | dependencies | zip [SYSTEM…] | deployed [SYSTEM…] | lambda [SYSTEM…] | judge [URL] | nightly [STEP…] \
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

fn told(done: Result<(), Failure>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}
