//! The systems' declarations as data for other tools: `infra/declaration.json`. Names are logical.

use serde_json::{Value, json};
use table::grant::{Grant, Resource};
use table::schema::{
    EventSource, Index, MAX_RECEIVES, Projection, QUEUE_CONCURRENCY, RECORDS_BATCH, SOCKET_STAGE, Table,
    dead_letter_queue, visibility_timeout,
};
use web::{App, cors};

use super::function::{Function, functions};
use super::queues::DEAD_LETTER_SECONDS;
use super::secrets::SECRET_LENGTH;
use super::state_machine::parsed;
use crate::artefact::MARK;
use crate::systems::{self, Declared};

pub fn declaration(systems: &[Declared]) -> String {
    let systems: Vec<Value> = systems.iter().map(|declared| system(&declared.app)).collect();
    let declaration = json!({
        "//": format!("{MARK}: what the systems declare"),
        "cors": { "methods": cors::METHODS, "allowed": cors::ALLOWED, "exposed": cors::EXPOSED, "maxAge": cors::MAX_AGE },
        "systems": systems,
    });
    format!("{declaration:#}\n")
}

fn system(app: &App) -> Value {
    let system = app.system();
    let functions = functions(app);
    let buckets = system.buckets.iter().map(|bucket| {
        let expiring = bucket.expiring.iter().map(|(prefix, days)| json!({ "prefix": prefix, "days": days }));
        json!({ "name": bucket.name, "expiring": expiring.collect::<Vec<_>>() })
    });
    let secrets = system
        .secrets
        .iter()
        .map(|secret| json!({ "name": secret.name, "description": secret.description, "length": SECRET_LENGTH }));
    json!({
        "name": system.name,
        "isExample": systems::is_example(system.name),
        "tables": system.tables.iter().map(|declared| table(declared)).collect::<Vec<_>>(),
        "buckets": buckets.collect::<Vec<_>>(),
        "secrets": secrets.collect::<Vec<_>>(),
        "ownLogin": app.own_issuer().is_some(),
        "hasLimits": !app.declared_limits().is_empty(),
        "sources": system.sources.iter().map(|declared| source(declared, &functions)).collect::<Vec<_>>(),
        "functions": functions.iter().map(function).collect::<Vec<_>>(),
    })
}

fn table(table: &Table) -> Value {
    let indexes = table.indexes.iter().map(|Index { name, pk, sk, projection }| {
        let (kind, attributes): (_, &[&str]) = match projection {
            Projection::KeysOnly => ("KEYS_ONLY", &[]),
            Projection::All => ("ALL", &[]),
            Projection::Include(attributes) => ("INCLUDE", attributes),
        };
        json!({ "name": name, "pk": pk, "sk": sk, "projection": kind, "attributes": attributes })
    });
    json!({
        "name": table.name,
        "pk": table.pk,
        "sk": table.sk,
        "stream": table.stream,
        "documents": table.documents().iter().map(|pattern| pattern.filter(table).to_string()).collect::<Vec<_>>(),
        "indexes": indexes.collect::<Vec<_>>(),
    })
}

fn source(source: &EventSource, functions: &[Function]) -> Value {
    match source {
        EventSource::Streams { handler, filtered } => {
            json!({ "kind": "streams", "handler": handler, "filtered": filtered })
        }
        EventSource::Records { handler, filtered } => {
            json!({ "kind": "records", "handler": handler, "batch": RECORDS_BATCH, "filtered": filtered })
        }
        EventSource::Objects { bucket, prefix, handler } => {
            json!({ "kind": "objects", "handler": handler, "bucket": bucket, "prefix": prefix })
        }
        EventSource::Queue { name, handler } => {
            let function = functions.iter().find(|function| function.name == *handler);
            json!({
                "kind": "queue",
                "handler": handler,
                "queue": name,
                "visibilitySeconds": function.map(|function| visibility_timeout(function.timeout).as_secs()),
                "concurrency": QUEUE_CONCURRENCY,
                "maxReceives": MAX_RECEIVES,
                "deadLetters": dead_letter_queue(name),
                "deadLetterSeconds": DEAD_LETTER_SECONDS,
            })
        }
        EventSource::Schedule { every_minutes, handler } => {
            json!({ "kind": "schedule", "handler": handler, "everyMinutes": every_minutes })
        }
        EventSource::Deployment { handler } => json!({ "kind": "deployment", "handler": handler }),
        EventSource::StateMachine { name, definition, handler } => {
            json!({ "kind": "stateMachine", "handler": handler, "name": name, "definition": parsed(definition) })
        }
        EventSource::Socket { connect, disconnect, receive } => json!({
            "kind": "socket",
            "stage": SOCKET_STAGE,
            "connect": connect,
            "disconnect": disconnect,
            "receive": receive,
        }),
    }
}

fn function(function: &Function) -> Value {
    let route = function.route.as_ref().map(|(method, path)| json!({ "method": method, "path": path }));
    json!({
        "name": function.name,
        "route": route,
        "timeoutSeconds": function.timeout.as_secs(),
        "memory": function.memory,
        "grants": function.grants.iter().map(grant).collect::<Vec<_>>(),
    })
}

fn grant(grant: &Grant) -> Value {
    let action = grant.action;
    match &grant.resource {
        Resource::Table(table) => json!({ "action": action, "table": table }),
        Resource::Attributes { table, attributes } => {
            json!({ "action": action, "table": table, "attributes": attributes })
        }
        Resource::Index { table, index } => json!({ "action": action, "table": table, "index": index }),
        Resource::Objects { bucket, prefix } => json!({ "action": action, "bucket": bucket, "objects": prefix }),
        Resource::Names { bucket, prefix } => json!({ "action": action, "bucket": bucket, "names": prefix }),
        Resource::Secret(secret) => json!({ "action": action, "secret": secret }),
        Resource::Queue(queue) => json!({ "action": action, "queue": queue }),
        Resource::EventBus { source } => json!({ "action": action, "eventSource": source }),
        Resource::Connections { method } => json!({ "action": action, "connections": method }),
        Resource::Search { path } => json!({ "action": action, "searchPath": path }),
    }
}
