//! `cargo local`: prints how long a first build takes, then builds and runs `cairn local`. It has no dependencies, so
//! that it compiles within a second.

use std::env;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// How long the first build takes on two cores, measured with an empty target folder.
const BUILD: &str = "about 5 to 9 minutes on two cores";

fn main() -> ExitCode {
    if is_first_build() {
        let search = if on_path("java") && on_path("mvn") {
            "downloads OpenSearch once (56 MB)"
        } else {
            "downloads osmem, a small OpenSearch, since Java 17 or Maven is missing"
        };
        eprintln!("Building Cairn for the first time: {BUILD}. Then it {search}, and starts in seconds.");
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

fn on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = |folder: PathBuf| Path::new(&folder).join(program).exists();
    env::split_paths(&path).any(found)
}
