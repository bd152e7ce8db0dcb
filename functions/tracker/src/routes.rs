//! The routes of tracker, in the order of the docs and the API description.

use web::Route;

use crate::{attributes, changes, exports, grid, imports, issues, jobs, members, people, projects, search, tenants};

pub fn all() -> Vec<Route> {
    vec![
        tenants::create::route(),
        tenants::list::route(),
        people::list_tenants::mine_route(),
        tenants::get::route(),
        tenants::update::route(),
        tenants::delete::route(),
        search::route(),
        members::add::route(),
        members::list::route(),
        members::get::route(),
        members::update::route(),
        members::remove::route(),
        people::list_tenants::of_person_route(),
        people::remove_from_tenants::route(),
        projects::create::route(),
        projects::list::route(),
        projects::get::route(),
        projects::update::route(),
        projects::delete::route(),
        issues::next_number::route(),
        grid::list::route(),
        changes::list::route(),
        attributes::create::route(),
        attributes::update::route(),
        attributes::delete::route(),
        attributes::retype::route(),
        issues::create::route(),
        issues::get::route(),
        issues::get_by_number::route(),
        issues::update::route(),
        issues::delete::route(),
        issues::renumber::route(),
        issues::move_to::route(),
        issues::set_value::route(),
        issues::clear_value::route(),
        issues::update_values::route(),
        imports::announce::route(),
        exports::create::route(),
        jobs::list::route(),
        jobs::get::route(),
        jobs::cancel::route(),
        jobs::undo::route(),
    ]
}
