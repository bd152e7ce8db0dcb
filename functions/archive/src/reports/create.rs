//! `POST /archive/records/{recordId}/reports`

use serde::Deserialize;
use table::{Action, Error};
use utoipa::ToSchema;
use web::visible::{is_readable, name_fault};
use web::{Context, Created, Fault, IdempotencyKey, Json, Path, Problem, Route, Rules, Sample, Valid, problem};

use super::limit::{Source, exceeded};
use super::{Report, ReportStatus, ReportView};
use crate::access::{CALLER, CREATE_REPORT, NEXT_IDS, ONE, RECORD};
use crate::audit::now;
use crate::keys::ReportKey;
use crate::names::{ReportId, UserId};
use crate::person;
use crate::records::{RecordPath, WITHDRAWN, find_public};
use crate::schema::ARCHIVE;
use crate::sequence::next_id;
use crate::viewer::{READERS, Viewer};

/// An error that a reader has found.
#[derive(Debug, Deserialize, ToSchema)]
pub struct NewReport {
    /// What is wrong, and where the reader knows it from.
    #[schema(min_length = 1, max_length = 2000)]
    text: String,
    /// How to reach the reader. Only editors see it.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 200, nullable = false)]
    contact: Option<String>,
}

impl Rules for NewReport {
    fn faults(&self) -> Vec<Fault> {
        let text = (!is_readable(&self.text)).then(|| Fault::pointer("/text", "must have a visible character"));
        let contact = self.contact.as_deref().and_then(|contact| name_fault("/contact", contact));
        text.into_iter().chain(contact).collect()
    }
}

pub fn route() -> Route {
    Route::post("createReport", "/archive/records/{recordId}/reports", READERS, create)
        .summary("Create a report of an error in a record; a caller and network may send 20 an hour")
        .patterns(&[&CALLER, &RECORD, &ONE, &NEXT_IDS, &CREATE_REPORT])
        .problems(&[problem::NOT_FOUND, WITHDRAWN, problem::CONFLICT, problem::TOO_MANY_REQUESTS])
        .sample(
            Sample::new("/archive/records/7000000007/reports")
                .body(r#"{"text":"The surname in the register is Jones."}"#),
        )
}

async fn create(
    cx: Context,
    Path(path): Path<RecordPath>,
    once: IdempotencyKey,
    Valid(Json(new)): Valid<Json<NewReport>>,
) -> Result<Created<ReportView>, Problem> {
    let viewer = Viewer::load(&cx).await?;
    let found = cx.retry(|| find_public(&cx, &viewer, path.record_id)).await?;
    if let Some(earlier) = once.earlier(&cx, &CREATE_REPORT, &ARCHIVE).await? {
        return Ok(earlier);
    }
    let source = Source::of(&cx);
    source.require_room(&cx).await?;
    let id = next_id(&cx, ReportId::new).await?;
    let at = now(&cx);
    let report = Report {
        id,
        listed_by: ReportStatus::Open.listed_by(id),
        record_id: found.record.permanent_id,
        text: new.text,
        contact: new.contact,
        status: ReportStatus::Open,
        note: None,
        settled_by: None,
        created_at: at.clone(),
        updated_at: at,
        created_by: reader(&cx).await?,
    };
    let actions = vec![Action::create(&ARCHIVE, ReportKey { report: id }, &report)?, source.counted()];
    let location = format!("/archive/reports/{id}");
    match once.create(&cx, &CREATE_REPORT, &ARCHIVE, actions, location, &report.into()).await {
        Ok(created) => Ok(created),
        Err(error @ Error::ConditionFailed(_)) if error.failed(1).is_some() => Err(exceeded(&cx)),
        Err(error) => Err(error.into()),
    }
}

/// Returns the user of a reader who is signed in and whom the archive knows.
async fn reader(cx: &Context) -> Result<Option<UserId>, Problem> {
    let Some(known) = cx.principal().known() else { return Ok(None) };
    let user = person::find(cx, &person::sort_key(cx, known)?).await?;
    Ok(user.map(|user| user.id))
}
