//! The search documents of tenants, projects and issues. Only the fields named here are indexed.

use mirror::{Document, Found, Image, Mapping, Unfit, WithoutShapes};
use table::schema::{Entity, System};
use table::{EntityKey, Key};

use crate::keys::{IssueKey, ProjectKey, TenantKey};
use crate::listed;
use crate::values::{Plain, Type, folded};

/// The documents of tracker.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tracker;

/// Every field with its type and analysis. A change of the documents' content raises the version by one.
pub const MAPPING: Mapping = Mapping { version: 2, body: include_str!("documents/mapping.json") };

impl WithoutShapes for Tracker {}

impl mirror::Documents for Tracker {
    fn tables(&self) -> &'static System {
        &crate::schema::SYSTEM
    }

    fn mapping(&self) -> Mapping {
        MAPPING
    }

    fn document(&self, entity: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit> {
        let key = Key::new(image.text("PK")?, image.text("SK")?);
        match entity.name {
            "tenant" => tenant(&key, image),
            "project" => project(&key, image),
            "issue" => issue(&key, image),
            _ => Ok(Found::Hidden),
        }
    }
}

/// A tenant that is being deleted is hidden.
fn tenant(key: &Key, image: &Image<'_>) -> Result<Found, Unfit> {
    let TenantKey { tenant } = TenantKey::parse(key).ok_or_else(|| unfit("PK", "the key of a tenant"))?;
    if image.has("Deleting") {
        return Ok(Found::Hidden);
    }
    let mut document = Document::new();
    document.keyword("tenantId", tenant.id().as_str());
    named(&mut document, &image.text("Name")?, image)?;
    Ok(Found::Document(document))
}

/// A project that is being deleted has no `Data`, and is hidden.
fn project(key: &Key, image: &Image<'_>) -> Result<Found, Unfit> {
    let ProjectKey { project, tenant } = ProjectKey::parse(key).ok_or_else(|| unfit("PK", "the key of a project"))?;
    let Some(name) = image.optional_text("Data")? else { return Ok(Found::Hidden) };
    let mut document = Document::new();
    document.keyword("tenantId", tenant.id().as_str()).keyword("projectId", project.id().as_str());
    named(&mut document, listed::name(&name), image)?;
    Ok(Found::Document(document))
}

/// The document of an issue, from its item alone. A value's key is in the field of its attribute's slot.
fn issue(key: &Key, image: &Image<'_>) -> Result<Found, Unfit> {
    let IssueKey { project, .. } = IssueKey::parse(key).ok_or_else(|| unfit("PK", "the key of an issue"))?;
    let mut document = Document::new();
    document
        .keyword("tenantId", &*image.text("Tenant")?)
        .keyword("projectId", project.id().as_str())
        .number("number", image.number("Num")?)
        .keyword("state", &*image.text("State")?);
    named(&mut document, &image.text("Name")?, image)?;
    let (mut texts, mut keys) = (Vec::new(), Vec::new());
    let values = image.optional_map("Values")?;
    for (values, name) in values.iter().flat_map(|values| values.names().map(move |name| (values, name))) {
        let value = values.map(name)?;
        let (of, text) = (of_type(&value.text("type")?)?, value.text("value")?);
        let slot = value.number("slot")?.integer().filter(|slot| (0..100).contains(slot));
        let slot = slot.ok_or_else(|| unfit("slot", "a slot from 0 to 99"))?;
        keys.push((slot, of.key(&Plain::stored(&*text)).keyword()));
        if of == Type::Text {
            texts.push((slot, text));
        }
    }
    // The order of a map is arbitrary, and equal items need equal documents.
    keys.sort();
    texts.sort();
    for (slot, key) in &keys {
        document.keyword(&format!("k{slot:02}"), key.as_str());
    }
    if !texts.is_empty() {
        document.texts("texts", texts.into_iter().map(|(_, text)| text));
    }
    Ok(Found::Document(document))
}

/// The fields of every document.
fn named(document: &mut Document, name: &str, image: &Image<'_>) -> Result<(), Unfit> {
    document
        .text("name", name)
        .keyword("nameKey", folded(name).as_str())
        .keyword("createdAt", image.optional_text("CreatedAt")?.as_deref())
        .keyword("updatedAt", image.optional_text("UpdatedAt")?.as_deref());
    Ok(())
}

fn of_type(name: &str) -> Result<Type, Unfit> {
    Ok(match name {
        "int" => Type::Int,
        "decimal" => Type::Decimal,
        "date" => Type::Date,
        "dateTime" => Type::DateTime,
        "text" => Type::Text,
        "choice" => Type::Choice,
        _ => return Err(unfit("type", "a type of attributes")),
    })
}

fn unfit(attribute: &str, expected: &'static str) -> Unfit {
    Unfit { attribute: attribute.to_owned(), expected }
}

#[cfg(test)]
mod tests {
    use mirror::Documents;
    use serde_json::{Value, json};

    use super::*;
    use crate::schema::TRACKER;

    fn document(item: &Value) -> Option<Value> {
        let text = item.to_string();
        let image = Image::parse(&text).unwrap();
        let key = Key::new(image.text("PK").unwrap(), image.text("SK").unwrap());
        match Tracker.document(TRACKER.entity_of(&key).unwrap(), &image).unwrap() {
            Found::Hidden => None,
            Found::Document(document) => Some(serde_json::from_str(&format!("{{{}}}", document.fields())).unwrap()),
        }
    }

    fn value(slot: u8, of: &str, text: &str) -> Value {
        json!({"M": {"slot": {"N": slot.to_string()}, "type": {"S": of}, "value": {"S": text}}})
    }

    #[test]
    fn issue_document_has_the_keys_of_the_index() {
        let item = json!({
            "PK": {"S": "issue-af34"}, "SK": {"S": "project-35e9"}, "Tenant": {"S": "tenant-0807"}, "Num": {"N": "3"},
            "Name": {"S": "Girder Needs"}, "State": {"S": "open"}, "CreatedAt": {"S": "2023"},
            "Values": {"M": {"47e5": value(7, "text", "Approved"), "3fe6": value(2, "int", "42")}},
        });
        let expected = json!({
            "tenantId": "tenant-0807", "projectId": "project-35e9", "number": 3, "state": "open",
            "name": "Girder Needs", "nameKey": "girder needs", "createdAt": "2023",
            "k02": "p13142", "k07": "approved", "texts": ["Approved"],
        });
        assert_eq!(document(&item), Some(expected));
    }

    #[test]
    fn items_being_deleted_have_no_document() {
        let project = json!({"PK": {"S": "project-35e9"}, "SK": {"S": "tenant-0807"}});
        let tenant = json!({"PK": {"S": "tenant-0807"}, "SK": {"S": "*"}, "Name": {"S": "a"}, "Deleting": {"S": "w"}});
        assert_eq!((document(&project), document(&tenant)), (None, None));
    }

    #[test]
    fn mapping_has_a_field_for_each_slot() {
        let mapping: Value = serde_json::from_str(MAPPING.body).unwrap();
        let fields = mapping["mappings"]["properties"].as_object().unwrap();
        assert!((0..100).all(|slot| fields.contains_key(&format!("k{slot:02}"))));
    }
}
