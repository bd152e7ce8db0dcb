//! `GET /tracker/tenants/{tenantId}/jobs/{jobId}`

use jobs::JobId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use web::{Answer, Context, Path, Problem, Route, Sample, problem};

use super::TrackerJobs;
use super::view::{JobView, view, view_from_outside};
use crate::access::{JOB, LINKS, MEMBERSHIP};
use crate::authorization::{SIGNED_IN, is_platform_admin, membership};
use crate::names::TenantId;
use crate::{exports, imports};

pub const ONE: &str = "/tracker/tenants/{tenantId}/jobs/{jobId}";

/// The path of a job.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobPath {
    pub tenant_id: TenantId,
    pub job_id: JobId,
}

/// A job with links to its files.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobDetail {
    #[serde(flatten)]
    pub job: JobView,
    /// The link to the file of an export that has succeeded, valid for 5 minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The link to the faults of an import that has ended, at most 10 000, valid for 5 minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults_link: Option<String>,
}

pub fn route() -> Route {
    Route::get("getJob", ONE, SIGNED_IN, get)
        .summary("Get a job with its progress")
        .patterns(&[&MEMBERSHIP, &JOB, &LINKS])
        .answers::<JobDetail>(200)
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new("/tracker/tenants/tenant-0807/jobs/019e0000-0000-7000-8000-000000000001"))
}

async fn get(cx: Context, Path(path): Path<JobPath>) -> Result<Answer, Problem> {
    let member = membership(&cx, path.tenant_id).await?.is_some();
    // A platform administrator also sees the deletion of a tenant that is gone.
    if !member && !is_platform_admin(&cx) {
        return Err(Problem::not_found());
    }
    let job = jobs::load::<TrackerJobs>(&cx, &path.tenant_id, path.job_id).await?;
    let is_open = job.is_open();
    let detail = if member {
        let link = exports::link(cx.access(), path.job_id, &job).await?;
        let faults_link = imports::faults_link(cx.access(), path.job_id, &job).await?;
        JobDetail { job: view(path.job_id, job), link, faults_link }
    } else {
        JobDetail { job: view_from_outside(path.job_id, job), link: None, faults_link: None }
    };
    let answer = Answer::ok(&detail);
    Ok(if is_open { answer.retry_after(1) } else { answer })
}
