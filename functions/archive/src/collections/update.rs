//! `PATCH /archive/collections/{collectionId}`

use serde::Deserialize;
use table::{Action, Cause, Changes};
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Fault, IfMatch, MergePatch, Patch, Path, Problem, Route, Rules, Sample, Tagged, Valid, problem};

use super::{
    CollectionPath, CollectionView, ONE, SAMPLE, image_url_fault, of_transaction, place_check, repeated, unknown,
};
use crate::access::{CALLER, ONE as ONE_ITEM, UPDATE_COLLECTION};
use crate::audit::now;
use crate::authorization::{Caller, SIGNED_IN};
use crate::category_use;
use crate::item::{ClosedYears, Collection, CollectionCategory};
use crate::keys::{CollectionCategoryKey, CollectionKey};
use crate::mapping::{self, MappedColumn};
use crate::names::{CategoryId, PlaceId, Role};
use crate::schema::ARCHIVE;

/// The most rows that one update adds and removes, so that it stays one transaction.
const MAX_CHANGED_ROWS: usize = 95;

/// The fields of a collection that can be updated.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CollectionPatch {
    #[schema(min_length = 1, max_length = 200, nullable = false)]
    name: Option<String>,
    #[schema(max_length = 10000, nullable = false)]
    description: Option<String>,
    /// All its categories. Each is named once. At most 95 are added or removed at once.
    #[schema(min_items = 1, max_items = 90, nullable = false)]
    category_ids: Option<Vec<CategoryId>>,
    /// `null` removes it.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^[1-9][0-9]{9}$")]
    place_id: Patch<PlaceId>,
    /// `null` removes it.
    #[serde(default)]
    #[schema(value_type = Option<Vec<MappedColumn>>, max_items = 100)]
    default_mapping: Patch<Vec<MappedColumn>>,
    #[schema(max_length = 2000, nullable = false)]
    citation_template: Option<String>,
    /// An https or http URL. `null` removes it.
    #[serde(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 500)]
    image_url_template: Patch<String>,
    /// The years that change. `null` removes all.
    #[serde(default)]
    #[schema(value_type = Option<ClosedYearsPatch>)]
    closed_years: Patch<ClosedYearsPatch>,
}

/// The closed years that change; the others stay.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClosedYearsPatch {
    #[schema(maximum = 150, nullable = false)]
    birth: Option<u8>,
    #[schema(maximum = 150, nullable = false)]
    baptism: Option<u8>,
    #[schema(maximum = 150, nullable = false)]
    marriage: Option<u8>,
    #[schema(maximum = 150, nullable = false)]
    residence: Option<u8>,
    #[schema(maximum = 150, nullable = false)]
    death: Option<u8>,
    #[schema(maximum = 150, nullable = false)]
    burial: Option<u8>,
    #[schema(maximum = 150, nullable = false)]
    other: Option<u8>,
}

impl ClosedYearsPatch {
    fn apply(self, before: ClosedYears) -> ClosedYears {
        ClosedYears {
            birth: self.birth.unwrap_or(before.birth),
            baptism: self.baptism.unwrap_or(before.baptism),
            marriage: self.marriage.unwrap_or(before.marriage),
            residence: self.residence.unwrap_or(before.residence),
            death: self.death.unwrap_or(before.death),
            burial: self.burial.unwrap_or(before.burial),
            other: self.other.unwrap_or(before.other),
        }
    }
}

impl Rules for CollectionPatch {
    fn faults(&self) -> Vec<Fault> {
        let mut faults: Vec<Fault> =
            self.name.as_deref().and_then(|name| name_fault("/name", name)).into_iter().collect();
        faults.extend(self.category_ids.as_deref().map(repeated).unwrap_or_default());
        if let Patch::Set(columns) = &self.default_mapping {
            faults.extend(mapping::faults("/defaultMapping", columns));
        }
        if let Patch::Set(template) = &self.image_url_template {
            faults.extend(image_url_fault(template));
        }
        faults
    }
}

impl CollectionPatch {
    fn apply(&self, before: &Collection) -> Collection {
        let patch = self.clone();
        let before = before.clone();
        let name = patch.name.unwrap_or(before.name);
        Collection {
            listed_by: name.clone(),
            name,
            description: patch.description.unwrap_or(before.description),
            category_ids: patch.category_ids.unwrap_or(before.category_ids),
            place_id: patch.place_id.apply(before.place_id),
            default_mapping: patch.default_mapping.apply(before.default_mapping),
            citation_template: patch.citation_template.unwrap_or(before.citation_template),
            image_url_template: patch.image_url_template.apply(before.image_url_template),
            closed_years: patch
                .closed_years
                .map(|years| years.apply(before.closed_years.unwrap_or_default()))
                .apply(before.closed_years),
            ..before
        }
    }
}

pub fn route() -> Route {
    Route::patch("updateCollection", ONE, SIGNED_IN, update)
        .summary("Update a collection; new categories replace all that it has")
        .patterns(&[&CALLER, &ONE_ITEM, &UPDATE_COLLECTION])
        .body_limit(256 * 1024)
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::UNPROCESSABLE, problem::CONFLICT])
        .sample(Sample::new(SAMPLE).body(r#"{"citationTemplate":"Parish registers of Llanfair, page {Page}"}"#))
}

async fn update(
    cx: Context,
    Path(CollectionPath { collection_id: id }): Path<CollectionPath>,
    tag: IfMatch,
    Valid(MergePatch(patch)): Valid<MergePatch<CollectionPatch>>,
) -> Result<Tagged<CollectionView>, Problem> {
    Caller::with_role(&cx, Role::Editor).await?;
    cx.retry_stale(&tag, || async {
        let stored = cx.access().table(&ONE_ITEM, &ARCHIVE).get_consistent(CollectionKey { collection: id }).await?;
        let stored = stored.ok_or_else(Problem::not_found)?;
        tag.check(stored.rev)?;
        let before: Collection = stored.read()?;
        let after = patch.apply(&before);
        if after == before {
            return Ok(Tagged::new(&before.into(), stored.rev));
        }
        let after = Collection { updated_at: now(&cx), ..after };
        let but = |these: &[CategoryId], those: &[CategoryId]| -> Vec<CategoryId> {
            these.iter().filter(|category| !those.contains(category)).copied().collect()
        };
        let enters = but(&after.category_ids, &before.category_ids);
        let leaves = but(&before.category_ids, &after.category_ids);
        if enters.len() + leaves.len() > MAX_CHANGED_ROWS {
            let detail = format!("adds and removes more than {MAX_CHANGED_ROWS} categories at once");
            return Err(Problem::unprocessable(vec![Fault::pointer("/categoryIds", detail)]));
        }
        let changes = Changes::between(&before, &after)?;
        let mut actions = vec![Action::update(&ARCHIVE, stored.key.clone(), changes).if_unchanged(&stored)];
        let counts_change = !enters.is_empty() || !leaves.is_empty();
        if counts_change {
            actions.push(category_use::counted(&enters, &leaves));
        }
        let row = |category: &CategoryId| CollectionCategoryKey { collection: id, category: *category };
        for category in &enters {
            actions.push(Action::create(
                &ARCHIVE,
                row(category),
                &CollectionCategory { collection: id, listed_by: id },
            )?);
        }
        actions.extend(leaves.iter().map(|category| Action::delete(&ARCHIVE, row(category))));
        if let Some(place) = after.place_id.filter(|place| before.place_id != Some(*place)) {
            actions.push(place_check(&cx, &UPDATE_COLLECTION, place).await?);
        }
        match cx.access().transact(&UPDATE_COLLECTION, &actions).await {
            Ok(rev) => Ok(Tagged::new(&after.into(), rev)),
            Err(error) => Err(match (error.failed(0).map(|failed| failed.cause), error.failed(1)) {
                (Some(Cause::Missing), _) => Problem::not_found(),
                (Some(_), _) => Problem::stale(),
                (None, Some(counts)) if counts_change => unknown(&after.category_ids, counts.item.as_ref()),
                (None, _) => of_transaction(error),
            }),
        }
    })
    .await
}
