//! Texts of several lines, such as a description. All else than what is refused here is stored byte for byte.

use web::Fault;
use web::visible::is_readable;

/// Returns the fault of a text without a visible character, or with a control character that does not belong into a text.
/// The schema checks its length.
pub fn text_fault(pointer: &str, text: &str) -> Option<Fault> {
    let is_faulty = !is_readable(text) || has_controls(text);
    let detail = "must have a visible character, and no control characters but newline and tab";
    is_faulty.then(|| Fault::pointer(pointer, detail))
}

/// Whether a text has control characters other than newline and tab.
pub fn has_controls(text: &str) -> bool {
    text.chars().any(|letter| letter.is_control() && !matches!(letter, '\n' | '\t'))
}

/// Returns the fault of a text that may be empty.
pub fn optional_text_fault(pointer: &str, text: &str) -> Option<Fault> {
    if text.is_empty() { None } else { text_fault(pointer, text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_without_a_visible_character_or_with_control_characters_is_refused() {
        for text in [" ", "\n\t", "\u{200b}", "\0", "moss\0", "moss\r\nfern", "\u{1b}[31mmoss"] {
            assert!(optional_text_fault("/bio", text).is_some(), "{text:?}");
        }
        for text in ["moss", " moss\n\tfern ", "<b>", "👩\u{200d}🚒"] {
            assert!(text_fault("/bio", text).is_none(), "{text:?}");
        }
        assert!(text_fault("/bio", "").is_some() && optional_text_fault("/bio", "").is_none());
    }
}
