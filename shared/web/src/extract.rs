//! Extractors: the arguments of a handler. Each declares itself in the description of its route, and reads its value
//! from a request that has been checked against that description.

use std::ops::Deref;

use serde::de::DeserializeOwned;
use table::idempotency::Idempotency;
use table::{Action, Stored};
use utoipa::ToSchema;

use crate::context::{self, Context};
use crate::entity_tag::Condition;
use crate::route::Route;
use crate::{Problem, Rules};

/// An argument of a handler.
pub trait Extract: Sized + Send + 'static {
    /// Adds the argument to the declaration of the route.
    fn declare(route: Route) -> Route;

    /// Reads the argument. The request fits the declaration, so an error is one that no schema can state.
    fn extract(cx: &Context) -> Result<Self, Problem>;
}

/// The parameters of the path: an object with one property for each `{name}` of the template. A text that is
/// not a valid id names no resource, so the response is 404.
#[derive(Clone, Debug)]
pub struct Path<T>(pub T);

/// The query string: an object with one property for each parameter. A list is sent with commas (`bbox=1,2,3,4`) or by
/// repeating the parameter; any other parameter is sent once.
#[derive(Clone, Debug)]
pub struct Query<T>(pub T);

/// A JSON body as argument; 200 with a JSON body as response.
#[derive(Clone, Debug)]
pub struct Json<T>(pub T);

/// A JSON merge patch (RFC 7396), sent as `application/merge-patch+json` or `application/json`.
#[derive(Clone, Debug)]
pub struct MergePatch<T>(pub T);

/// A [`Json`] or [`MergePatch`] whose value also satisfies the [`Rules`] of its type.
#[derive(Clone, Debug)]
pub struct Valid<E>(pub E);

/// The `If-Match` header. A route that does not take it ignores the header.
#[derive(Clone, Debug, Default)]
pub struct IfMatch(pub Condition);

/// The `If-None-Match` header of a route that may respond with 304.
#[derive(Clone, Debug, Default)]
pub struct IfNoneMatch(pub Condition);

/// The `Idempotency-Key` header of a route that creates an item: see [`IdempotencyKey::create`].
#[derive(Clone, Debug)]
pub struct IdempotencyKey(pub(crate) Option<Idempotency>);

impl IdempotencyKey {
    /// Returns the key with the fingerprint of its request, if the header was sent.
    pub fn idempotency(&self) -> Option<&Idempotency> {
        self.0.as_ref()
    }
}

/// An extractor of a type that may have [`Rules`].
pub trait Validate: Extract {
    type Value: Rules + 'static;

    fn value(&self) -> &Self::Value;
}

impl<T: DeserializeOwned + ToSchema + Send + 'static> Extract for Path<T> {
    fn declare(route: Route) -> Route {
        route.path::<T>()
    }

    fn extract(cx: &Context) -> Result<Self, Problem> {
        T::deserialize(&cx.path).map(Self).map_err(|_| Problem::not_found())
    }
}

impl<T: DeserializeOwned + ToSchema + Send + 'static> Extract for Query<T> {
    fn declare(route: Route) -> Route {
        route.query::<T>()
    }

    fn extract(cx: &Context) -> Result<Self, Problem> {
        context::parameters(&cx.query).map(Self)
    }
}

impl<T: DeserializeOwned + ToSchema + Send + 'static> Extract for Json<T> {
    fn declare(route: Route) -> Route {
        route.takes::<T>()
    }

    fn extract(cx: &Context) -> Result<Self, Problem> {
        context::json(&cx.body).map(Self)
    }
}

impl<T: DeserializeOwned + ToSchema + Send + 'static> Extract for MergePatch<T> {
    fn declare(route: Route) -> Route {
        route.takes_patch::<T>()
    }

    fn extract(cx: &Context) -> Result<Self, Problem> {
        context::json(&cx.body).map(Self)
    }
}

impl<E: Validate> Extract for Valid<E> {
    fn declare(route: Route) -> Route {
        E::declare(route).rules::<E::Value>()
    }

    fn extract(cx: &Context) -> Result<Self, Problem> {
        let valid = E::extract(cx)?;
        let faults = valid.value().faults();
        if faults.is_empty() { Ok(Self(valid)) } else { Err(Problem::faults(faults)) }
    }
}

impl<T: DeserializeOwned + ToSchema + Rules + Send + 'static> Validate for Json<T> {
    type Value = T;

    fn value(&self) -> &T {
        &self.0
    }
}

impl<T: DeserializeOwned + ToSchema + Rules + Send + 'static> Validate for MergePatch<T> {
    type Value = T;

    fn value(&self) -> &T {
        &self.0
    }
}

impl Extract for IfMatch {
    fn declare(route: Route) -> Route {
        route.if_match()
    }

    fn extract(cx: &Context) -> Result<Self, Problem> {
        Ok(Self(cx.if_match.clone()))
    }
}

impl Extract for IfNoneMatch {
    fn declare(route: Route) -> Route {
        route.if_none_match()
    }

    fn extract(cx: &Context) -> Result<Self, Problem> {
        Ok(Self(cx.if_none_match.clone()))
    }
}

impl Extract for IdempotencyKey {
    fn declare(route: Route) -> Route {
        route.creates()
    }

    fn extract(cx: &Context) -> Result<Self, Problem> {
        Ok(Self(cx.idempotency()))
    }
}

impl IfMatch {
    /// Returns the action with the condition that its item is unchanged since it was read, if the header names a tag.
    pub fn guard(&self, action: Action, read: &Stored) -> Action {
        if self.names_tags() { action.if_unchanged(read) } else { action }
    }
}

impl Deref for IfMatch {
    type Target = Condition;

    fn deref(&self) -> &Condition {
        &self.0
    }
}

impl Deref for IfNoneMatch {
    type Target = Condition;

    fn deref(&self) -> &Condition {
        &self.0
    }
}
