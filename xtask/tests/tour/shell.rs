//! The subset of a shell that the tour uses. Everything else is refused, so that no command runs differently than in a
//! real shell.

use std::collections::BTreeMap;

/// Parses `NAME=$(cargo cairn token ROLE)` into the variable and the role.
pub fn token(command: &str) -> Option<(String, String)> {
    let (variable, rest) = command.split_once("=$(cargo cairn token ")?;
    Some((variable.to_owned(), rest.strip_suffix(')')?.to_owned()))
}

/// Returns the words of a simple command, with quotes removed and variables expanded.
pub fn words(command: &str, variables: &BTreeMap<String, String>) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = command;
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        match first {
            ' ' => words.extend(word.take()),
            '\'' => {
                let (text, after) = rest.split_once('\'').expect("quotes are closed");
                word.get_or_insert_default().push_str(text);
                rest = after;
            }
            '"' => {
                let (text, after) = rest.split_once('"').expect("quotes are closed");
                assert!(!text.contains(['\\', '`']), "{command}");
                word.get_or_insert_default().push_str(&filled(text, variables));
                rest = after;
            }
            '$' | '`' | '\\' | '|' | '&' | ';' | '<' | '>' | '(' | ')' | '*' | '?' | '[' | ']' | '{' | '}' | '~'
            | '#' | '!' => panic!("`{first}` means something to a shell: put it between quotes in\n{command}"),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

fn filled(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut parts = text.split('$');
    let mut filled = parts.next().unwrap().to_owned();
    for part in parts {
        let end = part.find(|character: char| !character.is_ascii_uppercase()).unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        filled.push_str(variables.get(name).unwrap_or_else(|| panic!("no command has set ${name}")));
        filled.push_str(rest);
    }
    filled
}

#[test]
fn command_is_split_as_by_a_shell() {
    let variables = BTreeMap::from([("TOKEN".to_owned(), "abc".to_owned())]);
    let command = r#"curl -H "Authorization: Bearer $TOKEN" -d '{"a": "$TOKEN"}'  x'y'z ''"#;
    let expected = ["curl", "-H", "Authorization: Bearer abc", "-d", r#"{"a": "$TOKEN"}"#, "xyz", ""];
    assert_eq!(words(command, &variables), expected);
    assert_eq!(token("TOKEN=$(cargo cairn token a-b)"), Some(("TOKEN".to_owned(), "a-b".to_owned())));
}
