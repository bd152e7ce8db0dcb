//! A release writes documents of one kind of items that search refuses, and the next one writes them right.

use std::sync::Arc;

use ::mirror::{Documents, Found, HANDLER, Image, Mapping, Unfit, WithoutShapes};
use ::shelf::books::Book;
use ::shelf::documents::Shelf;
use ::shelf::schema::{BookId, BookKey, SHELF, SYSTEM};
use local::Served;
use reqwest::Method;
use serde_json::{Value, json};
use table::schema::{Entity, System};
use table::{Engines, EntityKey};
use tokio::time::Instant;
use web::App;

use crate::harness::table::{Item, stored};
use crate::harness::{Cairn, Setup, seed, sized};

/// The documents of a release that adds a field to those of one author, which the mapping does not have.
#[derive(Clone, Copy, Debug, Default)]
struct Faulty;

impl Documents for Faulty {
    fn tables(&self) -> &'static System {
        Shelf.tables()
    }

    fn mapping(&self) -> Mapping {
        Shelf.mapping()
    }

    fn document(&self, entity: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit> {
        let mut found = Shelf.document(entity, image)?;
        if let Found::Document(document) = &mut found
            && image.text("author")? == REFUSED
        {
            document.keyword("shelf", "upper");
        }
        Ok(found)
    }
}

impl WithoutShapes for Faulty {}

/// The author whose books are refused, and one whose books are not.
const REFUSED: &str = "Ann Field";
const INDEXED: &str = "Bob Field";

/// The number of records in one batch, and how many of them are not refused.
const BATCH: usize = 1000;
const INDEXED_OF_BATCH: usize = 100;

fn app(engines: Arc<Engines>) -> App {
    let routes = ::shelf::books::routes().into_iter().collect();
    App::new(engines, &SYSTEM, routes, ::mirror::handlers::<Faulty>().into_iter().collect())
}

fn book(title: &str, author: &str) -> Item {
    let book = Book { id: BookId::new(), title: title.to_owned(), author: author.to_owned() };
    stored(&SHELF, &BookKey { book: book.id }.key(), &book)
}

/// Returns the number of books that readers find.
async fn found(cairn: &Cairn) -> usize {
    let alias = cairn.engines().config.search_name("shelf");
    cairn.search_engine(Method::POST, &format!("/{alias}/_refresh"), &Value::Null).await;
    let count = cairn.search_engine(Method::POST, &format!("/{alias}/_count"), &Value::Null).await;
    count["count"].as_u64().unwrap().try_into().unwrap()
}

pub(super) async fn refused_items_delay_no_others_and_are_redriven_after_the_next_release() {
    let refused: usize = sized(200, 100_000);
    let served = Served { rebuild: ::mirror::rebuild::<Shelf>, ..Served::of::<Faulty>(&SYSTEM, app) };
    // The test delivers the records itself, to see after each batch what search has.
    let cairn = Cairn::with(Setup { systems: vec![served], without: vec![HANDLER], ..Setup::of("shelf") }).await;
    let table = cairn.table_of(&SHELF);
    let (mut written, mut indexed, mut random) = (0, 0, seed::random("flood"));
    let began = Instant::now();
    while written < refused {
        let wrong = (refused - written).min(BATCH - INDEXED_OF_BATCH);
        let right = (0..INDEXED_OF_BATCH).map(|_| book("Right", INDEXED));
        let mut items: Vec<_> = (0..wrong).map(|_| book("Wrong", REFUSED)).chain(right).collect();
        random.shuffle(&mut items);
        (written, indexed) = (written + wrong, indexed + INDEXED_OF_BATCH);
        let records: Vec<_> = items.iter().enumerate().map(|(at, item)| table.insert_record(item, at)).collect();
        table.put_all(items).await;
        let handled = cairn.event("shelf", HANDLER, &json!({ "Records": records })).await;
        assert_eq!(handled, Ok(json!({ "batchItemFailures": [] })), "after {written}");
        assert_eq!(found(&cairn).await, indexed, "after {written}");
    }
    println!("{written} items in quarantine and {indexed} indexed in {:?}", began.elapsed());
    assert_eq!(::mirror::quarantined(&SYSTEM, cairn.engines()).await.unwrap().len(), refused);

    // The command is of the next release.
    let began = Instant::now();
    let redriven = cairn.command(&["redrive", "shelf", "--json"]).await.json(0);
    println!("redriven in {:?}", began.elapsed());
    assert_eq!((&redriven["keys"], &redriven["repairs"]["written"]), (&json!(refused), &json!(refused)), "{redriven}");
    assert_eq!(::mirror::quarantined(&SYSTEM, cairn.engines()).await.unwrap(), []);
    assert_eq!(found(&cairn).await, indexed + refused);
    let audited = cairn.command(&["audit", "shelf", "--wait", "0"]).await.exited(0);
    assert!(audited.contains(&format!("{} documents, equal", indexed + refused)), "{audited}");
}
