//! Compiled shapes, which check the bodies and parameters of requests.

use bytes::Bytes;
use jsonschema::Validator;
use serde_json::Value;

use crate::fault::{Place, pointer_names};
use crate::format::Format;
use crate::rules::{self, RulesOf};
use crate::shape::{Parameter, Shape};
use crate::{Fault, check, parameters};

/// The validator of a shape, and its properties as parameters. The default, for a route without a shape, takes no
/// parameters.
#[derive(Default)]
pub(crate) struct CompiledShape {
    parameters: Vec<Parameter>,
    validator: Option<Validator>,
    rules: Option<RulesOf>,
}

impl CompiledShape {
    pub fn new(shape: Option<&Shape>, formats: &[Format]) -> Result<Self, String> {
        let Some(shape) = shape else { return Ok(Self::default()) };
        Ok(Self { parameters: shape.parameters(), validator: Some(shape.validator(formats)?), rules: shape.rules() })
    }

    /// Converts parameters to an object and returns it with its faults.
    pub fn object(&self, pairs: &[(String, String)], formats: &[Format]) -> (Value, Vec<Fault>) {
        let mut faults = Vec::new();
        let object = Value::Object(parameters::object(pairs, &self.parameters, &mut faults));
        let has_faults = !faults.is_empty();
        faults.extend(self.faults(&object, formats, has_faults).into_iter().map(as_parameter));
        (object, faults)
    }

    /// Whether one of the faults of a path is in an id.
    pub fn has_faulty_id(&self, faults: &[Fault]) -> bool {
        let is_id = |name: &str| self.parameters.iter().any(|parameter| parameter.is_id && parameter.name == name);
        faults.iter().any(|fault| matches!(&fault.place, Place::Parameter(name) if is_id(name)))
    }

    /// Returns whether an object has a member of this name.
    pub fn has(&self, name: &str) -> bool {
        self.parameters.iter().any(|parameter| parameter.name == name)
    }

    /// Returns the faults of a body.
    pub fn body(&self, body: &Bytes, formats: &[Format]) -> Vec<Fault> {
        match parse(body) {
            Ok(value) => self.value(&value, formats),
            Err(fault) => vec![fault],
        }
    }

    /// Returns the faults of a value.
    pub fn value(&self, value: &Value, formats: &[Format]) -> Vec<Fault> {
        self.faults(value, formats, false)
    }

    /// If the schema finds a fault, or there is one already, the rules check the other members, so that all faults are
    /// reported together. The rules of a value without faults are checked by the handler.
    fn faults(&self, value: &Value, formats: &[Format], has_faults: bool) -> Vec<Fault> {
        let mut faults =
            self.validator.as_ref().map_or_else(Vec::new, |validator| check::faults(validator, value, formats));
        if let Some(rules) = self.rules.filter(|_| has_faults || !faults.is_empty()) {
            faults.extend(rules(&rules::without_faulty(value, &faults)));
        }
        faults
    }
}

fn parse(body: &Bytes) -> Result<Value, Fault> {
    let fault = |detail: String| Fault::pointer("", detail);
    if body.is_empty() {
        return Err(fault("is required: this operation takes a JSON body".into()));
    }
    let text = std::str::from_utf8(body)
        .map_err(|error| fault(format!("is not UTF-8: invalid at byte {}", error.valid_up_to())))?;
    serde_json::from_str(text).map_err(|error| {
        let text = error.to_string();
        let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
        fault(format!("is not JSON: {reason} at line {}, column {}", error.line(), error.column()))
    })
}

/// Converts a fault of a member to a fault of the parameter with its name.
fn as_parameter(fault: Fault) -> Fault {
    let Place::Pointer(pointer) = &fault.place else { return fault };
    let mut names = pointer_names(pointer);
    // A fault of the whole object has no name.
    let name = names.next().unwrap_or_default();
    match names.next().and_then(|index| index.parse::<usize>().ok()) {
        Some(index) => Fault::element(name, index, fault.detail),
        None => Fault::parameter(name, fault.detail),
    }
}
