//! A sample system: animals in enclosures.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, Response, StatusCode, header};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use table::config::{Issuer, Keys};
use table::schema::{EventSource, System};
use table::{AccessPattern, Call, Clock, Config, Engines, Rev};
use utoipa::ToSchema;
use web::token::{Claims, SigningKey};
use web::{
    Answer, App, Context, Created, Event, EventFailure, EventHandler, Format, IdempotencyKey, IfMatch, IfNoneMatch,
    Json, Limit, MergePatch, NoContent, Page, Patch, Path, Problem, Query, Route, Sample, Tagged, Who,
};

pub static SYSTEM: System = System {
    name: "zoo",
    tables: &[],
    buckets: &[],
    secrets: &[],
    sources: &[
        EventSource::Streams { handler: "mirror", filtered: false },
        EventSource::Objects { bucket: "zoo", prefix: "photos/", handler: "checkPhoto" },
        EventSource::Queue { name: "zoo-meals", handler: "serveMeal" },
        EventSource::Schedule { every_minutes: 1, handler: "runJobs" },
        EventSource::Deployment { handler: "openGates" },
    ],
};

const ASKED: Call = Call::Search { alias: "zoo" };

static LIST_ANIMALS: AccessPattern = AccessPattern { name: "listAnimals", calls: &[ASKED] };

const FORMATS: &[Format] =
    &[Format { name: "latin", check: |text| text.split(' ').count() == 2, expected: "a genus and a species" }];

#[derive(Deserialize, ToSchema)]
pub struct EnclosurePath {
    #[schema(min_length = 1, max_length = 20, format = "key-part")]
    enclosure: String,
}

#[derive(Deserialize, ToSchema)]
pub struct AnimalPath {
    enclosure: EnclosureId,
    #[schema(minimum = 1)]
    number: u64,
}

/// A type that refuses values which its schema allows.
#[derive(Deserialize, ToSchema)]
#[serde(try_from = "String")]
#[schema(value_type = String)]
struct EnclosureId(String);

impl TryFrom<String> for EnclosureId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text == "aviary-0" { Err("there is no such number") } else { Ok(Self(text)) }
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Diet {
    Plants,
    Meat,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListQuery {
    #[serde(default)]
    diet: Vec<Diet>,
    #[serde(default)]
    #[schema(min_items = 2, max_items = 2)]
    near: Option<Vec<f64>>,
    is_tame: Option<bool>,
    #[serde(default)]
    limit: Limit,
    cursor: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAnimal {
    #[schema(min_length = 1, max_length = 40)]
    name: String,
    diet: Diet,
    #[schema(format = "latin")]
    species: Option<String>,
    #[serde(default)]
    #[schema(max_items = 3)]
    keepers: Vec<Keeper>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Keeper {
    name: String,
    since: u16,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnimalPatch {
    #[schema(min_length = 1, max_length = 40, nullable = false)]
    name: Option<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>, format = "latin")]
    species: Patch<String>,
}

#[derive(Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Animal {
    number: u64,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    species: Option<String>,
}

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("listAnimals", "/zoo/animals/{enclosure}", Who::Views { fuller: "zoo-keeper" }, list_animals)
            .summary("List the animals of an enclosure")
            .answers::<Page<Animal>>(200)
            .answers_as::<String>(200, "text/csv")
            .sample(Sample::new("/zoo/animals/aviary?diet=plants&limit=5")),
        Route::post("createAnimal", "/zoo/animals/{enclosure}", Who::Role("zoo-keeper"), create_animal)
            .summary("Create an animal in an enclosure")
            .body_limit(10_000)
            .sample(Sample::new("/zoo/animals/aviary").body(r#"{"name": "Polly", "diet": "plants"}"#)),
        Route::get("getAnimal", "/zoo/animals/{enclosure}/{number}", Who::Public, get_animal)
            .answers::<Animal>(200)
            .problems(&[web::problem::NOT_FOUND])
            .sample(Sample::new("/zoo/animals/aviary/1")),
        Route::patch("updateAnimal", "/zoo/animals/{enclosure}/{number}", Who::SignedIn, update_animal)
            .sample(Sample::new("/zoo/animals/aviary/1").body(r#"{"species": null}"#)),
        Route::put("putPhoto", "/zoo/photos/{enclosure}", Who::Role("zoo-keeper"), put_photo)
            .takes_bytes::<String>(&["image/png", "image/jpeg"])
            .sample(Sample::new("/zoo/photos/aviary").body("PNG")),
        Route::post("feed", "/zoo/feedings", Who::AnyRole(&["zoo-keeper", "zoo-visitor"]), feed)
            .timeout(Duration::from_millis(900))
            .sample(Sample::new("/zoo/feedings")),
    ]
}

async fn list_animals(
    cx: Context,
    Path(_): Path<EnclosurePath>,
    Query(query): Query<ListQuery>,
) -> Result<Answer, Problem> {
    cx.access().record(&LIST_ANIMALS, ASKED, (1.5, 0.0));
    let first = cx.cursor::<u64>(query.cursor.as_deref())?.unwrap_or(1);
    if cx.content_type() == "text/csv" {
        return Ok(Answer::bytes(StatusCode::OK, "text/csv", format!("{first}")));
    }
    let name = if cx.principal().has_role("zoo-keeper") { "Polly (bites)" } else { "Polly" };
    let read = format!("{} {:?} {:?}", query.diet.len(), query.near, query.is_tame);
    let end = first + u64::from(query.limit.0);
    let animal = |number| Animal { number, name: name.into(), species: Some(read.clone()) };
    let next_cursor = (end < 100).then(|| cx.next_cursor(&end)).transpose()?;
    let link = next_cursor.as_deref().map(|cursor| format!("<{}>; rel=\"next\"", cx.target_from(cursor)));
    let answer = Answer::ok(&Page { items: (first..end).map(animal).collect(), next_cursor }).public_for(30);
    Ok(link.into_iter().fold(answer, |answer, link| answer.header(header::LINK, link)))
}

async fn create_animal(
    _: Context,
    Path(path): Path<EnclosurePath>,
    once: IdempotencyKey,
    Json(new): Json<NewAnimal>,
) -> Result<Created<Animal>, Problem> {
    let keepers = new.keepers.iter().map(|keeper| format!("{} since {}", keeper.name, keeper.since));
    let keepers: Vec<String> = keepers.collect();
    let species = new.species.or_else(|| Some(format!("{:?}, kept by {}", new.diet, keepers.join(" and "))));
    let animal = Animal { number: 1, name: new.name, species };
    let created = Created::new(format!("/zoo/animals/{}/1", path.enclosure), rev(8), &animal);
    Ok(match once.idempotency() {
        Some(once) => {
            let text = format!("{} {} {} {}", once.caller, once.operation, once.key, once.fingerprint);
            created.map(|answer| answer.header(HeaderName::from_static("x-once"), text))
        }
        None => created,
    })
}

async fn get_animal(
    _: Context,
    Path(AnimalPath { enclosure, number }): Path<AnimalPath>,
    known: IfNoneMatch,
) -> Result<Answer, Problem> {
    match number {
        404 => Err(Problem::not_found()),
        500 => panic!("secret of {}", enclosure.0),
        501 => Err(Problem::internal("é".repeat(100_000))),
        _ if known.has(rev(8)) => Ok(Answer::not_modified(rev(8))),
        _ => Ok(Answer::ok(&Animal { number, name: "Polly".into(), species: None }).etag(rev(8))),
    }
}

async fn update_animal(
    _: Context,
    Path(AnimalPath { number, .. }): Path<AnimalPath>,
    tag: IfMatch,
    MergePatch(patch): MergePatch<AnimalPatch>,
) -> Result<Tagged<Animal>, Problem> {
    tag.check(rev(8))?;
    let name = patch.name.unwrap_or_else(|| "Polly".into());
    Ok(Tagged::new(&Animal { number, name, species: patch.species.apply(Some("Ara ararauna".into())) }, rev(10)))
}

async fn put_photo(cx: Context, Path(_): Path<EnclosurePath>) -> Result<NoContent, Problem> {
    assert_eq!(cx.body_type(), "image/png");
    assert!(!cx.bytes().is_empty());
    Ok(NoContent)
}

/// Exceeds the timeout of its function.
async fn feed(_: Context) -> Result<NoContent, Problem> {
    std::future::pending().await
}

fn rev(number: u64) -> Rev {
    Rev::new(number).unwrap()
}

async fn mirror(event: Event) -> Result<Bytes, EventFailure> {
    event.report(web::Batch { records: 3, applied: 2, retried: 1, ..Default::default() });
    Ok(event.payload)
}

async fn run_jobs(event: Event) -> Result<Bytes, EventFailure> {
    event.found_nothing();
    if event.payload == "{}" { Ok(Bytes::from_static(b"null")) } else { Err(EventFailure::new("the work is not done")) }
}

async fn check_photo(_: Event) -> Result<Bytes, EventFailure> {
    panic!("secret")
}

/// Opens the gates of this many enclosures.
async fn open_gates(event: Event) -> Result<Value, EventFailure> {
    let request: Value = serde_json::from_slice(&event.payload).unwrap();
    match request["ResourceProperties"]["Gates"].as_str() {
        Some(gates) => Ok(serde_json::json!({ "Open": gates })),
        None => Err(EventFailure::new("there are no gates. ".repeat(1_000))),
    }
}

pub fn handlers() -> Vec<EventHandler> {
    vec![
        EventHandler::new("mirror", mirror),
        EventHandler::new("runJobs", run_jobs),
        EventHandler::new("checkPhoto", check_photo),
        EventHandler::new("openGates", |event| web::respond_to_deployment(event, open_gates)),
    ]
}

/// The system with one issuer, and that issuer's key.
pub struct Zoo {
    pub app: App,
    pub key: SigningKey,
    pub clock: Clock,
    metrics: Arc<Mutex<Vec<Value>>>,
}

pub const ISSUER: &str = "https://issuer.test";
pub const AUDIENCE: &str = "https://zoo.test";

impl Zoo {
    pub fn open() -> Self {
        Self::with(|config| config)
    }

    /// Opens a zoo with a changed configuration.
    pub fn with(change: impl FnOnce(Config) -> Config) -> Self {
        let key = SigningKey::generate().unwrap();
        let issuer = Issuer::new("local", ISSUER, AUDIENCE, Keys::Set(key.jwks()));
        Self::of(change(config(vec![issuer])), key, Clock::system())
    }

    /// Opens a zoo that trusts this issuer, which signs with this key.
    pub fn trusting(issuer: Issuer, key: SigningKey, clock: Clock) -> Self {
        Self::of(config(vec![issuer]), key, clock)
    }

    fn of(config: Config, key: SigningKey, clock: Clock) -> Self {
        let engines = Engines::new(config, clock.clone());
        let metrics = Arc::<Mutex<Vec<Value>>>::default();
        let sink = Arc::clone(&metrics);
        let keep = move |line: &str| sink.lock().unwrap().push(serde_json::from_str(line).unwrap());
        let app = App::new(engines, &SYSTEM, routes(), handlers()).formats(FORMATS).metrics_to(keep);
        Self { app, key, clock, metrics }
    }

    /// Returns the metrics lines so far.
    pub fn metrics(&self) -> Vec<Value> {
        self.metrics.lock().unwrap().clone()
    }

    pub fn claims(&self, roles: &[&str]) -> Claims {
        let now = self.clock.seconds();
        Claims {
            iss: ISSUER.into(),
            sub: "user#1".into(),
            aud: AUDIENCE.into(),
            iat: now,
            nbf: now,
            exp: now + 600,
            roles: roles.iter().map(|role| role.to_string()).collect(),
            ..Claims::default()
        }
    }

    pub fn keeper(&self) -> String {
        self.key.sign(&self.claims(&["zoo-keeper"])).unwrap()
    }

    pub async fn send(&self, request: http::Request<Bytes>) -> Response<Bytes> {
        self.app.handle(request).await
    }

    pub async fn get(&self, target: &str) -> Response<Bytes> {
        self.send(http::Request::get(target).body(Bytes::new()).unwrap()).await
    }

    /// Sends JSON by POST as a keeper.
    pub async fn post(&self, target: &str, body: impl Into<Bytes>) -> Response<Bytes> {
        let request = http::Request::post(target).header("content-type", "application/json");
        let request = request.header("authorization", format!("Bearer {}", self.keeper()));
        self.send(request.body(body.into()).unwrap()).await
    }
}

pub fn config(issuers: Vec<Issuer>) -> Config {
    Config { cursor_secrets: vec!["secret".into()], issuers, ..Config::new("ca-central-1", "http://127.0.0.1:9") }
}

pub fn json(response: &Response<Bytes>) -> Value {
    serde_json::from_slice(response.body()).unwrap()
}
