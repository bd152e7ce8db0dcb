//! A release raises the mapping of the shelf. Its index is rebuilt beside the old one while people write and search.

pub mod by_functions;
pub mod search_faults;

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use ::mirror::{
    Documents, Fault, Found, Generations, Goal, Image, Mapping, PATIENCE, Phase, Progress, Rebuild, StatusWord, Unfit,
    WithoutShapes, pause_rebuild, resume_rebuild,
};
use ::shelf::books::Book;
use ::shelf::documents::Shelf;
use ::shelf::schema::{BookId, BookKey, SHELF, SYSTEM};
use futures::future::{Either, select};
use local::Served;
use local::identity::Person;
use reqwest::Method;
use serde_json::{Value, json};
use table::schema::{Entity, System};
use table::{Config, Engines, EntityKey};
use tokio::time::Instant;
use web::App;

use crate::harness::stopper::{Met, Stopper};
use crate::harness::table::{Item, Table, stored};
use crate::harness::{Cairn, Setup, User, eventually};
use crate::tests;

tests! { rebuild:
    #[long] raised_mapping_is_rebuilt_while_people_write_and_search,
    #[long] rebuild_killed_at_each_write_resumes,
    #[long] paused_rebuild_can_be_cancelled,
    #[long] rolled_back_index_serves_again,
    lost_index_is_replaced,
    #[long] lost_domain_with_a_kept_index_is_replaced,
    #[long] deleted_index_that_replaces_another_is_cancelled_and_filled_again,
}

/// The documents of the shelf after a release that also finds books by their author.
#[derive(Clone, Copy, Debug, Default)]
struct Raised;

impl Documents for Raised {
    fn tables(&self) -> &'static System {
        &SYSTEM
    }

    fn mapping(&self) -> Mapping {
        Mapping {
            version: 2,
            body: r#"{
                "settings": { "index": { "number_of_shards": 1, "auto_expand_replicas": "0-1", "refresh_interval": "200ms" } },
                "mappings": { "properties": {
                    "title": { "type": "text", "norms": false },
                    "author": { "type": "keyword" }
                } }
            }"#,
        }
    }

    fn document(&self, entity: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit> {
        let mut found = Shelf.document(entity, image)?;
        if let Found::Document(document) = &mut found {
            document.keyword("author", &*image.text("author")?);
        }
        Ok(found)
    }

    fn previous_mapping(&self) -> Option<Mapping> {
        Some(Shelf.mapping())
    }

    fn previous_document(&self, entity: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit> {
        Shelf.document(entity, image)
    }
}

impl WithoutShapes for Raised {}

/// The longest time that an invocation of the mirror takes, and how long a rebuild waits for it.
const TIMEOUT: Duration = Duration::from_secs(2);
const WAIT: Duration = Duration::from_millis(2_100);

/// How long a difference must last in the audit of the new index.
const AUDIT_WAIT: Duration = Duration::from_secs(1);

const BOOKS: usize = 300;

fn app(engines: Arc<Engines>) -> App {
    let routes = ::shelf::books::routes().into_iter().collect();
    App::new(engines, &SYSTEM, routes, ::mirror::handlers::<Raised>().into_iter().collect())
}

/// A platform of the raised release, with the index that the release before has created.
struct Stage {
    cairn: Cairn,
    reader: User,
    alias: String,
}

impl Stage {
    async fn new() -> Self {
        Self::on(None).await
    }

    /// Starts a platform on this search engine, or on the one that all tests share.
    async fn on(search: Option<String>) -> Self {
        // The platform's start creates the index as the release before did.
        let served = Served { rebuild: ::mirror::rebuild::<Shelf>, ..Served::of::<Raised>(&SYSTEM, app) };
        let cairn =
            Cairn::with(Setup { systems: vec![served], search, mirror_timeout: Some(TIMEOUT), ..Setup::of("shelf") })
                .await;
        let reader = cairn.person("reader", Person::new("rex")).await;
        let alias = cairn.engines().config.search_name("shelf");
        let stage = Self { cairn, reader, alias };
        stage.table().put_all((0..BOOKS).map(|number| book(&format!("Keeper {number}"))).collect()).await;
        stage.cairn.caught_up().await;
        stage
    }

    fn table(&self) -> Table {
        self.cairn.table_of(&SHELF)
    }

    fn order(goal: Goal) -> Rebuild {
        Rebuild {
            goal,
            begins: goal == Goal::Serve,
            replaces: false,
            wait: WAIT,
            accepts_quarantine: false,
            audit: Some(AUDIT_WAIT),
            patience: PATIENCE,
        }
    }

    async fn carry_out(&self, order: Rebuild) -> Generations {
        self.try_to_carry_out(order).await.unwrap()
    }

    async fn try_to_carry_out(&self, order: Rebuild) -> Result<Generations, Fault> {
        ::mirror::rebuild::<Raised>(Arc::clone(self.cairn.engines()), order, Box::new(|_| ())).await
    }

    /// Carries out an order until a step was made, and stops it.
    async fn stop_at(&self, order: Rebuild, last: Progress) {
        let made = Arc::new(tokio::sync::Notify::new());
        let notify = Arc::clone(&made);
        let on_step = Box::new(move |step| {
            if step == last {
                notify.notify_one();
            }
        });
        tokio::select! {
            ended = ::mirror::rebuild::<Raised>(Arc::clone(self.cairn.engines()), order, on_step) => panic!("{ended:?}"),
            () = made.notified() => {}
        }
    }

    async fn delete_index(&self, number: u32) {
        let index = format!("/{}-{number:06}", self.alias);
        self.cairn.search_engine(Method::DELETE, &index, &Value::Null).await;
    }

    async fn state(&self) -> Generations {
        ::mirror::generations(&SYSTEM, self.cairn.engines()).await.unwrap().unwrap()
    }

    /// Adds a book over HTTP, and creates and deletes another one in the table. Returns the number of writes.
    async fn write(&self) -> usize {
        let new = json!({ "title": "Written", "author": "Bob Field" });
        self.reader.post("/shelf/books", new).await.is(201);
        let (table, passing) = (self.table(), book("Passing"));
        table.put(passing.clone()).await;
        table.delete_item(&passing).await;
        3
    }

    /// Returns the indexes with their phases.
    async fn phases(&self) -> Vec<(u32, &'static str)> {
        phases(&self.state().await)
    }

    /// Returns the documents that readers find, by their ids.
    async fn visible(&self) -> BTreeMap<String, Value> {
        let body = json!({ "size": 10_000, "query": { "match_all": {} } });
        let found = self.cairn.search_engine(Method::POST, &format!("/{}/_search", self.alias), &body).await;
        let hits = found["hits"]["hits"].as_array().unwrap();
        hits.iter().map(|hit| (hit["_id"].as_str().unwrap().to_owned(), hit["_source"].clone())).collect()
    }

    /// Asserts that readers find exactly the items of the table, with or without their authors.
    async fn shows_the_table(&self, with_authors: bool) {
        self.cairn.caught_up().await;
        let mut wanted = BTreeMap::new();
        for item in self.table().items().await.iter().filter(|item| item.contains_key("title")) {
            let text = |name: &str| item[name].as_s().unwrap().clone();
            wanted.insert(self.table().name_of(item), (text("title"), with_authors.then(|| text("author"))));
        }
        let shown = self.visible().await.into_iter().map(|(id, document)| {
            let author = document["author"].as_str().map(str::to_owned);
            (id, (document["title"].as_str().unwrap().to_owned(), author))
        });
        let shown: BTreeMap<_, _> = shown.collect();
        assert_eq!(shown.len(), wanted.len());
        assert_eq!(shown, wanted);
        assert_eq!(self.cairn.quarantined_of(&SYSTEM).await, []);
    }

    async fn exists(&self, number: u32) -> bool {
        let found = self.cairn.search_engine(Method::GET, &format!("/{}-*/_alias", self.alias), &Value::Null).await;
        found.as_object().unwrap().contains_key(&format!("{}-{number:06}", self.alias))
    }
}

fn phases(state: &Generations) -> Vec<(u32, &'static str)> {
    let number = |index: &str| index.rsplit_once('-').unwrap().1.parse().unwrap();
    state.written.iter().map(|generation| (number(&generation.index), generation.phase.name())).collect()
}

fn book(title: &str) -> Item {
    let book = Book { id: BookId::new(), title: title.to_owned(), author: "Ann Field".to_owned() };
    stored(&SHELF, &BookKey { book: book.id }.key(), &book)
}

/// Adds books over HTTP, and creates and deletes others in the table, until the rebuild has ended. Counts the writes.
async fn write(stage: &Stage, ended: &AtomicBool, writes: &AtomicUsize) {
    while !ended.load(Ordering::SeqCst) {
        writes.fetch_add(stage.write().await, Ordering::SeqCst);
    }
}

/// Adds books one after the other until the rebuild has ended, and searches for each until it is found. Returns the
/// longest time that one took.
async fn lag(stage: &Stage, ended: &AtomicBool) -> Duration {
    let mut longest = Duration::ZERO;
    let mut number = 0;
    while !ended.load(Ordering::SeqCst) {
        number += 1;
        let word = format!("lag{number}");
        stage.reader.post("/shelf/books", json!({ "title": word, "author": "Bob Field" })).await.is(201);
        let began = Instant::now();
        let path = format!("/shelf/books?q={word}");
        // Search forgives typos, so it also finds others.
        let is_found = async || stage.reader.get(&path).await.is(200).each("title").contains(&&json!(word));
        eventually(&path, is_found).await;
        longest = longest.max(began.elapsed());
    }
    longest
}

/// Searches until the rebuild has ended. Each search must succeed and find every book. Returns the number of searches.
async fn read(stage: &Stage, ended: &AtomicBool) -> usize {
    let mut searches = 0;
    while !ended.load(Ordering::SeqCst) {
        let found = stage.reader.get("/shelf/books?q=keeper&limit=100").await.is(200);
        assert_eq!(found.each("title").len(), 100);
        let body = json!({ "size": 0, "track_total_hits": true, "query": { "match": { "title": "keeper" } } });
        let count = stage.cairn.search_engine(Method::POST, &format!("/{}/_search", stage.alias), &body).await;
        assert_eq!(count["hits"]["total"]["value"], json!(BOOKS));
        let gone = json!({ "size": 0, "query": { "match": { "title": "gone" } } });
        let gone = stage.cairn.search_engine(Method::POST, &format!("/{}/_search", stage.alias), &gone).await;
        assert_eq!(gone["hits"]["total"]["value"], json!(0));
        searches += 1;
    }
    searches
}

async fn raised_mapping_is_rebuilt_while_people_write_and_search() {
    let stage = Stage::new().await;
    let gone = book("Gone");
    stage.table().put(gone.clone()).await;
    stage.cairn.caught_up().await;
    stage.table().delete_item(&gone).await;
    stage.shows_the_table(false).await;

    let (ended, writes) = (AtomicBool::new(false), AtomicUsize::new(0));
    // So long that a mirror which stands still meanwhile is told from a slow machine.
    let wait = Duration::from_secs(10);
    let rebuilt = async {
        let state = stage.carry_out(Rebuild { wait, ..Stage::order(Goal::Serve) }).await;
        assert_eq!(phases(&state), [(1, "kept"), (2, "serving")]);
        // Both are written for a while.
        let before = writes.load(Ordering::SeqCst);
        eventually("more is written", async || writes.load(Ordering::SeqCst) > before + 60).await;
        let state = stage.carry_out(Stage::order(Goal::Finish)).await;
        ended.store(true, Ordering::SeqCst);
        state
    };
    let began = Instant::now();
    let (state, (), (), lag, searches) = tokio::join!(
        rebuilt,
        write(&stage, &ended, &writes),
        write(&stage, &ended, &writes),
        lag(&stage, &ended),
        read(&stage, &ended)
    );
    let (writes, time) = (writes.load(Ordering::SeqCst), began.elapsed());
    println!("{writes} writes and {searches} searches in {time:?}, of which the rebuild waited for {wait:?}");
    assert!(lag < wait / 2, "a write was found after {lag:?}");
    assert!(writes > 60 && searches > 3, "{writes} writes, {searches} searches");
    assert_eq!((phases(&state), state.dropping.len()), (vec![(2, "serving")], 0));
    assert_eq!(state.of(Phase::Serving).unwrap().mapping, 2);
    stage.shows_the_table(true).await;
    assert!(!stage.exists(1).await);
    let status = ::mirror::status(&SYSTEM, stage.cairn.engines(), 2).await.unwrap();
    assert_eq!((status.word, status.given_up), (StatusWord::Ok, 0), "{status:?}");
}

/// The run is killed at each write, once before it is sent and once after it was carried out.
async fn rebuild_killed_at_each_write_resumes() {
    let stage = Stage::new().await;
    let config = stage.cairn.engines().config.clone();
    // Each change of the config item raises its epoch, and within one a run writes each item of its progress.
    let mut met: BTreeMap<u64, Met> = BTreeMap::new();
    let mut killed = 0;
    for goal in [Goal::Serve, Goal::Finish] {
        loop {
            let state = stage.state().await;
            let met = met.entry(state.epoch).or_insert_with(|| Met::new(|_| false));
            let stopper = Stopper::at_unmet(met, config.dynamodb.clone().unwrap()).await;
            let engines = Config { dynamodb: Some(stopper.url.clone()), ..config.clone() };
            let engines = Engines::new(engines, stage.cairn.clock.clone());
            // A run that was killed after the last write has nothing left to do.
            let begins = goal == Goal::Serve && state.last == 1;
            let order = Rebuild { begins, ..Stage::order(goal) };
            let rebuilding = ::mirror::rebuild::<Raised>(engines, order, Box::new(|_| ()));
            match select(rebuilding, pin!(stopper.stopped())).await {
                Either::Left((state, _)) => {
                    state.unwrap();
                    break;
                }
                Either::Right(_) => killed += 1,
            }
            // Readers find everything at each step.
            let found = stage.reader.get("/shelf/books?q=keeper&limit=100").await.is(200);
            assert_eq!(found.each("title").len(), 100, "killed {killed} times");
        }
    }
    assert!(killed > 8, "{killed}");
    // The run that was killed before it published its index has left that one.
    assert_eq!(stage.phases().await, [(3, "serving")]);
    stage.shows_the_table(true).await;
    assert!(!stage.exists(1).await && !stage.exists(2).await);
}

async fn paused_rebuild_can_be_cancelled() {
    let stage = Stage::new().await;
    let engines = Arc::clone(stage.cairn.engines());
    let published = Arc::new(tokio::sync::Notify::new());
    let notify = Arc::clone(&published);
    let on_step = Box::new(move |step| {
        if step == Progress::Published {
            notify.notify_one();
        }
    });
    // The operator pauses the rebuild before the new index is filled.
    let rebuilding = ::mirror::rebuild::<Raised>(Arc::clone(&engines), Stage::order(Goal::Serve), on_step);
    let pause = async {
        published.notified().await;
        pause_rebuild(&SYSTEM, &engines).await
    };
    let (stopped, paused) = tokio::join!(rebuilding, pause);
    let stopped = stopped.unwrap_err().to_string();
    assert!(stopped.contains("the rebuild is paused: resume or cancel it"), "{stopped}");
    let paused = paused.unwrap();
    assert_eq!((paused.rebuild_paused, phases(&paused)), (true, vec![(1, "serving"), (2, "published")]));
    // Both indexes are written.
    stage.table().put(book("During the pause")).await;
    stage.shows_the_table(false).await;
    stage.carry_out(Stage::order(Goal::Cancel)).await;
    assert_eq!(stage.phases().await, [(1, "serving")]);
    assert!(!stage.exists(2).await);
    stage.shows_the_table(false).await;

    let is_resumed = resume_rebuild(&SYSTEM, &engines, Rebuild::WITHOUT_WAIT).await.unwrap();
    assert!(!is_resumed, "a cancelled rebuild is not paused");
    assert_eq!(phases(&stage.carry_out(Stage::order(Goal::Serve)).await), [(1, "kept"), (3, "serving")]);
    stage.shows_the_table(true).await;
}

async fn rolled_back_index_serves_again() {
    let stage = Stage::new().await;
    assert_eq!(phases(&stage.carry_out(Stage::order(Goal::Serve)).await), [(1, "kept"), (2, "serving")]);
    stage.shows_the_table(true).await;
    assert_eq!(phases(&stage.carry_out(Stage::order(Goal::RollBack)).await), [(1, "serving"), (2, "kept")]);
    stage.table().put(book("After the rollback")).await;
    stage.shows_the_table(false).await;
    let engines = Arc::clone(stage.cairn.engines());
    let refused = ::mirror::rebuild::<Raised>(engines, Stage::order(Goal::Finish), Box::new(|_| ())).await;
    assert!(refused.unwrap_err().to_string().contains("does not serve"));
    // The new index was written, too.
    assert_eq!(phases(&stage.carry_out(Stage::order(Goal::Serve)).await), [(1, "kept"), (2, "serving")]);
    stage.shows_the_table(true).await;
    stage.carry_out(Stage::order(Goal::Finish)).await;
    assert_eq!(stage.phases().await, [(2, "serving")]);
    stage.shows_the_table(true).await;
}

async fn lost_index_is_replaced() {
    let stage = Stage::new().await;
    stage.delete_index(1).await;
    // The mirror reports it.
    stage.table().put(book("Later")).await;
    let state = stage.carry_out(Rebuild { replaces: true, ..Stage::order(Goal::Serve) }).await;
    assert_eq!((phases(&state), state.dropping.len()), (vec![(2, "serving")], 0));
    stage.shows_the_table(true).await;
}

async fn lost_domain_with_a_kept_index_is_replaced() {
    let stage = Stage::new().await;
    assert_eq!(phases(&stage.carry_out(Stage::order(Goal::Serve)).await), [(1, "kept"), (2, "serving")]);
    for number in 1..=2 {
        stage.delete_index(number).await;
    }
    let state = stage.carry_out(Rebuild { replaces: true, ..Stage::order(Goal::Serve) }).await;
    assert_eq!((phases(&state), state.dropping.len()), (vec![(3, "serving")], 0));
    stage.shows_the_table(true).await;
}

async fn deleted_index_that_replaces_another_is_cancelled_and_filled_again() {
    let stage = Stage::new().await;
    let replacing = Rebuild { replaces: true, ..Stage::order(Goal::Serve) };
    stage.delete_index(1).await;
    stage.stop_at(replacing, Progress::Published).await;
    stage.delete_index(2).await;
    stage.table().put(book("While nothing is written")).await;
    let refused = stage.try_to_carry_out(Stage::order(Goal::Serve)).await.unwrap_err().to_string();
    assert!(refused.ends_with("-000002 was deleted: cancel the rebuild and start it again"), "{refused}");
    assert_eq!(phases(&stage.carry_out(Stage::order(Goal::Cancel)).await), []);
    let status = ::mirror::status(&SYSTEM, stage.cairn.engines(), 2).await.unwrap();
    assert_eq!(status.word, StatusWord::Unindexed, "{status:?}");
    let state = stage.carry_out(Stage::order(Goal::Serve)).await;
    assert_eq!((phases(&state), state.dropping.len()), (vec![(3, "serving")], 0));
    stage.shows_the_table(true).await;
}
