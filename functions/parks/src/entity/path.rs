//! The paths of a kind of item: the parameters of its templates, and those of the paths that start with them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use table::{EntityKey, Key};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{Object, ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::Entity;
use crate::keys::Parent;

/// The texts of the parameters of a template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts(BTreeMap<String, String>);

/// The path of a list.
#[derive(Debug)]
pub struct ListPath<E> {
    /// None for a path that no list can have.
    pub parent: Option<Parent>,
    of: PhantomData<fn() -> E>,
}

/// The path of an item, or a longer path with the further parameters `B`. A path that no item can have does not parse.
#[derive(Debug)]
pub struct ItemPath<E: Entity, B = NoMore> {
    pub key: E::Key,
    pub below: B,
}

/// No further parameters.
#[derive(Debug, Deserialize, ToSchema)]
pub struct NoMore {}

impl<E: Entity, B> ItemPath<E, B> {
    pub fn key(&self) -> Key {
        self.key.key()
    }
}

impl Parts {
    /// Parses a parameter. None if its text does not parse.
    pub fn part<T: FromStr>(&self, name: &str) -> Option<T> {
        self.0.get(name)?.parse().ok()
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Parts {
    fn from_iter<T: IntoIterator<Item = (&'a str, &'a str)>>(parts: T) -> Self {
        Self(parts.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect())
    }
}

/// The names in braces.
fn names(template: &str) -> impl Iterator<Item = &str> {
    template.split(['{', '}']).skip(1).step_by(2)
}

/// Takes the parameters of the template out of the path.
fn take(template: &str, path: &mut Map<String, Value>) -> Result<Parts, serde_json::Error> {
    let taken = names(template).filter_map(|name| path.remove_entry(name));
    taken.map(|(name, text)| Ok((name, serde_json::from_value(text)?))).collect::<Result<_, _>>().map(Parts)
}

fn schema(template: &str) -> Object {
    let part = |name| {
        let example = match name {
            "collection" => "bcparks_1",
            "facilityType" => "campground",
            "activityType" => "dayuse",
            _ => "1",
        };
        ObjectBuilder::new().schema_type(Type::String).examples([Value::from(example)])
    };
    names(template).fold(ObjectBuilder::new(), |object, name| object.property(name, part(name)).required(name)).build()
}

impl<'de, E: Entity> Deserialize<'de> for ListPath<E> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut path = Map::deserialize(deserializer)?;
        let parts = take(E::LIST, &mut path).map_err(D::Error::custom)?;
        Ok(Self { parent: E::parent(&parts), of: PhantomData })
    }
}

impl<'de, E: Entity, B: DeserializeOwned> Deserialize<'de> for ItemPath<E, B> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut path = Map::deserialize(deserializer)?;
        let parts = take(E::ITEM, &mut path).map_err(D::Error::custom)?;
        let key = E::key(&parts).ok_or_else(|| D::Error::custom("no item can have this path"))?;
        let below = serde_json::from_value(Value::Object(path)).map_err(D::Error::custom)?;
        Ok(Self { key, below })
    }
}

impl<E: Entity> PartialSchema for ListPath<E> {
    fn schema() -> RefOr<Schema> {
        RefOr::T(schema(E::LIST).into())
    }
}

impl<E: Entity, B: PartialSchema> PartialSchema for ItemPath<E, B> {
    fn schema() -> RefOr<Schema> {
        let mut object = schema(E::ITEM);
        if let RefOr::T(Schema::Object(below)) = B::schema() {
            object.properties.extend(below.properties);
            object.required.extend(below.required);
        }
        RefOr::T(object.into())
    }
}

impl<E: Entity> ToSchema for ListPath<E> {
    fn name() -> Cow<'static, str> {
        format!("{}ListPath", E::KIND).into()
    }
}

impl<E: Entity, B: ToSchema> ToSchema for ItemPath<E, B> {
    fn name() -> Cow<'static, str> {
        format!("{}{}", E::KIND, B::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        B::schemas(schemas);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use table::Number;

    use super::super::{Collection, Product};
    use super::*;
    use crate::items::geometry::ShapePath;

    #[test]
    fn path_has_the_parameters_of_its_template_and_further_ones() {
        let path =
            json!({"collection": "a", "activityType": "dayuse", "activity": "1", "number": "2", "shape": "path"});
        let read: ItemPath<Product, ShapePath> = serde_json::from_value(path).unwrap();
        assert_eq!((read.key.activity, read.key.number), (Number(1), Number(2)));
        assert_eq!(read.below.shape.as_str(), "path");
        assert_eq!(names(Product::LIST).collect::<Vec<_>>(), ["collection", "activityType", "activity"]);
        assert_eq!(names(Collection::LIST).count(), 0);
    }
}
