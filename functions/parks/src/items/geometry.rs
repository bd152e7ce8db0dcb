//! Operations on the boundary and the path of an item, one file each.

pub mod delete;
pub mod get;
pub mod put;

use serde::Deserialize;
use table::{Cause, Key, Rev};
use utoipa::ToSchema;
use web::{Context, EntityTag, IfMatch, Problem};

use super::LoadedItem;
use crate::access::ATTACH;
use crate::audit::Audit;
use crate::cascade;
use crate::entity::OnMap;
use crate::item::StoredShape;
use crate::names::ShapeName;
use crate::shapes::{self, Uses};

/// The parameter of the path after the item's.
#[derive(Debug, Deserialize, ToSchema)]
pub struct ShapePath {
    #[schema(inline)]
    pub shape: ShapeName,
}

fn template<E: OnMap>() -> String {
    format!("{}/geometry/{{shape}}", E::ITEM)
}

/// Loads an item whose shape `If-Match` describes: by the tag of the item, or by that of its shape.
async fn load(cx: &Context, tag: &IfMatch, key: &Key, name: ShapeName) -> Result<LoadedItem, Problem> {
    let loaded = LoadedItem::load_live(cx, key.clone()).await?;
    let shape = loaded.item.shape(name).and_then(|stored| shapes::describe(&stored));
    if shape.is_none_or(|shape| tag.check(EntityTag::new(&shape.sha256)).is_err()) {
        tag.check(loaded.tag())?;
    }
    Ok(loaded)
}

/// Replaces or removes a shape of a loaded item and counts the uses of the shapes in S3.
async fn attach(
    cx: &Context,
    tag: &IfMatch,
    loaded: LoadedItem,
    name: ShapeName,
    shape: Option<&StoredShape>,
) -> Result<Rev, Problem> {
    let key = &loaded.stored.key.clone();
    let mut loaded = Some(loaded);
    cx.retry_stale(tag, || {
        let loaded = loaded.take();
        async move {
            let before = match loaded {
                Some(loaded) => loaded,
                None => load(cx, tag, key, name).await?,
            };
            let mut uses = Uses::default();
            uses.replace(before.item.shape(name).as_ref(), shape);
            let audit = Audit::now(cx);
            let mut after = before.item.clone();
            after.set_shape(name, shape.cloned());
            after.envelope = shapes::envelope(&after);
            after.complete(&audit.at);
            after.set_updated(&audit);
            let mut actions = vec![before.update_to(&after)?];
            actions.extend(uses.actions(cx.access(), &ATTACH).await?);
            cx.access().transact(&ATTACH, &actions).await.map_err(|error| {
                let is_counted = |index| error.failed(index).is_some_and(|failed| failed.cause == Cause::Stale);
                if cascade::is_stale(&error) {
                    Problem::stale()
                } else if (1..actions.len()).any(is_counted) {
                    // Another request has counted a use of the same shape.
                    Problem::lost_race()
                } else if error.failed(1).is_some() {
                    Problem::conflict()
                } else {
                    error.into()
                }
            })
        }
    })
    .await
}
