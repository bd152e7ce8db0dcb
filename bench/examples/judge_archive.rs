//! Measures the search over people: indexes the large sample of registers and sends the searches of
//! `samples/archive/judged.tsv`.
//!
//! ```sh
//! cargo run -p bench --example judge_archive -- http://127.0.0.1:9200 [daitch-mokotoff | double-metaphone | none]
//! ```
//!
//! The URL is that of an OpenSearch, in which the index `archive-judge` is created and deleted. The second argument
//! leaves only one of the two codes of sounds, or none. Prints each search whose row is not the first hit, and the mean
//! reciprocal rank and the recall among the first 50 hits, by half and kind. Places are compared by their texts.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use archive::documents::{MAPPING, record};
use archive::fold::fold;
use archive::mapping::{MappedColumn, PersonRole};
use archive::person_names::NameFields;
use archive::record::{BoundMapping, MappedRow};
use archive::relatives::{Member, relatives};
use archive::search::query::{RecordQuery, ResolvedPlace};
use archive::search::{Page, Visibility, request};
use flate2::read::GzDecoder;
use mirror::{Document, Image};
use reqwest::{Client, Method};
use serde_json::{Map, Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

const COLLECTIONS: [&str; 3] = ["census", "baptisms", "passengers"];
const INDEX: &str = "archive-judge";
const MOST_HITS: usize = 50;
const DOCUMENTS_PER_BULK: usize = 4_000;

/// The minimum mean reciprocal rank of each half.
const GOAL: f64 = 0.95;

/// The indexed sample: its documents, the row of each permanent id, and the places by their texts.
#[derive(Default)]
struct Sample {
    documents: Vec<Value>,
    rows: Vec<String>,
    places: BTreeMap<String, ResolvedPlace>,
}

/// The ranks and recalls of the searches of one half and kind.
#[derive(Default)]
struct Quality {
    searches: f64,
    reciprocal_ranks: f64,
    found: f64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("the first argument must be the URL of an OpenSearch")?;
    let is_asked: fn(&str) -> bool = match arguments.next().as_deref() {
        None => |_| true,
        Some("daitch-mokotoff") => is_digits,
        Some("double-metaphone") => |code| !is_digits(code),
        Some("none") => |_| false,
        Some(other) => return Err(format!("`{other}` is not daitch-mokotoff, double-metaphone or none").into()),
    };
    let search = Search { client: Client::new(), url };
    let mut sample = Sample::default();
    for collection in COLLECTIONS {
        sample.read(collection)?;
    }
    search.index(&sample.documents).await?;
    let judged = search.judge(&sample, is_asked).await;
    search.send(Method::DELETE, "", None).await?;
    report(&judged?)
}

fn report(qualities: &BTreeMap<(String, String), Quality>) -> Outcome<()> {
    let mut missed = Vec::new();
    for ((half, kind), quality) in qualities {
        let rank = quality.reciprocal_ranks / quality.searches;
        let recall = quality.found / quality.searches;
        println!("{half}, {kind}: mean reciprocal rank {rank:.3}, recall {recall:.3} of {}", quality.searches);
        if kind == "all" && rank < GOAL {
            missed.push(format!("{half}: {rank:.3}"));
        }
    }
    if missed.is_empty() {
        Ok(())
    } else {
        Err(format!("the mean reciprocal rank is below {GOAL}: {}", missed.join("; ")).into())
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/archive")
}

/// Returns the files of a collection, in both sizes of the sample.
fn files(collection: &str) -> Outcome<Vec<Box<dyn Read>>> {
    let small: Box<dyn Read> = Box::new(File::open(folder().join(format!("small/{collection}.csv")))?);
    let mut files = vec![small];
    let mut world: Vec<PathBuf> =
        fs::read_dir(folder().join("world"))?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    world.sort();
    let is_of = |path: &&PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(collection));
    for path in world.iter().filter(is_of) {
        files.push(Box::new(GzDecoder::new(File::open(path)?)));
    }
    Ok(files)
}

fn is_digits(code: &str) -> bool {
    code.bytes().all(|character| character.is_ascii_digit())
}

impl Sample {
    fn read(&mut self, collection: &str) -> Outcome<()> {
        let mapping: Vec<MappedColumn> =
            serde_json::from_slice(&fs::read(folder().join(format!("{collection}.mapping.json")))?)?;
        let mut rows = Vec::new();
        for file in files(collection)? {
            let mut reader = csv::Reader::from_reader(file);
            let headers: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
            let bound = BoundMapping::new(&mapping, &headers).map_err(|missing| format!("no columns {missing:?}"))?;
            for row in reader.records() {
                rows.push(bound.read(&row?.iter().map(str::to_owned).collect::<Vec<_>>()));
            }
        }
        let mut households: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, row) in rows.iter().enumerate() {
            if let Some(household) = row.household.as_deref() {
                households.entry(household).or_default().push(index);
            }
        }
        let mut of_row: BTreeMap<usize, Value> = BTreeMap::new();
        for members in households.values() {
            let member = |index: &usize| rows.get(*index).map(member);
            let family = relatives(&members.iter().filter_map(member).collect::<Vec<_>>());
            for (index, relatives) in members.iter().zip(family) {
                of_row.insert(*index, serde_json::to_value(relatives)?);
            }
        }
        for (index, row) in rows.iter().enumerate() {
            let relatives = of_row.remove(&index).unwrap_or_else(|| json!([]));
            self.add(collection, row, &relatives)?;
        }
        Ok(())
    }

    /// Adds the document of a row, as the mirror makes it from the item.
    fn add(&mut self, collection: &str, row: &MappedRow, relatives: &Value) -> Outcome<()> {
        let id = (1_000_000_000 + self.rows.len()).to_string();
        self.rows.push(format!("{collection}:{}", row.key.as_deref().unwrap_or_default().join(" / ")));
        let mut events = serde_json::to_value(&row.events)?;
        for event in events.as_array_mut().into_iter().flatten() {
            let text = event.get("placeText").and_then(Value::as_str).unwrap_or_default().to_owned();
            if let (false, Some(event)) = (text.is_empty(), event.as_object_mut()) {
                event.insert("placePath".to_owned(), json!(self.place(&text)));
            }
        }
        let item = stored(&json!({
            "PK": id, "SK": "record_post#1000000000", "permanentId": id, "collectionId": collection, "run": 1,
            "people": row.people, "relatives": relatives, "events": events, "keywords": row.keywords,
        }));
        let item = item.get("M").ok_or("an item is a map")?.to_string();
        let mut document = Document::new();
        let image = Image::parse(&item).map_err(|error| format!("{error:?}"))?;
        record::record(&mut document, &image, NameFields::new).map_err(|unfit| format!("{unfit:?}"))?;
        let mut document: Map<String, Value> = serde_json::from_str(&format!("{{{}}}", document.fields()))?;
        document.insert("entity".to_owned(), json!("record"));
        document.insert("pk".to_owned(), json!(id));
        self.documents.push(Value::Object(document));
        Ok(())
    }

    /// Returns the path of a place: its country, and the place itself. Each stands for itself in queries.
    fn place(&mut self, text: &str) -> Vec<String> {
        let (own, country) = text.rsplit_once(", ").unwrap_or((text, text));
        let path: Vec<String> = if own == country { vec![fold(text)] } else { vec![fold(country), fold(text)] };
        for (name, id) in [(text, path.last()), (own, path.last()), (country, path.first())] {
            if let Some(id) = id {
                let place = ResolvedPlace { id: id.clone(), location: None };
                self.places.entry(name.to_owned()).or_insert(place);
            }
        }
        path
    }
}

fn member(row: &MappedRow) -> Member<'_> {
    Member {
        person: row.people.iter().find(|person| person.role == PersonRole::Principal),
        relation: row.relation.as_deref(),
        visible_from: None,
    }
}

/// Returns a value as DynamoDB stores it.
fn stored(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!({ "N": number.to_string() }),
        Value::Array(list) => json!({ "L": list.iter().map(stored).collect::<Vec<_>>() }),
        Value::Object(map) => {
            let members: Map<String, Value> = map.iter().map(|(name, value)| (name.clone(), stored(value))).collect();
            json!({ "M": members })
        }
        text => json!({ "S": text }),
    }
}

struct Search {
    client: Client,
    url: String,
}

impl Search {
    async fn send(&self, method: Method, path: &str, body: Option<String>) -> Outcome<Value> {
        let request = self.client.request(method, format!("{}/{INDEX}{path}", self.url));
        let request = request.header("content-type", "application/json").body(body.unwrap_or_default());
        let response = request.send().await?;
        let failed = !response.status().is_success();
        let body = response.text().await?;
        if failed { Err(body.into()) } else { Ok(serde_json::from_str(&body)?) }
    }

    /// Creates the index with the mapping of the archive and the fields that the mirror adds.
    async fn index(&self, documents: &[Value]) -> Outcome<()> {
        let mut body: Value = serde_json::from_str(MAPPING.body)?;
        let properties = body.pointer_mut("/mappings/properties").and_then(Value::as_object_mut);
        let properties = properties.ok_or("the mapping has no properties")?;
        for field in ["pk", "entity"] {
            properties.insert(field.to_owned(), json!({ "type": "keyword" }));
        }
        properties.insert("deleted".to_owned(), json!({ "type": "boolean" }));
        self.send(Method::PUT, "", Some(body.to_string())).await?;
        for documents in documents.chunks(DOCUMENTS_PER_BULK) {
            let lines = documents.iter().map(|document| format!("{{\"index\":{{}}}}\n{document}\n"));
            let response = self.send(Method::POST, "/_bulk", Some(lines.collect())).await?;
            if response.get("errors") != Some(&json!(false)) {
                return Err("some documents were refused".into());
            }
        }
        self.send(Method::POST, "/_refresh", None).await?;
        Ok(())
    }

    async fn judge(&self, sample: &Sample, is_asked: fn(&str) -> bool) -> Outcome<BTreeMap<(String, String), Quality>> {
        let mut qualities: BTreeMap<(String, String), Quality> = BTreeMap::new();
        let judged = fs::read_to_string(folder().join("judged.tsv"))?;
        for line in judged.lines().filter(|line| !line.starts_with('#')).skip(1) {
            let [half, kind, query, wanted] = <[&str; 4]>::try_from(line.split('\t').collect::<Vec<_>>())
                .map_err(|_| format!("not four columns: {line}"))?;
            let hits = self.hits(sample, query, is_asked).await?;
            let rank = hits.iter().position(|hit| hit == wanted).map(|index| index + 1);
            if rank != Some(1) {
                let rank = rank.map_or("not found".to_owned(), |rank| format!("hit {rank}"));
                println!("{half}, {kind}: {query}: {wanted} is {rank} of {}", hits.len());
            }
            for kind in [kind, "all"] {
                let quality = qualities.entry((half.to_owned(), kind.to_owned())).or_default();
                quality.searches += 1.0;
                quality.reciprocal_ranks +=
                    rank.and_then(|rank| u32::try_from(rank).ok()).map_or(0.0, |rank| 1.0 / f64::from(rank));
                quality.found += f64::from(u8::from(rank.is_some()));
            }
        }
        Ok(qualities)
    }

    /// Returns the rows that a search finds.
    async fn hits(&self, sample: &Sample, query: &str, is_asked: fn(&str) -> bool) -> Outcome<Vec<String>> {
        let parameters = query.split('&').filter_map(|pair| pair.split_once('='));
        let parameters = parameters.map(|(name, value)| (name.to_owned(), json!(value))).collect();
        let query: RecordQuery = serde_json::from_value(Value::Object(parameters))?;
        let criteria = query.criteria(&sample.places).map_err(|faults| format!("{faults:?}"))?;
        let page = Page { limit: MOST_HITS, after: None, facets: false, parent_path: None };
        let mut body = request(&criteria, &Visibility::default(), page);
        keep_sounds(&mut body, is_asked);
        let response = self.send(Method::POST, "/_search", Some(body.to_string())).await?;
        let hits = response.pointer("/hits/hits").and_then(Value::as_array).ok_or("a response has no hits")?;
        let row = |hit: &Value| {
            let id: usize = hit.pointer("/fields/pk/0")?.as_str()?.parse().ok()?;
            sample.rows.get(id.checked_sub(1_000_000_000)?).cloned()
        };
        Ok(hits.iter().take(MOST_HITS).filter_map(row).collect())
    }
}

/// Removes the codes of sounds that are not asked.
fn keep_sounds(query: &mut Value, is_asked: fn(&str) -> bool) {
    match query {
        Value::Array(list) => list.iter_mut().for_each(|value| keep_sounds(value, is_asked)),
        Value::Object(map) => {
            for (name, value) in map {
                match value {
                    Value::Array(codes) if name.ends_with("Sound") => {
                        codes.retain(|code| code.as_str().is_some_and(is_asked))
                    }
                    other => keep_sounds(other, is_asked),
                }
            }
        }
        _ => {}
    }
}
