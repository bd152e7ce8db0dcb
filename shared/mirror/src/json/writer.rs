//! Writing the parts of a document as JSON text.

/// Appends `"name":`, after a comma if the object has an earlier member.
pub(crate) fn write_member(out: &mut String, name: &str) {
    if !out.is_empty() && !out.ends_with(['{', '[']) {
        out.push(',');
    }
    write_text(out, name);
    out.push(':');
}

/// Appends a string with its quotes. Only the characters that JSON requires are escaped, so that a text has only one
/// form.
pub(crate) fn write_text(out: &mut String, text: &str) {
    out.push('"');
    if text.bytes().fold(false, |found, byte| found | needs_escape(byte)) {
        for character in text.chars() {
            match character {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                control if control < ' ' => {
                    out.push_str("\\u00");
                    for shift in [4, 0] {
                        out.extend(char::from_digit((u32::from(control) >> shift) & 15, 16));
                    }
                }
                plain => out.push(plain),
            }
        }
    } else {
        out.push_str(text);
    }
    out.push('"');
}

const fn needs_escape(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_text_is_read_back() {
        for text in ["", "plain é 😀", "a\"b\\c\n\r\t\u{0}\u{1f}\u{7f}"] {
            let mut out = String::new();
            write_text(&mut out, text);
            assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
        }
    }
}
