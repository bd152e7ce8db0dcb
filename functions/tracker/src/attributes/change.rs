//! `PATCH` of an attribute: its name, its place, its options. No row changes.

use serde::Deserialize;
use table::{Action, Backoff, Changes, Error, item};
use utoipa::ToSchema;
use web::{Answer, Fault, Problem, Request};

use super::create::option_fault;
use super::{AttributePath, name_faults, name_taken, project_action};
use crate::access::CHANGE_ATTRIBUTE;
use crate::callers::at_least;
use crate::issues::{UNKNOWN_OPTION, WRONG_TYPE};
use crate::items::{AttributeItem, Role};
use crate::keys::AttributeKey;
use crate::names::AttributeId;
use crate::options::WantedOption;
use crate::project::{Attribute, Read, Schema};
use crate::projects;
use crate::schema::TRACKER;
use crate::tenants::changed_now;
use crate::values::Type;
use crate::views::AttributeView;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttributeChange {
    #[serde(default)]
    #[schema(nullable = false, min_length = 1, max_length = 100, pattern = "\\S")]
    name: Option<String>,
    /// Its place among the columns, from 1 on.
    #[serde(default)]
    #[schema(nullable = false, minimum = 1, maximum = 100)]
    position: Option<usize>,
    /// All that can be set, in their order; those left out are retired.
    #[serde(default)]
    #[schema(nullable = false, max_items = 50)]
    options: Option<Vec<WantedOption>>,
}

pub async fn change(request: Request) -> Result<Answer, Problem> {
    let AttributePath { tenant_id, project_id, attribute_id } = request.path()?;
    at_least(&request, tenant_id, Role::Admin).await?;
    let change: AttributeChange = request.json()?;
    let mut backoff = Backoff::new();
    loop {
        let schema = projects::read(&request, tenant_id, project_id, Read::Strong).await?;
        let before = schema.column(attribute_id).ok_or_else(Problem::not_found)?;
        let mut after = apply(&schema, before, &change)?;
        let mut others = Vec::new();
        if let Some(position) = change.position {
            (after.num, others) = placed(&schema, attribute_id, position);
        }
        if after == before.item && others.is_empty() {
            return Ok(Answer::ok(&AttributeView::new(before)));
        }
        after.stamps = changed_now(&request, &before.item.stamps)?;
        let key = |attribute| AttributeKey { project: project_id, attribute };
        let changes = Changes::between(&before.item, &after)?;
        let mut actions = vec![project_action(&schema, false), Action::update(&TRACKER, key(attribute_id), changes)];
        actions.extend(
            others
                .into_iter()
                .map(|(id, num)| Action::update(&TRACKER, key(id), Changes::new().set("Num", item::number(num)))),
        );
        match request.access().transact(&CHANGE_ATTRIBUTE, &actions).await {
            Ok(_) => return Ok(Answer::ok(&AttributeView::new(&Attribute { id: attribute_id, item: after }))),
            Err(Error::ConditionFailed(_)) if backoff.wait().await => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn apply(schema: &Schema, before: &Attribute, change: &AttributeChange) -> Result<AttributeItem, Problem> {
    let mut after = before.item.clone();
    let mut faults: Vec<Fault> = Vec::new();
    if let Some(name) = &change.name {
        faults.extend(name_faults(name));
        after.name.clone_from(name);
    }
    match &change.options {
        Some(_) if before.item.of != Type::Choice => {
            let fault = Fault::pointer("/options", "are for an attribute of the type `choice` only");
            return Err(WRONG_TYPE.because("The attribute is of another type.").at(vec![fault]));
        }
        Some(wanted) if wanted.iter().any(|wanted| !before.item.options.may_keep(wanted)) => {
            let unknown = wanted.iter().enumerate().filter(|(_, wanted)| !before.item.options.may_keep(wanted));
            let fault =
                |place| Fault::pointer(format!("/options/{place}/id"), "must be an id of this attribute's options");
            let faults = unknown.map(|(place, _)| fault(place)).collect();
            return Err(UNKNOWN_OPTION.because("`errors` tells which.").at(faults));
        }
        Some(wanted) => match before.item.options.replaced(wanted) {
            Ok(options) => after.options = options,
            Err(wrong) => faults.extend(wrong.into_iter().map(option_fault)),
        },
        None => {}
    }
    if !faults.is_empty() {
        return Err(Problem::faults(faults));
    }
    match name_taken(schema, &after.name, Some(before.id)) {
        Some(taken) => Err(Problem::taken(vec![taken])),
        None => Ok(after),
    }
}

/// Nearer than this no number is found between two columns.
const NEAREST: f64 = 1e-9;

/// The number that puts a column at this place, half way between its neighbours; where no number is left between them,
/// those behind the place move on, too.
fn placed(schema: &Schema, id: AttributeId, position: usize) -> (f64, Vec<(AttributeId, i64)>) {
    let others: Vec<&Attribute> = schema.columns().filter(|other| other.id != id).collect();
    let own = schema.column(id).map_or(0.0, |own| own.item.num);
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
    let apart = |low: f64, high: f64| high - low > NEAREST;
    if left.is_none_or(|left| apart(left, between)) && right.is_none_or(|right| apart(between, right)) {
        return (between, Vec::new());
    }
    let last = schema.attributes.iter().map(|attribute| attribute.item.num).fold(0.0, f64::max).ceil();
    // At most a few hundred, and so exactly a whole number.
    let next = last as i64 + 1;
    let moved = after.iter().zip(next + 1..).map(|(attribute, num)| (attribute.id, num)).collect();
    (next as f64, moved)
}
