//! From what came over the wire to what a handler gets: each check in its order, and all faults of one kind at once.

use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::header::{self, HeaderMap};
use jsonschema::Validator;
use serde_json::Value;
use table::{Access, Engines};
use tokio::time::Instant;

use crate::fault::Place;
use crate::format::Format;
use crate::route::{Body, Route, Who};
use crate::shape::{Parameter, Shape};
use crate::{Condition, Fault, Principal, Problem, Request, check, idempotency, media, parameters, problem};

/// A route with the checks that are made of its shapes, each when it is first needed.
pub(crate) struct Served {
    pub route: Arc<Route>,
    path: OnceLock<Checked>,
    query: OnceLock<Checked>,
    body: OnceLock<Checked>,
}

/// A shape made ready to check values.
#[derive(Default)]
struct Checked {
    parameters: Vec<Parameter>,
    /// Absent where the route declares no shape, or one that makes no schema.
    validator: Option<Validator>,
}

/// What is taken from one request.
pub(crate) struct Arrived {
    pub id: String,
    pub path: String,
    pub pairs: Vec<(String, String)>,
    pub principal: Principal,
    pub engines: Arc<Engines>,
    pub access: Access,
    pub deadline: Instant,
}

impl Served {
    pub fn new(route: Route) -> Self {
        Self { route: Arc::new(route), path: OnceLock::new(), query: OnceLock::new(), body: OnceLock::new() }
    }

    /// The request as the handler gets it, or the first check that it does not pass: token, right, size, content
    /// types, then path, query, headers and body together.
    pub fn take(
        &self,
        request: http::Request<Bytes>,
        arrived: Arrived,
        formats: &[Format],
    ) -> Result<Request, Problem> {
        let (mut parts, body) = request.into_parts();
        // The principal is all that a handler needs of the token, and all that it could let slip.
        parts.headers.remove(header::AUTHORIZATION);
        admit(&arrived.principal, self.route.who)?;
        let sent = self.check_size_and_type(&parts.headers, &body)?;
        let content_type = self.negotiate(&parts.headers)?;

        let mut faults = Vec::new();
        let path = self.check_path(&arrived.pairs, formats, &mut faults);
        let query = self.check_query(parts.uri.query().unwrap_or_default(), formats, &mut faults);
        let mut condition = |wanted: bool, name| {
            let read = if wanted { Condition::read(&parts.headers, &name) } else { Ok(Condition::Absent) };
            read.unwrap_or_else(|fault| {
                faults.push(fault);
                Condition::Absent
            })
        };
        let if_match = condition(self.route.if_match, header::IF_MATCH);
        let if_none_match = condition(self.route.if_none_match, header::IF_NONE_MATCH);
        let idempotency_key = if self.route.creates { idempotency::read(&parts.headers) } else { Ok(None) };
        let idempotency_key = idempotency_key.unwrap_or_else(|fault| {
            faults.push(fault);
            None
        });
        self.check_body(&body, formats, &mut faults);
        if !faults.is_empty() {
            return Err(Problem::faults(faults));
        }
        Ok(Request {
            id: arrived.id,
            route: Arc::clone(&self.route),
            engines: arrived.engines,
            access: arrived.access,
            principal: arrived.principal,
            path,
            query,
            headers: parts.headers,
            body,
            body_type: sent,
            if_match,
            if_none_match,
            idempotency_key,
            content_type,
            deadline: arrived.deadline,
            raw_path: arrived.path,
        })
    }

    /// The content type of the body among those that the route takes.
    fn check_size_and_type(&self, headers: &HeaderMap, body: &Bytes) -> Result<&'static str, Problem> {
        let (Body::Json { types, .. } | Body::Bytes { types, .. }) = &self.route.body else { return Ok("") };
        if body.len() > self.route.body_limit {
            return Err(Problem::too_large(format!("The body has more than {} bytes.", self.route.body_limit)));
        }
        if headers.get(header::CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
            return Err(Problem::wrong_content_type("Send the body without a content coding."));
        }
        let sent = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        media::taken(sent, types)
            .ok_or_else(|| Problem::wrong_content_type(format!("Send the body as {}.", types.join(" or "))))
    }

    /// Of the content types of the route's answers the one that the client prefers.
    fn negotiate(&self, headers: &HeaderMap) -> Result<&'static str, Problem> {
        let offered: Vec<&'static str> = self.route.content_types().collect();
        if offered.is_empty() {
            return Ok("");
        }
        media::preferred(headers, &offered)
            .ok_or_else(|| problem::NOT_ACCEPTABLE.because(format!("It can be given as {}.", offered.join(" or "))))
    }

    fn check_path(&self, pairs: &[(String, String)], formats: &[Format], faults: &mut Vec<Fault>) -> Value {
        let checked = self.path.get_or_init(|| Checked::parameters(self.route.path.as_ref(), formats));
        let object = Value::Object(parameters::object(pairs, &checked.parameters, faults));
        faults.extend(checked.faults(&object, formats).into_iter().map(as_parameter));
        object
    }

    fn check_query(&self, query: &str, formats: &[Format], faults: &mut Vec<Fault>) -> Value {
        let checked = self.query.get_or_init(|| Checked::parameters(self.route.query.as_ref(), formats));
        let pairs = parameters::pairs(query, faults);
        let object = Value::Object(parameters::object(&pairs, &checked.parameters, faults));
        faults.extend(checked.faults(&object, formats).into_iter().map(as_parameter));
        object
    }

    fn check_body(&self, body: &Bytes, formats: &[Format], faults: &mut Vec<Fault>) {
        match &self.route.body {
            Body::None if body.is_empty() || !self.route.method.is_safe() && body == "{}" => {}
            Body::None if self.route.method.is_safe() => {}
            Body::None => faults.push(Fault::pointer("", "must be absent: nothing is taken here")),
            Body::Bytes { .. } => {}
            Body::Json { shape, .. } => match parse(body) {
                Err(fault) => faults.push(fault),
                Ok(value) => {
                    let checked = self.body.get_or_init(|| Checked::value(shape, formats));
                    faults.extend(checked.faults(&value, formats));
                }
            },
        }
    }

    /// What of the declaration cannot be served, each in a sentence.
    pub fn misdeclared(&self, formats: &[Format]) -> Vec<String> {
        let route = &self.route;
        let body = match &route.body {
            Body::Json { shape, .. } | Body::Bytes { shape, .. } => Some(shape),
            Body::None => None,
        };
        let shapes = [route.path.as_ref(), route.query.as_ref(), body];
        let mut found: Vec<String> =
            shapes.into_iter().flatten().filter_map(|shape| shape.validator(formats).err()).collect();
        let mut named: Vec<String> = path_names(&route.template).map(str::to_owned).collect();
        let mut typed: Vec<String> =
            route.path.iter().flat_map(Shape::parameters).map(|parameter| parameter.name).collect();
        named.sort();
        typed.sort();
        if named != typed {
            found.push(format!("{route:?} has the path parameters {named:?}, its type {typed:?}"));
        }
        if route.answers.is_empty() {
            found.push(format!("{route:?} declares no answer"));
        }
        found
    }
}

impl Checked {
    fn value(shape: &Shape, formats: &[Format]) -> Self {
        Self { parameters: Vec::new(), validator: shape.validator(formats).ok() }
    }

    fn parameters(shape: Option<&Shape>, formats: &[Format]) -> Self {
        shape.map_or_else(Self::default, |shape| Self { parameters: shape.parameters(), ..Self::value(shape, formats) })
    }

    fn faults(&self, value: &Value, formats: &[Format]) -> Vec<Fault> {
        self.validator.as_ref().map_or_else(Vec::new, |validator| check::faults(validator, value, formats))
    }
}

/// Whether the caller may call the route at all; what is theirs to see, the handler decides.
fn admit(principal: &Principal, who: Who) -> Result<(), Problem> {
    if let Principal::Invalid(_) = principal {
        return principal.signed_in().map(|_| ());
    }
    let roles: &[&str] = match who {
        Who::Public | Who::Views { .. } => return Ok(()),
        Who::SignedIn => return principal.signed_in().map(|_| ()),
        Who::Role(role) => &[role],
        Who::AnyRole(roles) => roles,
    };
    let known = principal.signed_in()?;
    if roles.iter().any(|role| known.has_role(role)) {
        Ok(())
    } else {
        Err(Problem::forbidden(format!("This needs the role {}.", roles.join(" or "))))
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
    match fault.place {
        Place::Pointer(pointer) => {
            let mut steps = pointer.split('/').skip(1);
            let name = steps.next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
            let detail = match steps.next().and_then(|index| index.parse::<usize>().ok()) {
                Some(index) => format!("{} (entry {})", fault.detail, index.saturating_add(1)),
                None => fault.detail,
            };
            Fault::parameter(name, detail)
        }
        place => Fault { place, detail: fault.detail },
    }
}

/// The names in braces of a path template.
pub(crate) fn path_names(template: &str) -> impl Iterator<Item = &str> {
    template.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

impl fmt::Debug for Served {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.route.fmt(formatter)
    }
}
