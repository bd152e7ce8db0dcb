//! The invariants of ARCHITECTURE.md, each a test with the name that stands there.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "tests say what they expect by unwrapping it"
)]

mod circles;
mod features;
mod format;
mod ids;
mod manifest;
mod source;
mod templates;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use manifest::Manifest;
use source::{Source, code_of, files, mentions, without_tests};

/// What may see the systems; `shared` and the systems themselves must not.
const SEES_EVERYTHING: &[&str] = &["local", "cairn", "e2e", "bench", "xtask"];

/// The folders of the systems.
const SYSTEMS: [&str; 2] = ["functions", "examples"];

/// The names that no shared code may say. The examples are made up, so the
/// examples of shared code may resemble them.
static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let systems = local::systems::ALL.iter().filter(|served| !served.is_example);
    systems.map(|served| served.system.name.to_owned()).collect()
});

#[test]
fn dependencies_point_one_way() {
    let members = Manifest::members();
    let below = |folder: &str| -> BTreeSet<&str> {
        members.iter().filter(|member| member.folder.starts_with(folder)).map(|member| member.name.as_str()).collect()
    };
    let shared = below("shared/");
    assert!(!shared.is_empty() && SYSTEMS.iter().all(|folder| !below(folder).is_empty()));
    for member in &members {
        let ours = member.dependencies.iter().filter(|name| members.iter().any(|other| other.name == **name));
        for dependency in ours.map(String::as_str) {
            let allowed = match member.name.as_str() {
                name if SEES_EVERYTHING.contains(&name) => true,
                // A system never imports another, nor `shared` a system.
                _ => shared.contains(dependency),
            };
            assert!(allowed, "{} depends on {dependency}", member.name);
        }
    }
    let geometry = members.iter().find(|member| member.name == "geometry").unwrap();
    let alone = geometry.dependencies.iter().all(|name| name == "never" || !shared.contains(name.as_str()));
    assert!(alone, "geometry depends on no other crate of this workspace but `never`");
}

#[test]
fn a_system_has_no_client_of_an_engine() {
    let members = Manifest::members();
    let is_system = |member: &&Manifest| SYSTEMS.iter().any(|folder| member.folder.starts_with(folder));
    for system in members.iter().filter(is_system) {
        let clients = ["aws-", "opensearch", "reqwest", "hyper", "dynoxide", "s3s"];
        for dependency in &system.dependencies {
            assert!(!clients.iter().any(|client| dependency.starts_with(client)), "{} has {dependency}", system.name);
        }
    }
    for file in SYSTEMS.iter().flat_map(|folder| files(folder, "rs")) {
        let ways = ways_past_the_patterns(&code_of(&file.text));
        assert_eq!(ways, Vec::<&str>::new(), "{} reaches engines past its access patterns", file.path);
    }
}

/// The engines that code reaches by the methods of `Engines`, on whichever lines a call stands.
fn ways_past_the_patterns(code: &str) -> Vec<&'static str> {
    let code: String = code.split_whitespace().collect();
    let clients = ["dynamodb", "s3", "sqs", "eventbridge", "socket", "secretsmanager", "search"];
    let reaches =
        |client: &&str| code.contains(&format!(".{client}()")) || code.contains(&format!("Engines::{client}"));
    let mut ways: Vec<&str> = clients.into_iter().filter(reaches).collect();
    // An `Access` reads a secret by a pattern.
    let reads = ["engines().secret(", "engines.secret(", "Engines::secret("];
    ways.extend(reads.iter().any(|read| code.contains(read)).then_some("a secret"));
    ways
}

#[test]
fn a_way_past_the_patterns_is_found_on_any_line() {
    for (code, way) in [
        ("cx.engines().dynamodb().get_item()", "dynamodb"),
        ("let engines = cx.engines();\nengines\n    .sqs()\n    .send()", "sqs"),
        ("Engines::socket(engines)", "socket"),
        ("cx.engines().secret(IDENTITY)", "a secret"),
    ] {
        assert_eq!(ways_past_the_patterns(code), [way], "{code}");
    }
    let by_patterns = "cx.access().secret(&READ_IDENTITY, IDENTITY); cx.access().search(&SEARCH)";
    assert_eq!(ways_past_the_patterns(by_patterns), Vec::<&str>::new());
}

#[test]
fn nothing_shared_names_a_system() {
    for member in Manifest::members().iter().filter(|member| member.folder.starts_with("functions/")) {
        assert!(NAMES.contains(&member.name), "{} is not in local/src/systems.rs", member.name);
    }
    let mut named = Vec::new();
    for file in files("shared", "") {
        named.extend(system_in(&file.path).map(|system| format!("{} is named after {system}", file.path)));
        for (number, line) in file.text.lines().enumerate() {
            named.extend(system_in(line).map(|system| format!("{}:{} names {system}", file.path, number + 1)));
        }
    }
    assert_eq!(named, Vec::<String>::new());
}

/// The system that a text names, by a word that stands by itself or is joined to others by `_` or `-`.
fn system_in(text: &str) -> Option<&'static str> {
    let mut words = text.split(|letter: char| !letter.is_alphanumeric());
    words.find_map(|word| NAMES.iter().map(String::as_str).find(|system| word.eq_ignore_ascii_case(system)))
}

#[test]
fn a_system_is_told_from_other_words() {
    for text in ["parks", "PARKS_TABLE", "the `Parks`.", "shared/table/tests/parks.rs", "parks-admin"] {
        assert_eq!(system_in(text), Some("parks"), "{text}");
    }
    assert_eq!(system_in("it sparks: a parked archivist chats with an agency"), None);
}

#[test]
fn the_mirror_has_no_floats() {
    for file in files("shared/mirror/src", "rs") {
        for (number, line) in code_of(without_tests(&file.text)).lines().enumerate() {
            let floats = ["f32", "f64", "as_f64", "from_f64"].iter().any(|word| mentions(line, word));
            assert!(!floats && !has_float_literal(line), "{}:{}: {line}", file.path, number + 1);
        }
    }
    let workspace = source::read("Cargo.toml");
    assert!(!workspace.contains("arbitrary_precision"), "it would change every number of the process");
}

#[test]
fn one_clock_and_one_configuration() {
    let allowed = |path: &str, word: &str| match word {
        // Lambda states an invocation's deadline in the machine's time.
        "SystemTime::now" => path == "shared/web/src/lambda.rs",
        "Timestamp::now" => path == "shared/table/src/clock.rs",
        _ => matches!(path, "shared/table/src/config.rs" | "shared/web/src/lambda.rs"),
    };
    for file in ["shared"].iter().chain(&SYSTEMS).flat_map(|folder| files(folder, "rs")).filter(Source::is_not_test) {
        let code = code_of(without_tests(&file.text));
        for word in ["SystemTime::now", "Timestamp::now", "Utc::now", "env::var", "env::var_os"] {
            let used = code.lines().any(|line| mentions(line, word));
            assert!(!used || allowed(&file.path, word), "{} uses {word}", file.path);
        }
    }
}

#[test]
fn a_request_keeps_its_trace() {
    for file in ["shared"].iter().chain(&SYSTEMS).flat_map(|folder| files(folder, "rs")).filter(Source::is_not_test) {
        let code = code_of(without_tests(&file.text));
        let spawns = ["tokio::spawn", "task::spawn", "JoinSet"].iter().any(|word| mentions(&code, word));
        assert!(
            !spawns || file.path == "shared/web/src/guard.rs",
            "{} spawns a task, which loses its trace",
            file.path
        );
    }
}

#[test]
fn every_version_stands_in_one_place() {
    let members = Manifest::members();
    let root = Manifest::workspace();
    let used: BTreeSet<&String> = members.iter().flat_map(|member| &member.dependencies).collect();
    let unused: Vec<&String> = root.dependencies.iter().filter(|dependency| !used.contains(dependency)).collect();
    assert_eq!(unused, Vec::<&String>::new(), "no crate uses these");
    for member in &members {
        assert!(member.inherits_lints, "{} has lints of its own", member.name);
        assert_eq!(member.own_versions, Vec::<String>::new(), "{} names versions of its own", member.name);
    }
}

/// What is tested is what is deployed: `cargo lambda build` chooses for itself what the profile does not say.
#[test]
fn the_release_profile_leaves_nothing_open() {
    let workspace = source::read("Cargo.toml");
    let (_, profile) = workspace.split_once("[profile.release]\n").unwrap();
    let said: Vec<&str> = profile.lines().map_while(|line| line.split_once(" = ")).map(|(key, _)| key).collect();
    assert_eq!(said, ["codegen-units", "lto", "opt-level", "panic", "strip"]);
}

#[test]
fn files_are_named_for_their_subject() {
    for file in files("", "rs") {
        for word in ["utils", "util", "helpers", "helper", "common", "misc"] {
            let named = file.path.split(['/', '.']).any(|part| part == word);
            assert!(!named, "{} is named for no subject", file.path);
        }
        let documented = file.text.starts_with("//!") || !file.text.contains("\npub ") || file.path.contains("/tests/");
        assert!(documented, "{} does not begin with what it is for", file.path);
    }
}

#[test]
fn no_test_is_passed_over() {
    for file in files("", "rs") {
        let code = code_of(&file.text);
        assert!(!code.contains("#[ignore"), "{} ignores a test", file.path);
    }
}

/// A name of four words or more in a document is that of a test or a function.
#[test]
fn documents_name_existing_tests() {
    let code: Vec<String> = files("", "rs").into_iter().map(|file| file.text).collect();
    let functions: BTreeSet<&str> = code
        .iter()
        .flat_map(|text| text.split("fn ").skip(1))
        .map(|rest| rest.split(|part: char| !part.is_ascii_alphanumeric() && part != '_').next().unwrap_or_default())
        .collect();
    for file in files("", "md") {
        for quoted in file.text.split('`').skip(1).step_by(2) {
            let name = quoted.rsplit("::").next().unwrap_or_default();
            let is_name = name.chars().all(|part| part.is_ascii_lowercase() || part.is_ascii_digit() || part == '_');
            if is_name && name.split('_').filter(|word| !word.is_empty()).count() >= 4 {
                assert!(functions.contains(name), "{} names `{quoted}`, which does not exist", file.path);
            }
        }
    }
}

#[test]
fn what_says_that_it_is_generated_is() {
    let says = |text: &str| text.lines().take(2).any(|line| line.contains(xtask::artefact::MARK));
    let artefacts = xtask::artefacts();
    for artefact in artefacts.iter().filter(|artefact| artefact.block.is_none()) {
        assert!(says(&artefact.text), "{} does not say that it is generated", artefact.path);
    }
    let generated: BTreeSet<&String> = artefacts.iter().map(|artefact| &artefact.path).collect();
    for file in files("", "").iter().filter(|file| !file.path.ends_with(".rs")) {
        assert!(!says(&file.text) || generated.contains(&file.path), "{} is generated by nothing", file.path);
    }
}

#[test]
fn nothing_generated_has_drifted() {
    let drifted = xtask::drift::find(xtask::root(), &xtask::artefacts()).unwrap();
    let told: Vec<String> = drifted.iter().map(ToString::to_string).collect();
    assert_eq!(told, Vec::<String>::new(), "run `cargo xtask generate`");
}

/// Digits on both sides of a point.
fn has_float_literal(line: &str) -> bool {
    let bytes = line.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    (1..bytes.len()).any(|at| {
        // A tuple's field, as in `pair.0.1`, comes after a point or a name.
        let whole = line[..at].trim_end_matches(|digit: char| digit.is_ascii_digit() || digit == '_');
        bytes[at] == b'.'
            && is_digit(at - 1)
            && is_digit(at + 1)
            && !whole.ends_with(|before: char| before == '.' || before.is_alphanumeric())
    })
}

#[test]
fn floats_are_told_from_other_numbers() {
    for line in ["1.5", "let x = 0.1;", "(10_000.25)"] {
        assert!(has_float_literal(line), "{line}");
    }
    for line in ["1..5", "pair.0.1", "x1.5", "self.0", "1.max(2)"] {
        assert!(!has_float_literal(line), "{line}");
    }
}

/// A system that is left out of these lines has no zip when it is to be deployed. Examples are deployed by choice.
#[test]
fn the_guides_build_every_system() {
    let systems = xtask::systems::all();
    let names = systems.iter().map(|declared| declared.app.system().name);
    let expected: BTreeSet<&str> = names.filter(|name| !xtask::systems::is_example(name)).collect();
    for guide in ["README.md", "docs/deploying.md"] {
        let text = source::read(guide);
        let lines: Vec<&str> =
            text.lines().filter(|line| line.trim_start().starts_with("cargo lambda build")).collect();
        assert!(!lines.is_empty(), "{guide}");
        for line in lines {
            let built: BTreeSet<&str> = line.split(" --bin ").skip(1).collect();
            assert_eq!(built, expected, "{guide}: {line}");
        }
    }
}
