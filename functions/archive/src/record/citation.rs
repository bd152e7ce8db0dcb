//! Citations and links to images, by the templates of a collection. `{header}` in a template names a column.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::mapping::header_key;

/// All but the unreserved characters of RFC 3986, so that a cell stays within its part of the link.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the citation of a record. A name in braces that is no column stays as it is, so that the editor sees it.
pub fn citation(template: &str, headers: &[String], values: &[String]) -> String {
    let mut text = String::new();
    for part in parts(template) {
        match part {
            Part::Text(written) => text.push_str(written),
            Part::Header { name, written } => text.push_str(cell(name, headers, values).unwrap_or(written)),
        }
    }
    text
}

/// Returns the link to the image of a record, with its cells percent-encoded. Returns `None` if one of the cells is
/// empty or absent, or if the template is no link of HTTP: a cell cannot choose the scheme.
pub fn image_link(template: &str, headers: &[String], values: &[String]) -> Option<String> {
    if !["https://", "http://"].iter().any(|scheme| template.starts_with(scheme)) {
        return None;
    }
    let mut link = String::new();
    for part in parts(template) {
        match part {
            Part::Text(written) => link.push_str(written),
            Part::Header { name, .. } => {
                let cell = cell(name, headers, values).filter(|cell| !cell.is_empty())?;
                link.extend(utf8_percent_encode(cell, ENCODED));
            }
        }
    }
    Some(link)
}

enum Part<'a> {
    Text(&'a str),
    /// A name in braces; `written` is the name with them.
    Header {
        name: &'a str,
        written: &'a str,
    },
}

/// Splits a template. A brace without its counterpart is text.
fn parts(template: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((name, after)) = column(rest) {
            let (written, _) = rest.split_at_checked(rest.len() - after.len())?;
            rest = after;
            return Some(Part::Header { name, written });
        }
        // A first brace that opens nothing is text.
        let skipped = usize::from(rest.starts_with('{'));
        let end = rest.get(skipped..)?.find('{').map_or(rest.len(), |at| at + skipped);
        let (text, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(Part::Text(text))
    })
}

/// Returns the name of a column in braces at the beginning of a text, and the text after it.
fn column(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('{')?.split_once('}').filter(|(name, _)| !name.contains('{'))
}

fn cell<'a>(name: &str, headers: &[String], values: &'a [String]) -> Option<&'a str> {
    let key = header_key(name);
    let index = headers.iter().position(|header| header_key(header) == key)?;
    values.get(index).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> (Vec<String>, Vec<String>) {
        let texts = |texts: [&str; 3]| texts.map(str::to_owned).to_vec();
        (texts(["Film", "Née", "Page"]), texts(["GS 12/3", "Müller", ""]))
    }

    #[test]
    fn citation_has_the_cells_of_the_named_columns() {
        let (headers, values) = row();
        let cited = |template| citation(template, &headers, &values);
        assert_eq!(cited("Film {film}, {NEE}, p. {Page}."), "Film GS 12/3, Müller, p. .");
        assert_eq!(cited("{{Film}} {Roll} {Film"), "{GS 12/3} {Roll} {Film");
        assert_eq!(cited("} a {"), "} a {");
        assert_eq!(cited(""), "");
    }

    #[test]
    fn image_link_has_encoded_cells() {
        let (headers, values) = row();
        let link = |template| image_link(template, &headers, &values);
        let expected = "https://images.example.org/GS%2012%2F3?name=M%C3%BCller";
        assert_eq!(link("https://images.example.org/{Film}?name={nee}").as_deref(), Some(expected));
        assert_eq!(link("https://images.example.org/cover"), Some("https://images.example.org/cover".to_owned()));
    }

    #[test]
    fn image_link_with_an_empty_or_absent_cell_or_another_scheme_is_none() {
        let (headers, values) = row();
        for template in ["https://example.org/{Page}", "https://example.org/{Roll}", "{Film}", "javascript:{Film}", ""]
        {
            assert_eq!(image_link(template, &headers, &values), None, "{template}");
        }
    }

    proptest::proptest! {
        #[test]
        fn template_without_columns_is_its_own_citation(template in "\\PC{0,40}") {
            proptest::prop_assert_eq!(citation(&template, &[], &[]), template);
        }
    }
}
