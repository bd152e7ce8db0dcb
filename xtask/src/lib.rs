//! Generators of files in the repository, and checks of them: API descriptions, sample events, templates for AWS, the
//! router of `cargo lambda watch` and tables in the docs are generated from the systems' declarations.
//! `cargo xtask generate` writes them, and a test fails if one has drifted.

pub mod artefact;
pub mod costs;
pub mod dependencies;
pub mod deployed;
pub mod description;
pub mod drift;
pub mod events;
pub mod failure;
pub mod import;
pub mod infra;
pub mod judge;
pub mod lambda;
pub mod mutants;
pub mod nightly;
pub mod node;
pub mod patterns;
pub mod python;
pub mod records;
pub mod rehearsal;
pub mod schema;
pub mod systems;
pub mod templates;
pub mod versions;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use artefact::Artefact;
use failure::{Doing, Failure};
use systems::Declared;
use web::operation;

/// Generates all files for all systems.
pub fn artefacts() -> Vec<Artefact> {
    artefacts_of(&systems::all())
}

/// Generates all files for these systems.
pub fn artefacts_of(systems: &[Declared]) -> Vec<Artefact> {
    let mut artefacts = Vec::new();
    let mut routers = String::from("[workspace.metadata.lambda.watch.router]\n");
    for declared in systems {
        let app = &declared.app;
        let name = app.system().name;
        routers.push_str(&operation::watch_router(name, app.routes()));
        artefacts.push(Artefact::file(format!("{}/openapi.json", systems::folder(name)), description::of(app)));
        artefacts.push(Artefact::file(versions::path(name), versions::file(declared)));
        for (operation, event) in events::of(app, &declared.records) {
            artefacts.push(Artefact::file(format!("events/{name}/{operation}.json"), event));
        }
        artefacts.push(Artefact::file(format!("infra/{name}.yaml"), infra::system::template(app)));
        let docs = format!("docs/{name}.md");
        let blocks = [
            ("its routes", operation::route_table(app.routes())),
            ("its entities", schema::entities(app.system())),
            ("its indexes", schema::indexes(app.system())),
            ("what else it has", schema::resources(app.system())),
            ("its access patterns", patterns::table(app)),
            ("its costs", costs::Record::read(name).table()),
        ];
        artefacts.extend(blocks.into_iter().map(|(block, text)| Artefact::block(&docs, block, text)));
    }
    artefacts.push(Artefact::file("infra/shared.yaml", infra::shared::template()));
    artefacts.push(Artefact::file("samconfig.toml", infra::samconfig::stacks(systems)));
    let declaration = infra::declaration::declaration(systems);
    artefacts.push(Artefact::file("infra/declaration.json", declaration));
    artefacts.push(Artefact::block("Cargo.toml", "the router of `cargo lambda watch`", routers));
    artefacts
}

/// Returns the operations of a system that need no token: those that every system has, and its own of
/// `infra/public.json`.
pub fn public(system: &str) -> Result<BTreeSet<String>, Failure> {
    let list = fs::read(root().join("infra/public.json")).doing("infra/public.json")?;
    let mut own: BTreeMap<String, BTreeSet<String>> = serde_json::from_slice(&list).doing("infra/public.json")?;
    let mut public = own.remove(system).unwrap_or_default();
    public.extend(["getApiDescription", "getHealth"].map(str::to_owned));
    Ok(public)
}

/// Returns the repository's root.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
