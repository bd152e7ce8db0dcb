//! Comparison of existing tables with their declarations. [`super::create_tables`] leaves an existing table as it is,
//! so each query of an index that it lacks would fail.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{KeySchemaElement, Projection, ProjectionType, StreamViewType, TableDescription};

use super::{index, key_schema, unbuilt};
use crate::Config;
use crate::error::Error;
use crate::schema::Table;

/// Returns what an existing table lacks of its declaration, such as "it has other keys". Returns `None` if it lacks
/// nothing. More indexes than declared are no difference.
pub async fn table_difference(client: &Client, config: &Config, table: &Table) -> Result<Option<String>, Error> {
    let name = config.table(table.name);
    let described = client.describe_table().table_name(name).send().await.map_err(Error::of_dynamodb)?;
    let Some(described) = described.table else { return Ok(None) };
    difference(table, &described).map_err(unbuilt)
}

fn difference(table: &Table, described: &TableDescription) -> Result<Option<String>, BuildError> {
    if !is_same_key(described.key_schema(), &key_schema(table.pk, table.sk)?) {
        return Ok(Some("it has other keys".to_owned()));
    }
    let has_stream = described.stream_specification().is_some_and(|stream| {
        stream.stream_enabled() && stream.stream_view_type() == Some(&StreamViewType::NewAndOldImages)
    });
    if table.stream && !has_stream {
        return Ok(Some("it has no stream of both images".to_owned()));
    }
    for declared in table.indexes {
        let (name, declared) = (declared.name, index(declared)?);
        let indexes = described.global_secondary_indexes();
        let Some(found) = indexes.iter().find(|found| found.index_name() == Some(name)) else {
            return Ok(Some(format!("it has no index `{name}`")));
        };
        if !is_same_key(found.key_schema(), declared.key_schema()) {
            return Ok(Some(format!("its index `{name}` has other keys")));
        }
        if found.projection().map(projected) != declared.projection().map(projected) {
            return Ok(Some(format!("its index `{name}` has other attributes")));
        }
    }
    Ok(None)
}

fn is_same_key(found: &[KeySchemaElement], declared: &[KeySchemaElement]) -> bool {
    found.len() == declared.len() && found.iter().all(|element| declared.contains(element))
}

/// The type of a projection and its attributes, whose order does not matter.
fn projected(projection: &Projection) -> (Option<&ProjectionType>, BTreeSet<&String>) {
    (projection.projection_type(), projection.non_key_attributes().iter().collect())
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::{GlobalSecondaryIndexDescription, StreamSpecification};

    use super::*;
    use crate::schema::{self, Index};

    static TOYS: Table = Table {
        name: "toys",
        pk: "pk",
        sk: Some("sk"),
        indexes: &[Index {
            name: "list",
            pk: "listPk",
            sk: None,
            projection: schema::Projection::Include(&["name", "size"]),
        }],
        entities: &[],
        stream: true,
    };

    fn list(pk: &str, names: &[&str]) -> GlobalSecondaryIndexDescription {
        let projection = Projection::builder().projection_type(ProjectionType::Include);
        let names = names.iter().map(|&name| name.to_owned()).collect();
        let projection = projection.set_non_key_attributes(Some(names)).build();
        let index = GlobalSecondaryIndexDescription::builder().index_name("list").projection(projection);
        index.set_key_schema(Some(key_schema(pk, None).unwrap())).build()
    }

    fn toys(sk: Option<&str>, view: StreamViewType, index: Option<GlobalSecondaryIndexDescription>) -> Option<String> {
        let stream = StreamSpecification::builder().stream_enabled(true).stream_view_type(view).build().unwrap();
        let described = TableDescription::builder().set_key_schema(Some(key_schema("pk", sk).unwrap()));
        let described = described.stream_specification(stream);
        let described = described.set_global_secondary_indexes(index.map(|index| vec![index])).build();
        difference(&TOYS, &described).unwrap()
    }

    #[test]
    fn keys_stream_and_indexes_are_compared() {
        let (sk, both) = (Some("sk"), StreamViewType::NewAndOldImages);
        let declared = || Some(list("listPk", &["size", "name"]));
        assert_eq!(toys(sk, both.clone(), declared()), None);
        let said = |expected: &str| Some(expected.to_owned());
        assert_eq!(toys(None, both.clone(), declared()), said("it has other keys"));
        assert_eq!(toys(sk, StreamViewType::KeysOnly, declared()), said("it has no stream of both images"));
        assert_eq!(toys(sk, both.clone(), None), said("it has no index `list`"));
        let other = Some(list("otherPk", &["size", "name"]));
        assert_eq!(toys(sk, both.clone(), other), said("its index `list` has other keys"));
        assert_eq!(toys(sk, both, Some(list("listPk", &["name"]))), said("its index `list` has other attributes"));
    }
}
