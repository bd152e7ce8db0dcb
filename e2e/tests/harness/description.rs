//! The system's OpenAPI description, against which every response of every test is checked.

use std::collections::{BTreeMap, HashMap};
use std::sync::RwLock;

use jsonschema::{Draft, Validator};
use percent_encoding::percent_decode_str;
use reqwest::Method;
use serde_json::{Value, json};

use super::answer::Answer;

/// The description of one system, compiled to check responses.
pub struct Description {
    operations: Vec<Operation>,
}

struct Operation {
    method: String,
    /// The segments of the path. Those in braces match any segment.
    template: Vec<String>,
    /// The schema of the body by status and content type. `None` if there is no body.
    answers: HashMap<(String, String), Option<Validator>>,
    /// The required header fields by status.
    headers: HashMap<String, Vec<String>>,
}

/// The descriptions by the system's name.
static ALL: RwLock<BTreeMap<String, &'static Description>> = RwLock::new(BTreeMap::new());

/// The messages of the responses that API Gateway sends itself.
const OF_THE_GATEWAY: [&str; 3] = ["Not Found", "Request Entity Too Large", "Request Header Fields Too Large"];

impl Description {
    /// Whether a system's description is stored.
    pub fn is_kept(system: &str) -> bool {
        ALL.read().unwrap().contains_key(system)
    }

    /// Stores the description of a system once a run, since it is the same on every platform.
    pub fn keep(system: &str, document: &Value) {
        ALL.write().unwrap().entry(system.to_owned()).or_insert_with(|| Box::leak(Box::new(Self::read(document))));
    }

    /// Asserts that the response conforms to the description.
    #[track_caller]
    pub fn check(method: &Method, path: &str, answer: &Answer) {
        let system = path.split(['/', '?']).nth(1).unwrap_or_default();
        let Some(description) = ALL.read().unwrap().get(system).copied() else { return };
        // API Gateway decodes paths before it matches and forwards them.
        let path = percent_decode_str(path.split('?').next().unwrap_or_default()).decode_utf8_lossy();
        let Some(operation) = description.operation(method, &path) else { return };
        if OF_THE_GATEWAY.iter().any(|message| answer.body == json!({ "message": message })) {
            return;
        }
        for name in operation.headers.get(&answer.status.to_string()).into_iter().flatten() {
            assert!(answer.headers.contains_key(name), "the API description promises {name}: {}", answer.told());
        }
        let tagged =
            operation.headers.get(&answer.status.to_string()).is_some_and(|own| own.contains(&"ETag".to_owned()));
        assert!(tagged || !answer.headers.contains_key("etag"), "no ETag is promised: {}", answer.told());
        let content_type = answer.header("content-type").to_owned();
        let promised = operation.answers.get(&(answer.status.to_string(), content_type));
        match promised {
            None => panic!("the API description does not know such an answer: {}", answer.told()),
            Some(None) => assert!(answer.bytes.is_empty(), "the API description knows no body: {}", answer.told()),
            Some(Some(validator)) => {
                let faults: Vec<String> = validator
                    .iter_errors(&answer.body)
                    .map(|error| format!("{}: {error}", error.instance_path()))
                    .collect();
                assert!(faults.is_empty(), "the API description is broken by {}: {faults:?}", answer.told());
            }
        }
    }

    fn read(document: &Value) -> Self {
        let mut operations = Vec::new();
        for (template, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let responses = responses(document, &operation["responses"]);
                operations.push(Operation {
                    method: method.to_uppercase(),
                    template: template.split('/').map(str::to_owned).collect(),
                    answers: answers(document, &responses),
                    headers: responses.iter().map(|(status, response)| (status.clone(), headers(response))).collect(),
                });
            }
        }
        Self { operations }
    }

    /// Returns the operation that matches this path and has the fewest parameters.
    fn operation(&self, method: &Method, path: &str) -> Option<&Operation> {
        let steps: Vec<&str> = path.split('/').collect();
        let parameters =
            |operation: &&Operation| operation.template.iter().filter(|step| step.starts_with('{')).count();
        let fits = |operation: &&Operation| operation.method == method.as_str() && operation.fits(&steps);
        self.operations.iter().filter(fits).min_by_key(parameters)
    }
}

impl Operation {
    fn fits(&self, steps: &[&str]) -> bool {
        let same =
            |(template, step): (&String, &&str)| template.starts_with('{') && !step.is_empty() || template == step;
        self.template.len() == steps.len() && self.template.iter().zip(steps).all(same)
    }
}

/// Returns the responses by status, with references resolved among the components.
fn responses<'a>(document: &'a Value, responses: &'a Value) -> HashMap<String, &'a Value> {
    let resolved = |response: &'a Value| {
        response["$ref"].as_str().map_or(response, |path| {
            document.pointer(path.trim_start_matches('#')).unwrap_or_else(|| panic!("{path} is not described"))
        })
    };
    let responses = responses.as_object().unwrap().iter();
    responses.map(|(status, response)| (status.clone(), resolved(response))).collect()
}

/// Returns the header fields that a response always has.
fn headers(response: &Value) -> Vec<String> {
    let headers = response["headers"].as_object().into_iter().flatten();
    headers.filter(|(_, header)| header["required"] == true).map(|(name, _)| name.clone()).collect()
}

fn answers(document: &Value, responses: &HashMap<String, &Value>) -> HashMap<(String, String), Option<Validator>> {
    let mut answers = HashMap::new();
    for (status, response) in responses {
        let Some(content) = response["content"].as_object() else {
            answers.insert((status.clone(), String::new()), None);
            continue;
        };
        for (content_type, media) in content {
            let validator = validator(&document["components"], &media["schema"]);
            answers.insert((status.clone(), content_type.clone()), Some(validator));
        }
    }
    answers
}

/// Returns a schema together with the components that it may refer to.
pub fn validator(components: &Value, schema: &Value) -> Validator {
    let document = json!({ "allOf": [schema], "components": components });
    jsonschema::options().with_draft(Draft::Draft202012).build(&document).unwrap()
}
