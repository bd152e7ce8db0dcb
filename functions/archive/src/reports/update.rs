//! `PATCH /archive/reports/{reportId}`

use serde::Deserialize;
use table::{Action, Changes};
use utoipa::ToSchema;
use web::visible::is_readable;
use web::{Context, Fault, IfMatch, MergePatch, Patch, Path, Problem, Route, Rules, Sample, Tagged, Valid, problem};

use super::{Report, ReportStatus, ReportView};
use crate::access::{CALLER, CREATE_USER, NEXT_IDS, UPDATE_REPORT};
use crate::audit::now;
use crate::authorization::{Caller, SIGNED_IN};
use crate::keys::ReportKey;
use crate::names::{ReportId, Role, UserId};
use crate::schema::ARCHIVE;

/// The most characters of a note.
const MAX_NOTE: usize = 2_000;

/// The path of a report.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportPath {
    pub report_id: ReportId,
}

/// The fields of a report that an editor can update.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct ReportPatch {
    #[schema(nullable = false)]
    status: Option<ReportStatus>,
    /// What the editor says of it: 1 to 2 000 characters. `null` removes it.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    note: Patch<String>,
}

impl Rules for ReportPatch {
    fn faults(&self) -> Vec<Fault> {
        let Patch::Set(note) = &self.note else { return Vec::new() };
        let is_valid = is_readable(note) && note.chars().count() <= MAX_NOTE;
        let detail = format!("must have a visible character and at most {MAX_NOTE} characters");
        if is_valid { Vec::new() } else { vec![Fault::pointer("/note", detail)] }
    }
}

impl ReportPatch {
    /// Returns the report after the patch. The editor who settles it is kept until it is open again.
    fn apply(&self, before: &Report, editor: UserId) -> Report {
        let status = self.status.unwrap_or(before.status);
        let settled_by = match status {
            ReportStatus::Open => None,
            status if status == before.status => before.settled_by,
            ReportStatus::Accepted | ReportStatus::Declined => Some(editor),
        };
        let note = self.note.clone().apply(before.note.clone());
        Report { listed_by: status.listed_by(before.id), status, settled_by, note, ..before.clone() }
    }
}

pub fn route() -> Route {
    Route::patch("updateReport", "/archive/reports/{reportId}", SIGNED_IN, update)
        .summary("Update the status and the note of a reader's report")
        .patterns(&[&CALLER, &CREATE_USER, &NEXT_IDS, &UPDATE_REPORT])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new("/archive/reports/7000000006").body(r#"{"status":"accepted","note":"Corrected."}"#))
}

async fn update(
    cx: Context,
    Path(path): Path<ReportPath>,
    tag: IfMatch,
    Valid(MergePatch(patch)): Valid<MergePatch<ReportPatch>>,
) -> Result<Tagged<ReportView>, Problem> {
    let caller = Caller::with_role(&cx, Role::Editor).await?;
    let table = cx.access().table(&UPDATE_REPORT, &ARCHIVE);
    cx.retry_stale(&tag, || async {
        let stored = table.get_consistent(ReportKey { report: path.report_id }).await?;
        let stored = stored.ok_or_else(Problem::not_found)?;
        tag.check(stored.rev)?;
        let before: Report = stored.read()?;
        let editor = caller.clone().into_user(&cx).await?;
        let after = patch.apply(&before, editor.id);
        if after == before {
            return Ok(Tagged::new(&before.into(), stored.rev));
        }
        let after = Report { updated_at: now(&cx), ..after };
        let update = Action::update(&ARCHIVE, stored.key.clone(), Changes::between(&before, &after)?);
        let rev = cx.access().write(&UPDATE_REPORT, update.if_unchanged(&stored)).await?;
        Ok(Tagged::new(&after.into(), rev))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(status: ReportStatus, settled_by: Option<UserId>) -> Report {
        let id: ReportId = "1000000012".parse().unwrap();
        Report {
            id,
            listed_by: status.listed_by(id),
            record_id: "1000000005".parse().unwrap(),
            text: "The surname in the register is Jones.".to_owned(),
            contact: None,
            status,
            note: None,
            settled_by,
            created_at: String::new(),
            updated_at: String::new(),
            created_by: None,
        }
    }

    fn patch(status: Option<ReportStatus>) -> ReportPatch {
        ReportPatch { status, note: Patch::Absent }
    }

    #[test]
    fn report_that_is_settled_moves_in_the_list_and_names_the_editor() {
        let (first, second): (UserId, UserId) = ("1000000001".parse().unwrap(), "1000000002".parse().unwrap());
        let open = report(ReportStatus::Open, None);
        let accepted = patch(Some(ReportStatus::Accepted)).apply(&open, first);
        assert_eq!(accepted, report(ReportStatus::Accepted, Some(first)));
        assert_eq!(accepted.listed_by, "accepted#1000000012");
        let noted = ReportPatch { status: None, note: Patch::Set("Seen.".to_owned()) }.apply(&accepted, second);
        assert_eq!((noted.settled_by, noted.note.as_deref()), (Some(first), Some("Seen.")));
        let declined = patch(Some(ReportStatus::Declined)).apply(&accepted, second);
        assert_eq!(declined.settled_by, Some(second));
        assert_eq!(patch(Some(ReportStatus::Open)).apply(&declined, second), open);
    }

    #[test]
    fn note_without_a_visible_character_or_too_long_is_at_fault() {
        let faults = |note: &str| ReportPatch { status: None, note: Patch::Set(note.to_owned()) }.faults().len();
        assert_eq!([faults("Seen."), faults(" "), faults(&"x".repeat(MAX_NOTE + 1))], [0, 1, 1]);
        assert!(ReportPatch { status: None, note: Patch::Remove }.faults().is_empty());
    }
}
