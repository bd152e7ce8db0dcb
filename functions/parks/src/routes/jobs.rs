//! `/parks/jobs`.

use web::{Page, Route, Sample, problem};

use super::ADMINISTRATORS;
use crate::access::{ITEM, OPEN_JOBS, READ_FAULTS};
use crate::jobs::{JobPath, JobView, JobsQuery, get_job, list_jobs};

const JOBS: &str = "/parks/jobs";
const JOB: &str = "/parks/jobs/{jobId}";

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("listJobs", JOBS, ADMINISTRATORS, list_jobs)
            .summary("The jobs that are open, the oldest first")
            .patterns(&[&OPEN_JOBS])
            .query::<JobsQuery>()
            .answers::<Page<JobView>>(200)
            .sample(Sample::new(JOBS)),
        Route::get("getJob", JOB, ADMINISTRATORS, get_job)
            .summary("How far a job has come, with a link to its faults once it has ended")
            .patterns(&[&ITEM, &READ_FAULTS])
            .path::<JobPath>()
            .answers::<JobView>(200)
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new("/parks/jobs/01890a5d-ac96-774b-bcce-b302099a8057").expects(404)),
    ]
}
