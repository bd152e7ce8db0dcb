//! The repository's files, and Rust code without its comments and texts.

use std::fs;
use std::path::Path;

#[derive(Debug)]
pub struct Source {
    /// From the repository's root, with `/`.
    pub path: String,
    pub text: String,
}

impl Source {
    /// Whether it is compiled into more than tests.
    pub fn is_not_test(&self) -> bool {
        let in_tests = ["/tests/", "/examples/", "/simulation/", "/exploration/"];
        !in_tests.iter().any(|folder| self.path.contains(folder))
    }
}

/// What is made, not written.
const NOT_OURS: &[&str] = &["target", "node_modules", ".git", ".cairn"];

/// All text files below a folder with this ending, or with any.
pub fn files(folder: &str, ending: &str) -> Vec<Source> {
    let mut found = Vec::new();
    walk(&xtask::root().join(folder), folder, ending, &mut found);
    assert!(!found.is_empty(), "{folder} has no {ending}");
    found
}

pub fn read(path: &str) -> String {
    fs::read_to_string(xtask::root().join(path)).unwrap()
}

fn walk(folder: &Path, path: &str, ending: &str, found: &mut Vec<Source>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()).collect();
    entries.sort_by_key(|entry| entry.file_name());
    for entry in entries {
        let name = entry.file_name().into_string().unwrap();
        let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
        if entry.file_type().unwrap().is_dir() {
            if !NOT_OURS.contains(&name.as_str()) {
                walk(&entry.path(), &path, ending, found);
            }
        } else if name.rsplit('.').next() == Some(ending) || ending.is_empty() {
            // What is not UTF-8 is no text, and what is gone since was somebody's scratch file.
            if let Ok(text) = fs::read_to_string(entry.path()) {
                found.push(Source { path, text });
            }
        }
    }
}

/// Whether a line has a word that stands by itself.
pub fn mentions(line: &str, word: &str) -> bool {
    let part_of_name = |character: char| character.is_alphanumeric() || character == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(part_of_name) && !line[at + word.len()..].starts_with(part_of_name))
}

/// Rust code with nothing in the place of its comments and of what stands between quotes; lines keep their numbers.
pub fn code_of(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else if first == '"' {
            quoted(rest)
        } else if first == 'r' && !code.ends_with(|before: char| before.is_alphanumeric() || before == '_') {
            raw(rest)
        } else if first == '\'' {
            character(rest)
        } else {
            0
        };
        if skipped == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            code.extend(rest[..skipped].matches('\n'));
            rest = &rest[skipped..];
        }
    }
    code
}

/// The part of a file that is compiled into more than tests.
pub fn without_tests(text: &str) -> &str {
    text.split("\n#[cfg(test)]\nmod tests {").next().unwrap()
}

/// The length of `"..."`, where a backslash takes the next character along.
fn quoted(rest: &str) -> usize {
    let mut escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The length of `r"..."` or `r#"..."#`; 0 where it is none.
fn raw(rest: &str) -> usize {
    let hashes = rest[1..].chars().take_while(|character| *character == '#').count();
    let Some(body) = rest[1 + hashes..].strip_prefix('"') else { return 0 };
    let end = format!("\"{}", "#".repeat(hashes));
    body.find(&end).map_or(rest.len(), |at| 2 + hashes + at + end.len())
}

/// The length of `'x'` or `'\n'`; 0 for a lifetime.
fn character(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), Some((at, escaped))) => {
            let after = at + escaped.len_utf8();
            rest[after..].find('\'').map_or(0, |end| after + end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 0,
    }
}

#[test]
fn only_code_is_left() {
    let text = "a // f64\nb \"f64 \\\" f64\" c /* f64\n */ 'x' '\\'' &'a str r#\"f64 \" f64\"# for\n";
    assert_eq!(code_of(text), "a \nb  c \n   &'a str  for\n");
}

#[test]
fn words_stand_by_themselves() {
    assert!(mentions("the zoo.", "zoo") && mentions("zoo", "zoo"));
    assert!(!mentions("zoom", "zoo") && !mentions("a_zoo", "zoo"));
}
