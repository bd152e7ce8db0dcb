//! The path from a received request to the context of its handler: checks in a fixed order, with all faults of a request
//! reported together.

use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::header::{self, HeaderMap};
use table::{Access, Engines};
use tokio::time::Instant;

use crate::check::UNKNOWN;
use crate::compiled::CompiledShape;
use crate::fault::{Place, pointer_step};
use crate::format::Format;
use crate::route::{Body, Route};
use crate::shape::Shape;
use crate::{Condition, Context, Fault, Principal, Problem, idempotency, media, parameters, problem};

/// A route with its compiled shapes, each of which is compiled when it is first needed.
pub(crate) struct Endpoint {
    pub route: Arc<Route>,
    path: Compiled,
    query: Compiled,
    body: Compiled,
}

/// A compiled shape. A request whose shape cannot be compiled fails; it is never served unchecked.
type Compiled = OnceLock<Result<CompiledShape, String>>;

/// The decoded path of a request, and the texts at the names of its template.
pub(crate) struct MatchedPath {
    pub path: String,
    pub parameters: Vec<(String, String)>,
}

/// The parts of a context that are known before the request is checked.
pub(crate) struct Unchecked {
    pub id: String,
    pub path: MatchedPath,
    pub principal: Principal,
    pub engines: Arc<Engines>,
    pub access: Access,
    pub deadline: Instant,
}

impl Endpoint {
    pub fn new(route: Route) -> Self {
        Self { route: Arc::new(route), path: OnceLock::new(), query: OnceLock::new(), body: OnceLock::new() }
    }

    /// Checks a request and returns the context of its handler, or the problem of the first check that fails: token,
    /// ids in the path, sizes, content types, then the rest of the path, query, headers and body together.
    pub fn check(
        &self,
        request: http::Request<Bytes>,
        unchecked: Unchecked,
        formats: &[Format],
    ) -> Result<Context, Problem> {
        let (mut parts, body) = request.into_parts();
        // Handlers get the principal instead of the token, so that none can leak it.
        parts.headers.remove(header::AUTHORIZATION);
        self.route.who.admit(&unchecked.principal)?;
        let shape = compiled(&self.path, self.route.path.as_ref(), formats)?;
        let (path, path_faults) = shape.object(&unchecked.path.parameters, formats);
        if shape.has_faulty_id(&path_faults) {
            // Such an id names nothing, so the response is that for an absent id.
            return Err(Problem::not_found());
        }
        let query = parts.uri.query().unwrap_or("");
        parameters::check_size(query)?;
        let body_type = self.check_size_and_type(&parts.headers, &body)?;
        let content_type = self.negotiate(&parts.headers)?;

        let mut faults = Faults(path_faults);
        let pairs = faults.collect(parameters::pairs(query));
        let shape = compiled(&self.query, self.route.query.as_ref(), formats)?;
        let query = faults.collect(shape.object(&pairs, formats));
        let if_match = faults.header(self.route.if_match, || Condition::parse(&parts.headers, &header::IF_MATCH));
        let if_none_match =
            faults.header(self.route.if_none_match, || Condition::parse(&parts.headers, &header::IF_NONE_MATCH));
        let idempotency_key = faults.header(self.route.creates, || idempotency::parse(&parts.headers));
        faults.0.extend(self.check_body(&body, formats)?);
        if !faults.0.is_empty() {
            return Err(Problem::faults(faults.0));
        }
        Ok(Context {
            id: unchecked.id,
            declared: self.route.declared(),
            engines: unchecked.engines,
            access: unchecked.access,
            principal: unchecked.principal,
            path,
            query,
            headers: parts.headers,
            body,
            body_type,
            if_match,
            if_none_match,
            idempotency_key,
            content_type,
            deadline: unchecked.deadline,
            raw_path: unchecked.path.path,
        })
    }

    /// Compiles the shapes before the first request needs them.
    pub fn prepare(&self, formats: &[Format]) {
        let body = match &self.route.body {
            Body::Json { shape, .. } => Some(shape),
            Body::Bytes { .. } | Body::None => None,
        };
        let parts =
            [(&self.path, self.route.path.as_ref()), (&self.query, self.route.query.as_ref()), (&self.body, body)];
        for (cell, shape) in parts {
            // An error is kept, and each request responds with it.
            let _ = compiled(cell, shape, formats);
        }
    }

    /// Returns the content type of the body, one of those that the route takes.
    fn check_size_and_type(&self, headers: &HeaderMap, body: &Bytes) -> Result<&'static str, Problem> {
        let (Body::Json { types, .. } | Body::Bytes { types, .. }) = &self.route.body else { return Ok("") };
        if body.len() > self.route.body_limit {
            let (bytes, limit) = (body.len(), self.route.body_limit);
            let detail = format!("The body has {bytes} bytes. This operation takes at most {limit} bytes.");
            return Err(Problem::too_large(detail));
        }
        if headers.get(header::CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
            return Err(Problem::wrong_content_type(
                "The body has a content coding. Send it without `Content-Encoding`.",
            ));
        }
        let sent = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
        media::matching(sent, types).ok_or_else(|| {
            let types = types.join(" or ");
            Problem::wrong_content_type(format!("This operation takes a body of {types}. Set `Content-Type` to it."))
        })
    }

    /// Returns the content type of the route's responses that the client prefers.
    fn negotiate(&self, headers: &HeaderMap) -> Result<&'static str, Problem> {
        let offered: Vec<&'static str> = self.route.content_types().collect();
        if offered.is_empty() {
            return Ok("");
        }
        media::preferred(headers, &offered).ok_or_else(|| {
            let offered = offered.join(" or ");
            problem::NOT_ACCEPTABLE
                .because(format!("This operation responds with {offered}. `Accept` must allow one of them."))
        })
    }

    fn check_body(&self, body: &Bytes, formats: &[Format]) -> Result<Vec<Fault>, Problem> {
        match &self.route.body {
            Body::Json { shape, .. } => {
                let mut faults = compiled(&self.body, Some(shape), formats)?.body(body, formats);
                faults.iter_mut().for_each(|fault| self.explain_unknown(fault));
                Ok(faults)
            }
            Body::Bytes { .. } => Ok(Vec::new()),
            // Some clients send an empty object instead of no body.
            Body::None if self.route.method.is_safe() || matches!(&**body, b"" | b"{}") => Ok(Vec::new()),
            Body::None => Ok(vec![Fault::pointer("", "must be empty: this operation takes no request body")]),
        }
    }

    /// Replaces the detail of an unknown member with the route's explanation, if it has one.
    fn explain_unknown(&self, fault: &mut Fault) {
        let Place::Pointer(pointer) = &fault.place else { return };
        let known = self.route.elsewhere.iter().find(|(member, _)| *pointer == pointer_step(member));
        if let Some((_, detail)) = known.filter(|_| fault.detail == UNKNOWN) {
            fault.detail.clone_from(detail);
        }
    }

    /// Returns the errors of the declaration, each as a sentence.
    pub fn misdeclared(&self, formats: &[Format]) -> Vec<String> {
        let route = &self.route;
        let body = match &route.body {
            Body::Json { shape, .. } | Body::Bytes { shape, .. } => Some(shape),
            Body::None => None,
        };
        let shapes = [route.path.as_ref(), route.query.as_ref(), body];
        let mut errors: Vec<String> =
            shapes.into_iter().flatten().filter_map(|shape| shape.validator(formats).err()).collect();
        let mut named: Vec<String> = path_names(&route.template).map(str::to_owned).collect();
        let mut typed: Vec<String> =
            route.path.iter().flat_map(Shape::parameters).map(|parameter| parameter.name).collect();
        named.sort();
        typed.sort();
        if named != typed {
            errors.push(format!("{route:?} has the path parameters {named:?}, its type has {typed:?}"));
        }
        if route.answers.is_empty() {
            errors.push(format!("{route:?} declares no response"));
        }
        errors
    }
}

fn compiled<'a>(cell: &'a Compiled, shape: Option<&Shape>, formats: &[Format]) -> Result<&'a CompiledShape, Problem> {
    cell.get_or_init(|| CompiledShape::new(shape, formats)).as_ref().map_err(Problem::internal)
}

/// The faults of all parts of a request.
struct Faults(Vec<Fault>);

impl Faults {
    fn collect<T>(&mut self, (part, faults): (T, Vec<Fault>)) -> T {
        self.0.extend(faults);
        part
    }

    /// Returns the value of a header that the route honours, and the default of any other.
    fn header<T: Default>(&mut self, honoured: bool, parse: impl FnOnce() -> Result<T, Fault>) -> T {
        let value = if honoured { parse() } else { Ok(T::default()) };
        value.unwrap_or_else(|fault| {
            self.0.push(fault);
            T::default()
        })
    }
}

/// Returns the names in braces of a path template.
pub(crate) fn path_names(template: &str) -> impl Iterator<Item = &str> {
    template.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.route.fmt(formatter)
    }
}
