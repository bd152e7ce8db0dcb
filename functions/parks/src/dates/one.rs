//! `GET`, `PATCH` and `DELETE` of one date.

use serde::Deserialize;
use table::{AccessPattern, Action, Backoff, EntityKey, Error, Rev};
use utoipa::ToSchema;
use web::{Answer, EntityTag, Problem, Request};

use super::season::Season;
use super::{ProductDate, ProductDateFields, ReadDate, key};
use crate::access;
use crate::change::Change;
use crate::days::Day;
use crate::entity::{ItemPath, Product};
use crate::items::{self, again};
use crate::keys::{ProductDateKey, ProductKey};
use crate::schema::PARKS;
use crate::view::{AskedView, View};

/// The path's last parameter.
#[derive(Debug, Deserialize, ToSchema)]
pub struct OfDate {
    pub date: Day,
}

#[derive(Debug, Deserialize, ToSchema)]
pub struct DateQuery {
    /// `public` shows an administrator what visitors see.
    #[serde(default)]
    #[schema(nullable = false)]
    pub view: Option<AskedView>,
}

pub async fn get(request: Request) -> Result<Answer, Problem> {
    let (product, key) = named(&request)?;
    let query: DateQuery = request.query()?;
    let view = View::of(&request, query.view);
    let read = items::read(&request, &access::ITEM, Some(product.key()), view).await?;
    if read.item.deleted() {
        return Err(Problem::not_found());
    }
    let date = read_date(&request, &key, view).await?;
    let tag = view.tag(date.tag());
    if request.if_none_match().has(tag.clone()) {
        return Ok(view.cached(Answer::not_modified(tag)));
    }
    Ok(view.cached(Answer::ok(&date.view(view)).etag(tag)))
}

pub async fn change_one(request: Request) -> Result<Answer, Problem> {
    let (product, key) = named(&request)?;
    let change: Change<ProductDateFields> = request.json()?;
    let mut backoff = Backoff::new();
    loop {
        let season = Season::read(&request, &product).await?;
        let read = read_date(&request, &key, View::Administrator).await?;
        request.if_match().check(read.tag())?;
        let after = change.apply(&read.date).map_err(Problem::internal)?;
        if after == read.date {
            return Ok(answer(&read));
        }
        let update = Action::update(&PARKS, read.stored.key.clone(), read.changes_to(&after)?);
        let update = update.if_unchanged(&read.stored);
        if let Some(rev) = write(&request, &access::CHANGE_DATE, season, &read, update, Some(&after)).await? {
            let stored = table::Stored { rev: Some(rev), ..read.stored };
            return Ok(answer(&ReadDate { stored, date: after, ..read }));
        }
        if !backoff.wait().await {
            return Err(Problem::conflict());
        }
    }
}

pub async fn delete_one(request: Request) -> Result<Answer, Problem> {
    let (product, key) = named(&request)?;
    let mut backoff = Backoff::new();
    loop {
        let season = Season::read(&request, &product).await?;
        let read = read_date(&request, &key, View::Administrator).await?;
        request.if_match().check(read.tag())?;
        let delete = Action::delete(&PARKS, read.stored.key.clone()).if_unchanged(&read.stored);
        if write(&request, &access::DELETE_DATE, season, &read, delete, None).await?.is_some() {
            return Ok(Answer::no_content());
        }
        if !backoff.wait().await {
            return Err(Problem::conflict());
        }
    }
}

/// The keys of the product and of the date that the path names.
fn named(request: &Request) -> Result<(ProductKey, ProductDateKey), Problem> {
    let path: ItemPath<Product, OfDate> = request.path()?;
    let product = Product::at(&path.parts).ok_or_else(Problem::not_found)?;
    let key = key(&product, path.below.date);
    Ok((product, key))
}

async fn read_date(request: &Request, key: &ProductDateKey, view: View) -> Result<ReadDate, Problem> {
    let dates = request.access().table(&access::DATE, &PARKS);
    let stored = match view {
        View::Visitor => dates.get(key).await?,
        View::Administrator => dates.get_consistent(key).await?,
    };
    stored.map(ReadDate::new).transpose()?.flatten().ok_or_else(Problem::not_found)
}

/// Writes one date, and its product where a day opens or closes. None if another came before: then all is read anew.
async fn write(
    request: &Request,
    pattern: &'static AccessPattern,
    mut season: Season,
    read: &ReadDate,
    action: Action,
    after: Option<&ProductDate>,
) -> Result<Option<Rev>, Problem> {
    season.note(read.day, after);
    let product = if season.differs() { Some(season.keep()?) } else { None };
    let actions: Vec<Action> = [Some(action), product].into_iter().flatten().collect();
    match request.access().transact(pattern, &actions).await {
        Ok(rev) => Ok(Some(rev)),
        Err(error) if error.failed(0).is_some() => again(request).map(|()| None),
        // The product alone is another's: the date is still as the client knows it.
        Err(Error::ConditionFailed(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl ReadDate {
    fn tag(&self) -> EntityTag {
        self.stored.rev.into()
    }
}

fn answer(read: &ReadDate) -> Answer {
    let view = View::Administrator;
    view.cached(Answer::ok(&read.view(view)).etag(read.tag()))
}
