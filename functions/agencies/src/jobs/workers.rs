//! What works on jobs: a worker for each kind.

use jobs::{AnyWorker, Workers};
use table::AccessPattern;

use super::delete_agency::DeleteAgency;
use super::{AgencyJobs, Kind};
use crate::access::{DELETION, DUE, LEASE};

impl Workers for AgencyJobs {
    const PATTERNS: &'static [&'static AccessPattern] = &[&DUE, &LEASE, &DELETION];

    fn worker(kind: Kind) -> Box<dyn AnyWorker<Self>> {
        match kind {
            Kind::DeleteAgency => Box::new(DeleteAgency),
        }
    }
}
