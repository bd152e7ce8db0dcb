//! Packages from npm, pinned by a folder's `package-lock.json`.

use std::fs;
use std::path::Path;

use tokio::process::Command;

use crate::failure::{Doing, Failure};
use crate::python::run;

/// A script that succeeds if Node.js is new enough.
const VERSION_CHECK: &str =
    "const [a, b] = process.versions.node.split('.'); process.exit(a > 20 || (a == 20 && b > 18) ? 0 : 1)";

/// Installs the packages of a folder, unless they are installed.
pub async fn install(folder: &Path) -> Result<(), Failure> {
    let needed = "Node.js 20.19 or newer with npm is missing; install it from nodejs.org";
    let mut node = Command::new("node");
    node.args(["-e", VERSION_CHECK]);
    run(node).await.map_err(|_| Failure::new(needed))?;
    let lock = folder.join("package-lock.json");
    let wanted = fs::read_to_string(&lock).doing(lock.display())?;
    let done = folder.join("node_modules/installed.json");
    if fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    println!("installing the packages of {} with npm", folder.display());
    let mut npm = Command::new("npm");
    npm.current_dir(folder).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    run(npm).await.doing(needed)?;
    fs::write(&done, wanted).doing(done.display())
}

/// Returns the command of a folder's script.
pub fn script(folder: &Path, name: &str) -> Command {
    let mut command = Command::new("npm");
    command.current_dir(folder).args(["run", "--silent", name, "--"]);
    command
}
