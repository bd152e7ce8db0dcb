//! The operations of a system as requests, from its route declarations and their samples.

use std::collections::BTreeSet;
use std::sync::Arc;

use local::Served;
use reqwest::Method;
use serde_json::Value;
use table::{Clock, Config, Engines, access};
use web::Who;
use web::operation::sample_event;

use crate::harness::{Answer, Call, User};

/// An operation with its sample request.
#[derive(Clone)]
pub struct Operation {
    pub name: &'static str,
    /// The name of its row in `e2e/tenancy.md`.
    pub row: String,
    pub method: Method,
    /// The principals that the route serves.
    pub who: Who,
    /// The path with `{name}` for parameters.
    pub template: String,
    /// The query string.
    pub query: String,
    body: Option<String>,
    headers: Vec<(String, String)>,
    /// The names of its parameters and headers in the API description.
    parameters: Vec<String>,
    pub takes_a_body: bool,
    /// The tables that its access patterns declare.
    pub tables: BTreeSet<&'static str>,
}

/// Returns the names of all operations of a system.
pub fn names(served: &Served) -> Vec<&'static str> {
    let engines = Engines::new(Config::new("local", "http://127.0.0.1:1"), Clock::system());
    (served.app)(engines).routes().map(web::Route::name).collect()
}

/// Returns all operations, reads first. `texts` are the texts of samples to replace, with their replacements.
pub fn all(served: &Served, engines: &Arc<Engines>, description: &Value, texts: &[(&str, String)]) -> Vec<Operation> {
    let app = (served.app)(Arc::clone(engines));
    let mut operations: Vec<Operation> = app
        .routes()
        .map(|route| {
            let event = sample_event(route);
            let text = |value: &Value| {
                let text = value.as_str().unwrap_or_default().to_owned();
                texts.iter().fold(text, |text, (word, other)| text.replace(word, other))
            };
            let headers = event["headers"].as_object().unwrap().iter();
            let method = route.method().as_str().to_lowercase();
            let described = &description["paths"][route.template()][&method];
            let parameters = described["parameters"].as_array().into_iter().flatten();
            let name = |parameter: &Value| match parameter["$ref"].as_str() {
                Some(place) => description.pointer(place.trim_start_matches('#')).unwrap()["name"].clone(),
                None => parameter["name"].clone(),
            };
            Operation {
                name: route.name(),
                row: route.name().to_owned(),
                method: route.method().clone(),
                who: route.who(),
                template: route.template().to_owned(),
                query: text(&event["rawQueryString"]),
                body: event.get("body").map(text),
                headers: headers
                    .filter(|(name, _)| !["host", "authorization"].contains(&name.as_str()))
                    .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()))
                    .collect(),
                parameters: parameters.map(|parameter| name(parameter).as_str().unwrap().to_owned()).collect(),
                takes_a_body: described["requestBody"].is_object(),
                tables: tables(route),
            }
        })
        .collect();
    operations.sort_by_key(|operation| !operation.only_reads());
    operations
}

fn tables(route: &web::Route) -> BTreeSet<&'static str> {
    let calls = route.declared_patterns().iter().flat_map(|pattern| pattern.calls);
    let table = |call: &access::Call| match call {
        access::Call::Table { table, .. } => Some(*table),
        _ => None,
    };
    calls.filter_map(table).collect()
}

/// Returns the operations with one for each value of a parameter, in place of those that have it in their path.
pub fn with_values(operations: Vec<Operation>, parameter: &str, values: &[&str]) -> Vec<Operation> {
    let step = format!("{{{parameter}}}");
    let each = |operation: Operation| {
        if !operation.template.contains(&step) {
            return vec![operation];
        }
        let with = |value: &&str| Operation {
            row: format!("{} in {value}", operation.name),
            template: operation.template.replace(&step, value),
            ..operation.clone()
        };
        values.iter().map(with).collect()
    };
    operations.into_iter().flat_map(each).collect()
}

impl Operation {
    pub fn only_reads(&self) -> bool {
        self.method == Method::GET
    }

    /// Whether the API description knows a parameter or a header of this name.
    pub fn takes(&self, parameter: &str) -> bool {
        self.parameters.iter().any(|known| known.eq_ignore_ascii_case(parameter))
    }

    /// Replaces texts of the sample's body.
    pub fn fill(&mut self, with: impl Fn(String) -> String) {
        self.body = self.body.take().map(with);
    }

    /// Whether the path has this step.
    pub fn is_below(&self, step: &str) -> bool {
        self.template.split('/').any(|known| known == step)
    }

    /// Returns the names of the path parameters, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.template.split('/').filter_map(|step| step.strip_prefix('{')?.strip_suffix('}'))
    }

    /// Returns the path with these values for its first parameters.
    pub fn path(&self, values: &[String]) -> String {
        let mut values = values.iter();
        let step = |step: &str| if step.starts_with('{') { values.next().unwrap().clone() } else { step.to_owned() };
        self.template.split('/').map(step).collect::<Vec<_>>().join("/")
    }

    /// Sends the sample request to this path, with the sample's query string.
    pub fn call(&self, user: &User, path: &str) -> Call {
        let separator = if self.query.is_empty() { "" } else { "?" };
        self.call_to(user, &format!("{path}{separator}{}", self.query))
    }

    /// Sends the sample request to this path with an idempotency key.
    pub fn call_once(&self, user: &User, path: &str, key: &str) -> Call {
        let headers = self.headers.iter().filter(|(name, _)| name != "idempotency-key").cloned().collect();
        Self { headers, ..self.clone() }.call(user, path).once(key)
    }

    /// Sends the sample's body and headers to this target.
    pub fn call_to(&self, user: &User, target: &str) -> Call {
        let mut call = user.call(self.method.clone(), target);
        for (name, value) in &self.headers {
            call = call.header(name, value.as_str());
        }
        match &self.body {
            Some(body) => call.bytes(self.content_type(), body.clone()),
            None => call,
        }
    }

    /// Sends the sample request with another body.
    pub async fn with_body(&self, user: &User, path: &str, content_type: &str, body: &str) -> Answer {
        self.call(user, path).bytes(content_type, body.to_owned()).await
    }

    pub fn content_type(&self) -> &str {
        let found = self.headers.iter().find(|(name, _)| name == "content-type");
        found.map_or("application/json", |(_, value)| value)
    }
}
