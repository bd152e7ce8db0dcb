//! A shape made ready to check requests, and what it makes of their texts.

use bytes::Bytes;
use jsonschema::Validator;
use serde_json::Value;

use crate::fault::Place;
use crate::format::Format;
use crate::rules::{self, RulesOf};
use crate::shape::{Parameter, Shape};
use crate::{Fault, check, parameters};

/// The validator of a shape, and its properties where they come as parameters. A route that declares no shape takes
/// no parameters.
#[derive(Default)]
pub(crate) struct Checked {
    parameters: Vec<Parameter>,
    validator: Option<Validator>,
    rules: Option<RulesOf>,
}

impl Checked {
    pub fn new(shape: Option<&Shape>, formats: &[Format]) -> Result<Self, String> {
        let Some(shape) = shape else { return Ok(Self::default()) };
        Ok(Self { parameters: shape.parameters(), validator: Some(shape.validator(formats)?), rules: shape.rules() })
    }

    /// The object that these texts make, and what is wrong with it.
    pub fn object(&self, pairs: &[(String, String)], formats: &[Format]) -> (Value, Vec<Fault>) {
        let mut faults = Vec::new();
        let object = Value::Object(parameters::object(pairs, &self.parameters, &mut faults));
        let unknown = !faults.is_empty();
        faults.extend(self.faults(&object, formats, unknown).into_iter().map(as_parameter));
        (object, faults)
    }

    /// Whether an object has a member of this name.
    pub fn has(&self, name: &str) -> bool {
        self.parameters.iter().any(|parameter| parameter.name == name)
    }

    /// What is wrong with a body.
    pub fn body(&self, body: &Bytes, formats: &[Format]) -> Vec<Fault> {
        match parse(body) {
            Ok(value) => self.value(&value, formats),
            Err(fault) => vec![fault],
        }
    }

    /// What is wrong with a value.
    pub fn value(&self, value: &Value, formats: &[Format]) -> Vec<Fault> {
        self.faults(value, formats, false)
    }

    /// Where anything is wrong by the schema, or is already, the rules judge what is right so far, so that all faults
    /// come at once. A value without faults is the handler's to judge.
    fn faults(&self, value: &Value, formats: &[Format], already: bool) -> Vec<Fault> {
        let mut faults =
            self.validator.as_ref().map_or_else(Vec::new, |validator| check::faults(validator, value, formats));
        if let Some(rules) = self.rules.filter(|_| already || !faults.is_empty()) {
            faults.extend(rules(&rules::sound(value, &faults)));
        }
        faults
    }
}

fn parse(body: &Bytes) -> Result<Value, Fault> {
    let fault = |detail: String| Fault::pointer("", detail);
    if body.is_empty() {
        return Err(fault("is empty; JSON is expected".into()));
    }
    let text = std::str::from_utf8(body)
        .map_err(|error| fault(format!("is not UTF-8 from byte {} on", error.valid_up_to())))?;
    serde_json::from_str(text).map_err(|error| {
        let sentence = error.to_string();
        let reason = sentence.rsplit_once(" at line ").map_or(sentence.as_str(), |(reason, _)| reason);
        fault(format!("is not JSON at line {}, column {}: {reason}", error.line(), error.column()))
    })
}

/// A fault of a member as a fault of the parameter of that name.
fn as_parameter(fault: Fault) -> Fault {
    let Place::Pointer(pointer) = &fault.place else { return fault };
    let mut steps = pointer.split('/').skip(1);
    let name = steps.next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
    match steps.next().and_then(|index| index.parse::<usize>().ok()) {
        Some(index) => Fault::parameter(name, format!("{} (entry {})", fault.detail, index.saturating_add(1))),
        None => Fault::parameter(name, fault.detail),
    }
}
