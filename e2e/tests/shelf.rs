//! The shelf over HTTP: books are added, listed, found and cleared.

pub mod costs;

use std::time::Duration;

use ::shelf::books::Book;
use ::shelf::schema::{BookId, BookKey, SHELF};
use local::identity::Person;
use serde_json::{Value, json};
use table::{Config, Engines, EntityKey};
use tokio::time::Instant;

use crate::harness::stopper::{Moment, Stopper, WRITES};
use crate::harness::table::stored;
use crate::harness::{Answer, Cairn, Setup, User};
use crate::tests;

tests! { shelf:
    added_book_is_read_listed_and_found_by_its_title,
    book_without_a_title_is_refused,
    cleared_books_are_not_found,
    #[long] clearing_killed_at_each_write_deletes_earlier_books_and_no_later_one,
}

/// Longer than the lease of a worker that has died.
const LEASE: Duration = Duration::from_secs(121);

/// Books that a worker deletes in two steps.
const BOOKS: usize = 120;

/// A platform with a reader and a librarian.
struct Shelf {
    cairn: Cairn,
    reader: User,
    librarian: User,
}

impl Shelf {
    async fn new() -> Self {
        let cairn = Cairn::with(Setup::of("shelf")).await;
        let reader = cairn.person("reader", Person::new("rex")).await;
        let librarian = cairn.person("librarian", Person { roles: &["librarian"], ..Person::new("lib") }).await;
        Self { cairn, reader, librarian }
    }

    async fn add(&self, title: &str) -> Answer {
        self.reader.post("/shelf/books", new(title)).await.is(201)
    }

    /// Writes many books into the table.
    async fn fill(&self) {
        let book = |number| Book { id: BookId::new(), title: format!("Book {number}"), author: "Ann Field".to_owned() };
        let item = |book: Book| stored(&SHELF, &BookKey { book: book.id }.key(), &book);
        self.cairn.table_of(&SHELF).put_all((0..BOOKS).map(book).map(item).collect()).await;
    }

    async fn titles(&self, query: &str) -> Vec<Value> {
        self.cairn.caught_up().await;
        let pages = self.reader.pages(&format!("/shelf/books?{query}"), 100).await;
        pages.iter().flat_map(|page| page.each("title").into_iter().cloned().collect::<Vec<_>>()).collect()
    }

    /// Waits until the platform's worker has ended a job.
    async fn ended(&self, job: &str) -> Answer {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let read = self.librarian.get(job).await.is(200);
            if !["queued", "running"].contains(&read.text("status")) {
                return read;
            }
            assert_eq!(read.header("retry-after"), "1");
            assert!(Instant::now() < end, "{}", read.told());
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
    }

    /// Works on the due jobs, as a worker that dies at this write. Returns the number of writes.
    async fn work(&self, dies: Option<(usize, Moment)>) -> usize {
        let config = self.cairn.engines().config.clone();
        let stopper = Stopper::of(WRITES, config.dynamodb.clone().unwrap(), dies).await;
        let config = Config { dynamodb: Some(stopper.url.clone()), ..config };
        let app = ::shelf::app(Engines::new(config, self.cairn.clock.clone())).metrics_to(|_| {});
        let deadline = Instant::now() + Duration::from_secs(60);
        tokio::select! {
            done = app.event(::jobs::RUN_JOBS, "{}".into(), deadline) => drop(done.unwrap()),
            () = stopper.stopped() => {}
        }
        stopper.writes()
    }
}

fn new(title: &str) -> Value {
    json!({ "title": title, "author": "Ann Field" })
}

async fn added_book_is_read_listed_and_found_by_its_title() {
    let shelf = Shelf::new().await;
    let moss = shelf.reader.post("/shelf/books", new("A Field Guide to Moss")).once("moss").await.is(201);
    let again = shelf.reader.post("/shelf/books", new("A Field Guide to Moss")).once("moss").await.is(201);
    assert_eq!(moss.body, again.body);
    shelf.add("Ferns of the Coast").await;
    assert_eq!(shelf.reader.get(moss.header("location")).await.is(200).body, moss.body);
    assert_eq!(shelf.titles("").await, ["Ferns of the Coast", "A Field Guide to Moss"]);
    assert_eq!(shelf.titles("q=guide+mos").await, ["A Field Guide to Moss"]);
    assert_eq!(shelf.titles("q=fearns").await, ["Ferns of the Coast"]);
    assert_eq!(shelf.titles("q=moon").await, Vec::<Value>::new());
}

async fn book_without_a_title_is_refused() {
    let shelf = Shelf::new().await;
    let refused = shelf.reader.post("/shelf/books", json!({ "title": " ", "pages": 3 })).await;
    refused.faulty(&["/title", "/author", "/pages"]);
    let unreadable = json!({ "title": "\u{200b}", "author": "Ann\u{7} Field" });
    shelf.reader.post("/shelf/books", unreadable).await.faulty(&["/title", "/author"]);
    shelf.reader.get("/shelf/books?q=--").await.faulty(&["q"]);
}

async fn cleared_books_are_not_found() {
    let shelf = Shelf::new().await;
    shelf.add("Moss").await;
    shelf.reader.delete("/shelf/books").await.refused(403, "forbidden");
    let accepted = shelf.librarian.delete("/shelf/books").await.is(202);
    let job = shelf.ended(accepted.header("location")).await;
    assert_eq!((job.text("status"), &job["counts"]["done"]), ("succeeded", &json!(1)));
    assert_eq!((shelf.titles("").await, shelf.titles("q=moss").await), (Vec::new(), Vec::new()));
}

async fn clearing_killed_at_each_write_deletes_earlier_books_and_no_later_one() {
    let shelf = Shelf::new().await;
    shelf.cairn.engines().wind_down();
    let clear = async |dies: Option<(usize, Moment)>| {
        shelf.fill().await;
        let job = shelf.librarian.delete("/shelf/books").await.is(202);
        let later = shelf.add("Later").await;
        let writes = shelf.work(dies).await;
        if dies.is_some() {
            shelf.cairn.clock.advance(LEASE);
            shelf.work(None).await;
        }
        assert_eq!(shelf.titles("").await, ["Later"], "{dies:?}");
        assert_eq!(shelf.librarian.get(job.header("location")).await.is(200).text("status"), "succeeded", "{dies:?}");
        let table = shelf.cairn.table_of(&SHELF);
        table.delete_item(&table.get(BookKey::PK, later.text("id")).await.unwrap()).await;
        writes
    };
    let writes = clear(None).await;
    assert!(writes > BOOKS / 25, "{writes}");
    for held in 0..writes {
        for moment in Moment::BOTH {
            assert_eq!(clear(Some((held, moment))).await, held + 1, "{moment:?}");
        }
    }
}
