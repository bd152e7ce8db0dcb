//! The system for tests: crates on shelves, and labels.

use std::sync::Arc;

use ::mirror::{Document, Found, Image, Mapping, NoShapes, Unfit};
use local::Served;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use table::access::{AccessPattern, Call, OnTable};
use table::schema::{Entity, EventSource, System, Table};
use table::{Access, Action, Changes, Engines, EntityKey, Error, Escaped, Key, Number};
use utoipa::ToSchema;
use web::{App, Context, Created, Either, Json, NoContent, Path, Problem, Query, Route, Sample, Who};

table::key! {
    pub struct CrateKey { room: Escaped, shelf: Number, number: Number }
    pk "SHELF#{room}#{shelf}"
    sk "CRATE#{number}"
}

table::key! {
    pub struct CountKey { room: Escaped }
    pk "COUNT#{room}"
    sk "COUNT"
}

table::key! {
    pub struct LabelKey { name: Escaped }
    pk "LABEL#{name}"
}

static CRATES: Table = Table {
    name: "depot-Crates",
    pk: "PK",
    sk: Some("SK"),
    indexes: &[],
    entities: &[Entity::document::<CrateKey>("crate"), Entity::never::<CountKey>("count")],
    stream: true,
};

static LABELS: Table = Table {
    name: "depot-Labels",
    pk: "PK",
    sk: None,
    indexes: &[],
    entities: &[Entity::document::<LabelKey>("label")],
    stream: true,
};

static STATE: Table = ::mirror::schema::state_table("depot-mirror");

pub static SYSTEM: System = System {
    name: "depot",
    tables: &[&CRATES, &LABELS, &STATE],
    buckets: &[table::schema::Bucket { name: "depot", expiring: &[("quarantine/", 90)] }],
    secrets: &[],
    sources: &[EventSource::Streams { handler: "mirror", filtered: false }],
};

const ON_CRATES: OnTable = OnTable("depot-Crates");
const ON_LABELS: OnTable = OnTable("depot-Labels");

const ITEMS: AccessPattern = AccessPattern::new(
    "items",
    &[
        ON_CRATES.get(),
        ON_CRATES.put(),
        ON_CRATES.update(),
        ON_CRATES.delete(),
        ON_LABELS.get(),
        ON_LABELS.put(),
        ON_LABELS.update(),
        ON_LABELS.delete(),
    ],
);

const SEARCH: AccessPattern = AccessPattern { name: "search", calls: &[Call::Search { alias: "depot" }] };

pub fn served() -> Served {
    Served::of::<Depot>(&SYSTEM, app)
}

fn app(engines: Arc<Engines>) -> App {
    let handlers = vec![::mirror::handler::<Depot>()];
    App::new(engines, &SYSTEM, routes(), handlers)
}

fn routes() -> Vec<Route> {
    const CRATE: &str = "/depot/crates/{room}/{shelf}/{number}";
    const LABEL: &str = "/depot/labels/{name}";
    vec![
        Route::put("putCrate", CRATE, Who::Public, put::<CratePath>)
            .patterns(&[&ITEMS])
            .sample(Sample::new("/depot/crates/east/3/12")),
        Route::get("getCrate", CRATE, Who::Public, get::<CratePath>)
            .patterns(&[&ITEMS])
            .sample(Sample::new("/depot/crates/east/3/12")),
        Route::delete("deleteCrate", CRATE, Who::Public, delete::<CratePath>)
            .patterns(&[&ITEMS])
            .sample(Sample::new("/depot/crates/east/3/12")),
        Route::put("putLabel", LABEL, Who::Public, put::<LabelPath>)
            .patterns(&[&ITEMS])
            .sample(Sample::new("/depot/labels/copper")),
        Route::delete("deleteLabel", LABEL, Who::Public, delete::<LabelPath>)
            .patterns(&[&ITEMS])
            .sample(Sample::new("/depot/labels/copper")),
        Route::get("search", "/depot/search", Who::Public, search)
            .patterns(&[&SEARCH])
            .sample(Sample::new("/depot/search?q=copper")),
    ]
}

#[derive(Deserialize, ToSchema)]
struct CratePath {
    room: String,
    shelf: u64,
    number: u64,
}

#[derive(Deserialize, ToSchema)]
struct LabelPath {
    name: String,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
struct Goods {
    content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weight: Option<f64>,
}

#[derive(Deserialize, ToSchema)]
struct Words {
    q: String,
}

/// Returns the path of an item.
trait Place: for<'de> Deserialize<'de> + ToSchema + Send + 'static {
    fn table() -> &'static Table;
    fn key(self) -> Option<Key>;
}

impl Place for CratePath {
    fn table() -> &'static Table {
        &CRATES
    }

    fn key(self) -> Option<Key> {
        let room = Escaped::new(&self.room).ok()?;
        Some(CrateKey { room, shelf: Number(self.shelf), number: Number(self.number) }.key())
    }
}

impl Place for LabelPath {
    fn table() -> &'static Table {
        &LABELS
    }

    fn key(self) -> Option<Key> {
        Some(LabelKey { name: Escaped::new(&self.name).ok()? }.key())
    }
}

async fn put<P: Place>(
    cx: Context,
    Path(path): Path<P>,
    Json(goods): Json<Goods>,
) -> Result<Either<Json<Value>, Created<Value>>, Problem> {
    let key = path.key().ok_or_else(Problem::not_found)?;
    let answer = json!({ "pk": key.pk, "sk": key.sk });
    let read = cx.access().table(&ITEMS, P::table()).get_consistent(key.clone()).await?;
    let Some(stored) = read else {
        let rev = cx.access().write(&ITEMS, Action::create(P::table(), key, &goods)?).await?;
        return Ok(Either::Second(Created::new(cx.raw_path(), rev, &answer)));
    };
    let changes = Changes::new().set("content", table::item::text(goods.content));
    let change = Action::update(P::table(), key, changes).if_unchanged(&stored);
    cx.access().write(&ITEMS, change).await?;
    Ok(Either::First(Json(answer)))
}

async fn get<P: Place>(cx: Context, Path(path): Path<P>) -> Result<Json<Value>, Problem> {
    let key = path.key().ok_or_else(Problem::not_found)?;
    let stored = cx.access().table(&ITEMS, P::table()).get_consistent(key).await?.ok_or_else(Problem::not_found)?;
    Ok(Json(json!(stored.read::<Goods>()?)))
}

async fn delete<P: Place>(cx: Context, Path(path): Path<P>) -> Result<NoContent, Problem> {
    let key = path.key().ok_or_else(Problem::not_found)?;
    match cx.access().write(&ITEMS, Action::delete(P::table(), key)).await {
        Ok(_) => Ok(NoContent),
        Err(Error::NotFound) => Err(Problem::not_found()),
        Err(error) => Err(error.into()),
    }
}

async fn search(cx: Context, Query(Words { q }): Query<Words>) -> Result<Json<Value>, Problem> {
    let asked = json!({ "query": { "match": { "content": q } }, "sort": ["pk", { "sk": { "missing": "_first" } }] });
    let found: Value = cx.access().search(&SEARCH, "depot", &asked).await?;
    let hits = found["hits"]["hits"].as_array().cloned().unwrap_or_default();
    let ids: Vec<Value> = hits.iter().map(|hit| hit["_id"].clone()).collect();
    Ok(Json(json!({ "ids": ids })))
}

#[derive(Default)]
struct Depot;

impl ::mirror::Mirrored for Depot {
    type Shapes = NoShapes;

    const PATTERNS: &'static [&'static AccessPattern] = &[];

    fn shapes(_: Access) -> NoShapes {
        NoShapes
    }
}

impl ::mirror::Documents for Depot {
    fn tables(&self) -> &'static System {
        &SYSTEM
    }

    fn mapping(&self) -> Mapping {
        const BODY: &str =
            r#"{"settings":{},"mappings":{"properties":{"content":{"type":"text"},"weight":{"type":"double"}}}}"#;
        Mapping { version: 1, body: BODY }
    }

    /// Hides empty crates from search.
    fn document(&self, _: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit> {
        let content = image.text("content")?;
        if content.is_empty() {
            return Ok(Found::Hidden);
        }
        let mut document = Document::new();
        document.text("content", &*content).number("weight", image.optional_number("weight")?);
        Ok(Found::Document(document))
    }
}
