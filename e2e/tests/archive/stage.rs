//! The fixture of the archive's tests: an empty archive with a person in each role.

use std::collections::BTreeMap;
use std::time::Duration;

use ::archive::schema::{ARCHIVE, QUEUE};
use bytes::Bytes;
use http::Response;
use local::identity::Person;
use reqwest::Method;
use serde_json::{Value, json};
use table::{Config, Engines};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::harness::stopper::{Moment, Stopper};
use crate::harness::table::{Item, Table};
use crate::harness::{Answer, Cairn, Setup, User, sized};

/// An empty archive, and people whose tokens have the roles.
pub struct Archive {
    pub cairn: Cairn,
    pub visitor: User,
    pub volunteer: User,
    pub editor: User,
    pub administrator: User,
}

impl Archive {
    pub async fn new() -> Self {
        Self::with(Setup::of("archive")).await
    }

    pub async fn with(setup: Setup) -> Self {
        let cairn = Cairn::with(setup).await;
        let visitor = cairn.visitor();
        let volunteer = cairn.person("volunteer", Person { roles: &["archive-volunteer"], ..Person::new("val") });
        let editor = cairn.person("editor", Person { roles: &["archive-editor"], ..Person::new("edi") });
        let administrator =
            cairn.person("administrator", Person { roles: &["archive-administrator"], ..Person::new("ada") });
        let (volunteer, editor, administrator) = (volunteer.await, editor.await, administrator.await);
        Self { cairn, visitor, volunteer, editor, administrator }
    }

    /// Creates a category. Returns its id.
    pub async fn category(&self, name: &str) -> String {
        id(&self.editor.post("/archive/categories", json!({ "name": name })).await.is(201))
    }

    /// Creates a collection. Returns its id.
    pub async fn collection(&self, name: &str, categories: &[&str]) -> String {
        id(&self.editor.post("/archive/collections", json!({ "name": name, "categoryIds": categories })).await.is(201))
    }

    /// Creates a post of the volunteer. Returns its id.
    pub async fn post(&self, name: &str, collection: &str) -> String {
        id(&self.volunteer.post("/archive/posts", json!({ "name": name, "collectionId": collection })).await.is(201))
    }

    /// Deletes a post, and waits until it is gone.
    pub async fn delete_post(&self, user: &User, path: &str) {
        user.delete(path).await.is(202);
        until(user, path, |read| read.status == 404).await;
    }

    /// Sends a request of the editor. Its first transaction is held until the stopper resumes it, and then the request
    /// returns its response.
    pub async fn held(&self, method: Method, path: &str, body: Value) -> (Stopper, JoinHandle<Response<Bytes>>) {
        let config = self.cairn.engines().config.clone();
        let held = Some((0, Moment::BeforeItIsSent));
        let stopper = Stopper::before(config.dynamodb.clone().unwrap(), held).await;
        let config = Config { dynamodb: Some(stopper.url.clone()), ..config };
        let app = ::archive::app(Engines::new(config, self.cairn.clock.clone())).metrics_to(|_| {});
        let token = self.cairn.token("edi", &["archive-editor"]).await;
        let request = http::Request::builder().method(method).uri(path);
        let request = request.header("authorization", format!("Bearer {token}"));
        let request = request.header("content-type", "application/json").body(body.to_string().into()).unwrap();
        let response = tokio::spawn(async move { app.handle(request).await });
        stopper.stopped().await;
        (stopper, response)
    }

    /// Returns Lambda's event with the message of the only job that is due.
    pub async fn message_of_due_job(&self) -> Value {
        let items = self.items().await;
        let due = items.values().find(|item| attribute(item, "SK") == "jobDue").unwrap();
        json!({ "Records": [{
            "messageId": "01890a5d-ac96-774b-bcce-b302099a8057",
            "body": json!({ "job": attribute(due, "PK").strip_prefix("job#") }).to_string(),
            "eventSource": "aws:sqs",
            "eventSourceARN": format!("arn:aws:sqs:local:000000000000:{QUEUE}"),
        }] })
    }

    pub fn table(&self) -> Table {
        self.cairn.table_of(&ARCHIVE)
    }

    /// Returns every item by its key.
    pub async fn items(&self) -> BTreeMap<String, Item> {
        let table = self.table();
        table.items().await.into_iter().map(|item| (table.name_of(&item), item)).collect()
    }

    /// Asserts that the rows and counts of categories and collections are those of the collections and posts.
    pub async fn agrees(&self) {
        let items = self.items().await;
        let of = |sk: &'static str| items.values().filter(move |item| attribute(item, "SK") == sk);
        let ids = |sk: &'static str| of(sk).map(|item| attribute(item, "PK")).collect::<Vec<_>>();
        let (mut rows, mut uses) = (Vec::new(), BTreeMap::new());
        for collection in of("collection") {
            for category in collection["categoryIds"].as_l().unwrap() {
                let category = category.as_s().unwrap().clone();
                rows.push(format!("{}#collection_category#{category}", attribute(collection, "PK")));
                *uses.entry(category).or_insert(0) += 1;
            }
        }
        rows.sort();
        let stored: Vec<_> = items.keys().filter(|key| key.contains("#collection_category#")).cloned().collect();
        assert_eq!(stored, rows, "the rows of collections");
        if let Some(counts) = of("categoryUse").next() {
            let expected = ids("category").into_iter().map(|id| (format!("c{id}"), *uses.get(&id).unwrap_or(&0)));
            let expected: BTreeMap<String, u64> = expected.collect();
            let counted = counts.iter().filter(|(name, _)| name.starts_with('c'));
            let counted: BTreeMap<String, u64> =
                counted.map(|(name, count)| (name.clone(), count.as_n().unwrap().parse().unwrap())).collect();
            assert_eq!(counted, expected, "the counts of categories");
            assert_eq!(counts["n"].as_n().unwrap(), &expected.len().to_string());
        }
        assert_eq!(ids("categoryName").len(), ids("category").len(), "a name for each category");
        let mut used: Vec<_> = ids("collectionUse").into_iter().map(|pk| pk.replace("collectionUse#", "")).collect();
        used.sort();
        assert_eq!(used, ids("collection"), "the counts of collections");
        for counts in of("collectionUse") {
            let collection = attribute(counts, "PK").replace("collectionUse#", "");
            let posts = of("post").filter(|post| attribute(post, "GSISK") == collection).count();
            assert_eq!(counts["posts"].as_n().unwrap(), &posts.to_string(), "the posts of {collection}");
        }
    }

    /// Sets the number of published records of a collection.
    pub async fn set_records(&self, collection: &str, records: u64) {
        let table = self.table();
        let mut counts = table.get(&format!("collectionUse#{collection}"), "collectionUse").await.unwrap();
        counts.insert("records".to_owned(), table::item::number(records));
        table.put(counts).await;
    }
}

/// Reads a path until it answers so.
pub async fn until(user: &User, path: &str, done: impl Fn(&Answer) -> bool) -> Answer {
    let end = Instant::now() + Duration::from_secs(sized(60, 900));
    loop {
        let answer = user.get(path).await;
        if done(&answer) {
            return answer;
        }
        assert!(Instant::now() < end, "{}", answer.told());
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}

/// Returns the id in a response.
pub fn id(answer: &Answer) -> String {
    answer.text("id").to_owned()
}

/// Returns an attribute of an item that is a text.
pub fn attribute(item: &Item, name: &str) -> String {
    item[name].as_s().unwrap().clone()
}

/// Returns the texts of one attribute in all pages of a list.
pub async fn listed(user: &User, path: &str, attribute: &str) -> Vec<String> {
    let pages = user.pages(path, 100).await;
    pages.iter().flat_map(|page| page.each(attribute)).map(|value| value.as_str().unwrap().to_owned()).collect()
}
