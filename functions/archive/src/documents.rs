//! The search documents of the archive. Each comes from its own item alone. A field that is not written here is not
//! indexed.

pub mod place;
pub mod record;

use mirror::{Document, Documents, Found, Image, Mapping, Unfit, WithoutShapes};
use table::schema::{Entity, System};

use crate::fold::fold;
use crate::person_names::NameFields;

/// The documents of the archive.
#[derive(Clone, Copy, Debug, Default)]
pub struct Archive;

/// The mapping. Its version grows by one with every change of the documents.
pub const MAPPING: Mapping = Mapping { version: 2, body: include_str!("documents/mapping.json") };

impl Documents for Archive {
    fn tables(&self) -> &'static System {
        &crate::schema::SYSTEM
    }

    fn mapping(&self) -> Mapping {
        MAPPING
    }

    fn document(&self, entity: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit> {
        let mut document = Document::new();
        match entity.name {
            "category" => category(&mut document, image)?,
            "collection" => collection(&mut document, image)?,
            "post" => post(&mut document, image)?,
            "user" => user(&mut document, image)?,
            "place" => {
                if !place::document(&mut document, image)? {
                    return Ok(Found::Hidden);
                }
            }
            "record" => record::record(&mut document, image, NameFields::new)?,
            _ => return Ok(Found::Hidden),
        }
        Ok(Found::Document(document))
    }
}

impl WithoutShapes for Archive {}

fn category(document: &mut Document, image: &Image<'_>) -> Result<(), Unfit> {
    document.text("name", &*fold(&image.text("name")?)).text("description", &*fold(&image.text("description")?));
    Ok(())
}

fn collection(document: &mut Document, image: &Image<'_>) -> Result<(), Unfit> {
    document
        .text("name", &*fold(&image.text("name")?))
        .text("description", &*fold(&image.text("description")?))
        .keywords("categoryIds", image.texts("categoryIds")?)
        .keyword("placeId", image.optional_text("placeId")?.as_deref());
    Ok(())
}

fn post(document: &mut Document, image: &Image<'_>) -> Result<(), Unfit> {
    let metadata = image.map("metadata")?;
    let names: Vec<&str> = metadata.names().collect();
    let mut texts = Vec::new();
    for name in names {
        // Numbers and truth values are shown and not searched.
        if let Ok(text) = metadata.text(name) {
            texts.push(fold(&text));
        }
    }
    document
        .text("name", &*fold(&image.text("name")?))
        .keyword("collectionId", &*image.text("GSISK")?)
        .keyword("status", &*image.text("status")?)
        .keyword("ownerId", &*image.text("ownerId")?)
        .texts("metadata", texts);
    Ok(())
}

/// The document of a user. Only searches of administrators reach it.
fn user(document: &mut Document, image: &Image<'_>) -> Result<(), Unfit> {
    document
        .text("name", image.optional_text("name")?.map(|name| fold(&name)).as_deref())
        .text("email", image.optional_text("email")?.map(|email| fold(&email)).as_deref());
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::schema::ARCHIVE;

    fn documented(name: &str, item: &Value) -> Result<Value, Unfit> {
        let entity = ARCHIVE.entities.iter().find(|entity| entity.name == name);
        let text = item.to_string();
        match Archive.document(entity.unwrap(), &Image::parse(&text).unwrap())? {
            Found::Document(document) => Ok(serde_json::from_str(&format!("{{{}}}", document.fields())).unwrap()),
            Found::Hidden => Ok(Value::Null),
        }
    }

    fn category() -> Value {
        json!({
            "PK": {"S": "1000000001"}, "SK": {"S": "category"}, "GSISK": {"S": "Births"}, "rev": {"N": "2"},
            "name": {"S": "Births"}, "description": {"S": "Łódź and others"}, "createdBy": {"S": "1000000000"},
        })
    }

    fn collection() -> Value {
        json!({
            "PK": {"S": "1000000002"}, "SK": {"S": "collection"}, "GSISK": {"S": "Llanfair"}, "rev": {"N": "2"},
            "name": {"S": "Llanfair"}, "description": {"S": ""}, "categoryIds": {"L": [{"S": "1000000001"}]},
            "placeId": {"S": "9002656194"}, "citationTemplate": {"S": "Page {Page}"},
        })
    }

    fn post() -> Value {
        json!({
            "PK": {"S": "1000000003"}, "SK": {"S": "post"}, "GSISK": {"S": "1000000002"}, "rev": {"N": "2"},
            "name": {"S": "Births 1837"}, "ownerId": {"S": "1000000000"}, "status": {"S": "draft"},
            "metadata": {"M": {"Source": {"S": "County Office"}, "Pages": {"N": "12"}, "Complete": {"BOOL": true}}},
        })
    }

    fn user() -> Value {
        json!({
            "PK": {"S": "1000000000"}, "SK": {"S": "user"}, "GSISK": {"S": "iss=https%3A%2F%2Fid.example.org&sub=ann"},
            "rev": {"N": "2"}, "name": {"S": "Zoë Field"}, "email": {"S": "zoe@example.org"}, "role": {"S": "none"},
            "enabled": {"BOOL": true},
        })
    }

    #[test]
    fn documents_have_these_fields_and_no_others() {
        let expected = json!({ "name": "births", "description": "lodz and others" });
        assert_eq!(documented("category", &category()), Ok(expected));
        let expected = json!({
            "name": "llanfair", "description": "", "categoryIds": ["1000000001"], "placeId": "9002656194",
        });
        assert_eq!(documented("collection", &collection()), Ok(expected));
        let expected = json!({
            "name": "births 1837", "collectionId": "1000000002", "status": "draft", "ownerId": "1000000000",
            "metadata": ["county office"],
        });
        assert_eq!(documented("post", &post()), Ok(expected));
        // The issuer and the subject are not searched.
        assert_eq!(documented("user", &user()), Ok(json!({ "name": "zoe field", "email": "zoe example org" })));
    }

    #[test]
    fn every_field_is_in_the_mapping() {
        let mapping: Value = serde_json::from_str(MAPPING.body).unwrap();
        let known = mapping["mappings"]["properties"].as_object().unwrap();
        for (entity, item) in
            [("category", category()), ("collection", collection()), ("post", post()), ("user", user())]
        {
            for name in documented(entity, &item).unwrap().as_object().unwrap().keys() {
                assert!(known.contains_key(name), "{name}");
            }
        }
    }

    #[test]
    fn attribute_of_another_type_is_unfit() {
        for (entity, whole, read) in [
            ("category", category(), &["name", "description"] as &[_]),
            ("collection", collection(), &["name", "description", "categoryIds", "placeId"]),
            ("post", post(), &["name", "GSISK", "status", "ownerId"]),
            ("user", user(), &["name", "email"]),
        ] {
            for name in read {
                for wrong in [json!({"N": "1"}), json!({"BOOL": true}), json!({"M": {}})] {
                    let mut item = whole.clone();
                    item[*name] = wrong;
                    assert_eq!(documented(entity, &item).unwrap_err().attribute, *name);
                }
            }
        }
    }
}
