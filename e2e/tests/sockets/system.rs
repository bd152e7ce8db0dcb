//! The system for tests: ships, and visitors who watch them over a socket.

use std::sync::Arc;
use std::time::Duration;

use ::mirror::{Document, Found, Image, Mapping, NoShapes, Unfit};
use bytes::Bytes;
use http::StatusCode;
use local::Served;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use table::access::{AccessPattern, OnSocket, OnTable};
use table::schema::{Entity, EventSource, System, Table};
use table::{Access, Action, Changes, Engines, Error, Escaped, item};
use utoipa::ToSchema;
use web::{
    App, Context, Event, EventFailure, EventHandler, Json, NoContent, Path, Problem, Route, Sample, SocketEvent, Who,
    socket,
};

table::key! {
    pub struct ShipKey { name: Escaped }
    pk "SHIP#{name}"
}

table::key! {
    pub struct VisitorKey { connection: Escaped }
    pk "VISITOR#{connection}"
}

table::key! {
    pub struct SeenKey { of: Escaped }
    pk "SEEN#{of}"
}

static SHIPS: Table = table("harbour-Ships", &[Entity::document::<ShipKey>("ship")], true);

/// A table with a stream that is not mirrored, since none of its items has a document.
static VISITORS: Table = table("harbour-Visitors", &[Entity::never::<VisitorKey>("visitor")], true);

/// The number of records that the second reader has handled, by their keys.
static SEEN: Table = table("harbour-Seen", &[Entity::never::<SeenKey>("seen")], false);

static STATE: Table = ::mirror::schema::state_table("harbour-mirror");

const fn table(name: &'static str, entities: &'static [Entity], stream: bool) -> Table {
    Table { name, pk: "PK", sk: None, indexes: &[], entities, stream }
}

pub static SYSTEM: System = System {
    name: "harbour",
    tables: &[&SHIPS, &VISITORS, &SEEN, &STATE],
    buckets: &[],
    secrets: &[],
    sources: &[
        EventSource::Streams { handler: "mirror", filtered: false },
        EventSource::Records { handler: "count", filtered: false },
        EventSource::Socket { connect: "connect", disconnect: "disconnect", receive: "receive" },
    ],
};

const ON_SHIPS: OnTable = OnTable("harbour-Ships");
const ON_VISITORS: OnTable = OnTable("harbour-Visitors");
const ON_SEEN: OnTable = OnTable("harbour-Seen");

const WRITE_SHIP: AccessPattern = AccessPattern::new("writeShip", &[ON_SHIPS.put(), ON_SHIPS.update()]);
const VISITOR: AccessPattern = AccessPattern::new("visitor", &[ON_VISITORS.get()]);
const ARRIVE: AccessPattern = AccessPattern::new("arrive", &[ON_VISITORS.put()]);
const LEAVE: AccessPattern = AccessPattern::new("leave", &[ON_VISITORS.update()]);
const POST: AccessPattern = AccessPattern::new("post", &[OnSocket.post()]);
const CLOSE: AccessPattern = AccessPattern::new("close", &[OnSocket.close()]);
const COUNT: AccessPattern = AccessPattern::new("count", &[ON_SEEN.update()]);
const COUNTED: AccessPattern = AccessPattern::new("counted", &[ON_SEEN.get()]);

/// The content of a ship whose records the second reader cannot handle.
pub const UNREADABLE: &str = "unreadable";

pub fn served() -> Served {
    Served::of::<Harbour>(&SYSTEM, app)
}

fn app(engines: Arc<Engines>) -> App {
    let handlers = vec![
        ::mirror::handler::<Harbour>(),
        EventHandler::new("count", count).patterns(&[&COUNT]),
        EventHandler::new("connect", connect).patterns(&[&ARRIVE, &POST]),
        EventHandler::new("disconnect", disconnect).patterns(&[&LEAVE]),
        EventHandler::new("receive", receive).patterns(&[&POST]),
    ];
    App::new(engines, &SYSTEM, routes(), handlers)
}

fn routes() -> Vec<Route> {
    const CONNECTION: &str = "/harbour/visitors/{connection}";
    vec![
        Route::put("putShip", "/harbour/ships/{name}", Who::Public, put_ship)
            .patterns(&[&WRITE_SHIP])
            .sample(Sample::new("/harbour/ships/aurora")),
        Route::get("getSeen", "/harbour/seen/{name}", Who::Public, get_seen)
            .patterns(&[&COUNTED])
            .sample(Sample::new("/harbour/seen/SHIP%23aurora")),
        Route::get("getVisitor", CONNECTION, Who::Public, get_visitor)
            .patterns(&[&VISITOR])
            .sample(Sample::new("/harbour/visitors/1")),
        Route::post("postToVisitor", CONNECTION, Who::Public, post_to_visitor)
            .patterns(&[&POST])
            .sample(Sample::new("/harbour/visitors/1")),
        Route::delete("closeVisitor", CONNECTION, Who::Public, close_visitor)
            .patterns(&[&CLOSE])
            .sample(Sample::new("/harbour/visitors/1")),
    ]
}

#[derive(Deserialize, ToSchema)]
struct Named {
    name: String,
}

#[derive(Deserialize, ToSchema)]
struct OfConnection {
    connection: String,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
struct Ship {
    content: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Visitor {
    state: String,
    /// The outcome of a post within `$connect`.
    early: String,
}

#[derive(Deserialize, ToSchema)]
struct Text {
    text: String,
}

fn escaped(text: &str) -> Result<Escaped, Problem> {
    Escaped::new(text).map_err(|_| Problem::not_found())
}

async fn put_ship(
    cx: Context,
    Path(Named { name }): Path<Named>,
    Json(ship): Json<Ship>,
) -> Result<NoContent, Problem> {
    let key = ShipKey { name: escaped(&name)? };
    match cx.access().write(&WRITE_SHIP, Action::create(&SHIPS, key.clone(), &ship)?).await {
        Err(Error::Exists) => {
            let changes = Changes::new().set("content", item::text(ship.content));
            cx.access().write(&WRITE_SHIP, Action::update(&SHIPS, key, changes)).await?;
        }
        created => drop(created?),
    }
    Ok(NoContent)
}

async fn get_seen(cx: Context, Path(Named { name }): Path<Named>) -> Result<Json<Value>, Problem> {
    let key = SeenKey { of: escaped(&name)? };
    let stored = cx.access().table(&COUNTED, &SEEN).get_consistent(key).await?;
    let stored = stored.map(|stored| stored.read::<Value>()).transpose()?;
    Ok(Json(json!({ "seen": stored.map_or(json!(0), |stored| stored["times"].clone()) })))
}

async fn get_visitor(cx: Context, Path(path): Path<OfConnection>) -> Result<Json<Value>, Problem> {
    let key = VisitorKey { connection: escaped(&path.connection)? };
    let stored = cx.access().table(&VISITOR, &VISITORS).get_consistent(key).await?.ok_or_else(Problem::not_found)?;
    Ok(Json(json!(stored.read::<Visitor>()?)))
}

async fn post_to_visitor(
    cx: Context,
    Path(path): Path<OfConnection>,
    Json(Text { text }): Json<Text>,
) -> Result<Json<Value>, Problem> {
    let delivery = cx.access().post(&POST, &path.connection, json!({ "text": text }).to_string()).await?;
    Ok(Json(json!({ "delivery": format!("{delivery:?}") })))
}

async fn close_visitor(cx: Context, Path(path): Path<OfConnection>) -> Result<Json<Value>, Problem> {
    let delivery = cx.access().close(&CLOSE, &path.connection).await?;
    Ok(Json(json!({ "delivery": format!("{delivery:?}") })))
}

async fn connect(event: Event) -> Result<Bytes, EventFailure> {
    let opened = SocketEvent::parse(&event.payload)?;
    match opened.query.get("ticket").map(String::as_str) {
        Some("valid") => {}
        Some("broken") => return Err(EventFailure("the handler fails".to_owned())),
        _ => return Ok(socket::respond(StatusCode::UNAUTHORIZED)),
    }
    let early = event.access().post(&POST, &opened.connection, "{}").await.map_err(EventFailure::new)?;
    let visitor = Visitor { state: "connected".to_owned(), early: format!("{early:?}") };
    let arrival = Action::create(&VISITORS, key_of(&opened)?, &visitor).map_err(EventFailure::new)?;
    event.access().write(&ARRIVE, arrival).await.map_err(EventFailure::new)?;
    Ok(socket::respond(StatusCode::OK))
}

async fn disconnect(event: Event) -> Result<Bytes, EventFailure> {
    let closed = SocketEvent::parse(&event.payload)?;
    let changes = Changes::new().set("state", item::text("disconnected"));
    let left = Action::update(&VISITORS, key_of(&closed)?, changes);
    event.access().write(&LEAVE, left).await.map_err(EventFailure::new)?;
    Ok(socket::respond(StatusCode::OK))
}

/// A message of a client.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Said {
    /// Sends the same text back.
    Echo(String),
    /// Sends the length of the text back.
    Measure(String),
    /// Sends the connection's id back.
    WhoAmI,
    /// Sends something back after this time in milliseconds.
    Wait(u64),
    Fail,
}

async fn receive(event: Event) -> Result<Bytes, EventFailure> {
    let sent = SocketEvent::parse(&event.payload)?;
    let said = serde_json::from_slice(&sent.body).map_err(EventFailure::new)?;
    let answer = match said {
        Said::Echo(text) => json!({ "echo": text }),
        Said::Measure(text) => json!({ "length": text.len() }),
        Said::WhoAmI => json!({ "connection": sent.connection }),
        Said::Wait(millis) => {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            json!({ "waited": millis })
        }
        Said::Fail => return Err(EventFailure("the handler fails".to_owned())),
    };
    event.access().post(&POST, &sent.connection, answer.to_string()).await.map_err(EventFailure::new)?;
    Ok(socket::respond(StatusCode::OK))
}

fn key_of(event: &SocketEvent) -> Result<VisitorKey, EventFailure> {
    Ok(VisitorKey { connection: Escaped::new(&event.connection).map_err(EventFailure::new)? })
}

/// Counts the records of each key.
async fn count(event: Event) -> Result<Bytes, EventFailure> {
    let payload: Value = serde_json::from_slice(&event.payload).map_err(EventFailure::new)?;
    let records = payload["Records"].as_array().cloned().unwrap_or_default();
    assert!((1..=100).contains(&records.len()), "a batch has at most 100 records");
    for record in &records {
        if record["dynamodb"]["NewImage"]["content"]["S"] == UNREADABLE {
            return Err(EventFailure("the reader cannot handle a record".to_owned()));
        }
        let of = record["dynamodb"]["Keys"]["PK"]["S"].as_str().unwrap_or_default();
        let key = SeenKey { of: Escaped::new(of).map_err(EventFailure::new)? };
        let once_more = Action::update(&SEEN, key, Changes::new().add("times", 1)).or_absent();
        event.access().write(&COUNT, once_more).await.map_err(EventFailure::new)?;
    }
    Ok(Bytes::from_static(br#"{"batchItemFailures":[]}"#))
}

#[derive(Default)]
struct Harbour;

impl ::mirror::Mirrored for Harbour {
    type Shapes = NoShapes;

    const PATTERNS: &'static [&'static AccessPattern] = &[];

    fn shapes(_: Access) -> NoShapes {
        NoShapes
    }
}

impl ::mirror::Documents for Harbour {
    fn tables(&self) -> &'static System {
        &SYSTEM
    }

    fn mapping(&self) -> Mapping {
        const BODY: &str = r#"{"settings":{},"mappings":{"properties":{"content":{"type":"text"}}}}"#;
        Mapping { version: 1, body: BODY }
    }

    fn document(&self, _: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit> {
        let mut document = Document::new();
        document.text("content", &*image.text("content")?);
        Ok(Found::Document(document))
    }
}
