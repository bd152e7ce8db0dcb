//! `PUT`, `GET` and `DELETE` of an item's boundary or path.

use geometry::{Limits, Shape, zoom_tolerance};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;
use table::{Action, Backoff, Cause, Key, Rev};
use utoipa::ToSchema;
use web::{Answer, EntityTag, Fault, Problem, Request};

use super::{Read, again, lost, read, stamp};
use crate::access;
use crate::entity::{ItemPath, OnMap};
use crate::geojson::{self, GeoJson};
use crate::item::StoredShape;
use crate::names::ShapeName;
use crate::schema::PARKS;
use crate::shapes::{self, Uses};
use crate::uploads;
use crate::view::{AskedView, ShapeView, View};

/// The most bytes of a shape in an answer: Lambda's limit less room for what is round it.
const ANSWER: u64 = 5 * 1024 * 1024;

/// A body that attaches a shape: a GeoJSON document, or an upload that is ready.
#[derive(Debug, ToSchema)]
#[serde(untagged)]
pub enum NewShape {
    Document(GeoJson),
    Upload(FromUpload),
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FromUpload {
    #[schema(format = "uuid")]
    pub upload_id: String,
}

/// What became of the shape that was sent.
#[derive(Debug, Serialize, ToSchema)]
pub struct Attached {
    pub reference: ShapeView,
    /// What was mended on the way, such as `winding` or `cut`.
    pub repairs: Vec<String>,
}

/// The path's last parameter.
#[derive(Debug, Deserialize, ToSchema)]
pub struct OfShape {
    #[schema(inline)]
    pub shape: ShapeName,
}

#[derive(Debug, Deserialize, ToSchema)]
pub struct ShapeQuery {
    /// Simplified: no position of the whole shape is farther off than so many metres.
    #[serde(default)]
    #[schema(minimum = 0.1, maximum = 100_000, nullable = false)]
    pub tolerance: Option<f64>,
    /// Simplified for maps at this zoom.
    #[serde(default)]
    #[schema(maximum = 22, nullable = false)]
    pub zoom: Option<u8>,
    /// `public` shows an administrator what visitors see.
    #[serde(default)]
    #[schema(nullable = false)]
    pub view: Option<AskedView>,
}

pub async fn put<E: OnMap>(request: Request) -> Result<Answer, Problem> {
    let (key, name) = shape_of::<E>(&request)?;
    let key = key.ok_or_else(Problem::not_found)?;
    let before = live(&request, &key).await?;
    let (stored, repairs) = match serde_json::from_slice::<FromUpload>(request.bytes()) {
        Ok(FromUpload { upload_id }) => uploads::ready(&request, &upload_id, name).await?,
        Err(_) => {
            let (shape, repairs) = sent(&request, name).await?;
            (shapes::store(request.access(), shape).await?, repairs)
        }
    };
    let reference = shapes::describe(&stored).ok_or_else(|| Problem::internal("a shape of ours does not parse"))?;
    let rev = attach(&request, before, name, Some(stored)).await?;
    Ok(View::Administrator.cached(Answer::ok(&Attached { reference, repairs }).etag(rev)))
}

pub async fn delete<E: OnMap>(request: Request) -> Result<Answer, Problem> {
    let (key, name) = shape_of::<E>(&request)?;
    let before = live(&request, &key.ok_or_else(Problem::not_found)?).await?;
    if before.item.shape(name).is_none() {
        return Err(Problem::not_found());
    }
    attach(&request, before, name, None).await?;
    Ok(Answer::no_content())
}

pub async fn get<E: OnMap>(request: Request) -> Result<Answer, Problem> {
    let (key, name) = shape_of::<E>(&request)?;
    let query: ShapeQuery = request.query()?;
    if query.tolerance.is_some() && query.zoom.is_some() {
        return Err(Problem::faults(vec![Fault::parameter("zoom", "cannot be asked for together with `tolerance`")]));
    }
    let view = View::of(&request, query.view);
    let read = read(&request, &access::ITEM, key, view).await?;
    let stored = read.item.shape(name).ok_or_else(Problem::not_found)?;
    let described = shapes::describe(&stored).ok_or_else(Problem::not_found)?;
    let (by_zoom, whole) = (query.zoom.is_some(), query.tolerance.is_none() && query.zoom.is_none());

    let form = match (query.tolerance, query.zoom) {
        (Some(metres), _) => format!("{}-{metres}m", described.sha256),
        (_, Some(zoom)) => format!("{}-z{zoom}", described.sha256),
        _ => described.sha256.clone(),
    };
    let tag = EntityTag::new(&form);
    if request.if_none_match().has(tag.clone()) {
        return Ok(view.cached(Answer::not_modified(tag)));
    }
    if whole && described.bytes > ANSWER {
        let link = shapes::link(request.access(), &read.item, name, &stored).await?;
        return Ok(view.cached(Answer::see_other(link)));
    }
    let text = shapes::text(request.access(), &stored).await?;
    let body = tokio::task::spawn_blocking(move || feature(&text, &query)).await.map_err(Problem::internal)??;
    if body.len() as u64 > ANSWER {
        let asked = if by_zoom { "zoom" } else { "tolerance" };
        return Err(Problem::faults(vec![Fault::parameter(asked, "is too fine: what it gives has more than 5 MiB")]));
    }
    Ok(view.cached(Answer::bytes(StatusCode::OK, geojson::CONTENT_TYPE, body).etag(tag)))
}

/// The item's key, and which of its shapes the path names.
fn shape_of<E: OnMap>(request: &Request) -> Result<(Option<Key>, ShapeName), Problem> {
    let path: ItemPath<E, OfShape> = request.path()?;
    Ok((E::key(&path.parts).map(|key| key.key()), path.below.shape))
}

/// The item, for as long as it is not deleted.
async fn live(request: &Request, key: &Key) -> Result<Read, Problem> {
    let read = read(request, &access::ITEM, Some(key.clone()), View::Administrator).await?;
    if read.item.deleted() {
        return Err(Problem::not_found());
    }
    request.if_match().check(read.tag())?;
    Ok(read)
}

/// A document in the request's own body.
async fn sent(request: &Request, name: ShapeName) -> Result<(Shape, Vec<String>), Problem> {
    match shapes::check(request.bytes().to_vec(), shapes::kind(name), Limits::BODY).await? {
        Ok(checked) => Ok((checked.shape, checked.repairs.iter().map(ToString::to_string).collect())),
        Err(refused) if refused.too_large => {
            let largest = refused.faults.last().map_or_else(String::new, |fault| fault.detail.clone());
            Err(Problem::too_large(largest))
        }
        Err(refused) => {
            let more = refused.count > refused.faults.len();
            let faults = refused.faults.into_iter().map(|fault| Fault::pointer(fault.pointer, fault.detail));
            let problem = Problem::faults(faults.collect());
            Err(if more { problem.with("errorCount", refused.count) } else { problem })
        }
    }
}

/// Puts the shape in the place of the one before, and counts the uses of both.
async fn attach(
    request: &Request,
    mut before: Read,
    name: ShapeName,
    shape: Option<StoredShape>,
) -> Result<Rev, Problem> {
    let mut backoff = Backoff::new();
    loop {
        let mut after = before.item.clone();
        let mut uses = Uses::default();
        uses.replace(before.item.shape(name).as_ref(), shape.as_ref());
        let (now, who) = stamp(request);
        after.set_shape(name, shape.clone());
        after.envelope = shapes::envelope(&after);
        after.complete(&now);
        (after.updated_at, after.updated_by) = (Some(now), who);

        let change = Action::update(&PARKS, before.stored.key.clone(), after.changes_of(&before.stored)?);
        let mut actions = vec![change.if_unchanged(&before.stored)];
        actions.extend(uses.actions(request.access(), &access::ATTACH).await?);
        match request.access().transact(&access::ATTACH, &actions).await {
            Ok(rev) => return Ok(rev),
            Err(error) if lost(&error) => {
                again(request)?;
                if !backoff.wait().await {
                    return Err(Problem::conflict());
                }
                before = live(request, &before.stored.key).await?;
            }
            // Another has changed a count since it was read.
            Err(error) if (1..actions.len()).any(|index| counted_elsewhere(&error, index)) && backoff.wait().await => {}
            Err(error) if error.failed(1).is_some() => return Err(Problem::conflict()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn counted_elsewhere(error: &table::Error, index: usize) -> bool {
    error.failed(index).is_some_and(|failed| failed.cause == Cause::Stale)
}

/// The shape as a Feature, simplified where the query asks for it.
fn feature(text: &str, query: &ShapeQuery) -> Result<Vec<u8>, Problem> {
    let whole = Shape::parse_canonical(text).map_err(Problem::internal)?;
    let envelope = whole.envelope();
    let tolerance = query.tolerance.or_else(|| query.zoom.map(|zoom| zoom_tolerance(zoom, envelope.middle_latitude())));
    let (shape, properties) = match tolerance {
        None => (whole, json!({})),
        Some(metres) => {
            let simplified = whole.simplify(metres);
            (simplified.shape, json!({ "tolerance": simplified.tolerance }))
        }
    };
    let bbox: [f64; 4] = envelope.into();
    let head = json!({ "type": "Feature", "bbox": bbox, "properties": properties }).to_string();
    // The canonical text goes in as it is: parsing it once more would only cost time.
    let head = head.strip_suffix('}').unwrap_or_default();
    Ok(format!("{head},\"geometry\":{}}}", shape.canonical()).into_bytes())
}
