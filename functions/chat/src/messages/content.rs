//! The content of messages: what is refused. All else is stored byte for byte.

use web::Fault;
use web::visible::is_readable;

use crate::texts::has_controls;

/// Returns the fault of a content, if it has one. The schema checks its length.
pub fn fault(pointer: &str, content: &str) -> Option<Fault> {
    if !is_readable(content) {
        Some(Fault::pointer(pointer, "must have a visible character"))
    } else if has_controls(content) {
        Some(Fault::pointer(pointer, "must not have control characters but newlines and tabs"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_content_and_control_characters_are_refused() {
        for content in
            ["", " ", "\n\t", "\u{3000}", "a\0", "a\r\nb", "\u{7f}a", "a\u{85}", "\u{1b}[31m", "\u{200b}", "\u{feff} "]
        {
            assert!(fault("/content", content).is_some(), "{content:?}");
        }
    }

    #[test]
    fn markup_and_invisible_characters_next_to_visible_ones_pass() {
        for content in ["<script>", " a ", "a\n\tb", "\u{202e}a", "👩\u{200d}🚀", "e\u{301}", "\u{200b}a"] {
            assert!(fault("/content", content).is_none(), "{content:?}");
        }
    }
}
