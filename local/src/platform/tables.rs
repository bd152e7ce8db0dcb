//! Comparison of existing tables with their declarations. A deployment would change a table. Here it stays as it is, so
//! that each query of an index that it lacks would fail.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::error::DisplayErrorContext;
use aws_sdk_dynamodb::types::{self, KeySchemaElement, KeyType, ProjectionType, StreamViewType, TableDescription};
use table::Engines;
use table::schema::{Index, Projection, System, Table};

use crate::error::StartError;

/// Refuses tables that lack something that the system declares. More indexes than declared do no harm.
pub(super) async fn check(engines: &Engines, system: &System) -> Result<(), StartError> {
    for table in system.tables {
        let name = engines.config.table(table.name);
        let described = engines.dynamodb().describe_table().table_name(&name).send().await.map_err(|error| {
            let error = DisplayErrorContext(error);
            StartError::new(format!("Describing the table `{name}` failed: {error}"), "Start again")
        })?;
        if let Some(difference) = described.table.and_then(|described| difference(table, &described)) {
            return Err(StartError::new(
                format!("The table `{name}` comes from another version of Cairn: {difference}"),
                "`cairn local reset` starts over; or use another folder with `--state`",
            ));
        }
    }
    Ok(())
}

fn difference(table: &Table, described: &TableDescription) -> Option<String> {
    if !has_keys(described.key_schema(), table.pk, table.sk) {
        return Some("it has other keys".to_owned());
    }
    let has_stream = described.stream_specification().is_some_and(|stream| {
        stream.stream_enabled() && stream.stream_view_type() == Some(&StreamViewType::NewAndOldImages)
    });
    if table.stream && !has_stream {
        return Some("it has no stream of both images".to_owned());
    }
    let described = described.global_secondary_indexes();
    table.indexes.iter().find_map(|index| {
        let Some(own) = described.iter().find(|own| own.index_name() == Some(index.name)) else {
            return Some(format!("it has no index `{}`", index.name));
        };
        if !has_keys(own.key_schema(), index.pk, index.sk) {
            return Some(format!("its index `{}` has other keys", index.name));
        }
        let is_same = own.projection().is_some_and(|projection| is_projection(projection, index));
        (!is_same).then(|| format!("its index `{}` has other attributes", index.name))
    })
}

fn has_keys(schema: &[KeySchemaElement], pk: &str, sk: Option<&str>) -> bool {
    let key = |kind: &KeyType| schema.iter().find(|key| key.key_type() == kind).map(KeySchemaElement::attribute_name);
    key(&KeyType::Hash) == Some(pk) && key(&KeyType::Range) == sk
}

fn is_projection(own: &types::Projection, index: &Index) -> bool {
    let expected = match index.projection {
        Projection::KeysOnly => ProjectionType::KeysOnly,
        Projection::All => ProjectionType::All,
        Projection::Include(_) => ProjectionType::Include,
    };
    let included = match index.projection {
        Projection::Include(names) => names.iter().copied().collect(),
        Projection::KeysOnly | Projection::All => BTreeSet::new(),
    };
    let own_included: BTreeSet<&str> = own.non_key_attributes().iter().map(String::as_str).collect();
    own.projection_type() == Some(&expected) && own_included == included
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::{GlobalSecondaryIndexDescription, StreamSpecification};

    use super::*;

    static TOYS: Table = Table {
        name: "toys",
        pk: "pk",
        sk: Some("sk"),
        indexes: &[Index { name: "list", pk: "listPk", sk: None, projection: Projection::Include(&["name", "size"]) }],
        entities: &[],
        stream: true,
    };

    fn keys(pk: &str, sk: Option<&str>) -> Option<Vec<KeySchemaElement>> {
        let key = |name: &str, kind| KeySchemaElement::builder().attribute_name(name).key_type(kind).build().unwrap();
        Some([key(pk, KeyType::Hash)].into_iter().chain(sk.map(|sk| key(sk, KeyType::Range))).collect())
    }

    fn index(pk: &str, names: &[&str]) -> GlobalSecondaryIndexDescription {
        let projection = types::Projection::builder().projection_type(ProjectionType::Include);
        let names = names.iter().map(|&name| name.to_owned()).collect();
        let projection = projection.set_non_key_attributes(Some(names)).build();
        let index = GlobalSecondaryIndexDescription::builder().index_name("list").projection(projection);
        index.set_key_schema(keys(pk, None)).build()
    }

    fn toys(sk: Option<&str>, view: StreamViewType, index: Option<GlobalSecondaryIndexDescription>) -> Option<String> {
        let stream = StreamSpecification::builder().stream_enabled(true).stream_view_type(view).build().unwrap();
        let described = TableDescription::builder().set_key_schema(keys("pk", sk)).stream_specification(stream);
        difference(&TOYS, &described.set_global_secondary_indexes(index.map(|index| vec![index])).build())
    }

    #[test]
    fn keys_stream_and_indexes_are_compared() {
        let (sk, both) = (Some("sk"), StreamViewType::NewAndOldImages);
        let declared = || Some(index("listPk", &["size", "name"]));
        assert_eq!(toys(sk, both.clone(), declared()), None);
        let said = |expected: &str| Some(expected.to_owned());
        assert_eq!(toys(None, both.clone(), declared()), said("it has other keys"));
        assert_eq!(toys(sk, StreamViewType::KeysOnly, declared()), said("it has no stream of both images"));
        assert_eq!(toys(sk, both.clone(), None), said("it has no index `list`"));
        let other = Some(index("otherPk", &["size", "name"]));
        assert_eq!(toys(sk, both.clone(), other), said("its index `list` has other keys"));
        assert_eq!(toys(sk, both, Some(index("listPk", &["name"]))), said("its index `list` has other attributes"));
    }
}
