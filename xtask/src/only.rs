//! `cargo xtask only SYSTEM…`: a root template with these systems alone. SAM packages whatever a template nests, also
//! where a condition leaves it out, and so wants the zips of all systems that `template.yaml` has.

use std::fs;
use std::path::Path;

use crate::failure::{Doing, Failure};
use crate::infra::root;
use crate::systems;

/// Beside `template.yaml`, where SAM looks for `samconfig.toml`; git ignores it.
const FILE: &str = "only.yaml";

/// Writes the template for who has asked for it.
pub fn write(folder: &Path, named: &[String]) -> Result<&'static str, Failure> {
    let file = folder.join(FILE);
    fs::write(&file, template(named)?).doing(file.display())?;
    Ok(FILE)
}

/// The template itself, to stand in the root.
pub fn template(named: &[String]) -> Result<String, Failure> {
    let systems = systems::named(named)?;
    let names: Vec<&str> = systems.iter().map(|declared| declared.app.system().name).collect();
    Ok(root::template(&names))
}
