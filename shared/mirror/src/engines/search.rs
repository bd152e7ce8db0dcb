//! OpenSearch over HTTP.

use std::io::Write as _;
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use opensearch::OpenSearch;
use opensearch::http::Method;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use table::search::complete;
use table::{Engines, Trace, no_answer};

use crate::lines::Tombstone;
use crate::ports::{DocumentPage, Fault, Index, Reply, StoredDocument};

#[derive(Debug)]
pub struct OpenSearchIndex<'e> {
    client: &'e OpenSearch,
}

const ENGINE: &str = "search";

/// The timeout of a request, and of one that reads the state of the cluster, which every node has in its memory.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
const STATE_TIMEOUT: Duration = Duration::from_secs(10);

/// The members of a bulk response that are returned: those by which each operation is classified, and the reason why a
/// request was refused as a whole. This keeps large responses small.
const RESPONSE_FILTER: &str = "items.*.status,items.*.error,error,status";

impl<'e> OpenSearchIndex<'e> {
    pub fn new(engines: &'e Engines) -> Result<Self, Fault> {
        let client = engines.search().map_err(|error| Fault::lasting(ENGINE, error))?;
        Ok(Self { client })
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        mut headers: HeaderMap,
        body: Option<Bytes>,
    ) -> Result<Reply, Fault> {
        headers.extend(Trace::current_header());
        let transport = self.client.transport();
        let timeout = if matches!(method, Method::Get) { STATE_TIMEOUT } else { REQUEST_TIMEOUT };
        let answer = transport.send(method, path, headers, None::<&()>, body, Some(timeout)).await;
        let answer = answer.map_err(|error| Fault::passing(ENGINE, no_answer::describe(&error)))?;
        let status = answer.status_code().as_u16();
        let body = answer.bytes().await.map_err(|error| Fault::passing(ENGINE, no_answer::describe(&error)))?;
        Ok(Reply { status, body })
    }

    /// Carries out all actions in one step.
    async fn change_aliases(&self, actions: Vec<Value>) -> Result<(), Fault> {
        self.json(Method::Post, "/_aliases", Some(&json!({ "actions": actions })), &[200]).await.map(drop)
    }

    /// Returns the indexes that an alias names.
    pub(crate) async fn indexes_of_alias(&self, alias: &str) -> Result<Vec<AliasedIndex>, Fault> {
        let (status, holders) = self.json(Method::Get, &format!("/{alias}/_alias"), None, &[200, 404]).await?;
        let holders = holders.as_object().filter(|_| status == 200).into_iter().flatten();
        let filter = |holder: &Value| holder.get("aliases")?.get(alias)?.get("filter").cloned();
        let named =
            holders.map(|(index, holder)| AliasedIndex { index: index.clone(), is_filtered: filter(holder).is_some() });
        Ok(named.collect())
    }

    /// Whether an alias names this index.
    async fn names(&self, alias: &str, index: &str) -> Result<bool, Fault> {
        Ok(self.indexes_of_alias(alias).await?.iter().any(|named| named.index == index))
    }

    /// Returns the number of documents and tombstones.
    pub async fn count(&self, alias: &str) -> Result<u64, Fault> {
        let body = json!({ "size": 0, "track_total_hits": true });
        let (_, answer) = self.json(Method::Post, &format!("/{alias}/_search"), Some(&body), &[200]).await?;
        Ok(answer.pointer("/hits/total/value").and_then(Value::as_u64).unwrap_or_default())
    }

    /// Returns the highest version that a search finds, or 0.
    pub async fn newest(&self, alias: &str) -> Result<u64, Fault> {
        let body = json!({ "size": 1, "sort": [{ "rev": { "order": "desc" } }], "_source": ["rev"] });
        let (_, answer) = self.json(Method::Post, &format!("/{alias}/_search"), Some(&body), &[200]).await?;
        Ok(answer.pointer("/hits/hits/0/_source/rev").and_then(Value::as_u64).unwrap_or_default())
    }

    /// Sends and receives JSON. Any status other than the expected ones is a fault.
    async fn json(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        expected: &[u16],
    ) -> Result<(u16, Value), Fault> {
        let body = body.map(|body| Bytes::from(body.to_string()));
        let reply = self.send(method, path, HeaderMap::new(), body).await?;
        if !expected.contains(&reply.status) {
            return Err(refusal(path, &reply));
        }
        let value = serde_json::from_slice(&reply.body);
        let value =
            value.map_err(|error| Fault::lasting(ENGINE, format_args!("{path} did not return JSON: {error}")))?;
        Ok((reply.status, value))
    }
}

/// An index that an alias names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AliasedIndex {
    pub(crate) index: String,
    /// Whether searches through the alias are filtered.
    pub(crate) is_filtered: bool,
}

/// The response to a search.
#[derive(Debug, Deserialize)]
pub(crate) struct SearchResponse<H> {
    pub(crate) hits: Hits<H>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Hits<H> {
    pub(crate) hits: Vec<H>,
}

/// A tombstone among the hits.
#[derive(Deserialize)]
struct TombstoneHit {
    _id: String,
    _seq_no: u64,
    _primary_term: u64,
}

/// The response to a search for all documents. Its sources are returned as they were indexed only without
/// `filter_path`, which would read their numbers as floats.
#[derive(Deserialize)]
struct Listing<'a> {
    #[serde(borrow)]
    hits: ListedHits<'a>,
}

#[derive(Deserialize)]
struct ListedHits<'a> {
    #[serde(borrow)]
    hits: Vec<Listed<'a>>,
}

/// A document of a search, or of a request for documents by id.
#[derive(Deserialize)]
struct Listed<'a> {
    _id: String,
    found: Option<bool>,
    _version: Option<u64>,
    #[serde(borrow)]
    _source: Option<&'a RawValue>,
    #[serde(borrow)]
    sort: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Documents<'a> {
    #[serde(borrow)]
    docs: Vec<Listed<'a>>,
}

/// The response to a request for versions by id.
#[derive(Deserialize)]
struct Versions {
    docs: Vec<Version>,
}

#[derive(Deserialize)]
struct Version {
    _id: String,
    found: Option<bool>,
    _version: Option<u64>,
    error: Option<Value>,
}

impl Version {
    fn number(self) -> Result<Option<u64>, Fault> {
        match self.found {
            Some(true) => Ok(self._version),
            Some(false) => Ok(None),
            None => {
                let (id, error) = (self._id, self.error.unwrap_or_default());
                Err(Fault::passing(
                    ENGINE,
                    format_args!("the version of the document `{id}` could not be read: {error}"),
                ))
            }
        }
    }
}

impl Listed<'_> {
    fn stored(self) -> Result<StoredDocument, Fault> {
        match (self._version, self._source) {
            (Some(version), Some(source)) => {
                Ok(StoredDocument { id: self._id, version, source: source.get().to_owned() })
            }
            _ => Err(Fault::passing(ENGINE, format_args!("the document `{}` could not be read", self._id))),
        }
    }

    fn position(&self) -> Option<&str> {
        self.sort.map(RawValue::get)
    }
}

/// Returns how many hits of a full page may be used: those before the last position. Documents of one position may
/// continue on the next page, which starts after the last position that was used.
fn usable(hits: &[Listed<'_>]) -> usize {
    let last = hits.last().and_then(Listed::position);
    match hits.iter().position(|hit| hit.position() == last) {
        // Only damaged documents have equal positions, and never so many.
        None | Some(0) => hits.len(),
        Some(first) => first,
    }
}

impl Index for OpenSearchIndex<'_> {
    async fn bulk(&self, alias: &str, lines: &str) -> Result<Reply, Fault> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        let path = format!("/{alias}/_bulk?require_alias=true&filter_path={RESPONSE_FILTER}");
        let body = compress(lines).map_err(|error| Fault::lasting(ENGINE, error))?;
        self.send(Method::Post, &path, headers, Some(body)).await
    }

    async fn tombstones(&self, alias: &str, before: i64, limit: usize) -> Result<Vec<Tombstone>, Fault> {
        let old = json!({ "bool": { "filter": [
            { "term": { "deleted": true } },
            { "range": { "deletedAt": { "lt": before } } },
        ] } });
        let body = json!({ "query": old, "size": limit, "seq_no_primary_term": true, "_source": false });
        let path = format!("/{alias}/_search");
        let reply = self.send(Method::Post, &path, HeaderMap::new(), Some(body.to_string().into())).await?;
        if reply.status != 200 {
            return Err(refusal(&path, &reply));
        }
        let found: SearchResponse<TombstoneHit> =
            complete(&String::from_utf8_lossy(&reply.body)).map_err(|fault| Fault::passing(ENGINE, fault))?;
        let tombstones = found.hits.hits.into_iter();
        Ok(tombstones.map(|hit| Tombstone { id: hit._id, sequence: hit._seq_no, term: hit._primary_term }).collect())
    }

    /// A search for each page, by the position of the last document: the keys of a document never change. A point in time
    /// would be searched by a path that names no index, which no policy can limit.
    async fn documents(&self, alias: &str, after: Option<&str>, limit: usize) -> Result<DocumentPage, Fault> {
        // A document without a key has the empty text as its position. OpenSearch would skip it after a position if it
        // were sorted last.
        let by = |field: &str| json!({ field: { "order": "asc", "missing": "" } });
        let mut body = json!({
            "size": limit.max(2), "sort": [by("pk"), by("sk")], "version": true, "track_total_hits": false,
        });
        if let (Some(after), Value::Object(members)) = (after, &mut body) {
            let after = serde_json::from_str(after).map_err(|error| Fault::lasting(ENGINE, error))?;
            members.insert("search_after".to_owned(), after);
        }
        let path = format!("/{alias}/_search");
        let reply = self.send(Method::Post, &path, HeaderMap::new(), Some(body.to_string().into())).await?;
        if reply.status != 200 {
            return Err(refusal(&path, &reply));
        }
        let text = String::from_utf8_lossy(&reply.body);
        let _: IgnoredAny = complete(&text).map_err(|fault| Fault::passing(ENGINE, fault))?;
        let listing: Listing<'_> = serde_json::from_str(&text).map_err(|error| Fault::lasting(ENGINE, error))?;
        let mut hits = listing.hits.hits;
        let mut next = None;
        if hits.len() == limit.max(2) {
            hits.truncate(usable(&hits));
            next = hits.last().and_then(Listed::position).map(str::to_owned);
        }
        let documents = hits.into_iter().map(Listed::stored).collect::<Result<_, _>>()?;
        Ok(DocumentPage { documents, next })
    }

    async fn read_documents(&self, alias: &str, ids: &[&str]) -> Result<Vec<Option<StoredDocument>>, Fault> {
        // The documents are read in real time by default.
        let path = format!("/{alias}/_mget");
        let body = json!({ "ids": ids }).to_string().into();
        let reply = self.send(Method::Post, &path, HeaderMap::new(), Some(body)).await?;
        if reply.status != 200 {
            return Err(refusal(&path, &reply));
        }
        let text = String::from_utf8_lossy(&reply.body);
        let found: Documents<'_> = serde_json::from_str(&text).map_err(|error| Fault::passing(ENGINE, error))?;
        let documents = found.docs.into_iter().map(|document| match document.found {
            Some(false) => Ok(None),
            // Without `found` the document has an error in place of its version.
            _ => document.stored().map(Some),
        });
        documents.collect()
    }

    async fn versions(&self, alias: &str, ids: &[&str]) -> Result<Vec<Option<u64>>, Fault> {
        let path = format!("/{alias}/_mget");
        // Amazon OpenSearch Service ignores the parameters in the URL of a signed POST.
        let documents: Vec<Value> = ids.iter().map(|id| json!({ "_id": id, "_source": false })).collect();
        let body = json!({ "docs": documents }).to_string().into();
        let reply = self.send(Method::Post, &path, HeaderMap::new(), Some(body)).await?;
        if reply.status != 200 {
            return Err(refusal(&path, &reply));
        }
        let found: Versions = serde_json::from_slice(&reply.body).map_err(|error| Fault::passing(ENGINE, error))?;
        found.docs.into_iter().map(Version::number).collect()
    }

    async fn create(&self, index: &str, body: &str) -> Result<bool, Fault> {
        let reply =
            self.send(Method::Put, &format!("/{index}"), HeaderMap::new(), Some(body.to_owned().into())).await?;
        let taken = || String::from_utf8_lossy(&reply.body).contains("resource_already_exists_exception");
        match reply.status {
            200 => Ok(true),
            400 if taken() => Ok(false),
            _ => Err(refusal(index, &reply)),
        }
    }

    async fn exists(&self, index: &str) -> Result<bool, Fault> {
        let (status, _) = self.json(Method::Get, &format!("/{index}/_alias"), None, &[200, 404]).await?;
        Ok(status == 200)
    }

    async fn refresh(&self, index: &str) -> Result<(), Fault> {
        self.json(Method::Post, &format!("/{index}/_refresh"), None, &[200]).await.map(drop)
    }

    /// Each path names the index that is changed, so that a policy can limit the indexes. The body of a request for
    /// several indexes could name any.
    async fn serve(&self, alias: &str, index: &str) -> Result<(), Fault> {
        let path = |index: &str| format!("/{index}/_alias/{alias}");
        self.json(Method::Put, &path(index), Some(&json!({ "filter": visible() })), &[200]).await?;
        for other in self.indexes_of_alias(alias).await?.iter().filter(|named| named.index != index) {
            // A concurrent call may have removed it already.
            self.json(Method::Delete, &path(&other.index), None, &[200, 404]).await?;
        }
        Ok(())
    }

    async fn swap(&self, alias: &str, index: &str) -> Result<(), Fault> {
        let named = self.indexes_of_alias(alias).await?;
        let removed = named.iter().filter(|named| named.index != index);
        let removed = removed.map(|named| json!({ "remove": { "index": named.index, "alias": alias } }));
        self.change_aliases(std::iter::once(added(alias, index)).chain(removed).collect()).await
    }

    async fn delete(&self, alias: &str, serving: &str, index: &str) -> Result<(), Fault> {
        if !self.exists(index).await? {
            return if self.exists(serving).await? { self.swap(alias, serving).await } else { Ok(()) };
        }
        let actions = vec![added(alias, serving), json!({ "remove_index": { "index": index } })];
        match self.change_aliases(actions).await {
            // While the disk is full OpenSearch changes no alias, so readers stay where they are. It deletes indexes, to
            // free space.
            Err(fault) if is_full(&fault) && !self.names(alias, index).await? => {
                self.json(Method::Delete, &format!("/{index}"), None, &[200, 404]).await.map(drop)
            }
            changed => changed,
        }
    }
}

/// Returns the action that lets a readers' alias name an index.
fn added(alias: &str, index: &str) -> Value {
    json!({ "add": { "index": index, "alias": alias, "filter": visible() } })
}

/// Returns the filter of the readers' alias.
fn visible() -> Value {
    json!({ "bool": { "must_not": { "term": { "deleted": true } } } })
}

/// Whether OpenSearch refuses every write because the disk is full. It calls that a block of the indexes, and answers 429.
fn is_full(fault: &Fault) -> bool {
    fault.passing && fault.reason.contains("cluster_block_exception")
}

fn refusal(path: &str, reply: &Reply) -> Fault {
    let reason = format!("{path} answered {}: {}", reply.status, error_of(&reply.body));
    match reply.status {
        429 | 500..=599 => Fault::passing(ENGINE, reason),
        _ => Fault::lasting(ENGINE, reason),
    }
}

/// Returns the type and the reason of OpenSearch's error, or else the whole body.
fn error_of(body: &[u8]) -> String {
    let json: Value = serde_json::from_slice(body).unwrap_or_default();
    let text = |name: &str| json.pointer(&format!("/error/{name}")).and_then(Value::as_str);
    match (text("type"), text("reason")) {
        (Some(kind), Some(reason)) => format!("{kind}, {reason}"),
        _ => String::from_utf8_lossy(body).into_owned(),
    }
}

/// Compresses with the fastest level of gzip, since the network is rarely the bottleneck.
fn compress(lines: &str) -> std::io::Result<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(lines.len() / 4), Compression::fast());
    encoder.write_all(lines.as_bytes())?;
    encoder.finish().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use table::{Clock, Config};
    use tokio::net::TcpListener;
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn cluster_that_does_not_answer_is_told_soon() {
        // It accepts connections, and never answers.
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", silent.local_addr().unwrap());
        let credentials = Some(("key".to_owned(), "secret".to_owned()));
        let config = Config { credentials, ..Config::new("eu-west-1", &url) };
        let engines = Engines::new(config, Clock::system());
        let started = Instant::now();
        let found = OpenSearchIndex::new(&engines).unwrap().names("toys", "toys-000001").await;
        assert_eq!(found.unwrap_err().to_string(), "search: it does not respond (timed out)");
        assert_eq!(started.elapsed().as_secs(), STATE_TIMEOUT.as_secs());
    }
}
