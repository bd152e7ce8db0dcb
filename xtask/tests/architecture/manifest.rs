//! What the workspace's `Cargo.toml` files say, as far as the invariants need it.

use crate::source::read;

#[derive(Debug)]
pub struct Manifest {
    /// From the repository's root.
    pub folder: String,
    pub name: String,
    /// Of all kinds: ordinary, for tests, for builds.
    pub dependencies: Vec<String>,
    /// Dependencies that do not come from the workspace.
    pub own_versions: Vec<String>,
    pub inherits_lints: bool,
}

impl Manifest {
    /// Every crate of the workspace.
    pub fn members() -> Vec<Self> {
        let workspace = read("Cargo.toml");
        let (_, list) = workspace.split_once("members = [").unwrap();
        let (list, _) = list.split_once(']').unwrap();
        let folders = list.split('"').skip(1).step_by(2);
        folders.map(|folder| Self::parse(folder, &read(&format!("{folder}/Cargo.toml")))).collect()
    }

    /// The workspace itself: its dependencies are what the members choose from.
    pub fn workspace() -> Self {
        Self::parse("", &read("Cargo.toml"))
    }

    fn parse(folder: &str, text: &str) -> Self {
        let mut manifest = Self {
            folder: folder.to_owned(),
            name: String::new(),
            dependencies: Vec::new(),
            own_versions: Vec::new(),
            inherits_lints: false,
        };
        let mut section = "";
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(header) = line.strip_prefix('[') {
                section = header.trim_end_matches(']');
                // `[dependencies.name]` would go past this reader.
                assert!(!section.contains("dependencies."), "{folder}: [{section}]");
                continue;
            }
            let Some((key, value)) = line.split_once('=') else { continue };
            let (key, value) = (key.trim(), value.trim());
            let name = key.split('.').next().unwrap().to_owned();
            if section.ends_with("dependencies") {
                if key != format!("{name}.workspace") && !value.contains("workspace = true") {
                    manifest.own_versions.push(name.clone());
                }
                manifest.dependencies.push(name);
            } else if section == "package" && key == "name" {
                manifest.name = value.trim_matches('"').to_owned();
            } else if section == "lints" && key == "workspace" {
                manifest.inherits_lints = value == "true";
            }
        }
        manifest
    }
}

#[test]
fn a_manifest_is_read() {
    let text = "[package]\nname = \"a\"\n[lints]\nworkspace = true\n[dependencies]\nb.workspace = true\n\
                [dev-dependencies]\nc = { workspace = true, features = [\"x\"] }\nd = \"1\"\n";
    let manifest = Manifest::parse("x/a", text);
    assert_eq!((manifest.name.as_str(), manifest.inherits_lints), ("a", true));
    assert_eq!(manifest.dependencies, ["b", "c", "d"]);
    assert_eq!(manifest.own_versions, ["d"]);
}
