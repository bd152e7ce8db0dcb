//! Hides the items of a layer that its file does not have: those with an external id that no row has.

use serde_json::{Map, json};
use table::{Access, EntityKey, Escaped, Key, Stored};
use web::Problem;

use super::identity::Counted;
use super::row::{EXTERNAL_ID, ParsedRow, RowParser};
use super::write::{self, Guard, Written};
use crate::access::{EXTERNAL_IDS, IMPORT_ROWS};
use crate::item::Item;
use crate::keys::{ExternalIdKey, ItemKey};
use crate::names::{ActivityType, CollectionId, FacilityType};
use crate::schema::PARKS;

/// The number of guards that are read at once.
const PAGE: u32 = 100;

/// The limit of items that a step hides.
const MAX_ITEMS: usize = 30;

/// The result of a step.
#[derive(Debug)]
pub struct Hidden {
    pub written: Written,
    /// The external ids and paths of the items that are hidden.
    pub items: Vec<(String, String)>,
    /// The sort key of the last guard that was compared. None after the last one of all.
    pub compared: Option<String>,
}

/// A visible item that the file does not have.
struct Missing {
    guard: String,
    row: ParsedRow,
    stored: Stored,
    path: String,
}

/// Compares guards of external ids with the file until it finds items to hide, or until it has read a page. The guards are
/// read in order, so that a run can resume after any of them.
pub async fn step(
    access: &Access,
    reading: &RowParser,
    collection: &CollectionId,
    who: Option<String>,
    counted: &Counted,
    compared: Option<&str>,
) -> Result<Hidden, Problem> {
    let external_id = Escaped::new(EXTERNAL_ID).map_err(Problem::internal)?;
    let entity = reading.layer.kind();
    let partition = ExternalIdKey { entity, collection: collection.clone(), external_id }.key().pk;
    let guards = access.table(&EXTERNAL_IDS, &PARKS).query(partition).consistent();
    let guards = match compared {
        Some(compared) => guards.from(compared),
        None => guards,
    };
    let page = guards.page(PAGE).await?;
    let is_last = page.next.is_none();
    let guards: Vec<Stored> = page.items.into_iter().filter(|guard| compared != guard.key.sk.as_deref()).collect();
    let last = guards.last().and_then(|guard| guard.key.sk.clone());
    let mut missing = missing(access, counted, &guards).await?;
    let more = missing.len() > MAX_ITEMS;
    missing.truncate(MAX_ITEMS);

    let numbered = (1..).zip(&missing);
    let rows = numbered.map(|(number, item)| (ParsedRow { number, ..item.row.clone() }, Some(item.stored.clone())));
    let written = write::update_or_create(access, reading, collection, who, rows.collect()).await?;
    if let Some(next) = written.next {
        missing.truncate(usize::try_from(next).unwrap_or(usize::MAX).saturating_sub(1));
    }
    let compared = match missing.last() {
        Some(item) if more || written.next.is_some() => Some(item.guard.clone()),
        _ if is_last => None,
        _ => last,
    };
    let refused =
        |item: &Missing| written.faults.iter().any(|fault| fault.external_id.as_ref() == Some(&item.row.external_id));
    let items = missing.iter().filter(|item| !refused(item));
    let items = items.map(|item| (item.row.external_id.clone(), item.path.clone())).collect();
    Ok(Hidden { written, items, compared })
}

/// The visible items of guards that no row has, in the order of the guards, each with the row that hides it.
async fn missing(access: &Access, counted: &Counted, guards: &[Stored]) -> Result<Vec<Missing>, Problem> {
    let (mut ids, mut keys) = (Vec::new(), Vec::<Key>::new());
    for guard in guards {
        let parsed = ExternalIdKey::parse(&guard.key).zip(guard.key.sk.clone());
        let Some((ExternalIdKey { external_id, .. }, sk)) = parsed else { continue };
        if !counted.has(external_id.text()) {
            ids.push((sk, external_id.text().to_owned()));
            keys.push(guard.read::<Guard>()?.item);
        }
    }
    let items = access.table(&IMPORT_ROWS, &PARKS).batch_get_consistent(&keys).await?;
    let mut missing = Vec::new();
    for ((guard, external_id), stored) in ids.into_iter().zip(items) {
        let Some(stored) = stored else { continue };
        let item: Item = stored.read()?;
        let is_its_guard = item.external_id.as_deref() == Some(external_id.as_str());
        // Of an item that a job shows or hides, the attribute says what it was before.
        if !is_its_guard || item.deleted() || !(item.visible() || item.busy()) {
            continue;
        }
        let Some(path) = ItemKey::parse(&stored.key).map(|key| key.href()) else { continue };
        let of_type = item.facility_type.map(FacilityType::as_str).or(item.activity_type.map(ActivityType::as_str));
        let row = ParsedRow {
            number: 0,
            external_id,
            of_type: of_type.map(str::to_owned),
            fields: Map::from_iter([("isVisible".to_owned(), json!(false))]),
            shape: None,
            refused: None,
            position: None,
        };
        missing.push(Missing { guard, row, stored, path });
    }
    Ok(missing)
}
