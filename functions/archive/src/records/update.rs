//! `PATCH /archive/records/{recordId}`

use std::collections::BTreeMap;

use icu_normalizer::ComposingNormalizerBorrowed;
use serde::Deserialize;
use table::{Access, Action, Changes, Error, Stored};
use utoipa::ToSchema;
use web::fault::pointer_step;
use web::{Context, Fault, IfMatch, MergePatch, Path, Problem, Route, Rules, Sample, Tagged, Valid, problem};

use super::detail::detail;
use super::find::{Found, find_own};
use super::household::LoadedHousehold;
use super::view::RecordView;
use super::{ONE, RecordPath, SAMPLE, WITHDRAWN, find_public, in_transit};
use crate::access::{
    CALLER, CREATE_USER, NEXT_IDS, ONE as ONE_ITEM, PLACE_SETTINGS, RECORD, RECORD_DETAIL, UPDATE_RECORD,
};
use crate::audit::now;
use crate::authorization::{Caller, SIGNED_IN};
use crate::households;
use crate::item::Collection;
use crate::keys::{CollectionKey, PostRunKey};
use crate::mapping::{Field, header_key};
use crate::names::{RecordId, Role};
use crate::places::PLACES_BY_NAME;
use crate::posts::IN_TRANSIT;
use crate::posts::unpublish::NOT_PUBLISHED;
use crate::publishing::{Resolver, place};
use crate::record::{BoundMapping, MAX_BYTES, Record, correct, visible_from};
use crate::register::{MAX_CELL_CHARS, MAX_ROW_BYTES};
use crate::runs::Run;
use crate::schema::ARCHIVE;
use crate::viewer::Viewer;

/// The cells of a record that are corrected.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct RecordPatch {
    /// The new text of each cell by the header of its column. Case, accents and spaces of headers do not matter. The text
    /// of the file ends a correction.
    #[schema(nullable = false)]
    values: Option<BTreeMap<String, String>>,
}

impl Rules for RecordPatch {
    fn faults(&self) -> Vec<Fault> {
        self.values.iter().flatten().filter_map(|(header, text)| cell_fault(header, text)).collect()
    }
}

impl RecordPatch {
    /// Returns the cells as the reader of files would read them.
    fn cells(self) -> BTreeMap<String, String> {
        self.values.into_iter().flatten().map(|(header, text)| (header, cleaned(&text))).collect()
    }
}

pub fn route() -> Route {
    Route::patch("updateRecord", ONE, SIGNED_IN, update)
        .summary("Correct cells of a record in a post of the caller, or in any as an editor")
        .patterns(&[
            &CALLER,
            &CREATE_USER,
            &NEXT_IDS,
            &RECORD,
            &ONE_ITEM,
            &UPDATE_RECORD,
            &PLACE_SETTINGS,
            &PLACES_BY_NAME,
            &RECORD_DETAIL,
        ])
        .body_limit(256 * 1024)
        .problems(&[
            problem::FORBIDDEN,
            problem::NOT_FOUND,
            WITHDRAWN,
            NOT_PUBLISHED,
            IN_TRANSIT,
            problem::UNPROCESSABLE,
            problem::CONFLICT,
        ])
        .sample(Sample::new(SAMPLE).body(r#"{"values":{"Forenames":"John"}}"#))
}

async fn update(
    cx: Context,
    Path(path): Path<RecordPath>,
    tag: IfMatch,
    Valid(MergePatch(patch)): Valid<MergePatch<RecordPatch>>,
) -> Result<Tagged<RecordView>, Problem> {
    let caller = Caller::with_role(&cx, Role::Volunteer).await?;
    let cells = patch.cells();
    cx.retry_stale(&tag, || async {
        let found = find_own(&cx, &caller, path.record_id).await?;
        tag.check(found.stored.rev)?;
        if found.post.status.is_in_transit() {
            return Err(in_transit());
        }
        correct_cells(&cx, &caller, found, &cells).await
    })
    .await?;
    let viewer = Viewer::load(&cx).await?;
    cx.retry(|| corrected(&cx, &viewer, path.record_id)).await
}

/// Returns the record as it is now.
async fn corrected(cx: &Context, viewer: &Viewer, id: RecordId) -> Result<Tagged<RecordView>, Problem> {
    let found = find_public(cx, viewer, id).await?;
    let tag = viewer.tag(found.stored.rev);
    Ok(Tagged::new(&detail(cx, viewer, found, true).await?, tag))
}

/// Writes the cells, and all that follows from them.
async fn correct_cells(
    cx: &Context,
    caller: &Caller,
    found: Found,
    cells: &BTreeMap<String, String>,
) -> Result<(), Problem> {
    let Found { record: before, stored, post, stored_post } = found;
    let table = cx.access().table(&UPDATE_RECORD, &ARCHIVE);
    let stored_run = table.get_consistent(PostRunKey { post: post.id, run: before.run }).await?;
    let stored_run = stored_run.ok_or_else(Problem::lost_race)?;
    let run: Run = stored_run.read()?;
    let collection = table.get_consistent(CollectionKey { collection: post.collection_id }).await?;
    let collection: Collection = collection.ok_or_else(Problem::lost_race)?.read()?;
    let faults = household_faults(cells, &run);
    if !faults.is_empty() {
        return Err(Problem::unprocessable(faults));
    }
    let at = now(cx);
    let mut after = Record { updated_at: at.clone(), ..before.clone() };
    let user = caller.clone().into_user(cx).await?;
    correct(&mut after.values, &mut after.corrections, &run.headers, cells, (user.id, &at)).map_err(unknown)?;
    if after.values == before.values && after.corrections == before.corrections {
        return Ok(());
    }
    derive(cx.access(), &mut after, &run, &collection).await?;
    let household = match LoadedHousehold::load(table, post.id, &before).await? {
        Some(household) if household.is_outgrown_by(&after) => {
            let detail = format!("make the household larger than {} KB", households::MAX_BYTES / 1_000);
            return Err(Problem::unprocessable(vec![Fault::pointer("/values", detail)]));
        }
        Some(household) => household.corrected(&mut after)?.actions,
        None => Vec::new(),
    };
    let bytes: usize = after.values.iter().map(String::len).sum();
    if bytes > MAX_ROW_BYTES || after.bytes() > MAX_BYTES {
        let detail = format!("make the record larger than {} KB", MAX_ROW_BYTES / 1024);
        return Err(Problem::unprocessable(vec![Fault::pointer("/values", detail)]));
    }
    let mut actions = vec![
        Action::update(&ARCHIVE, stored.key.clone(), Changes::between(&before, &after)?).if_unchanged(&stored),
        // A run that starts now reads the corrections after this one, or does not start.
        Action::check(&ARCHIVE, stored_post.key.clone()).if_unchanged(&stored_post),
    ];
    actions.extend(counted(&stored_run, &run, &after)?);
    actions.extend(household);
    match cx.access().transact(&UPDATE_RECORD, &actions).await {
        Ok(_) => Ok(()),
        Err(error) if error.failed(0).is_some() => Err(Problem::stale()),
        Err(Error::ConditionFailed(_)) => Err(Problem::lost_race()),
        Err(error) => Err(error.into()),
    }
}

/// Derives what the cells of a record mean. The household stays, and the relatives follow from it.
async fn derive(access: &Access, record: &mut Record, run: &Run, collection: &Collection) -> Result<(), Problem> {
    let mapping = BoundMapping::new(&run.mapping, &run.headers);
    let content = mapping.map_err(|_| Problem::internal("a run lacks a column of its mapping"))?.read(&record.values);
    let places_before = std::mem::replace(&mut record.events, content.events);
    let resolver = Resolver::load(access, collection.place_id).await?;
    place(access, &resolver, &places_before, &mut record.events).await?;
    record.people = content.people;
    record.keywords = content.keywords;
    record.relation = content.relation;
    record.visible_from = collection.closed_years.as_ref().and_then(|closed| visible_from(&record.events, closed));
    Ok(())
}

/// Returns the update of the run's corrected records, if the record enters or leaves them.
fn counted(stored: &Stored, run: &Run, record: &Record) -> Result<Option<Action>, Error> {
    let mut after = run.clone();
    let is_changed = if record.corrections.is_empty() {
        after.corrected.remove(&record.permanent_id)
    } else {
        after.corrected.insert(record.permanent_id)
    };
    let update = Action::update(&ARCHIVE, stored.key.clone(), Changes::between(run, &after)?);
    Ok(is_changed.then(|| update.if_unchanged(stored)))
}

fn pointer(header: &str) -> String {
    format!("/values{}", pointer_step(header))
}

/// 422 with a pointer to each header that the file lacks.
fn unknown(headers: Vec<String>) -> Problem {
    let fault = |header: String| Fault::pointer(pointer(&header), "names no column of the file");
    Problem::unprocessable(headers.into_iter().map(fault).collect())
}

/// Returns a fault for each cell that is part of the household.
fn household_faults(cells: &BTreeMap<String, String>, run: &Run) -> Vec<Fault> {
    let is_household = |header: &String| {
        let key = header_key(header);
        run.mapping.iter().any(|column| column.field == Field::Household && header_key(&column.header) == key)
    };
    let detail = "is a column of the household, which only a new file can change";
    cells.keys().filter(|header| is_household(header)).map(|header| Fault::pointer(pointer(header), detail)).collect()
}

/// Returns what is wrong with the text of a cell.
fn cell_fault(header: &str, text: &str) -> Option<Fault> {
    if text.contains('\0') {
        return Some(Fault::pointer(pointer(header), "must not contain the character NUL"));
    }
    let is_too_long = cleaned(text).chars().count() > MAX_CELL_CHARS;
    is_too_long.then(|| Fault::pointer(pointer(header), format!("must have at most {MAX_CELL_CHARS} characters")))
}

/// Returns a text as the reader of files reads a cell: in the normalization form NFC, with `\n` as its line breaks, and
/// without blanks around it.
fn cleaned(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    ComposingNormalizerBorrowed::new_nfc().normalize(text.trim()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(cells: &[(&str, &str)]) -> RecordPatch {
        let values = cells.iter().map(|(header, text)| ((*header).to_owned(), (*text).to_owned())).collect();
        RecordPatch { values: Some(values) }
    }

    #[test]
    fn cell_is_read_as_in_a_file() {
        let cells = patch(&[("Name", "  Se\u{301}an\r\nRoe\r ")]).cells();
        assert_eq!(cells["Name"], "Séan\nRoe");
        assert!(RecordPatch { values: None }.cells().is_empty());
    }

    #[test]
    fn cell_that_no_file_may_have_is_at_fault() {
        let (long, longest) = ("x".repeat(MAX_CELL_CHARS + 1), format!(" {}", "x".repeat(MAX_CELL_CHARS)));
        let faults = patch(&[("Born", "1\0"), ("Rel/Head", &long), ("Sex", &longest)]).faults();
        let places: Vec<_> = faults.iter().map(|fault| fault.place.clone()).collect();
        let expected = ["/values/Born", "/values/Rel~1Head"].map(|at| web::fault::Place::Pointer(at.to_owned()));
        assert_eq!(places, expected);
    }
}
