//! From what came over the wire to what a handler gets: each check in its order, and all faults of one kind at once.

use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::header::{self, HeaderMap};
use table::{Access, Engines};
use tokio::time::Instant;

use crate::check::UNKNOWN;
use crate::checked::Checked;
use crate::fault::{Place, pointer_step};
use crate::format::Format;
use crate::route::{Body, Route};
use crate::shape::Shape;
use crate::{Condition, Context, Fault, Principal, Problem, idempotency, media, parameters, problem};

/// A route with the checks that are made of its shapes, each when it is first needed.
pub(crate) struct Served {
    pub route: Arc<Route>,
    path: Check,
    query: Check,
    body: Check,
}

/// A declaration of which no check can be made is refused, and never served unchecked.
type Check = OnceLock<Result<Checked, String>>;

/// A path as it was asked for, decoded, and the texts in the places of its template's names.
pub(crate) struct Target {
    pub path: String,
    pub parameters: Vec<(String, String)>,
}

/// What is known of a request before it is checked.
pub(crate) struct Arrived {
    pub id: String,
    pub target: Target,
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
    ) -> Result<Context, Problem> {
        let (mut parts, body) = request.into_parts();
        // The principal is all that a handler needs of the token, and all that it could let slip.
        parts.headers.remove(header::AUTHORIZATION);
        self.route.who.admit(&arrived.principal)?;
        let body_type = self.check_size_and_type(&parts.headers, &body)?;
        let content_type = self.negotiate(&parts.headers)?;

        let mut faults = Faults(Vec::new());
        let path = check(&self.path, self.route.path.as_ref(), formats)?;
        let path = faults.of(path.object(&arrived.target.parameters, formats));
        let pairs = faults.of(parameters::pairs(parts.uri.query().unwrap_or_default()));
        let query = check(&self.query, self.route.query.as_ref(), formats)?;
        let query = faults.of(query.object(&pairs, formats));
        let if_match = faults.or_default(self.route.if_match, || Condition::read(&parts.headers, &header::IF_MATCH));
        let if_none_match =
            faults.or_default(self.route.if_none_match, || Condition::read(&parts.headers, &header::IF_NONE_MATCH));
        let idempotency_key = faults.or_default(self.route.creates, || idempotency::read(&parts.headers));
        faults.0.extend(self.check_body(&body, formats)?);
        if !faults.0.is_empty() {
            return Err(Problem::faults(faults.0));
        }
        Ok(Context {
            id: arrived.id,
            route: Arc::clone(&self.route),
            engines: arrived.engines,
            access: arrived.access,
            principal: arrived.principal,
            path,
            query,
            headers: parts.headers,
            body,
            body_type,
            if_match,
            if_none_match,
            idempotency_key,
            content_type,
            deadline: arrived.deadline,
            raw_path: arrived.target.path,
        })
    }

    /// Makes the checks before the first request needs them.
    pub fn prepare(&self, formats: &[Format]) {
        let body = match &self.route.body {
            Body::Json { shape, .. } => Some(shape),
            Body::Bytes { .. } | Body::None => None,
        };
        let parts =
            [(&self.path, self.route.path.as_ref()), (&self.query, self.route.query.as_ref()), (&self.body, body)];
        for (made, shape) in parts {
            // Where none can be made, the request is told.
            let _ = check(made, shape, formats);
        }
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

    fn check_body(&self, body: &Bytes, formats: &[Format]) -> Result<Vec<Fault>, Problem> {
        match &self.route.body {
            Body::Json { shape, .. } => {
                let mut faults = check(&self.body, Some(shape), formats)?.body(body, formats);
                faults.iter_mut().for_each(|fault| self.tell_elsewhere(fault));
                Ok(faults)
            }
            Body::Bytes { .. } => Ok(Vec::new()),
            // Some clients send an empty object where there is nothing to say.
            Body::None if self.route.method.is_safe() || matches!(&**body, b"" | b"{}") => Ok(Vec::new()),
            Body::None => Ok(vec![Fault::pointer("", "must be absent: nothing is taken here")]),
        }
    }

    /// Says of a member that is not known here where it is.
    fn tell_elsewhere(&self, fault: &mut Fault) {
        let Place::Pointer(pointer) = &fault.place else { return };
        let known = self.route.elsewhere.iter().find(|(member, _)| *pointer == pointer_step(member));
        if let Some((_, detail)) = known.filter(|_| fault.detail == UNKNOWN) {
            fault.detail.clone_from(detail);
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

fn check<'a>(check: &'a Check, shape: Option<&Shape>, formats: &[Format]) -> Result<&'a Checked, Problem> {
    check.get_or_init(|| Checked::new(shape, formats)).as_ref().map_err(Problem::internal)
}

/// The faults of all parts of a request.
struct Faults(Vec<Fault>);

impl Faults {
    fn of<T>(&mut self, (part, faults): (T, Vec<Fault>)) -> T {
        self.0.extend(faults);
        part
    }

    /// What a header says, where the route heeds it.
    fn or_default<T: Default>(&mut self, heeded: bool, read: impl FnOnce() -> Result<T, Fault>) -> T {
        let read = if heeded { read() } else { Ok(T::default()) };
        read.unwrap_or_else(|fault| {
            self.0.push(fault);
            T::default()
        })
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
