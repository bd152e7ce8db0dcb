//! Faults of DynamoDB under load and over bad networks.

use table::item::{number, text};
use table::{Action, Changes, Error, Rev};

use crate::proxy::Fault::{Answer, CutAnswer, LostAnswer, Meanwhile};
use crate::proxy::{Faults, open};
use crate::shop::{ALL, Book, SHOP, ShelfKey, book, book_key, calls, stored};

const CONFLICT: &str = r#"{"__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
    "Message": "Transaction cancelled", "CancellationReasons": [{"Code": "None"}, {"Code": "TransactionConflict"}]}"#;
const SINGLE_CONFLICT: &str = r#"{"__type": "com.amazonaws.dynamodb.v20120810#TransactionConflictException",
    "message": "Transaction is ongoing for the item"}"#;
const TOO_FAST: &str = r#"{"__type": "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
    "message": "slow down"}"#;
const IN_PROGRESS: &str = r#"{"__type": "com.amazonaws.dynamodb.v20120810#TransactionInProgressException",
    "Message": "in progress"}"#;
const THROTTLED: &str = r#"{"__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
    "Message": "Transaction cancelled", "CancellationReasons": [{"Code": "ThrottlingError"}, {"Code": "None"}]}"#;

fn create(title: &str) -> Action {
    Action::create(&SHOP, book_key(1), &book(title)).unwrap()
}

fn create_shelf() -> Action {
    Action::create(&SHOP, ShelfKey { room: "east".parse().unwrap() }, &book("")).unwrap()
}

fn lend(to: &str) -> Action {
    Action::update(&SHOP, book_key(1), Changes::new().set("lentTo", text(to)))
}

fn lose(faults: &Faults) {
    assert!(faults.all_happened(), "the last answer was to be lost");
    faults.then(LostAnswer);
}

#[tokio::test]
async fn write_with_a_lost_answer_succeeds_once() {
    let (access, faults) = open().await;
    lose(&faults);
    let created = access.write(&ALL, create("Fern")).await.unwrap();
    assert_eq!(stored(&access).await, (book("Fern"), created));
    lose(&faults);
    let changes = Changes::new().set("lentTo", text("Ann")).add("pages", 1);
    let change = || Action::update(&SHOP, book_key(1), changes.clone());
    let changed = access.write(&ALL, change().if_rev(created)).await.unwrap();
    lose(&faults);
    let counted = access.write(&ALL, change()).await.unwrap();
    assert!(counted > changed);
    assert_eq!(stored(&access).await, (Book { pages: 2, lent_to: Some("Ann".to_owned()), ..book("Fern") }, counted));
    lose(&faults);
    access.write(&ALL, Action::delete(&SHOP, book_key(1)).if_rev(counted)).await.unwrap();
    lose(&faults);
    let together = access.transact(&ALL, &[create("Moss"), create_shelf()]).await.unwrap();
    assert_eq!(stored(&access).await, (book("Moss"), together));
    assert!(faults.all_happened());
}

#[tokio::test]
async fn write_with_a_lost_answer_and_a_refused_retry_succeeds_once() {
    let (access, faults) = open().await;
    lose(&faults);
    faults.then(Answer(400, SINGLE_CONFLICT));
    let created = access.write(&ALL, create("Fern")).await.unwrap();
    assert_eq!(stored(&access).await, (book("Fern"), created));
    lose(&faults);
    for _ in 0..5 {
        faults.then(Answer(400, TOO_FAST));
    }
    let lent = access.write(&ALL, lend("Ann").if_rev(created)).await.unwrap();
    assert_eq!(stored(&access).await.1, lent);
    let count = Action::update(&SHOP, book_key(1), Changes::new().add("pages", 1));
    lose(&faults);
    for _ in 0..5 {
        faults.then(Answer(400, TOO_FAST));
    }
    access.transact(&ALL, &[count, create_shelf()]).await.unwrap();
    assert!(faults.all_happened());
    assert_eq!(stored(&access).await.0.pages, book("").pages + 1);
}

#[tokio::test]
async fn write_with_a_truncated_answer_succeeds_once() {
    let (access, faults) = open().await;
    faults.then(CutAnswer);
    access.write(&ALL, create("Fern")).await.unwrap();
    let count = || Action::update(&SHOP, book_key(1), Changes::new().add("pages", 1));
    faults.then(CutAnswer);
    access.write(&ALL, count()).await.unwrap();
    faults.then(CutAnswer);
    access.transact(&ALL, &[count(), create_shelf()]).await.unwrap();
    assert!(faults.all_happened());
    assert_eq!(stored(&access).await.0.pages, 2);
}

#[tokio::test]
async fn write_with_a_lost_answer_does_not_overwrite_later_writes() {
    let (access, faults) = open().await;
    access.write(&ALL, create("Fern")).await.unwrap();
    let other = access.clone();
    lose(&faults);
    faults.then(Meanwhile(Box::pin(async move {
        other.write(&ALL, lend("Bob")).await.unwrap();
    })));
    let unknown = access.write(&ALL, lend("Ann")).await;
    assert!(matches!(unknown, Err(Error::Engine { .. })), "{unknown:?}");
    assert_eq!(stored(&access).await.0.lent_to.as_deref(), Some("Bob"));
    // The write was carried out, so neither stale nor exists would be right.
    let (read, other) = (stored(&access).await.1, access.clone());
    lose(&faults);
    faults.then(Meanwhile(Box::pin(async move {
        other.write(&ALL, lend("Bob")).await.unwrap();
    })));
    let unknown = access.write(&ALL, lend("Ann").if_rev(read)).await;
    assert!(matches!(unknown, Err(Error::Engine { .. })), "{unknown:?}");
    assert!(faults.all_happened());
}

#[tokio::test]
async fn retried_write_that_was_refused_fails() {
    let (access, faults) = open().await;
    access.write(&ALL, create("Fern")).await.unwrap();
    lose(&faults);
    assert!(matches!(access.write(&ALL, create("Fern")).await, Err(Error::Exists)), "an equal item of another writer");
    lose(&faults);
    let stale = access.write(&ALL, lend("Bob").if_rev(Rev::new(4).unwrap())).await;
    assert!(matches!(stale, Err(Error::Stale { current: Some(_) })));
    assert!(faults.all_happened());
}

#[tokio::test]
async fn counter_with_a_lost_answer_is_not_incremented_twice() {
    let (access, faults) = open().await;
    access.write(&ALL, create("Fern")).await.unwrap();
    let count = || Action::update(&SHOP, book_key(1), Changes::new().add("pages", 1));
    let (other, more) = (access.clone(), count());
    lose(&faults);
    faults.then(Meanwhile(Box::pin(async move {
        other.write(&ALL, more).await.unwrap();
    })));
    let unknown = access.write(&ALL, count()).await;
    assert!(matches!(unknown, Err(Error::Engine { .. })), "{unknown:?}");
    assert!(faults.all_happened());
    assert_eq!(stored(&access).await.0.pages, 2);

    // A transaction is recognised by its token, whatever happened since.
    let (other, more) = (access.clone(), count());
    lose(&faults);
    faults.then(Meanwhile(Box::pin(async move {
        other.write(&ALL, more).await.unwrap();
    })));
    access.transact(&ALL, &[count(), create_shelf()]).await.unwrap();
    assert!(faults.all_happened());
    assert_eq!(stored(&access).await.0.pages, 4);
}

#[tokio::test]
async fn write_after_conflicts_succeeds() {
    let (access, faults) = open().await;
    faults.then(Answer(400, CONFLICT)).then(Answer(400, CONFLICT)).then(Answer(400, THROTTLED));
    access.transact(&ALL, &[create("Fern"), create_shelf()]).await.unwrap();
    faults.then(Answer(400, SINGLE_CONFLICT));
    let rev = access.write(&ALL, lend("Ann")).await.unwrap();
    assert!(faults.all_happened());
    assert_eq!(calls(&access), 4 * 2 + 2, "each attempt is counted");
    let units: f64 = access.performed().iter().map(|calls| calls.write_units).sum();
    assert_eq!(units, 2.0 * 2.0 + 1.0, "refused attempts cost nothing");
    assert_eq!(stored(&access).await.1, rev);
}

#[tokio::test]
async fn transaction_in_progress_is_retried_unchanged() {
    let (access, faults) = open().await;
    faults
        .then(LostAnswer)
        .then(Answer(400, IN_PROGRESS))
        .then(Answer(400, IN_PROGRESS))
        .then(Answer(400, IN_PROGRESS));
    let rev = access.transact(&ALL, &[create("Fern"), create_shelf()]).await.unwrap();
    assert_eq!(stored(&access).await, (book("Fern"), rev));
    assert!(faults.all_happened());
}

#[tokio::test]
async fn endless_conflict_is_an_error() {
    let (access, faults) = open().await;
    for _ in 0..1000 {
        faults.then(Answer(400, CONFLICT));
    }
    let given_up = access.transact(&ALL, &[create("Fern"), create_shelf()]).await;
    assert!(matches!(given_up, Err(Error::Conflict)));
    assert!(calls(&access) >= 20, "{}", calls(&access));
}

#[tokio::test]
async fn unprocessed_keys_are_retried() {
    let (access, faults) = open().await;
    access.write(&ALL, create("Fern")).await.unwrap();
    let table = access.table(&ALL, &SHOP);
    faults.then(Answer(
        200,
        r#"{"Responses": {}, "UnprocessedKeys": {"test-shop":
            {"Keys": [{"pk": {"S": "book::east"}, "sk": {"S": "1"}}]}}}"#,
    ));
    assert!(table.batch_get(&[book_key(1).into()]).await.unwrap()[0].is_some());
    faults.then(Answer(
        200,
        r#"{"UnprocessedItems": {"test-shop":
            [{"DeleteRequest": {"Key": {"pk": {"S": "book::east"}, "sk": {"S": "1"}}}}]}}"#,
    ));
    table.batch_delete(&[book_key(1).into()]).await.unwrap();
    assert_eq!(table.get_consistent(book_key(1)).await.unwrap(), None);
    assert!(faults.all_happened());
}

#[tokio::test]
async fn failing_engine_is_an_engine_error() {
    let (access, faults) = open().await;
    for _ in 0..20 {
        faults.then(Answer(500, "{}"));
    }
    assert!(matches!(access.table(&ALL, &SHOP).get(book_key(1)).await, Err(Error::Engine { engine: "DynamoDB", .. })));
    let refused = Changes::new().set("listPk", number(1));
    let (access, _) = open().await;
    access.write(&ALL, create("Fern")).await.unwrap();
    let refused = access.write(&ALL, Action::update(&SHOP, book_key(1), refused)).await;
    assert!(
        matches!(refused, Err(Error::Engine { engine: "DynamoDB", .. })),
        "an index key of another type: {refused:?}"
    );
}
