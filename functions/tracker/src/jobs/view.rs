//! Jobs in the responses of tracker.

use jobs::JobId;

use super::{Details, Job, TrackerJobs};

/// A job. A platform administrator who is no member does not see its project, its attribute and its faults.
pub type JobView = jobs::JobViewOf<TrackerJobs>;

/// The job as a member sees it.
pub fn view(id: JobId, job: Job) -> JobView {
    JobView::of::<TrackerJobs>(id, job)
}

/// The job as a platform administrator sees it who is no member.
pub fn view_from_outside(id: JobId, job: Job) -> JobView {
    let job = Job { reason: None, faults: Vec::new(), created_by: None, ..job };
    JobView::new::<TrackerJobs>(id, job, Details::default())
}
