//! The `crs` member of GeoJSON, which RFC 7946 has removed.

use serde_json::Value;

/// The fault of a document with another reference system.
pub const ONLY_WGS84: &str =
    "only WGS 84 longitude and latitude are supported: omit crs, or set it to CRS84 or EPSG:4326";

/// Returns whether the text of a `crs` member stands for WGS 84 with longitude first. `null` means an unspecified
/// system, which today is WGS 84, too.
pub fn is_wgs84(text: &str) -> bool {
    let Ok(crs) = serde_json::from_str::<Value>(text) else { return false };
    let property = |name: &str| crs.get("properties").and_then(|properties| properties.get(name));
    match &crs {
        Value::Null => true,
        Value::String(name) => names_wgs84(name),
        _ => match crs.get("type").and_then(Value::as_str) {
            Some("name") => property("name").and_then(Value::as_str).is_some_and(names_wgs84),
            Some("EPSG") => property("code").is_some_and(|code| code == 4326 || code == "4326"),
            _ => false,
        },
    }
}

/// Returns whether a name is `CRS84`, `EPSG:4326`, or a URN or URL of these with any version.
fn names_wgs84(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let words: Vec<_> = name.split([':', '/', '#']).filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        [.., "CRS84"] => words.len() == 1 || words.contains(&"OGC"),
        [.., "4326"] => words.contains(&"EPSG") || words.contains(&"EPSG.XML"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_crs_with_wgs_84_is_accepted() {
        for crs in [
            "null",
            r#""EPSG:4326""#,
            r#"{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}}"#,
            r#"{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC::CRS84"}}"#,
            r#"{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::4326"}}"#,
            r#"{"type":"name","properties":{"name":"http://www.opengis.net/def/crs/OGC/1.3/CRS84"}}"#,
            r#"{"type":"name","properties":{"name":"http://www.opengis.net/gml/srs/epsg.xml#4326"}}"#,
            r#"{"type":"name","properties":{"name":"EPSG:4326"}}"#,
            r#"{"type":"EPSG","properties":{"code":4326}}"#,
        ] {
            assert!(is_wgs84(crs), "{crs}");
        }
        for crs in [
            r#"{"type":"name","properties":{"name":"EPSG:3857"}}"#,
            r#"{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS27"}}"#,
            r#"{"type":"link","properties":{"href":"http://example.org/4326"}}"#,
            r#"{"type":"EPSG","properties":{"code":26910}}"#,
            "{}",
            "4326",
            "true",
        ] {
            assert!(!is_wgs84(crs), "{crs}");
        }
    }
}
