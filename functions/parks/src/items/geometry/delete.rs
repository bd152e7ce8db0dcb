//! `DELETE` of a boundary or a path

use web::{Context, IfMatch, NoContent, Path, Problem, Route, problem};

use super::{ShapePath, attach, load, template};
use crate::access::{ATTACH, ITEM};
use crate::entity::{ItemPath, OnMap};
use crate::view::ADMINISTRATORS;

pub fn route<E: OnMap>(name: &'static str) -> Route {
    Route::delete(name, template::<E>(), ADMINISTRATORS, delete::<E>)
        .summary("Delete the boundary or the path")
        .patterns(&[&ITEM, &ATTACH])
        .problems(&[problem::NOT_FOUND, problem::CONFLICT])
        .sample(E::SAMPLES.geometry)
}

async fn delete<E: OnMap>(
    cx: Context,
    Path(path): Path<ItemPath<E, ShapePath>>,
    tag: IfMatch,
) -> Result<NoContent, Problem> {
    let (key, name) = (path.key(), path.below.shape);
    let before = load(&cx, &tag, &key, name).await?;
    if before.item.shape(name).is_none() {
        return Err(Problem::not_found());
    }
    attach(&cx, &tag, before, name, None).await?;
    Ok(NoContent)
}
