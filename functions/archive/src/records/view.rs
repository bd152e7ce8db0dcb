//! Records in responses.

use std::iter::zip;

use serde::Serialize;
use utoipa::ToSchema;

use crate::households::HouseholdView;
use crate::names::{CollectionId, Household, PostId, RecordId};
use crate::record::{Correction, Event, Person, Record, Relative, citation, correction_of, image_link, labels};
use crate::runs::Run;
use crate::viewer::Viewer;

/// A record in lists.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ListedRecord)]
pub struct ListedRecordView {
    /// The permanent id.
    pub id: RecordId,
    /// The number of its row in the file, from 1.
    pub row: u32,
    pub people: Vec<Person>,
    pub events: Vec<Event>,
    pub keywords: Vec<String>,
    /// The household in paths. `null` if the file names none.
    #[schema(required = true)]
    pub household: Option<Household>,
    /// The relation to the head of the household, as the file has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<String>,
    /// The first day on which the public may see it, as `yyyymmdd`; only for staff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visible_from: Option<u32>,
}

/// A record with what it belongs to.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Record)]
pub struct RecordView {
    /// The permanent id.
    pub id: RecordId,
    /// The number of its row in the file, from 1.
    pub row: u32,
    /// The cells of the row, in the order of the columns.
    pub values: Vec<Cell>,
    pub people: Vec<Person>,
    pub events: Vec<Event>,
    /// The relatives of the principal person in the household.
    pub relatives: Vec<Relative>,
    pub keywords: Vec<String>,
    /// The relation to the head of the household, as the file has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<String>,
    /// The household with its members in the order of the rows. `null` if the record has none.
    #[schema(required = true)]
    pub household: Option<HouseholdView>,
    /// How to cite the record, by the template of the collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citation: Option<String>,
    /// The link to the image of the record, by the template of the collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_link: Option<String>,
    pub post: PostOfRecord,
    pub collection: CollectionOfRecord,
    /// The first day on which the public may see it, as `yyyymmdd`; only for staff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visible_from: Option<u32>,
    pub created_at: String,
    pub updated_at: String,
}

/// A cell of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = RecordCell)]
pub struct Cell {
    /// The header of the column in the file, by which corrections name it.
    pub header: String,
    /// The name of the column for readers.
    pub label: String,
    /// The text of the file, or its correction.
    pub value: String,
    /// The correction by hand; only for staff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correction: Option<Correction>,
}

/// The post of a record.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PostOfRecord {
    pub id: PostId,
    pub name: String,
}

/// The collection of a record.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CollectionOfRecord {
    pub id: CollectionId,
    pub name: String,
}

/// What a record is shown with.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub run: Run,
    pub post: PostOfRecord,
    pub collection: CollectionOfRecord,
    pub citation_template: String,
    pub image_url_template: Option<String>,
    pub household: Option<HouseholdView>,
}

impl ListedRecordView {
    pub fn new(record: Record, viewer: &Viewer) -> Self {
        Self {
            id: record.permanent_id,
            row: record.row,
            people: record.people,
            events: record.events,
            keywords: record.keywords,
            household: record.household.and_then(|household| Household::new(&household).ok()),
            relation: record.relation,
            visible_from: record.visible_from.filter(|_| viewer.is_staff),
        }
    }
}

impl RecordView {
    pub fn new(record: Record, of: Surroundings, viewer: &Viewer) -> Self {
        let cited = citation(&of.citation_template, &of.run.headers, &record.values);
        let template = of.image_url_template.as_deref();
        Self {
            id: record.permanent_id,
            row: record.row,
            citation: Some(cited).filter(|citation| !citation.is_empty()),
            image_link: template.and_then(|template| image_link(template, &of.run.headers, &record.values)),
            values: cells(&record, &of.run, viewer),
            people: record.people,
            events: record.events,
            relatives: seen(record.relatives, viewer),
            keywords: record.keywords,
            relation: record.relation,
            household: of.household,
            post: of.post,
            collection: of.collection,
            visible_from: record.visible_from.filter(|_| viewer.is_staff),
            created_at: record.created_at,
            updated_at: record.updated_at,
        }
    }
}

/// Returns the relatives whom the viewer may see. A relative is closed with the relative's own record. Its first open day is
/// for staff.
fn seen(relatives: Vec<Relative>, viewer: &Viewer) -> Vec<Relative> {
    let relatives = relatives.into_iter().filter(|relative| viewer.sees(relative.visible_from));
    let shown =
        |relative: Relative| Relative { visible_from: relative.visible_from.filter(|_| viewer.is_staff), ..relative };
    relatives.map(shown).collect()
}

/// Returns the cells of a record. A row that is shorter than the header has no more.
fn cells(record: &Record, run: &Run, viewer: &Viewer) -> Vec<Cell> {
    let named = zip(&run.headers, labels(&run.mapping, &run.headers));
    let shown = |header: &str| correction_of(&record.corrections, header).filter(|_| viewer.is_staff);
    let cell = |((header, label), value): ((&String, &str), &String)| Cell {
        header: header.clone(),
        label: label.to_owned(),
        value: value.clone(),
        correction: shown(header).map(|(_, correction)| correction.clone()),
    };
    zip(named, &record.values).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RelativeKind;

    #[test]
    fn relative_who_is_closed_is_shown_to_staff_only_whatever_the_name() {
        let evan = |relation, visible_from| Relative {
            relation,
            given: "Evan".to_owned(),
            surname: "Pugh".to_owned(),
            visible_from,
        };
        let spouse = evan(RelativeKind::Spouse, None);
        let opened = evan(RelativeKind::Child, Some(20_200_101));
        let closed = evan(RelativeKind::Child, Some(20_910_101));
        let relatives = vec![spouse.clone(), opened.clone(), closed];
        let public = Viewer::new(false, 20_261_125);
        assert_eq!(seen(relatives.clone(), &public), [spouse, Relative { visible_from: None, ..opened }]);
        assert_eq!(seen(relatives.clone(), &Viewer::new(true, 20_261_125)), relatives);
    }
}
