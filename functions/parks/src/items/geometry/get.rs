//! `GET` of a boundary or a path

use geometry::{Shape, zoom_tolerance};
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;
use web::{Answer, Context, EntityTag, Fault, IfNoneMatch, Path, Problem, Query, Route, problem};

use super::{ShapePath, template};
use crate::access::{ITEM, READ_SHAPE};
use crate::entity::{ItemPath, OnMap};
use crate::geojson::{self, ShapeFeature};
use crate::items::LoadedItem;
use crate::shapes::{self, GEOMETRY_UNAVAILABLE};
use crate::view::{EVERYONE, View, ViewParameter};

/// The limit of a shape in a response, in bytes: Lambda's own limit with room for the rest of the response.
const MAX_BYTES: u64 = 5 * 1024 * 1024;

/// The limit of bytes of the Feature around a shape.
const MAX_FRAME: u64 = 1024;

#[derive(Debug, Deserialize, ToSchema)]
pub struct ShapeQuery {
    /// Simplifies the shape. No position of the original is farther from it than this distance in metres.
    #[schema(minimum = 0.1, maximum = 100_000)]
    tolerance: Option<f64>,
    /// Simplifies the shape for maps at this zoom.
    #[schema(maximum = 22)]
    zoom: Option<u8>,
    /// `public` shows an administrator the visitors' view.
    view: Option<ViewParameter>,
}

pub fn route<E: OnMap>(name: &'static str) -> Route {
    Route::get(name, template::<E>(), EVERYONE, get::<E>)
        .summary("Get the boundary or the path as GeoJSON, whole or simplified")
        .patterns(&[&ITEM, &READ_SHAPE])
        .answers_as::<ShapeFeature>(200, geojson::CONTENT_TYPE)
        .answers_empty(303)
        .answers_empty(304)
        .problems(&[problem::NOT_FOUND, GEOMETRY_UNAVAILABLE])
        .sample(E::SAMPLES.get_geometry)
}

async fn get<E: OnMap>(
    cx: Context,
    Path(path): Path<ItemPath<E, ShapePath>>,
    Query(query): Query<ShapeQuery>,
    if_none_match: IfNoneMatch,
) -> Result<Answer, Problem> {
    if query.tolerance.is_some() && query.zoom.is_some() {
        return Err(Problem::faults(vec![Fault::parameter("zoom", "cannot be combined with `tolerance`")]));
    }
    let view = View::of(&cx, query.view);
    let loaded = LoadedItem::load(&cx, &ITEM, path.key(), view).await?;
    let stored = loaded.item.shape(path.below.shape).ok_or_else(Problem::not_found)?;
    let described = shapes::describe(&stored).ok_or_else(Problem::not_found)?;

    let representation = match (query.tolerance, query.zoom) {
        (Some(metres), _) => format!("{}-rounded-{metres}m", described.sha256),
        (None, Some(zoom)) => format!("{}-rounded-z{zoom}", described.sha256),
        (None, None) => described.sha256,
    };
    let tag = EntityTag::new(&representation);
    if if_none_match.has(tag.clone()) {
        return Ok(view.cached(Answer::not_modified(tag)));
    }
    let parameter = match (query.tolerance, query.zoom) {
        (Some(_), _) => Some("tolerance"),
        (None, Some(_)) => Some("zoom"),
        (None, None) => None,
    };
    if parameter.is_none() && described.bytes > MAX_BYTES - MAX_FRAME {
        let link = shapes::link(cx.access(), &loaded.item, path.below.shape, &stored).await?;
        return Ok(view.cached(Answer::see_other(link)));
    }
    let text = shapes::text(cx.access(), &stored).await?;
    let body = tokio::task::spawn_blocking(move || feature(&text, &query)).await.map_err(Problem::internal)??;
    if let Some(parameter) = parameter.filter(|_| body.len() as u64 > MAX_BYTES) {
        return Err(Problem::faults(vec![Fault::parameter(parameter, "is too fine: the shape has more than 5 MiB")]));
    }
    Ok(view.cached(Answer::bytes(StatusCode::OK, geojson::CONTENT_TYPE, body).etag(tag)))
}

/// The shape as a Feature, simplified as the query says.
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
    let properties = properties.to_string();
    let bbox = json!(bbox).to_string();
    // The canonical text is inserted as it is: to parse it again would only take time.
    let geometry = shape.canonical();
    Ok(format!(r#"{{"bbox":{bbox},"properties":{properties},"type":"Feature","geometry":{geometry}}}"#).into_bytes())
}
