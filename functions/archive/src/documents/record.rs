//! The search document of a record.

use std::collections::BTreeSet;

use mirror::{Document, Image, Unfit};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::dates;
use crate::fold::words;
use crate::keys::RecordKey;

/// Writes the document of a record. `names` returns the fields of a person's given names and surname.
///
/// Names of the post, the collection and the household's members are joined when a search reads them.
pub fn record<N: Serialize>(
    document: &mut Document,
    image: &Image<'_>,
    names: impl Fn(&str, &str) -> N,
) -> Result<(), Unfit> {
    let key = table::Key::new(image.text("PK")?, image.text("SK")?);
    let key = <RecordKey as table::EntityKey>::parse(&key).ok_or_else(|| unfit("SK", "the sort key of a record"))?;
    let people =
        image.maps("people")?.iter().map(|person| Person::of(person, &names)).collect::<Result<Vec<_>, _>>()?;
    let relatives = image
        .maps("relatives")?
        .iter()
        .map(|relative| Relative::of(relative, &names))
        .collect::<Result<Vec<_>, _>>()?;
    let events = image.maps("events")?.iter().map(Event::of).collect::<Result<Vec<_>, _>>()?;
    let keywords: BTreeSet<String> = image.texts("keywords")?.iter().flat_map(|text| words(text)).collect();
    let decades: BTreeSet<u32> = events.iter().flat_map(Event::decades).collect();
    let place_paths: BTreeSet<String> = events.iter().flat_map(Event::place_paths).collect();
    document
        .keyword("permanentId", &*image.text("permanentId")?)
        .keyword("postId", key.post.to_string().as_str())
        .keyword("collectionId", &*image.text("collectionId")?)
        .keyword("run", format!("{}-{}", key.post, integer(image, "run")?).as_str())
        .keyword("household", image.optional_text("household")?.as_deref())
        .json("people", written("people", &people)?.as_str())
        .json("relatives", written("relatives", &relatives)?.as_str())
        .json("events", written("events", &events)?.as_str())
        .keywords("decades", decades.iter().map(u32::to_string))
        .keywords("placePaths", place_paths)
        .keywords("keywords", keywords)
        .integer("visibleFrom", optional_integer(image, "visibleFrom")?.map(i64::from));
    Ok(())
}

/// A nested document of a person.
#[derive(Serialize)]
struct Person<N> {
    role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    sex: Option<String>,
    #[serde(flatten)]
    names: N,
}

/// A nested document of a relative of the principal person.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Relative<N> {
    relation: String,
    /// Until this day the public does not find the record by the relative.
    #[serde(skip_serializing_if = "Option::is_none")]
    visible_from: Option<u32>,
    #[serde(flatten)]
    names: N,
}

/// A nested document of an event.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place_text: Option<String>,
    /// The place and its ancestors, country first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    place_ids: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    point: Option<Point>,
}

/// A point, with the numbers as the table has them.
#[derive(Serialize)]
struct Point {
    lat: Box<RawValue>,
    lon: Box<RawValue>,
}

impl<N> Person<N> {
    fn of(person: &Image<'_>, names: impl Fn(&str, &str) -> N) -> Result<Self, Unfit> {
        let sex = person.optional_text("sex")?.map(String::from);
        Ok(Self { role: person.text("role")?.into_owned(), sex, names: names_of(person, names)? })
    }
}

impl<N> Relative<N> {
    fn of(relative: &Image<'_>, names: impl Fn(&str, &str) -> N) -> Result<Self, Unfit> {
        Ok(Self {
            relation: relative.text("relation")?.into_owned(),
            visible_from: optional_integer(relative, "visibleFrom")?,
            names: names_of(relative, names)?,
        })
    }
}

impl Event {
    fn of(event: &Image<'_>) -> Result<Self, Unfit> {
        let point = match (number_of_text(event, "lat")?, number_of_text(event, "lon")?) {
            (Some(lat), Some(lon)) => Some(Point { lat, lon }),
            _ => None,
        };
        Ok(Self {
            kind: event.text("type")?.into_owned(),
            from: optional_integer(event, "from")?,
            to: optional_integer(event, "to")?,
            place_text: event.optional_text("placeText")?.map(String::from),
            place_ids: event.optional_texts("placePath")?.unwrap_or_default().into_iter().map(String::from).collect(),
            point,
        })
    }

    /// Returns the decades that its date touches.
    fn decades(&self) -> impl Iterator<Item = u32> {
        self.from.zip(self.to).into_iter().flat_map(|(from, to)| dates::decades(from, to))
    }

    /// Returns the paths of its place and of each ancestor: ids joined by `/`. The facet of places counts the paths that
    /// are one id longer than that of the queried place.
    fn place_paths(&self) -> impl Iterator<Item = String> {
        self.place_ids.iter().scan(String::new(), |path, id| {
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(id);
            Some(path.clone())
        })
    }
}

fn names_of<N>(person: &Image<'_>, names: impl Fn(&str, &str) -> N) -> Result<N, Unfit> {
    let (given, surname) = (person.optional_text("given")?, person.optional_text("surname")?);
    Ok(names(given.as_deref().unwrap_or_default(), surname.as_deref().unwrap_or_default()))
}

fn integer(image: &Image<'_>, attribute: &str) -> Result<u32, Unfit> {
    optional_integer(image, attribute)?.ok_or_else(|| unfit(attribute, INTEGER))
}

fn optional_integer(image: &Image<'_>, attribute: &str) -> Result<Option<u32>, Unfit> {
    let Some(number) = image.optional_number(attribute)? else { return Ok(None) };
    let integer = number.integer().and_then(|integer| u32::try_from(integer).ok());
    integer.map(Some).ok_or_else(|| unfit(attribute, INTEGER))
}

/// Reads a text that is a number, such as a latitude.
fn number_of_text(image: &Image<'_>, attribute: &str) -> Result<Option<Box<RawValue>>, Unfit> {
    let Some(text) = image.optional_text(attribute)? else { return Ok(None) };
    let number = mirror::Number::new(&text).and_then(|number| RawValue::from_string(number.as_str().to_owned()).ok());
    number.map(Some).ok_or_else(|| unfit(attribute, "decimal text"))
}

fn written(attribute: &str, value: &impl Serialize) -> Result<String, Unfit> {
    serde_json::to_string(value).map_err(|_| unfit(attribute, "a list that can be written"))
}

const INTEGER: &str = "a whole number (N) of 32 bits";

fn unfit(attribute: &str, expected: &'static str) -> Unfit {
    Unfit { attribute: attribute.to_owned(), expected }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A stand-in for the terms of a name, with two of their fields.
    #[derive(Serialize)]
    struct Names {
        #[serde(skip_serializing_if = "String::is_empty")]
        given: String,
        #[serde(skip_serializing_if = "String::is_empty")]
        surname: String,
    }

    fn documented(item: &Value) -> Result<Value, Unfit> {
        let text = item.to_string();
        let names = |given: &str, surname: &str| Names { given: given.to_lowercase(), surname: surname.to_lowercase() };
        let mut document = Document::new();
        record(&mut document, &Image::parse(&text).unwrap(), names)?;
        Ok(serde_json::from_str(&format!("{{{}}}", document.fields())).unwrap())
    }

    fn stored() -> Value {
        json!({
            "PK": {"S": "1000000004"}, "SK": {"S": "record_post#1000000003"}, "GSISK": {"S": "1000000004"},
            "rev": {"N": "2"}, "run": {"N": "2"}, "row": {"N": "1"}, "collectionId": {"S": "1000000002"},
            "permanentId": {"S": "1000000001"}, "values": {"L": [{"S": "14"}, {"S": "Pugh"}]},
            "people": {"L": [
                {"M": {"role": {"S": "principal"}, "given": {"S": "Evan"}, "surname": {"S": "Pugh"}, "sex": {"S": "male"}}},
                {"M": {"role": {"S": "father"}, "given": {"S": "Hugh"}}},
            ]},
            "relatives": {"L": [{"M": {"relation": {"S": "spouse"}, "given": {"S": "Margaret"}, "surname": {"S": "Pugh"}, "visibleFrom": {"N": "20910101"}}}]},
            "events": {"L": [
                {"M": {
                    "type": {"S": "birth"}, "role": {"S": "principal"}, "dateText": {"S": "abt 1838"},
                    "from": {"N": "18360101"}, "to": {"N": "18401231"}, "placeText": {"S": "Dolgellau, Wales"},
                    "placeId": {"S": "9002651034"}, "lat": {"S": "52.74355"}, "lon": {"S": "-3.8840"},
                    "placePath": {"L": [{"S": "9002635167"}, {"S": "8000000001"}, {"S": "9002651034"}]},
                }},
                {"M": {"type": {"S": "residence"}, "role": {"S": "principal"}, "placeText": {"S": "Bala"}}},
            ]},
            "keywords": {"L": [{"S": "Slate quarryman"}, {"S": "Slate"}]},
            "household": {"S": "14"}, "relation": {"S": "Head"}, "visibleFrom": {"N": "20000101"},
            "createdAt": {"S": "2026-11-25T12:00:00.000000Z"}, "createdBy": {"S": "1000000000"},
        })
    }

    #[test]
    fn document_has_people_relatives_and_events_as_nested_documents() {
        let expected = json!({
            "permanentId": "1000000001", "postId": "1000000003", "collectionId": "1000000002", "run": "1000000003-2",
            "household": "14",
            "people": [
                {"role": "principal", "sex": "male", "given": "evan", "surname": "pugh"},
                {"role": "father", "given": "hugh"},
            ],
            "relatives": [{"relation": "spouse", "given": "margaret", "surname": "pugh", "visibleFrom": 20910101}],
            "events": [
                {
                    "type": "birth", "from": 18360101, "to": 18401231, "placeText": "Dolgellau, Wales",
                    "placeIds": ["9002635167", "8000000001", "9002651034"], "point": {"lat": 52.74355, "lon": -3.8840},
                },
                {"type": "residence", "placeText": "Bala"},
            ],
            "decades": ["1830", "1840"],
            "placePaths": ["9002635167", "9002635167/8000000001", "9002635167/8000000001/9002651034"],
            "keywords": ["quarryman", "slate"], "visibleFrom": 20000101,
        });
        assert_eq!(documented(&stored()), Ok(expected));
    }

    #[test]
    fn document_of_a_record_without_optional_attributes_lacks_their_fields() {
        let mut item = stored();
        for (name, empty) in [("people", true), ("relatives", true), ("events", true), ("household", false)] {
            item[name] = if empty { json!({"L": []}) } else { Value::Null };
        }
        let item: serde_json::Map<String, Value> = item
            .as_object()
            .unwrap()
            .clone()
            .into_iter()
            .filter(|(name, value)| !value.is_null() && name != "visibleFrom")
            .collect();
        let document = documented(&Value::Object(item)).unwrap();
        assert_eq!((document.get("household"), document.get("visibleFrom")), (None, None));
        assert_eq!((&document["decades"], &document["placePaths"]), (&json!([]), &json!([])));
    }

    #[test]
    fn every_field_is_in_the_properties() {
        fn check(properties: &Value, document: &Value, path: &str) {
            for (name, value) in document.as_object().unwrap() {
                let property = &properties[name];
                assert!(property.is_object(), "{path}{name}");
                if property["type"] == "nested" {
                    for nested in value.as_array().unwrap() {
                        check(&property["properties"], nested, &format!("{path}{name}."));
                    }
                }
            }
        }
        let mapping: Value = serde_json::from_str(include_str!("mapping.json")).unwrap();
        check(&mapping["mappings"]["properties"], &documented(&stored()).unwrap(), "");
    }

    #[test]
    fn attribute_of_another_type_is_unfit() {
        for name in [
            "PK",
            "SK",
            "permanentId",
            "collectionId",
            "run",
            "household",
            "people",
            "relatives",
            "events",
            "keywords",
            "visibleFrom",
        ] {
            let mut item = stored();
            item[name] = json!({"BOOL": true});
            assert_eq!(documented(&item).unwrap_err().attribute, name);
        }
        for (name, nested, wrong) in [
            ("people", "role", json!({"N": "1"})),
            ("people", "sex", json!({"N": "1"})),
            ("people", "given", json!({"N": "1"})),
            ("relatives", "relation", json!({"N": "1"})),
            ("relatives", "surname", json!({"N": "1"})),
            ("relatives", "visibleFrom", json!({"S": "1"})),
            ("events", "type", json!({"N": "1"})),
            ("events", "from", json!({"N": "1.5"})),
            ("events", "to", json!({"S": "1"})),
            ("events", "placeText", json!({"N": "1"})),
            ("events", "placePath", json!({"S": "1"})),
            ("events", "lat", json!({"S": "north"})),
        ] {
            let mut item = stored();
            item[name]["L"][0]["M"][nested] = wrong;
            assert_eq!(documented(&item).unwrap_err().attribute, nested);
        }
        for (name, wrong) in [("SK", "record_address"), ("PK", "12")] {
            let mut item = stored();
            item[name] = json!({"S": wrong});
            assert_eq!(documented(&item).unwrap_err().attribute, "SK");
        }
    }
}
