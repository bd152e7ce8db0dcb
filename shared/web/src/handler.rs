//! Handlers: asynchronous functions whose signature declares what their route takes and responds with.

use std::future::Future;
use std::pin::Pin;

use crate::extract::Extract;
use crate::respond::Respond;
use crate::route::Route;
use crate::{Answer, Context, Problem};

/// The future of a handler's response.
pub type Responding = Pin<Box<dyn Future<Output = Result<Answer, Problem>> + Send>>;

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
