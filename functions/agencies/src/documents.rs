//! The search documents of agencies and members. A field that is not written here is not indexed.

use mirror::{Document, Documents, Found, Image, Mapping, Unfit, WithoutShapes};
use table::schema::{Entity, System};

/// The documents of agencies.
#[derive(Clone, Copy, Debug, Default)]
pub struct Agencies;

/// The mapping. Its version grows by one with every change of the documents.
pub const MAPPING: Mapping = Mapping { version: 1, body: include_str!("documents/mapping.json") };

impl Documents for Agencies {
    fn tables(&self) -> &'static System {
        &crate::schema::SYSTEM
    }

    fn mapping(&self) -> Mapping {
        MAPPING
    }

    fn document(&self, entity: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit> {
        let mut document = Document::new();
        match entity.name {
            // An agency that is being deleted has no document.
            "agency" if image.optional_text("deletion")?.is_none() => agency(&mut document, image)?,
            "member" => member(&mut document, image)?,
            _ => return Ok(Found::Hidden),
        }
        Ok(Found::Document(document))
    }
}

impl WithoutShapes for Agencies {}

fn agency(document: &mut Document, image: &Image<'_>) -> Result<(), Unfit> {
    let name = image.text("name")?;
    document
        .keyword("agencyId", &*image.text("agencyId")?)
        .text("name", &*name)
        .keyword("nameKey", &*name)
        .keyword("status", &*image.text("status")?)
        .keyword("created", &*image.text("created")?)
        .keyword("modified", &*image.text("modified")?);
    Ok(())
}

fn member(document: &mut Document, image: &Image<'_>) -> Result<(), Unfit> {
    document
        .keyword("agencyId", &*image.text("agencyId")?)
        .keyword("idpid", &*image.text("idpid")?)
        .text("displayName", image.optional_text("displayName")?.as_deref())
        .keyword("role", &*image.text("role")?)
        .keyword("created", &*image.text("created")?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn documented(name: &str, item: &Value) -> Result<Value, Unfit> {
        let entity = crate::schema::AGENCIES.entities.iter().find(|entity| entity.name == name);
        let text = item.to_string();
        match Agencies.document(entity.unwrap(), &Image::parse(&text).unwrap())? {
            Found::Document(document) => Ok(serde_json::from_str(&format!("{{{}}}", document.fields())).unwrap()),
            Found::Hidden => Ok(Value::Null),
        }
    }

    fn agency() -> Value {
        json!({
            "PK": {"S": "AGENCY#n"}, "SK": {"S": "AGENCY#n"}, "rev": {"N": "2"}, "type": {"S": "Agency"},
            "agencyId": {"S": "n"}, "name": {"S": "North Rescue"}, "status": {"S": "active"},
            "created": {"S": "2026-01-01T00:00:00.000000Z"}, "createdBy": {"S": "idp:root"},
            "modified": {"S": "2026-01-02T00:00:00.000000Z"}, "modifiedBy": {"S": "idp:root"},
        })
    }

    fn member() -> Value {
        json!({
            "PK": {"S": "AGENCY#n"}, "SK": {"S": "MEMBER#idp:ann"}, "rev": {"N": "2"}, "type": {"S": "Member"},
            "agencyId": {"S": "n"}, "idpid": {"S": "idp:ann"}, "role": {"S": "admin"}, "displayName": {"S": "Ann"},
            "created": {"S": "2026-01-03T00:00:00.000000Z"}, "createdBy": {"S": "idp:root"},
        })
    }

    #[test]
    fn documents_have_these_fields_and_no_others() {
        let expected = json!({
            "agencyId": "n", "name": "North Rescue", "nameKey": "North Rescue", "status": "active",
            "created": "2026-01-01T00:00:00.000000Z", "modified": "2026-01-02T00:00:00.000000Z",
        });
        assert_eq!(documented("agency", &agency()), Ok(expected));
        let expected = json!({
            "agencyId": "n", "idpid": "idp:ann", "displayName": "Ann", "role": "admin",
            "created": "2026-01-03T00:00:00.000000Z",
        });
        assert_eq!(documented("member", &member()), Ok(expected));
    }

    #[test]
    fn agency_being_deleted_has_no_document() {
        let mut deleted = agency();
        deleted["deletion"] = json!({"S": "019e0000-0000-7000-8000-000000000001"});
        assert_eq!(documented("agency", &deleted), Ok(Value::Null));
    }

    #[test]
    fn every_field_is_in_the_mapping() {
        let mapping: Value = serde_json::from_str(MAPPING.body).unwrap();
        let known = mapping["mappings"]["properties"].as_object().unwrap();
        for (entity, item) in [("agency", agency()), ("member", member())] {
            for name in documented(entity, &item).unwrap().as_object().unwrap().keys() {
                assert!(known.contains_key(name), "{name}");
            }
        }
    }

    #[test]
    fn attribute_of_another_type_is_unfit() {
        for (entity, whole, read) in [
            ("agency", agency(), ["deletion", "agencyId", "name", "status", "created", "modified"]),
            ("member", member(), ["agencyId", "idpid", "displayName", "role", "created", "created"]),
        ] {
            for name in read {
                for wrong in [json!({"N": "1"}), json!({"BOOL": true}), json!({"M": {}})] {
                    let mut item = whole.clone();
                    item[name] = wrong;
                    assert_eq!(documented(entity, &item).unwrap_err().attribute, name);
                }
            }
        }
    }
}
