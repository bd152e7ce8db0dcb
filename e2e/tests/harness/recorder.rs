//! The calls of each function to the engines in all tests, compared with the grants of its policy.
//!
//! The handlers of the default platform reach the engines through relays. Each request is recorded as the
//! actions that IAM would check, for the operation that logged its trace id. A signed link is recorded as the action
//! that it allows, for the operation that returned it. The calls of event sources, commands and tests are not recorded.

pub mod grants;
mod wire;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use http::request::Parts;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use reqwest::Url;
use serde_json::Value;
use table::{Config, Engines, trace};

use super::Answer;
use super::conflicts::Conflicts;
use super::lines::{self, Lines};
use super::relay::pass_on;
use super::server::Server;
use grants::{Grants, Kept};
pub use grants::{Use, Used};

/// The record of all platforms of the run.
pub static OF_THE_RUN: LazyLock<Recorder> = LazyLock::new(Recorder::default);

#[derive(Default)]
pub struct Recorder {
    /// The calls by trace id, which is empty for a request without one.
    calls: Mutex<HashMap<String, BTreeSet<Use>>>,
    /// The prefixes of platforms with random requests, and the traces of these requests. They do not prove that a grant
    /// is needed, since another run may not send them.
    random: Mutex<HashSet<String>>,
    by_chance: Mutex<HashSet<String>>,
    /// The actions of signed links, by the id of the request that returned them.
    links: Mutex<HashMap<String, BTreeSet<Use>>>,
    /// The relays of each running platform, by its prefix.
    relays: Mutex<HashMap<String, Vec<Server>>>,
    /// The conflicts of a platform's writes, by its prefix.
    conflicts: Mutex<HashMap<String, Arc<Conflicts>>>,
}

#[derive(Clone, Copy)]
enum Engine {
    Dynamodb,
    S3,
    Sqs,
    EventBridge,
    Socket,
    Secrets,
    Search,
}

impl Recorder {
    /// Returns these engines with a relay in front of each.
    pub fn before(&'static self, engines: &Engines) -> Arc<Engines> {
        let config = &engines.config;
        let mut relays = Vec::new();
        let mut relay = |engine, target: String| {
            let prefix = Arc::<str>::from(config.prefix.as_str());
            let server = Server::at_once(move |request| self.relay(engine, prefix.clone(), target.clone(), request));
            let url = server.url.clone();
            relays.push(server);
            url
        };
        let recorded = engines.at(Config {
            dynamodb: config.dynamodb.clone().map(|target| relay(Engine::Dynamodb, target)),
            s3: config.s3.clone().map(|target| relay(Engine::S3, target)),
            sqs: config.sqs.clone().map(|target| relay(Engine::Sqs, target)),
            eventbridge: config.eventbridge.clone().map(|target| relay(Engine::EventBridge, target)),
            socket: config.socket.clone().map(|target| relay(Engine::Socket, target)),
            secretsmanager: config.secretsmanager.clone().map(|target| relay(Engine::Secrets, target)),
            search: relay(Engine::Search, config.search.clone()),
            // Each function reads a secret in its own process. Here they share one, and each request reads it.
            secret_lifetime: Duration::ZERO,
            ..config.clone()
        });
        self.relays.lock().unwrap().entry(config.prefix.clone()).or_default().append(&mut relays);
        recorded
    }

    /// Marks the later requests to these engines as random.
    pub fn at_random(&self, engines: &Engines) {
        self.random.lock().unwrap().insert(engines.config.prefix.clone());
    }

    /// Adds conflicts to the later writes of these engines.
    pub fn conflicts(&self, engines: &Engines, conflicts: Arc<Conflicts>) {
        self.conflicts.lock().unwrap().insert(engines.config.prefix.clone(), conflicts);
    }

    /// Ends the conflicts of these engines' writes.
    pub fn end_conflicts(&self, engines: &Engines) {
        self.conflicts.lock().unwrap().remove(&engines.config.prefix);
    }

    /// Removes the relays of these engines.
    pub fn stop(&self, engines: &Engines) {
        self.end_conflicts(engines);
        self.relays.lock().unwrap().remove(&engines.config.prefix);
    }

    /// Records the links of a response.
    pub fn saw(&self, answer: &Answer) {
        let signed = |text: &str| text.contains("X-Amz-Signature=");
        let mut links = vec![answer.header("location")];
        if str::from_utf8(&answer.bytes).is_ok_and(signed) {
            texts(&answer.body, &mut links);
        }
        let uses = links.into_iter().filter(|link| signed(link)).map(|link| wire::link(&Url::parse(link).unwrap()));
        let uses: BTreeSet<Use> = uses.collect();
        if !uses.is_empty() {
            let request = answer.header("apigw-requestid").to_owned();
            self.links.lock().unwrap().entry(request).or_default().extend(uses);
        }
    }

    async fn relay(
        &self,
        engine: Engine,
        prefix: Arc<str>,
        target: String,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Box<dyn std::error::Error + Send + Sync>> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let url = format!("{target}{}", parts.uri.path_and_query().map_or("/", |path| path.as_str()));
        // Requests to signed links arrive here, too, without credentials.
        if matches!(engine, Engine::S3) && !parts.headers.contains_key("authorization") {
            return Ok(pass_on(url, parts, body).await?);
        }
        let trace = header(&parts, trace::HEADER).to_owned();
        let uses = match engine {
            Engine::Dynamodb => wire::dynamodb(&prefix, header(&parts, "x-amz-target"), &body),
            Engine::S3 => wire::s3(&prefix, &parts.method, parts.uri.path()).map(|one| vec![one]),
            Engine::Sqs => wire::sqs(&prefix, header(&parts, "x-amz-target"), &body).map(|one| vec![one]),
            Engine::EventBridge => wire::event_bus(&prefix, header(&parts, "x-amz-target"), &body),
            Engine::Socket => Some(vec![wire::socket(&parts.method)]),
            Engine::Secrets => wire::secrets(&prefix, header(&parts, "x-amz-target"), &body).map(|one| vec![one]),
            Engine::Search => wire::search(&prefix, &parts.method, parts.uri.path()).map(|one| vec![one]),
        };
        let uses = uses.ok_or("this is another platform's")?;
        let names = uses.iter().find_map(Use::names);
        self.record(&trace, uses);
        if self.random.lock().unwrap().contains(&*prefix) {
            self.by_chance.lock().unwrap().insert(trace.clone());
        }
        if matches!(engine, Engine::Dynamodb) {
            let conflicts = self.conflicts.lock().unwrap().get(&*prefix).cloned();
            let target = header(&parts, "x-amz-target");
            if let Some(refusal) = conflicts.and_then(|conflicts| conflicts.refusal(target, &body)) {
                return Ok(refusal);
            }
        }
        let answer = pass_on(url, parts, body).await?;
        if answer.status() == 404 {
            self.record(&trace, names);
        }
        Ok(answer)
    }

    fn record(&self, trace: &str, uses: impl IntoIterator<Item = Use>) {
        let mut calls = self.calls.lock().unwrap();
        match calls.get_mut(trace) {
            Some(known) => known.extend(uses),
            None => {
                calls.insert(trace.to_owned(), uses.into_iter().collect());
            }
        }
    }

    /// Returns the calls of each function, and the calls that do not belong to a function.
    pub fn by_function(&self, lines: &Lines) -> (Used, BTreeSet<Use>) {
        self.of_those(lines, |_| true)
    }

    /// Returns the calls of each function in requests that are not random.
    fn certainly(&self, lines: &Lines) -> Used {
        let by_chance = self.by_chance.lock().unwrap().clone();
        self.of_those(lines, |trace| !by_chance.contains(trace)).0
    }

    fn of_those(&self, lines: &Lines, counts: impl Fn(&str) -> bool) -> (Used, BTreeSet<Use>) {
        let (mut used, mut strays) = (BTreeMap::new(), BTreeSet::new());
        for (trace, uses) in self.calls.lock().unwrap().iter().filter(|(trace, _)| counts(trace)) {
            match lines.function_of(trace) {
                Some(operation) => used.entry(operation).or_insert_with(BTreeSet::new).extend(uses.iter().cloned()),
                None => strays.extend(uses.iter().cloned()),
            }
        }
        for (request, uses) in self.links.lock().unwrap().iter() {
            // The lines of a platform in a separate process are not available.
            if let Some(operation) = lines.function_of(request) {
                used.entry(operation).or_insert_with(BTreeSet::new).extend(uses.iter().cloned());
            }
        }
        (used, strays)
    }
}

/// Prints each call of the run that no grant covers and, after a complete run, each unused grant. Returns whether there
/// is none of either.
pub fn judge(complete: bool) -> bool {
    let (used, strays) = OF_THE_RUN.by_function(&lines::OF_THE_RUN);
    let (grants, kept) = (Grants::declared(), Kept::read());
    // A stopping platform cuts off the handler of a socket's message after ten seconds, and what is cut off logs no line.
    let strays = strays.iter().filter(|call| **call != wire::socket(&Method::POST));
    let mut findings: Vec<String> =
        strays.map(|call| format!("no operation is known to have made a call: {call}")).collect();
    findings.extend(grants.past(&used));
    if complete {
        findings.extend(grants.unused(&OF_THE_RUN.certainly(&lines::OF_THE_RUN), &kept));
    } else {
        println!(
            "Whether each grant is used is judged by a complete run on the default engines in which no test fails."
        );
    }
    for finding in &findings {
        println!("privilege: {finding}");
    }
    findings.is_empty()
}

fn header<'a>(parts: &'a Parts, name: &str) -> &'a str {
    parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(values) => values.iter().for_each(|value| texts(value, found)),
        Value::Object(members) => members.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}
