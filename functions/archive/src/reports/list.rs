//! `GET /archive/reports`

use serde::Deserialize;
use table::EntityKey;
use utoipa::ToSchema;
use web::{Context, Limit, Page, Problem, Query, Route, Sample, problem};

use super::{Report, ReportStatus, ReportView};
use crate::access::{CALLER, REPORTS_LISTED};
use crate::authorization::{Caller, SIGNED_IN};
use crate::keys::ReportKey;
use crate::names::Role;
use crate::schema::{ARCHIVE, INDEX};

/// The query of the list of reports.
#[derive(Debug, Deserialize, ToSchema)]
pub struct ReportQuery {
    #[serde(default)]
    limit: Limit,
    #[schema(min_length = 1)]
    cursor: Option<String>,
    /// Only the reports with this status.
    #[serde(default)]
    #[schema(default = "open")]
    status: ReportStatus,
}

pub fn route() -> Route {
    Route::get("listReports", "/archive/reports", SIGNED_IN, list)
        .summary("List the readers' reports of a status, the oldest first")
        .patterns(&[&CALLER, &REPORTS_LISTED])
        .problems(&[problem::FORBIDDEN])
        .sample(Sample::new("/archive/reports?status=open"))
}

async fn list(cx: Context, Query(query): Query<ReportQuery>) -> Result<Page<ReportView>, Problem> {
    Caller::with_role(&cx, Role::Editor).await?;
    let after = cx.cursor(query.cursor.as_deref())?;
    let partition = ReportKey::SK.unwrap_or_default();
    let reports = cx.access().table(&REPORTS_LISTED, &ARCHIVE).query(partition).index(INDEX);
    let page = reports.begins_with(query.status.prefix()).after(after).page(query.limit.0).await?;
    cx.page(page, |stored| Ok(stored.read::<Report>()?.into()))
}
