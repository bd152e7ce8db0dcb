//! Key templates such as `facility::{collection}`: literal text and named parts.
//!
//! A part is never empty, has no `#` and no control character, and neither begins nor ends with a colon. Only the last
//! part of a template may contain `::`. So a text fits a template in one way at most, and each part ends at the next
//! delimiter.

/// Whether a template can be parsed unambiguously: braces are paired, parts have names, and a delimiter or the end
/// follows each part. Declarations check it at compile time.
pub const fn well_formed(template: &str) -> bool {
    let mut rest = template.as_bytes();
    let mut after_part = false;
    while let [first, more @ ..] = rest {
        match *first {
            b'{' => {
                if after_part {
                    return false;
                }
                let Some(more) = after_name(more) else { return false };
                rest = more;
                after_part = true;
            }
            b'}' => return false,
            _ => {
                if after_part && !matches!(rest, [b'#', ..] | [b':', b':', ..]) {
                    return false;
                }
                rest = more;
                after_part = false;
            }
        }
    }
    !template.is_empty()
}

/// Returns the text after `name}`.
const fn after_name(text: &[u8]) -> Option<&[u8]> {
    let mut rest = text;
    let mut length = 0;
    while let [first, more @ ..] = rest {
        match *first {
            b'}' => return if length > 0 { Some(more) } else { None },
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => rest = more,
            _ => return None,
        }
        length += 1;
    }
    None
}

/// Whether a text fits a template. Allocates nothing.
pub fn fits(template: &str, text: &str) -> bool {
    walk(template, text, |_, _| ()).is_some()
}

/// Returns the parts of a text by name, in order, if it fits the template.
pub fn parts<'a>(template: &'a str, text: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
    let mut found = Vec::new();
    walk(template, text, |name, part| found.push((name, part)))?;
    Some(found)
}

fn walk<'a>(template: &'a str, text: &'a str, mut found: impl FnMut(&'a str, &'a str)) -> Option<()> {
    let (mut template, mut text) = (template, text);
    while let Some((literal, rest)) = template.split_once('{') {
        text = text.strip_prefix(literal)?;
        let (name, rest) = rest.split_once('}')?;
        let length = if rest.is_empty() { text.len() } else { text.find(delimiter(rest)?)? };
        let (part, after) = text.split_at_checked(length)?;
        if !is_part(part) || (!rest.is_empty() && part.contains("::")) {
            return None;
        }
        found(name, part);
        (template, text) = (rest, after);
    }
    (template == text).then_some(())
}

fn delimiter(literal: &str) -> Option<&'static str> {
    ["::", "#"].into_iter().find(|delimiter| literal.starts_with(delimiter))
}

fn is_part(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(':')
        && !text.ends_with(':')
        && !text.chars().any(|character| character == '#' || character.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ambiguous_template_is_not_well_formed() {
        for template in ["collection", "{a}", "x::{a}", "{a}::{b}", "{a}#{b_2}", "x#{a}::y"] {
            assert!(well_formed(template), "{template}");
        }
        for template in ["", "{}", "{a", "a}", "{a}{b}", "{a}-{b}", "{a}:{b}", "{a b}", "{{a}}"] {
            assert!(!well_formed(template), "{template}");
        }
    }

    #[test]
    fn text_fits_only_as_a_whole() {
        let fitting = [
            ("zone", "zone"),
            ("zone::{c}", "zone::a"),
            ("zone::{c}", "zone::a::b"),
            ("{a}::{b}", "x:y::z"),
            ("{a}#{b}", "x#y::z"),
            ("{a}::end", "x::end"),
        ];
        for (template, text) in fitting {
            assert!(fits(template, text), "{template} {text}");
        }
        let other = [
            ("zone", "zones"),
            ("zone::{c}", "zone::"),
            ("zone::{c}", "zones::a"),
            ("zone::{c}", "zone::a#b"),
            ("zone::{c}", "zone::a\n"),
            ("{a}::{b}", "a:::b"),
            ("{a}::{b}", "a"),
            ("{a}::{b}", "a::b:"),
            ("{a}::end", "x::y::end"),
            ("{a}#{b}", "x::y#z"),
        ];
        for (template, text) in other {
            assert!(!fits(template, text), "{template} {text}");
        }
    }

    #[test]
    fn parts_have_names() {
        assert_eq!(parts("{kind}::{number}", "trail::12"), Some(vec![("kind", "trail"), ("number", "12")]));
        assert_eq!(parts("{kind}::{number}", "trail"), None);
    }
}
