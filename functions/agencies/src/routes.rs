//! The routes of agencies, in the order of the docs and the API description.

use web::Route;

use crate::{agencies, invitations, jobs, members, people, search};

pub fn all() -> Vec<Route> {
    vec![
        agencies::create::route(),
        agencies::list::route(),
        agencies::get::route(),
        agencies::update::route(),
        agencies::set_status::activate_route(),
        agencies::set_status::deactivate_route(),
        agencies::delete::route(),
        members::add::route(),
        members::list::route(),
        members::get::route(),
        members::update::route(),
        members::remove::route(),
        invitations::create::route(),
        invitations::list::route(),
        invitations::get::route(),
        invitations::revoke::route(),
        people::agencies::mine_route(),
        people::invitations::route(),
        invitations::accept::route(),
        invitations::decline::route(),
        people::agencies::of_person_route(),
        jobs::list::route(),
        jobs::get_route(),
        search::route(),
    ]
}
