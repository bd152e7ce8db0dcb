//! `/tracker/tenants/{tenantId}/work`

use web::{Page, Route, Sample, Who, problem};

use super::TENANT as T;
use crate::access::{CANCEL_WORK, LINKS, MEMBERSHIP, OF_TENANT, TENANT, WORK};
use crate::tenants::one::{Paged, TenantPath};
use crate::work::routes::{WorkDetail, WorkPath, WorkView, get, list};
use crate::work::{NOT_CANCELLABLE, cancel};

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("listWork", format!("{T}/work"), Who::SignedIn, list)
            .summary("A tenant's work that outlived its request, newest first")
            .patterns(&[&MEMBERSHIP, &TENANT, &OF_TENANT])
            .path::<TenantPath>()
            .query::<Paged>()
            .answers::<Page<WorkView>>(200)
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new("/tracker/tenants/tenant-0807/work")),
        Route::get("getWork", format!("{T}/work/{{workId}}"), Who::SignedIn, get)
            .summary("One piece of work and how far it has come")
            .patterns(&[&MEMBERSHIP, &WORK, &LINKS])
            .path::<WorkPath>()
            .answers::<WorkDetail>(200)
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new("/tracker/tenants/tenant-0807/work/work-0001")),
        Route::delete("cancelWork", format!("{T}/work/{{workId}}"), Who::SignedIn, cancel)
            .summary("Cancels an import or an export, as an editor or as who began it; what it has written stays")
            .patterns(&[&MEMBERSHIP, &CANCEL_WORK])
            .path::<WorkPath>()
            .answers_empty(204)
            .answers::<WorkView>(202)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, NOT_CANCELLABLE, problem::CONFLICT])
            .sample(Sample::new("/tracker/tenants/tenant-0807/work/work-0002")),
    ]
}
