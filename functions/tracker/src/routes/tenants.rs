//! `/tracker/tenants`, the caller's own, and search in one.

use web::{Page, Route, Sample, Who, problem};

use super::{SAMPLE_TENANT, TENANT as T};
use crate::access::{
    BEGIN_DELETION, BY_NAME, CREATE_TENANT, DUE, ISSUE_ROWS, ISSUES, MEMBERSHIP, MY_TENANTS, OF_TENANT, PROJECT,
    RENAME_TENANT, TENANT, TENANT_STEP, TOTALS, WORK,
};
use crate::attributes::retype::ATTRIBUTE_BUSY;
use crate::callers::PLATFORM_ADMIN;
use crate::grid::SEARCH;
use crate::search::{FoundPage, SearchQuery, search};
use crate::tenants::delete::{DeleteQuery, delete};
use crate::tenants::one::{
    NewTenant, Paged, TenantChange, TenantPath, TenantsQuery, create, get, list, list_mine, rename,
};
use crate::views::{MyTenant, TenantEntry, TenantView};
use crate::work::routes::WorkView;

const PLATFORM: Who = Who::Role(PLATFORM_ADMIN);

pub fn routes() -> Vec<Route> {
    vec![
        Route::post("createTenant", "/tracker/tenants", PLATFORM, create)
            .summary("Makes a tenant with its first administrator")
            .patterns(&[&CREATE_TENANT])
            .takes::<NewTenant>()
            .creates()
            .answers::<TenantView>(201)
            .problems(&[problem::CONFLICT])
            .sample(Sample::new("/tracker/tenants").body(r#"{"name":"ACME Engineering"}"#)),
        Route::get("listTenants", "/tracker/tenants", PLATFORM, list)
            .summary("All tenants by name, or those whose names have some words")
            .patterns(&[&BY_NAME, &SEARCH])
            .query::<TenantsQuery>()
            .answers::<Page<TenantEntry>>(200)
            .problems(&[problem::SEARCH_UNAVAILABLE])
            .sample(Sample::new("/tracker/tenants")),
        Route::get("listMyTenants", "/tracker/me/tenants", Who::SignedIn, list_mine)
            .summary("The caller's tenants, the oldest membership first")
            .patterns(&[&MY_TENANTS])
            .query::<Paged>()
            .answers::<Page<MyTenant>>(200)
            .sample(Sample::new("/tracker/me/tenants")),
        Route::get("getTenant", T, Who::SignedIn, get)
            .summary("One tenant, to its members")
            .patterns(&[&MEMBERSHIP, &TENANT])
            .path::<TenantPath>()
            .tagged()
            .answers::<TenantView>(200)
            .problems(&[problem::NOT_FOUND])
            .sample(Sample::new(SAMPLE_TENANT)),
        Route::patch("renameTenant", T, Who::SignedIn, rename)
            .summary("Gives a tenant another name")
            .patterns(&[&MEMBERSHIP, &TENANT, &RENAME_TENANT])
            .path::<TenantPath>()
            .takes_patch::<TenantChange>()
            .if_match()
            .tagged()
            .answers::<TenantView>(200)
            .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::CONFLICT])
            .sample(Sample::new(SAMPLE_TENANT).body(r#"{"name":"ACME"}"#)),
        Route::delete("deleteTenant", T, PLATFORM, delete)
            .summary("Deletes a tenant; `cascade=true` also deletes everything in it")
            .patterns(&[
                &TENANT,
                &BEGIN_DELETION,
                &WORK,
                &DUE,
                &TENANT_STEP,
                &PROJECT,
                &TOTALS,
                &ISSUE_ROWS,
                &OF_TENANT,
            ])
            .path::<TenantPath>()
            .query::<DeleteQuery>()
            .if_match()
            .timeout(web::route::MAX_TIMEOUT)
            .answers_empty(204)
            .answers::<WorkView>(202)
            .problems(&[problem::NOT_FOUND, problem::HAS_DEPENDENTS, problem::CONFLICT])
            .sample(Sample::new("/tracker/tenants/tenant-0807?cascade=true")),
        Route::get("search", format!("{T}/search"), Who::SignedIn, search)
            .summary("Issues by their words, or projects by name, of one tenant")
            .patterns(&[&MEMBERSHIP, &PROJECT, &SEARCH, &ISSUES])
            .path::<TenantPath>()
            .query::<SearchQuery>()
            .answers::<FoundPage>(200)
            .problems(&[problem::NOT_FOUND, ATTRIBUTE_BUSY, problem::SEARCH_UNAVAILABLE])
            .sample(Sample::new("/tracker/tenants/tenant-0807/search?q=girder")),
    ]
}
