//! `cargo local`: prints how long a first build takes, then builds and runs `cairn local`. It has no dependencies, so
//! that it compiles within a second.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// How long the first build takes on two cores, measured with an empty target folder.
const BUILD: &str = "about 5 to 9 minutes on two cores";

fn main() -> ExitCode {
    if is_first_build() {
        eprintln!("Building Cairn for the first time: {BUILD}. Then it starts in seconds.");
        eprintln!("Its first start downloads OpenSearch (56 MB), or a smaller engine if Java 17 or Maven is missing.");
        eprintln!("It is ready when it prints `ready` and an address. Ctrl-C stops it.");
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--package", "cairn", "--", "local"]).args(env::args_os().skip(1));
    // Returns only if cargo cannot be started.
    eprintln!("Starting cargo failed: {}", command.exec());
    ExitCode::FAILURE
}

/// Whether there is no `cairn` binary beside this program.
fn is_first_build() -> bool {
    env::current_exe().is_ok_and(|launcher| !launcher.with_file_name("cairn").exists())
}
