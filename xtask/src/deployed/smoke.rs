//! What has to work on a deployment before anything else, system by system.

pub mod parks;

use std::pin::Pin;

use crate::failure::Failure;
use crate::rehearsal::Stage;

/// Tries a deployment of a system; the token is that of somebody who may change nothing.
pub type Smoke = for<'a> fn(&'a Stage<'a>, &'a str) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + 'a>>;
