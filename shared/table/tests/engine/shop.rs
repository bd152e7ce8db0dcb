//! A made-up system: shelves and books, with an engine of its own for each test.

use std::sync::Arc;

use dynoxide::Database;
use serde::{Deserialize, Serialize};
use table::access::TableAction;
use table::schema::{Entity, Index, Projection, System, Table};
use table::{Access, AccessPattern, Call, Clock, Config, Engines, Escaped, Number, Rev, create_tables};
use tokio::net::TcpListener;

table::key! {
    pub struct ShelfKey { room: Escaped }
    pk "shelf"
    sk "{room}"
}

table::key! {
    pub struct BookKey { room: Escaped, number: Number }
    pk "book::{room}"
    sk "{number}"
}

table::key! {
    pub struct SequenceKey { room: Escaped }
    pk "counter::{room}"
    sk "sequence"
}

table::key! {
    pub struct VisitKey { visitor: Escaped }
    pk "VISIT#{visitor}"
}

pub static SYSTEM: System =
    System { name: "shop", tables: &[&SHOP, &VISITS], buckets: &[], secrets: &[], sources: &[] };

pub static SHOP: Table = Table {
    name: "shop",
    pk: "pk",
    sk: Some("sk"),
    indexes: &[Index { name: "list", pk: "listPk", sk: Some("listSk"), projection: Projection::KeysOnly }],
    entities: &[
        Entity::document::<ShelfKey>("shelf"),
        Entity::document::<BookKey>("book"),
        Entity::never::<SequenceKey>("sequence"),
    ],
    stream: true,
};

/// Keys in capitals, and no sort key.
pub static VISITS: Table = Table {
    name: "visits",
    pk: "PK",
    sk: None,
    indexes: &[],
    entities: &[Entity::never::<VisitKey>("visit")],
    stream: false,
};

/// All calls of the tests, on both tables.
pub static ALL: AccessPattern = AccessPattern {
    name: "all",
    calls: &[
        on_shop(TableAction::GetItem),
        on_shop(TableAction::BatchGetItem),
        on_shop(TableAction::BatchWriteItem),
        on_shop(TableAction::Query),
        on_shop(TableAction::PutItem),
        on_shop(TableAction::UpdateItem),
        on_shop(TableAction::DeleteItem),
        on_shop(TableAction::ConditionCheckItem),
        Call::Index { table: "shop", index: "list" },
        Call::Table { table: "visits", action: TableAction::GetItem },
        Call::Table { table: "visits", action: TableAction::PutItem },
        Call::Table { table: "visits", action: TableAction::UpdateItem },
    ],
};

const fn on_shop(action: TableAction) -> Call {
    Call::Table { table: "shop", action }
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Book {
    pub title: String,
    pub pages: u32,
    pub lent_to: Option<String>,
    pub list_pk: Option<String>,
    pub list_sk: Option<String>,
    pub expires: Option<i64>,
}

pub fn book(title: &str) -> Book {
    Book { title: title.to_owned(), ..Book::default() }
}

pub fn book_key(number: u64) -> BookKey {
    BookKey { room: Escaped::new("east").unwrap(), number: Number(number) }
}

/// Starts an empty engine with the system's tables, and returns an access to it.
pub async fn open() -> Access {
    access_at(&engine().await).await
}

/// Starts an engine without tables, and returns its endpoint.
pub async fn engine() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(dynoxide::server::serve_on(listener, Database::memory().unwrap()));
    endpoint
}

static GRANTED: &[&AccessPattern] = &[&ALL];

pub async fn access_at(endpoint: &str) -> Access {
    let access = Access::new(engines(endpoint), GRANTED);
    create_tables(access.engines().dynamodb(), &access.engines().config, &SYSTEM).await.unwrap();
    access
}

/// Returns the access of another request to the same engines.
pub fn again(access: &Access) -> Access {
    Access::new(access.engines().clone(), GRANTED)
}

/// Returns the number of calls.
pub fn calls(access: &Access) -> u64 {
    access.performed().iter().map(|performed| performed.times).sum()
}

pub fn engines(dynamodb: &str) -> Arc<Engines> {
    let config = Config {
        prefix: "test-".to_owned(),
        dynamodb: Some(dynamodb.to_owned()),
        credentials: Some(("local".to_owned(), "local".to_owned())),
        cursor_secrets: vec!["a secret of the tests".to_owned()],
        ..Config::new("ca-central-1", "http://127.0.0.1:1")
    };
    Engines::new(config, Clock::system())
}

/// Reads book 1.
pub async fn stored(access: &Access) -> (Book, Rev) {
    let stored = access.table(&ALL, &SHOP).get_consistent(book_key(1)).await.unwrap().unwrap();
    (stored.read().unwrap(), stored.rev.unwrap())
}
