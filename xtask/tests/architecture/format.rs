//! Whether rustfmt formats what it is given. Where a line cannot be made short enough it leaves the whole expression as it
//! is, and `rustfmt --check` says nothing.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::source::files;

/// `max_width` of rustfmt.toml.
const WIDTH: usize = 120;

/// Only beside a line that is too long does rustfmt give up, so the other files are not tried. In those that are, code is
/// moved to the right, and has to come back.
#[test]
fn rustfmt_formats_every_file() {
    let mut left: Vec<String> = Vec::new();
    for file in files("", "rs").into_iter().filter(|file| file.text.lines().any(is_too_long)) {
        let moved = |line: &str| if is_formatted(line) { format!("  {line}\n") } else { format!("{line}\n") };
        let formatted = rustfmt(&file.text.lines().map(moved).collect::<String>());
        let mut lines = file.text.lines().zip(formatted.lines()).zip(1..);
        let first = lines.find(|((before, after), _)| before != after).map(|(_, number)| number);
        left.extend(first.map(|line: usize| format!("{}:{line}: a line near it is too long for rustfmt", file.path)));
    }
    assert_eq!(left, Vec::<String>::new());
}

fn is_too_long(line: &str) -> bool {
    line.chars().count() > WIDTH && !line.trim_start().starts_with("//")
}

/// Whether rustfmt gives this line its place: a call in a chain, or a field of a struct. In a macro's own syntax it does not.
fn is_formatted(line: &str) -> bool {
    let code = line.trim_start();
    let name = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let call = code.strip_prefix('.').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_lowercase()));
    let field = code.ends_with(',') && code.split_once(": ").is_some_and(|(field, _)| name(field));
    code.len() < line.len() && (call || field)
}

fn rustfmt(text: &str) -> String {
    let mut command = Command::new("rustfmt");
    command.args(["--edition", "2024", "--config-path"]).arg(xtask::root().join("rustfmt.toml"));
    let mut rustfmt = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("rustfmt comes with Rust");
    // All of it is read before anything is written.
    rustfmt.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = rustfmt.wait_with_output().unwrap();
    assert!(output.status.success(), "{text}");
    String::from_utf8(output.stdout).unwrap()
}
