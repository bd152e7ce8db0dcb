//! Handlers: asynchronous functions whose signature declares what their route takes and responds with.

use std::future::Future;
use std::sync::Arc;

use http::Method;

use crate::extract::Extract;
use crate::respond::Respond;
use crate::route::{Responding, Route, Serve};
use crate::{Context, Problem, Who};

/// `async fn(Context, extractors…) -> Result<impl Respond, Problem>` with up to six extractors.
pub trait Handler<Arguments>: Send + Sync + 'static {
    /// Adds the arguments and the response to the declaration of the route.
    fn declare(route: Route) -> Route;

    /// Calls the handler, unless an extractor refuses the request.
    fn handle(&self, cx: Context) -> Responding;
}

macro_rules! handler {
    ($($extractor:ident $argument:ident),*) => {
        impl<Function, Call, Response, $($extractor),*> Handler<($($extractor,)*)> for Function
        where
            Function: Fn(Context, $($extractor),*) -> Call + Send + Sync + 'static,
            Call: Future<Output = Result<Response, Problem>> + Send + 'static,
            Response: Respond,
            $($extractor: Extract,)*
        {
            fn declare(route: Route) -> Route {
                $(let route = $extractor::declare(route);)*
                Response::declare(route)
            }

            fn handle(&self, cx: Context) -> Responding {
                $(let $argument = match $extractor::extract(&cx) {
                    Ok(argument) => argument,
                    Err(problem) => return Box::pin(std::future::ready(Err(problem))),
                };)*
                let call = self(cx, $($argument),*);
                Box::pin(async move { Ok(call.await?.into_answer()) })
            }
        }
    };
}

handler!();
handler!(A a);
handler!(A a, B b);
handler!(A a, B b, C c);
handler!(A a, B b, C c, D d);
handler!(A a, B b, C c, D d, E e);
handler!(A a, B b, C c, D d, E e, F f);

impl Route {
    /// Creates a route. `name` is the operation's name in camelCase; `template` is the whole path, such as
    /// `/zoo/animals/{kind}/{number}`. The handler's signature declares parameters, body, conditions and response; the
    /// other methods declare the rest.
    pub fn new<A, H: Handler<A>>(
        method: Method,
        name: &'static str,
        template: impl Into<String>,
        who: Who,
        handler: H,
    ) -> Self {
        let serve = Serve::Handler(Arc::new(move |cx| handler.handle(cx)));
        H::declare(Self::bare(method, name, template.into(), who, serve))
    }

    pub fn get<A, H: Handler<A>>(name: &'static str, template: impl Into<String>, who: Who, handler: H) -> Self {
        Self::new(Method::GET, name, template, who, handler)
    }

    pub fn post<A, H: Handler<A>>(name: &'static str, template: impl Into<String>, who: Who, handler: H) -> Self {
        Self::new(Method::POST, name, template, who, handler)
    }

    pub fn put<A, H: Handler<A>>(name: &'static str, template: impl Into<String>, who: Who, handler: H) -> Self {
        Self::new(Method::PUT, name, template, who, handler)
    }

    pub fn patch<A, H: Handler<A>>(name: &'static str, template: impl Into<String>, who: Who, handler: H) -> Self {
        Self::new(Method::PATCH, name, template, who, handler)
    }

    pub fn delete<A, H: Handler<A>>(name: &'static str, template: impl Into<String>, who: Who, handler: H) -> Self {
        Self::new(Method::DELETE, name, template, who, handler)
    }
}
