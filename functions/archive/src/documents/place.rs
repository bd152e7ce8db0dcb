//! The search document of a place, for autocomplete. All texts are folded.

use std::collections::BTreeSet;

use mirror::{Document, Image, Unfit};

use crate::fold::{first, fold};
use crate::places::naming;

/// The lengths of stored prefixes in characters. Longer ones are few enough to be found among the names themselves.
pub const MAX_PREFIX: usize = 4;

/// Writes the fields of a place. Returns false for one that another has replaced, which has no document.
pub fn document(document: &mut Document, image: &Image<'_>) -> Result<bool, Unfit> {
    let Some(full_name) = image.optional_text("GSISK")? else { return Ok(false) };
    let name = fold(&image.text("name")?);
    let alternatives = image.optional_texts("altNames")?.unwrap_or_default();
    let alternatives: BTreeSet<String> = alternatives.iter().map(|name| fold(name)).collect();
    let own_words = words(alternatives.iter().map(String::as_str).chain([name.as_str()]));
    let ancestors: Vec<&str> = naming::ancestors(&full_name).collect();
    document
        .keyword("placeName", name.as_str())
        .keywords("placePrefixes", prefixes([name.as_str()], 2))
        .keywords("placeAlternatives", &alternatives)
        .keywords("placeAlternativePrefixes", prefixes(alternatives.iter().map(String::as_str), 2))
        .keywords("placeWords", &own_words)
        .keywords("placeWordPrefixes", prefixes(own_words.iter().copied(), 1))
        .keywords("placeAncestors", &ancestors)
        .keywords("placeAncestorWords", words(ancestors.iter().copied()))
        .keyword("placeFullName", &*full_name)
        .number("placeWeight", image.number("weight")?);
    if let Some((lat, lon)) = image.optional_text("lat")?.zip(image.optional_text("lon")?) {
        let point = serde_json::json!({ "lat": degrees("lat", &lat)?, "lon": degrees("lon", &lon)? });
        document.json("placePoint", point.to_string().as_str());
    }
    Ok(true)
}

fn words<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
    names.into_iter().flat_map(|name| name.split(' ')).filter(|word| !word.is_empty()).collect()
}

/// Returns the prefixes of at least `shortest` characters.
fn prefixes<'a>(names: impl IntoIterator<Item = &'a str>, shortest: usize) -> BTreeSet<&'a str> {
    let of_name = |name: &'a str| (shortest..=MAX_PREFIX).map(move |length| first(name, length));
    names.into_iter().flat_map(of_name).filter(|prefix| prefix.chars().count() >= shortest).collect()
}

fn degrees(attribute: &'static str, text: &str) -> Result<f64, Unfit> {
    text.parse().map_err(|_| Unfit { attribute: attribute.to_owned(), expected: "degrees as decimal text" })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn documented(item: &Value) -> Result<Value, Unfit> {
        let (text, mut fields) = (item.to_string(), Document::new());
        let has_document = document(&mut fields, &Image::parse(&text).unwrap())?;
        assert!(has_document || fields.fields().is_empty());
        Ok(serde_json::from_str(&format!("{{{}}}", fields.fields())).unwrap())
    }

    fn bala() -> Value {
        json!({
            "PK": {"S": "9002656615"}, "SK": {"S": "place#ba"}, "GSISK": {"S": "bala, wales, united kingdom"},
            "name": {"S": "Bala"}, "fullName": {"S": "Bala, Wales, United Kingdom"}, "weight": {"N": "1974"},
            "altNames": {"L": [{"S": "Y Bala"}]}, "lat": {"S": "52.91111"}, "lon": {"S": "-3.59722"},
        })
    }

    #[test]
    fn document_has_names_prefixes_words_ancestors_weight_and_point() {
        let expected = json!({
            "placeName": "bala", "placePrefixes": ["ba", "bal", "bala"], "placeAlternatives": ["y bala"],
            "placeAlternativePrefixes": ["y ", "y b", "y ba"], "placeWords": ["bala", "y"],
            "placeWordPrefixes": ["b", "ba", "bal", "bala", "y"], "placeAncestors": ["wales", "united kingdom"],
            "placeAncestorWords": ["kingdom", "united", "wales"], "placeFullName": "bala, wales, united kingdom",
            "placeWeight": 1974, "placePoint": { "lat": 52.91111, "lon": -3.59722 },
        });
        assert_eq!(documented(&bala()), Ok(expected));
    }

    #[test]
    fn replaced_place_has_no_document() {
        let mut replaced = bala();
        replaced.as_object_mut().unwrap().remove("GSISK");
        assert_eq!(documented(&replaced), Ok(json!({})));
    }

    #[test]
    fn every_field_is_in_the_mapping() {
        let mapping: Value = serde_json::from_str(crate::documents::MAPPING.body).unwrap();
        let known = mapping["mappings"]["properties"].as_object().unwrap();
        for name in documented(&bala()).unwrap().as_object().unwrap().keys() {
            assert!(known.contains_key(name), "{name}");
        }
    }

    #[test]
    fn attribute_of_another_type_is_unfit() {
        for name in ["GSISK", "name", "altNames", "weight", "lat", "lon"] {
            for wrong in [json!({"BOOL": true}), json!({"M": {}})] {
                let mut item = bala();
                item[name] = wrong;
                assert_eq!(documented(&item).unwrap_err().attribute, name);
            }
        }
        let mut item = bala();
        item["lat"] = json!({"S": "north"});
        assert_eq!(documented(&item).unwrap_err().attribute, "lat");
    }
}
