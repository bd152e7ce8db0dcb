//! The routes of agencies, a file for each first part of the path below `/agencies`, and for what lies in an agency.

mod agencies;
mod invitations;
mod me;
mod members;
mod people;
mod search;

use web::{Route, Who};

use crate::standing::PLATFORM_ADMIN;

/// All routes of the system, in the order in which the docs and the API description have them.
pub fn all() -> Vec<Route> {
    [agencies::routes(), members::routes(), invitations::routes(), me::routes(), people::routes(), search::routes()]
        .concat()
}

/// What is stored decides.
const SIGNED_IN: Who = Who::SignedIn;
const PLATFORM_ADMINS: Who = Who::Role(PLATFORM_ADMIN);
