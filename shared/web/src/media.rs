//! Content types: that of a request body, and the negotiated one of a response (RFC 9110, section 12.5.1).

use http::{HeaderMap, header};

/// Returns the one of `types` that a Content-Type header names, unless its charset is not UTF-8.
pub(crate) fn matching(sent: &str, types: &[&'static str]) -> Option<&'static str> {
    let mut pieces = sent.split(';').map(str::trim);
    let essence = pieces.next()?;
    let is_utf8 = pieces.all(|piece| match piece.split_once('=') {
        Some((name, value)) if name.eq_ignore_ascii_case("charset") => {
            value.trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    });
    types.iter().copied().find(|own| is_utf8 && own.eq_ignore_ascii_case(essence))
}

/// Returns the one of `offered` that `Accept` prefers, the first among equals; `None` if it allows none of them.
pub(crate) fn preferred(headers: &HeaderMap, offered: &[&'static str]) -> Option<&'static str> {
    let ranges: Vec<&str> = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|range| !range.is_empty())
        .collect();
    if ranges.is_empty() {
        return offered.first().copied();
    }
    let mut best: Option<(&'static str, f32)> = None;
    for own in offered {
        let weight = weight(own, &ranges);
        if weight > 0.0 && best.is_none_or(|(_, highest)| weight > highest) {
            best = Some((own, weight));
        }
    }
    best.map(|(own, _)| own)
}

/// Returns the weight of the most specific range that matches a content type; 0 if none matches.
fn weight(own: &str, ranges: &[&str]) -> f32 {
    let mut found = (0, 0.0);
    for range in ranges {
        let mut pieces = range.split(';').map(str::trim);
        let essence = pieces.next().unwrap_or("");
        let quality = pieces
            .find_map(|piece| piece.strip_prefix("q=").or_else(|| piece.strip_prefix("Q=")))
            .map_or(1.0, |text| text.parse::<f32>().ok().filter(|weight| (0.0..=1.0).contains(weight)).unwrap_or(0.0));
        let specificity = match essence.split_once('/') {
            _ if essence.eq_ignore_ascii_case(own) => 3,
            Some(("*", "*")) => 1,
            Some((kind, "*")) if own.split_once('/').is_some_and(|(own, _)| own.eq_ignore_ascii_case(kind)) => 2,
            _ => 0,
        };
        if specificity > found.0 {
            found = (specificity, quality);
        }
    }
    found.1
}
