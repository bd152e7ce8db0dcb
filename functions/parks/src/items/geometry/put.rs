//! `PUT` of a boundary or a path

use geometry::{Limits, Shape};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use web::{Context, IfMatch, Path, Problem, Route, Tagged, problem};

use super::{ShapePath, attach, load, template};
use crate::access::{ATTACH, ITEM, READ_SHAPE, STORE_SHAPE};
use crate::entity::{ItemPath, OnMap};
use crate::geojson::GeoJson;
use crate::names::ShapeName;
use crate::shapes::{self, GEOMETRY_UNAVAILABLE, MAX_BODY, ShapeFaults};
use crate::uploads::{self, NOT_READY};
use crate::view::{ADMINISTRATORS, ShapeView, View};

const CONTENT_TYPES: &[&str] = &["application/geo+json", "application/json"];

/// A shape: a GeoJSON document, or an upload that is ready.
#[derive(Debug, ToSchema)]
#[serde(untagged)]
pub enum NewShape {
    Document(GeoJson),
    Upload(UploadReference),
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UploadReference {
    #[schema(format = "uuid")]
    upload_id: String,
}

/// The attached shape.
#[derive(Debug, Serialize, ToSchema)]
pub struct Attached {
    reference: ShapeView,
    /// The repairs of the document, such as `winding` or `cut`.
    repairs: Vec<String>,
}

pub fn route<E: OnMap>(name: &'static str) -> Route {
    Route::put(name, template::<E>(), ADMINISTRATORS, put::<E>)
        .summary("Set the boundary or the path by a GeoJSON document or an upload that is ready")
        .patterns(&[&ITEM, &STORE_SHAPE, &READ_SHAPE, &ATTACH])
        .takes_bytes::<NewShape>(CONTENT_TYPES)
        .body_limit(MAX_BODY)
        .problems(&[problem::NOT_FOUND, problem::UNPROCESSABLE, NOT_READY, GEOMETRY_UNAVAILABLE, problem::CONFLICT])
        .sample(E::SAMPLES.put_geometry)
}

async fn put<E: OnMap>(
    cx: Context,
    Path(path): Path<ItemPath<E, ShapePath>>,
    tag: IfMatch,
) -> Result<Tagged<Attached>, Problem> {
    let (key, name) = (path.key(), path.below.shape);
    let before = load(&cx, &tag, &key, name).await?;
    let (stored, repairs) = match serde_json::from_slice::<UploadReference>(cx.bytes()) {
        Ok(UploadReference { upload_id }) => uploads::ready(&cx, &upload_id, name).await?,
        Err(_) => {
            let (shape, repairs) = check_body(&cx, name).await?;
            (shapes::store(cx.access(), shape).await?, repairs)
        }
    };
    let reference = shapes::describe(&stored).ok_or_else(|| Problem::internal("a stored shape does not parse"))?;
    let rev = attach(&cx, &tag, before, name, Some(&stored)).await?;
    Ok(Tagged::new(&Attached { reference, repairs }, rev).map(|answer| View::Administrator.cached(answer)))
}

/// Checks the document in the body.
async fn check_body(cx: &Context, name: ShapeName) -> Result<(Shape, Vec<String>), Problem> {
    match shapes::check(cx.bytes().to_vec(), shapes::kind(name), Limits::BODY).await? {
        Ok(checked) => Ok((checked.shape, checked.repairs.iter().map(ToString::to_string).collect())),
        Err(refused) => {
            let mut faults = ShapeFaults::default();
            faults.add("", refused)?;
            Err(faults.problem())
        }
    }
}
