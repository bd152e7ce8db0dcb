//! The API description in OpenAPI 3.1, made from the routes.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::Route;

/// The API description of a system.
pub fn describe<'a>(system: &str, routes: impl Iterator<Item = &'a Route>) -> Value {
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for route in routes {
        let item = paths.entry(route.template()).or_default();
        item.insert(route.method().as_str().to_lowercase(), json!({ "operationId": route.name() }));
    }
    json!({ "openapi": "3.1.0", "info": { "title": system, "version": env!("CARGO_PKG_VERSION") }, "paths": paths })
}

/// What cannot be described as it is declared.
pub(crate) fn misdeclared<'a>(routes: impl Iterator<Item = &'a Route>) -> Vec<String> {
    let mut names: Vec<&str> = routes.map(Route::name).collect();
    names.sort_unstable();
    names
        .windows(2)
        .filter(|pair| pair.first() == pair.last())
        .map(|pair| format!("two operations have one name: {pair:?}"))
        .collect()
}
