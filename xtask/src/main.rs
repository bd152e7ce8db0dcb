//! `cargo xtask generate` writes what is made from the declarations; `cargo xtask check` says what of it has drifted;
//! `cargo xtask deployed` deploys all of it to an emulated cloud and tries it there.

use std::process::ExitCode;

use xtask::drift;

#[tokio::main]
async fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
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
        "deployed" => {
            return match xtask::deployed::run(xtask::root()).await {
                Ok(()) => ExitCode::SUCCESS,
                Err(failure) => {
                    eprintln!("{failure}");
                    ExitCode::FAILURE
                }
            };
        }
        _ => {
            eprintln!("usage: cargo xtask generate | check | deployed");
            return ExitCode::from(2);
        }
    };
    done.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::FAILURE
    })
}
