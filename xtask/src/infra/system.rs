//! The template of one system: `infra/{system}.yaml`.

use table::schema::{EventSource, System, failures_bucket};
use web::App;

use super::function::{Function, functions};
use super::node::{Map, Node, attribute, reference, sub, to_yaml};
use super::{alarms, api, names, parameters, policy, queues, secrets, socket, sources, storage};

pub fn template(app: &App) -> String {
    to_yaml(&format!("the system {}", app.system().name), &node(app))
}

/// Returns the template as a value.
pub fn node(app: &App) -> Node {
    let system = app.system();
    let functions = functions(app);
    let mut resources: Map = Map::new();
    for table in system.tables {
        resources.push((names::resource(table.name, "Table"), storage::table(system.name, table)));
    }
    for bucket in system.buckets {
        resources.push((names::resource(bucket.name, "Bucket"), storage::bucket(system, bucket, &functions)));
        resources.push((names::resource(bucket.name, "BucketPolicy"), storage::bucket_policy(bucket.name)));
    }
    for secret in system.secrets {
        resources.push((names::resource(secret.name, "Secret"), secrets::secret(system.name, secret)));
    }
    let failures = failures_bucket(system.name);
    resources.push((names::resource(&failures, "Bucket"), storage::failures(system.name)));
    resources.push((names::resource(&failures, "BucketPolicy"), storage::bucket_policy(&failures)));
    for (queue, handler) in functions.iter().filter_map(|own| Some((own.queue(system)?, own))) {
        resources.extend(queues::queues(system.name, queue, handler));
    }
    resources.extend(api::api(system.name, &functions));
    resources.extend(socket::api(system));
    resources.extend(alarms::system(system, &functions));
    resources.push(alarms::routes(system.name));
    let checked: &[&str] =
        if app.declared_limits().is_empty() { &["Issuers"] } else { &["Issuers", parameters::LIMITS] };
    for own in &functions {
        let more = sources::statements(system, own);
        resources.push((own.resource("Function"), function(system, own)));
        resources.push((own.resource("Role"), policy::role(system.name, own, more)));
        resources.extend(api::permission(own));
        resources.extend(sources::sources(system, own, checked));
    }
    map! {
        "AWSTemplateFormatVersion" => "2010-09-09",
        "Transform" => "AWS::Serverless-2016-10-31",
        "Description" => format!("Cairn: the system {}, one function per route.", system.name),
        "Parameters" => parameters::system(app, &functions),
        "Conditions" => parameters::conditions(system),
        "Mappings" => parameters::memory(&functions),
        "Globals" => map! { "Function" => globals(app, &functions) },
        "Resources" => resources,
        "Outputs" => [api::outputs(), socket::outputs(system)].concat(),
    }
}

/// Returns the properties that all functions of a system share, such as the zip.
fn globals(app: &App, functions: &[Function]) -> Node {
    let system = app.system();
    let mut variables: Map = vec![
        ("CAIRN_PREFIX".to_owned(), reference("Prefix")),
        ("CAIRN_BUCKET_SUFFIX".to_owned(), sub(names::BUCKET_SUFFIX)),
    ];
    if system.sources.iter().any(|source| matches!(source, EventSource::Queue { .. })) {
        variables.push(("CAIRN_QUEUES".to_owned(), sub(names::QUEUE_URLS)));
    }
    if functions.iter().any(Function::puts_events) {
        variables.push(("CAIRN_EVENT_BUS".to_owned(), reference(parameters::EVENT_BUS)));
    }
    variables.extend(socket::variables(system));
    variables.extend([
        ("CAIRN_SEARCH_ENDPOINT".to_owned(), reference("SearchEndpoint")),
        ("CAIRN_ISSUERS".to_owned(), reference("Issuers")),
        ("CAIRN_CURSOR_SECRETS".to_owned(), reference("CursorSecrets")),
        ("CAIRN_TOMBSTONE_HOURS".to_owned(), reference("TombstoneRetentionHours")),
        ("CAIRN_ROUTE_METRICS".to_owned(), map! { "Fn::If" => list!["HasRouteMetrics", "true", "false"] }),
    ]);
    if app.own_issuer().is_some() {
        variables.push(("CAIRN_OWN_LOGIN".to_owned(), reference(parameters::OWN_LOGIN)));
    }
    if !app.declared_limits().is_empty() {
        variables.push(("CAIRN_LIMITS".to_owned(), reference(parameters::LIMITS)));
    }
    map! {
        "Runtime" => "provided.al2023",
        "CodeUri" => format!("../target/lambda/{}/bootstrap.zip", system.name),
        "Architectures" => list![reference("Architecture")],
        "Tracing" => "Active",
        "LoggingConfig" => map! { "LogGroup" => reference("Logs") },
        "Environment" => map! { "Variables" => variables },
        "Tags" => names::tags(system.name),
    }
}

fn function(system: &System, function: &Function) -> Node {
    let about = match &function.route {
        Some((method, template)) => format!("{method} {template}"),
        None => format!("Handler of events {}", function.name),
    };
    let memory = list!["Memory", reference("MemoryClass"), format!("Mb{}", function.memory)];
    let mut properties = vec![
        ("FunctionName".to_owned(), sub(names::function(system.name, function.name))),
        ("Description".to_owned(), about.into()),
        ("Handler".to_owned(), function.name.into()),
        ("Timeout".to_owned(), function.timeout.as_secs().into()),
        ("MemorySize".to_owned(), map! { "Fn::FindInMap" => memory }),
        ("Role".to_owned(), attribute(function.resource("Role"), "Arn")),
    ];
    // X-Ray samples the first request of each second, which would be 44 000 empty traces a month.
    if function.is_polling(system) {
        properties.push(("Tracing".to_owned(), "PassThrough".into()));
    }
    // It may send the next message to its own queue. After about 16 such messages Lambda would drop one ("Use Lambda
    // recursive loop detection to prevent infinite loops").
    if function.queue(system).is_some() {
        properties.push(("RecursiveLoop".to_owned(), "Allow".into()));
    }
    map! { "Type" => "AWS::Serverless::Function", "Properties" => properties }
}
