//! Tenants and their members.

pub mod delete;
mod find;
pub mod members;
pub mod one;

use table::clock::rfc3339;
use web::{Fault, Problem, Request};

use crate::callers;
use crate::items::Stamps;

/// The stamps of something that the caller makes now.
pub fn made_now(request: &Request) -> Result<Stamps, Problem> {
    let (now, who) = (now(request), Some(callers::me(request)?.to_string()));
    Ok(Stamps { created_at: now.clone(), created_by: who.clone(), updated_at: now, updated_by: who })
}

/// The same stamps, changed by the caller now.
pub fn changed_now(request: &Request, stamps: &Stamps) -> Result<Stamps, Problem> {
    let made = made_now(request)?;
    Ok(Stamps { updated_at: made.updated_at, updated_by: made.updated_by, ..stamps.clone() })
}

pub fn now(request: &Request) -> String {
    rfc3339(request.engines().clock.now())
}

/// A name that people read: with something to read in it, without control characters. Its length the schema has checked.
pub fn name_fault(pointer: &str, name: &str) -> Option<Fault> {
    let blank = !web::visible::is_readable(name) || name.chars().any(char::is_control);
    blank.then(|| Fault::pointer(pointer, "must have something to read in it, and no control characters"))
}
