//! Responses: the result types of handlers. Each declares its status, its body and its header fields in the description
//! of its route.

use std::marker::PhantomData;

use serde::Serialize;
use utoipa::ToSchema;

use crate::extract::Json;
use crate::route::Route;
use crate::{Answer, EntityTag, Page};

/// A result of a handler.
pub trait Respond: Send + 'static {
    /// Adds the response to the declaration of the route.
    fn declare(route: Route) -> Route;

    fn into_answer(self) -> Answer;
}

/// 200 with JSON and its entity tag.
#[derive(Debug)]
pub struct Tagged<T>(Answer, PhantomData<fn() -> T>);

/// 201 with JSON, the path of the new resource and its entity tag.
#[derive(Debug)]
pub struct Created<T>(Answer, PhantomData<fn() -> T>);

/// 202 with JSON: a job does the work after the response.
#[derive(Debug)]
pub struct Accepted<T>(Answer, PhantomData<fn() -> T>);

/// 204.
#[derive(Clone, Copy, Debug)]
pub struct NoContent;

/// One of two responses.
#[derive(Clone, Copy, Debug)]
pub enum Either<A, B> {
    First(A),
    Second(B),
}

impl<T: Serialize> Tagged<T> {
    pub fn new(body: &T, tag: impl Into<EntityTag>) -> Self {
        Self::from_answer(Answer::ok(body).etag(tag))
    }
}

impl<T: Serialize> Created<T> {
    pub fn new(location: impl AsRef<str>, tag: impl Into<EntityTag>, body: &T) -> Self {
        Self::from_answer(Answer::created(location, tag, body))
    }
}

impl<T> Created<T> {
    /// Whether this is its `Location`: a response that was stored for an earlier request has the location of that one.
    pub fn is_at(&self, location: &str) -> bool {
        self.0.is_at(location)
    }
}

impl<T: Serialize> Accepted<T> {
    /// `location` is the path of the job.
    pub fn new(location: impl AsRef<str>, body: &T) -> Self {
        Self::from_answer(Answer::accepted(body).location(location))
    }
}

macro_rules! typed {
    ($name:ident, $route:ident => $declared:expr) => {
        impl<T> $name<T> {
            /// Wraps an answer that is already complete, such as a stored one.
            pub(crate) fn from_answer(answer: Answer) -> Self {
                Self(answer, PhantomData)
            }

            pub(crate) fn answer(self) -> Answer {
                self.0
            }

            /// Changes the header fields.
            pub fn map(self, change: impl FnOnce(Answer) -> Answer) -> Self {
                Self::from_answer(change(self.0))
            }
        }

        impl<T: ToSchema + 'static> Respond for $name<T> {
            fn declare($route: Route) -> Route {
                $declared
            }

            fn into_answer(self) -> Answer {
                self.answer()
            }
        }
    };
}

typed!(Tagged, route => route.answers::<T>(200).tagged());
typed!(Created, route => route.answers::<T>(201));
typed!(Accepted, route => route.answers::<T>(202));

impl<T: Serialize + ToSchema + Send + 'static> Respond for Json<T> {
    fn declare(route: Route) -> Route {
        route.answers::<T>(200)
    }

    fn into_answer(self) -> Answer {
        Answer::ok(&self.0)
    }
}

impl<T: Serialize + ToSchema + Send + 'static> Respond for Page<T> {
    fn declare(route: Route) -> Route {
        route.answers::<Self>(200)
    }

    fn into_answer(self) -> Answer {
        Answer::ok(&self)
    }
}

impl Respond for NoContent {
    fn declare(route: Route) -> Route {
        route.answers_empty(204)
    }

    fn into_answer(self) -> Answer {
        Answer::no_content()
    }
}

impl<A: Respond, B: Respond> Respond for Either<A, B> {
    fn declare(route: Route) -> Route {
        B::declare(A::declare(route))
    }

    fn into_answer(self) -> Answer {
        match self {
            Self::First(first) => first.into_answer(),
            Self::Second(second) => second.into_answer(),
        }
    }
}

/// A response that its route declares by [`Route::answers`] and the like, where `Accept` or the handler chooses.
impl Respond for Answer {
    fn declare(route: Route) -> Route {
        route
    }

    fn into_answer(self) -> Answer {
        self
    }
}
