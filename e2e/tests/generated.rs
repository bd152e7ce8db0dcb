//! Random requests from the API description. None is answered 5xx, every response conforms to the description, and
//! requests that violate it are refused.

use futures::StreamExt;
use jsonschema::Validator;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::description::validator;
use crate::harness::generator::Generator;
use crate::harness::{Cairn, User, recorder, seed, sized};
use crate::parks::shapes::rectangle;
use crate::tests;

tests! { generated:
    #[long] no_request_breaks_the_platform_or_its_description,
}

const AT_ONCE: usize = 8;

/// The longest path and query in bytes. The client sends at most 65 534, and the gateway refuses more than 10 240.
const LONGEST_URL: usize = 60_000;

/// The longest value in a path, in characters. A URL has room for four of them after encoding.
const LONGEST_STEP: usize = 1000;

/// An operation of the description.
struct Operation {
    method: Method,
    template: String,
    parameters: Vec<Value>,
    /// The content types and the schema of the body.
    bodies: Vec<(String, Value, Validator)>,
}

struct Generated {
    method: Method,
    path: String,
    headers: Vec<(String, String)>,
    content_type: String,
    body: Vec<u8>,
    user: usize,
    /// Whether the body violates the description.
    forbidden: bool,
}

async fn no_request_breaks_the_platform_or_its_description() {
    // The number of requests to each operation.
    let each = sized(48, 256);
    let cairn = Cairn::with_strathcona().await;
    recorder::OF_THE_RUN.at_random(cairn.engines());
    let admin = cairn.administrator().await;
    let boundary = rectangle(1.0, 1.0, 2.0, 2.0);
    let zone = json!({ "displayName": "Bedwell", "boundary": boundary, "isVisible": true });
    admin.post("/parks/geozones/bcparks_1", zone).await.is(201);
    let camp = json!({ "displayName": "Bedwell", "location": [1, 2], "facilityType": "campground", "isVisible": true });
    admin.post("/parks/facilities/bcparks_1", camp).await.is(201);
    let activity = json!({ "displayName": "Bedwell", "activityType": "dayuse", "isVisible": true });
    admin.post("/parks/activities/bcparks_1", activity).await.is(201);
    let pass =
        json!({ "displayName": "Bedwell", "rangeStart": "2025-12-01", "rangeEnd": "2026-11-30", "isVisible": true });
    admin.post("/parks/products/bcparks_1/dayuse/1", pass).await.is(201);
    let days = json!({ "from": "2025-12-01", "to": "2026-01-31", "status": "open" });
    admin.post("/parks/products/bcparks_1/dayuse/1/1/dates", days).await.is(200);
    let restore = async || {
        for deleted in [
            "collections/bcparks_1",
            "geozones/bcparks_1/1",
            "facilities/bcparks_1/campground/1",
            "activities/bcparks_1/dayuse/1",
            "products/bcparks_1/dayuse/1/1",
        ] {
            admin.call(Method::POST, &format!("/parks/{deleted}/restore")).await;
        }
    };
    requests_to_each_operation(&cairn, "parks", std::slice::from_ref(&admin), each, |_, _| None, restore).await;
}

/// Sends this number of random requests to each operation of a system, most of them as these users. `existing` returns
/// the path of an operation with the ids of items that exist, if the examples name none. Before the requests to an
/// operation it restores the items, since a preceding request may have deleted them.
pub async fn requests_to_each_operation(
    cairn: &Cairn,
    system: &str,
    users: &[User],
    each: usize,
    existing: impl Fn(&Method, &str) -> Option<String>,
    restore: impl AsyncFn(),
) {
    let users = [users, &[cairn.visitor(), cairn.user("a stranger", "Bearer nonsense")]].concat();
    let visitor = cairn.visitor();
    let description = visitor.get(&format!("/{system}/openapi.json")).await.is(200).body.clone();
    let mut generator = Generator::new(seed::random("generated"), &description);
    let mut taken = 0;
    let operations = operations(&description);
    for operation in &operations {
        restore().await;
        let existing = existing(&operation.method, &operation.template);
        let request = |_| operation.request(&mut generator, existing.as_deref(), users.len());
        let requests: Vec<Generated> = (0..each).map(request).collect();
        let sent = futures::stream::iter(requests).map(|request| send(request, &users));
        let statuses: Vec<u16> = sent.buffer_unordered(AT_ONCE).collect().await;
        taken += statuses.iter().filter(|status| **status < 400).count();
    }
    // Some requests must pass the validation, since otherwise the test would show little.
    assert!(taken > operations.len() * each / 10, "{taken} of {}", operations.len() * each);
    visitor.get(&format!("/{system}/health")).await.is(200);
}

async fn send(request: Generated, users: &[User]) -> u16 {
    let mut call = users[request.user].call(request.method, &request.path);
    for (name, value) in request.headers {
        call = call.header(&name, value);
    }
    if !request.content_type.is_empty() {
        call = call.bytes(&request.content_type, request.body.clone());
    }
    let answer = call.await;
    let refused = (400..500).contains(&answer.status);
    let body = String::from_utf8_lossy(&request.body);
    assert!(
        refused || !request.forbidden,
        "CAIRN_SEED={}: {body:.500} was taken: {}",
        seed::of_the_run(),
        answer.told()
    );
    answer.status
}

fn operations(description: &Value) -> Vec<Operation> {
    let paths = description["paths"].as_object().unwrap().iter();
    let operations = paths.flat_map(|(template, methods)| {
        methods.as_object().unwrap().iter().map(|(method, operation)| Operation {
            method: method.to_uppercase().parse().unwrap(),
            template: template.clone(),
            parameters: operation["parameters"].as_array().cloned().unwrap_or_default(),
            bodies: operation["requestBody"]["content"]
                .as_object()
                .into_iter()
                .flatten()
                .map(body(description))
                .collect(),
        })
    });
    operations.collect()
}

fn body(description: &Value) -> impl Fn((&String, &Value)) -> (String, Value, Validator) {
    move |(content_type, media)| {
        let schema = &media["schema"];
        (content_type.clone(), schema.clone(), validator(&description["components"], schema))
    }
}

impl Operation {
    /// Returns a random request of one of so many users, of whom the last two are a visitor and a stranger.
    fn request(&self, generator: &mut Generator<'_>, existing: Option<&str>, users: usize) -> Generated {
        let mut path = existing.filter(|_| !generator.once_in(10)).unwrap_or(&self.template).to_owned();
        let mut query = Vec::new();
        let mut headers = Vec::new();
        for parameter in &self.parameters {
            let (name, schema) = (parameter["name"].as_str().unwrap(), &parameter["schema"]);
            let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
            match parameter["in"].as_str() {
                Some("path") => {
                    let text: String = generator.text(schema).chars().take(LONGEST_STEP).collect();
                    path = path.replace(&format!("{{{name}}}"), &encoded(&text));
                }
                Some("query") if parameter["required"] == true || generator.once_in(self.parameters.len().max(4)) => {
                    query.push(format!("{name}={}", encoded(&generator.text(schema))));
                }
                Some("header") if generator.once_in(4) => {
                    let value = generator.pick(&["\"2\"", "*", "W/\"x\"", "nonsense", "\"2\", \"4\"", "key-1"]);
                    headers.push((name.to_lowercase(), value.to_owned()));
                }
                _ => {}
            }
        }
        if generator.once_in(20) {
            query.push("unknown=1".to_owned());
        }
        if generator.once_in(5) {
            headers
                .push(("accept".to_owned(), generator.pick(&["application/geo+json", "text/html", "*/*"]).to_owned()));
        }
        let user = match generator.random.usize(..7) {
            from_the_last @ 0..2 => users - 1 - from_the_last,
            _ => generator.random.usize(..users - 2),
        };
        while path.len() + query.iter().map(|parameter| parameter.len() + 1).sum::<usize>() > LONGEST_URL {
            // A long value in the path leaves no room for it.
            query.pop().expect("a path is shorter");
        }
        let separator = if query.is_empty() { "" } else { "?" };
        let path = format!("{path}{separator}{}", query.join("&"));
        let mut request = Generated {
            method: self.method.clone(),
            path,
            headers,
            content_type: String::new(),
            body: Vec::new(),
            user,
            forbidden: false,
        };
        if !self.bodies.is_empty() {
            self.fill(&mut request, generator);
        }
        request
    }

    fn fill(&self, request: &mut Generated, generator: &mut Generator<'_>) {
        let (content_type, schema, validator) = &self.bodies[generator.random.usize(..self.bodies.len())];
        let value = generator.value(schema);
        request.content_type.clone_from(content_type);
        request.forbidden = !validator.is_valid(&value);
        request.body = value.to_string().into_bytes();
        match generator.random.u8(..40) {
            0 => request.body.truncate(request.body.len() / 2),
            1 => request.body.push(0xff),
            2 => request.content_type = "text/plain".to_owned(),
            _ => {}
        }
    }
}
