//! `PATCH /tracker/tenants/{tenantId}/projects/{projectId}/attributes/{attributeId}`: no row changes.

use serde::Deserialize;
use table::{Action, Changes, item};
use utoipa::ToSchema;
use web::{Context, Fault, IfMatch, MergePatch, Path, Problem, Route, Rules, Sample, Tagged, Valid, problem};

use super::{
    AttributePath, ONE, SAMPLE, check_length, name_fault, option_fault, project_action, refusal, taken_name_fault,
};
use crate::access::{MEMBERSHIP, PROJECT, UPDATE_ATTRIBUTE};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::issues::{UNKNOWN_OPTION, WRONG_TYPE};
use crate::items::AttributeItem;
use crate::keys::AttributeKey;
use crate::names::AttributeId;
use crate::options::WantedOption;
use crate::project::{Attribute, Schema};
use crate::schema::TRACKER;
use crate::values::Type;
use crate::views::AttributeView;

/// The fields of an attribute that can be updated.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttributePatch {
    #[serde(default)]
    #[schema(nullable = false, min_length = 1, max_length = 100, pattern = "\\S")]
    name: Option<String>,
    /// The position among the columns, from 1.
    #[serde(default)]
    #[schema(nullable = false, minimum = 1, maximum = 100)]
    position: Option<usize>,
    /// All options that can be set, in their order. Other options are retired. With those, an attribute has at most 999
    /// options and 380 KB of them, and a project 4 MB.
    #[serde(default)]
    #[schema(nullable = false, max_items = 50)]
    options: Option<Vec<WantedOption>>,
}

impl Rules for AttributePatch {
    fn faults(&self) -> Vec<Fault> {
        self.name.as_deref().and_then(name_fault).into_iter().collect()
    }
}

pub fn route() -> Route {
    Route::patch("updateAttribute", ONE, SIGNED_IN, update)
        .summary(
            "Update an attribute's name, its position among the columns, or its options; the entity tag is the \
             project's",
        )
        .patterns(&[&MEMBERSHIP, &PROJECT, &UPDATE_ATTRIBUTE])
        .problems(&[
            problem::FORBIDDEN,
            problem::NOT_FOUND,
            problem::TAKEN,
            problem::CONFLICT,
            WRONG_TYPE,
            UNKNOWN_OPTION,
        ])
        .sample(Sample::new(SAMPLE).body(r#"{"name":"Items","position":1}"#))
}

async fn update(
    cx: Context,
    Path(path): Path<AttributePath>,
    tag: IfMatch,
    Valid(MergePatch(patch)): Valid<MergePatch<AttributePatch>>,
) -> Result<Tagged<AttributeView>, Problem> {
    TenantAccess::load(&cx, path.tenant_id).await?.require_admin()?;
    cx.retry_stale(&tag, || async {
        let schema = path.load_project(&cx).await?;
        tag.check(schema.stored.rev)?;
        let before = schema.column(path.attribute_id).ok_or_else(Problem::not_found)?;
        let mut after = patch.apply(&schema, before)?;
        let mut moved = Vec::new();
        if let Some(position) = patch.position {
            (after.num, moved) = placed(&schema, before, position);
        }
        if after == before.item && moved.is_empty() {
            return Ok(Tagged::new(&AttributeView::new(before), schema.stored.rev));
        }
        after.audit = before.item.audit.updated(&cx)?;
        let key = |attribute| AttributeKey { project: path.project_id, attribute };
        let changes = Changes::between(&before.item, &after)?;
        let project = tag.guard(project_action(&schema, false), &schema.stored);
        let mut actions = vec![project, Action::update(&TRACKER, key(before.id), changes)];
        let renumber = |(id, num)| Action::update(&TRACKER, key(id), Changes::new().set("Num", item::number(num)));
        actions.extend(moved.into_iter().map(renumber));
        let rev = cx.access().transact(&UPDATE_ATTRIBUTE, &actions).await.map_err(refusal)?;
        Ok(Tagged::new(&AttributeView::new(&Attribute { id: before.id, item: after }), rev))
    })
    .await
}

impl AttributePatch {
    /// The attribute with its new name and options.
    fn apply(&self, schema: &Schema, before: &Attribute) -> Result<AttributeItem, Problem> {
        let mut after = before.item.clone();
        if let Some(name) = &self.name {
            after.name.clone_from(name);
        }
        if let Some(wanted) = &self.options {
            if before.item.of != Type::Choice {
                let fault = Fault::pointer("/options", "are only for an attribute of the type `choice`");
                return Err(WRONG_TYPE.because("The attribute is of another type.").at(vec![fault]));
            }
            let unknown = wanted.iter().enumerate().filter(|(_, wanted)| !before.item.options.may_keep(wanted));
            let fault =
                |index| Fault::pointer(format!("/options/{index}/id"), "must be an id of this attribute's options");
            let faults: Vec<Fault> = unknown.map(|(index, _)| fault(index)).collect();
            if !faults.is_empty() {
                return Err(UNKNOWN_OPTION.because("`errors` lists the unknown options.").at(faults));
            }
            let options = before.item.options.replaced(wanted);
            after.options =
                options.map_err(|faults| Problem::faults(faults.into_iter().map(option_fault).collect()))?;
            check_length(schema, Some(before.id), &after.options)?;
        }
        match taken_name_fault(schema, &after.name, Some(before.id)) {
            Some(taken) => Err(Problem::taken(vec![taken])),
            None => Ok(after),
        }
    }
}

/// The least distance between the numbers of two columns.
const MIN_DISTANCE: f64 = 1e-9;

/// The number that puts a column at this position, half way between its neighbours. Where no number is left between them,
/// the columns after the position are renumbered, too.
fn placed(schema: &Schema, attribute: &Attribute, position: usize) -> (f64, Vec<(AttributeId, i64)>) {
    let others: Vec<&Attribute> = schema.columns().filter(|other| other.id != attribute.id).collect();
    let own = attribute.item.num;
    let (before, after) = others.split_at(position.saturating_sub(1).min(others.len()));
    let num = |attribute: &&Attribute| attribute.item.num;
    let (left, right) = (before.last().map(num), after.first().map(num));
    if left.is_none_or(|left| left < own) && right.is_none_or(|right| own < right) {
        return (own, Vec::new());
    }
    let between = match (left, right) {
        (None, None) => own,
        (None, Some(right)) => (right - 1.0).ceil().min(right - 1.0),
        (Some(left), None) => left.floor() + 1.0,
        (Some(left), Some(right)) => left.midpoint(right),
    };
    let apart = |low: f64, high: f64| high - low > MIN_DISTANCE;
    if left.is_none_or(|left| apart(left, between)) && right.is_none_or(|right| apart(between, right)) {
        return (between, Vec::new());
    }
    let last = schema.attributes.iter().map(|attribute| attribute.item.num).fold(0.0, f64::max).ceil();
    // It is at most a few hundred, so the conversion is exact.
    let next = last as i64 + 1;
    let moved = after.iter().zip(next + 1..).map(|(attribute, num)| (attribute.id, num)).collect();
    (next as f64, moved)
}
