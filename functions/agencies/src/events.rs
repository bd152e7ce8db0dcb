//! Handlers of events: records of the table's stream, deployments and schedules.

use web::EventHandler;

use crate::change_events;
use crate::documents::Agencies;
use crate::jobs::AgencyJobs;

pub fn handlers() -> Vec<EventHandler> {
    let mirror = mirror::handlers::<Agencies>();
    mirror.into_iter().chain([jobs::handler::<AgencyJobs>(), change_events::handler()]).collect()
}
