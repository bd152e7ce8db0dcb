//! Imports between the files of one crate: no two files may import each other, directly or by way of others.
//!
//! A child may import its parent. What a parent uses of its own children is not counted, or each `mod` with a
//! re-export would close a circle. Tests are left out.

use std::collections::{BTreeMap, BTreeSet};

use crate::manifest::Manifest;
use crate::source::{code_of, files};

#[test]
fn files_of_a_crate_import_each_other_in_no_circle() {
    for member in Manifest::members() {
        let sources = Crate::read(&member.folder);
        assert_eq!(sources.circles(), Vec::<Vec<String>>::new(), "the circles of crate `{}`", member.name);
    }
}

/// The modules of one crate by path; the root's is empty.
struct Crate(BTreeMap<String, Module>);

/// One file.
#[derive(Default)]
struct Module {
    /// Each `use` with the name that it brings into scope.
    uses: Vec<(String, Path)>,
    /// Paths from `crate`, `self` or `super` in the code.
    inline: Vec<Path>,
    /// Children that are declared under `#[cfg(test)]`.
    tests: Vec<String>,
}

type Path = Vec<String>;

impl Crate {
    fn read(folder: &str) -> Self {
        let sources = format!("{folder}/src");
        if !xtask::root().join(&sources).is_dir() {
            return Self(BTreeMap::new());
        }
        let texts = files(&sources, "rs").into_iter().filter_map(|file| {
            let path = file.path.strip_prefix(&format!("{sources}/"))?.strip_suffix(".rs")?;
            Some((path.replace('/', "::"), file.text))
        });
        Self::of(texts)
    }

    fn of(texts: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut modules = BTreeMap::new();
        for (path, text) in texts {
            let path = path.strip_suffix("::mod").unwrap_or(&path);
            let in_tests = path.split("::").any(|part| matches!(part, "bin" | "simulation" | "tests"));
            // A library's program is a crate of its own.
            let is_second_root = path == "main" && modules.contains_key("");
            if !in_tests && !is_second_root {
                let path = if matches!(path, "lib" | "main") { "" } else { path };
                modules.insert(path.to_owned(), Module::of(&text));
            }
        }
        let declared = modules.iter().flat_map(|(path, module)| module.tests.iter().map(move |name| below(path, name)));
        let tests: Vec<String> = declared.collect();
        modules.retain(|path, _| !tests.iter().any(|test| path == test || is_below(path, test)));
        Self(modules)
    }

    /// Returns groups of modules in which each imports all others, directly or by way of others.
    fn circles(&self) -> Vec<Vec<&str>> {
        let imports: BTreeMap<&str, BTreeSet<&str>> =
            self.0.keys().map(|path| (path.as_str(), self.imports(path))).collect();
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            imports.keys().map(|path| (*path, reach(&imports, path))).collect();
        let mut groups: BTreeSet<Vec<&str>> = BTreeSet::new();
        for (path, others) in reached.iter().filter(|(path, others)| others.contains(*path)) {
            groups.insert(others.iter().copied().filter(|other| reached[other].contains(path)).collect());
        }
        groups.into_iter().collect()
    }

    /// Returns the modules that a module imports, without itself and its descendants.
    fn imports(&self, path: &str) -> BTreeSet<&str> {
        let module = &self.0[path];
        let paths = module.uses.iter().map(|(_, used)| used).chain(&module.inline);
        let resolved = paths.filter_map(|used| self.definer(path, used, 0));
        resolved.filter(|other| *other != path && !is_below(other, path)).collect()
    }

    /// Returns the module that defines a path's item. Follows re-exports. Returns none for an item of another crate.
    fn definer(&self, from: &str, path: &[String], depth: usize) -> Option<&str> {
        let mut segments = path.iter().map(String::as_str).peekable();
        let mut at = match segments.peek().copied()? {
            "crate" => segments.next().map(|_| String::new())?,
            "self" => segments.next().map(|_| from.to_owned())?,
            "super" => from.to_owned(),
            child => {
                let child = below(from, child);
                self.0.contains_key(&child).then_some(from.to_owned())?
            }
        };
        while segments.next_if_eq(&"super").is_some() {
            at = at.rsplit_once("::").map_or_else(String::new, |(parent, _)| parent.to_owned());
        }
        while let Some(child) = segments.peek().map(|name| below(&at, name)).filter(|child| self.0.contains_key(child))
        {
            segments.next();
            at = child;
        }
        let (known, module) = self.0.get_key_value(&at)?;
        // A longer way than any that compiles: names that resolve to each other.
        let reexported = segments.next().filter(|_| depth < 10);
        let reexported = reexported.and_then(|name| module.uses.iter().find(|(alias, _)| alias == name));
        let followed = reexported.and_then(|(_, used)| {
            let rest: Path = used.iter().cloned().chain(segments.map(str::to_owned)).collect();
            self.definer(&at, &rest, depth + 1)
        });
        Some(followed.unwrap_or(known))
    }
}

impl Module {
    fn of(text: &str) -> Self {
        let code = code_of(text);
        let tokens = tokens(&code);
        let (mut module, mut rest) = (Self::default(), tokens.as_slice());
        while let [first, more @ ..] = rest {
            rest = match (*first, more) {
                ("#", ["[", "cfg", "(", "test", ")", "]", item @ ..]) => {
                    if let Some(["mod", name, ";"]) = item.get(..3) {
                        module.tests.push((*name).to_owned());
                    }
                    after_item(item)
                }
                ("use", _) => {
                    let end = more.iter().position(|token| *token == ";").unwrap_or(more.len());
                    branches(&more[..end], &[], &mut module.uses);
                    &more[end..]
                }
                // The crate of a macro's caller.
                ("$", ["crate", after @ ..]) => after,
                ("crate" | "self" | "super", ["::", ..]) => {
                    let (mut path, mut rest) = (vec![(*first).to_owned()], more);
                    while let ["::", name, after @ ..] = rest
                        && is_name(name)
                    {
                        path.push((*name).to_owned());
                        rest = after;
                    }
                    module.inline.push(path);
                    rest
                }
                _ => more,
            };
        }
        module
    }
}

/// The paths of a use tree, each with the name that it brings into scope.
fn branches(tree: &[&str], before: &[String], found: &mut Vec<(String, Path)>) {
    let mut path = before.to_vec();
    let mut rest = tree;
    while let [name, more @ ..] = rest {
        match (*name, more) {
            ("{", _) => {
                let inner = &more[..more.len().saturating_sub(1)];
                let mut depth = 0;
                let listed = inner.split(|token| {
                    depth += i32::from(*token == "{") - i32::from(*token == "}");
                    depth == 0 && *token == ","
                });
                listed.filter(|branch| !branch.is_empty()).for_each(|branch| branches(branch, &path, found));
                return;
            }
            ("as", [alias, ..]) => {
                found.push(((*alias).to_owned(), path));
                return;
            }
            ("self", []) if !before.is_empty() => {}
            ("*" | "::", _) => {}
            _ => path.push((*name).to_owned()),
        }
        rest = more;
    }
    found.extend(path.last().cloned().map(|name| (name, path)));
}

/// Returns the tokens after an item, which ends with its body or a semicolon.
fn after_item<'a>(item: &'a [&'a str]) -> &'a [&'a str] {
    let mut depth = 0;
    for (at, token) in item.iter().enumerate() {
        match *token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 && matches!(*token, ";" | "}") {
            return &item[at + 1..];
        }
    }
    &[]
}

/// Returns names, `::`, and all other characters.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let name = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
        let length = match name {
            0 if rest.starts_with("::") => 2,
            0 => first.len_utf8(),
            length => length,
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") }
}

fn is_below(path: &str, ancestor: &str) -> bool {
    ancestor.is_empty() || path.strip_prefix(ancestor).is_some_and(|rest| rest.starts_with("::"))
}

/// Returns all modules that a module reaches by at least one import.
fn reach<'a>(imports: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = imports[from].iter().copied().collect();
    while let Some(path) = open.pop() {
        if reached.insert(path) {
            open.extend(&imports[path]);
        }
    }
    reached
}

/// Returns the circles of a crate with these files.
fn circles_of(texts: &[(&str, &str)]) -> Vec<Vec<String>> {
    let found = Crate::of(texts.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
    found.circles().into_iter().map(|group| group.into_iter().map(str::to_owned).collect()).collect()
}

#[test]
fn circle_is_found_in_every_form_of_import() {
    for import in [
        "use crate::egg::Egg;",
        "use crate::{nest::Nest, egg::{Egg, lay as laid}};",
        "pub(crate) use super::egg;",
        "fn hen() { crate::egg::lay(1) }",
        "fn hen() -> super::egg::Egg { todo() }",
        "use crate::Egg;",
        "use crate::{Laid as Egg};",
    ] {
        let found = circles_of(&[
            ("lib", "mod egg; mod hen; mod nest; pub use egg::{Egg, Egg as Laid};"),
            ("egg", "use self::yolk::Yolk;\nuse crate::hen::Hen;"),
            ("hen", import),
            ("nest", ""),
        ]);
        assert_eq!(found, [["egg", "hen"]], "{import}");
    }
}

#[test]
fn circle_by_way_of_others_is_one_group() {
    let found = circles_of(&[
        ("a", "use super::b::x::X;"),
        ("b", ""),
        ("b::x", "use super::super::c::C;"),
        ("c", "use crate::a::A;"),
        ("d", "use crate::{a, e};"),
        ("e", "use crate::d;"),
    ]);
    assert_eq!(found, [vec!["a", "b::x", "c"], vec!["d", "e"]]);
}

#[test]
fn imports_of_tests_children_comments_and_macros_close_no_circle() {
    for text in [
        "#[cfg(test)]\nmod tests { use crate::hen::Hen; }",
        "#[cfg(test)]\nuse crate::hen::Hen;",
        "#[cfg(test)]\nmod hatched;",
        "// use crate::hen::Hen;\nconst HEN: &str = \"crate::hen::Hen\";",
        "macro_rules! hen { () => { $crate::hen::Hen }; }",
        "mod yolk;\npub use yolk::Yolk;\nuse self::yolk::White;",
        "use hen::Hen;",
    ] {
        let found = circles_of(&[
            ("lib", "mod egg; mod hen; use hen::Hen;"),
            ("egg", text),
            ("egg::hatched", "use crate::hen::Hen;"),
            ("egg::tests", "use crate::hen::Hen;"),
            ("egg::yolk", "use super::Egg;"),
            ("hen", "use crate::egg::Egg;\nuse crate::Egg;"),
        ]);
        assert_eq!(found, Vec::<Vec<String>>::new(), "{text}");
    }
}
