use std::time::Duration;

use table::{Access, Action, Cause, Error, Escaped, FirstAnswer, Idempotency, Rev};

use crate::proxy::{self, Fault};
use crate::shop::{ALL, SHOP, VISITS, VisitKey, book, book_key, open};

fn request(key: &str, fingerprint: &str) -> Idempotency {
    Idempotency {
        caller: "local:ann".to_owned(),
        operation: "createBook",
        key: key.to_owned(),
        fingerprint: fingerprint.to_owned(),
    }
}

fn answer(number: u64) -> FirstAnswer {
    FirstAnswer { status: 201, location: Some(format!("/books/{number}")), body: format!(r#"{{"number":{number}}}"#) }
}

/// Creates a book as a handler does.
async fn create(access: &Access, request: &Idempotency, number: u64) -> Result<(Rev, FirstAnswer), Error> {
    let actions = vec![Action::create(&SHOP, book_key(number), &book("Fern")).unwrap()];
    access.transact_once(&ALL, &SHOP, Some(request), actions, answer(number)).await
}

async fn books(access: &Access) -> usize {
    access.table(&ALL, &SHOP).query("book::east").consistent().all().await.unwrap().len()
}

#[tokio::test]
async fn repeated_request_gets_the_first_answer() {
    let access = open().await;
    let first = create(&access, &request("a", "1"), 1).await.unwrap();
    assert_eq!(first.1, answer(1));
    assert_eq!(create(&access, &request("a", "1"), 2).await.unwrap(), first);
    // Also if the transaction itself would fail now.
    assert_eq!(create(&access, &request("a", "1"), 1).await.unwrap(), first);
    let stored = access.table(&ALL, &SHOP).get_consistent(book_key(1)).await.unwrap().unwrap();
    assert_eq!((books(&access).await, stored.rev), (1, Some(first.0)));
    assert_eq!(request("a", "1").earlier(&access, &ALL, &SHOP).await.unwrap(), Some(first));
    assert_eq!(request("b", "1").earlier(&access, &ALL, &SHOP).await.unwrap(), None);
}

#[tokio::test]
async fn different_request_under_a_used_key_is_refused() {
    let access = open().await;
    create(&access, &request("a", "1"), 1).await.unwrap();
    assert!(matches!(create(&access, &request("a", "2"), 2).await, Err(Error::KeyReused)));
    assert!(matches!(request("a", "2").earlier(&access, &ALL, &SHOP).await, Err(Error::KeyReused)));
    // Keys of other callers and operations are independent.
    create(&access, &Idempotency { caller: "local:bob".to_owned(), ..request("a", "2") }, 2).await.unwrap();
    create(&access, &Idempotency { operation: "createShelf", ..request("a", "2") }, 3).await.unwrap();
    create(&access, &request("b", "2"), 4).await.unwrap();
    assert_eq!(books(&access).await, 4);
}

#[tokio::test]
async fn failed_request_can_be_repeated() {
    let access = open().await;
    create(&access, &request("a", "1"), 1).await.unwrap();
    let error = create(&access, &request("b", "1"), 1).await.unwrap_err();
    assert_eq!(error.failed(0).unwrap().cause, Cause::Exists);
    assert_eq!(create(&access, &request("b", "1"), 2).await.unwrap().1, answer(2));
}

#[tokio::test]
async fn concurrent_repetitions_get_one_answer() {
    let access = open().await;
    let all = (1..=20).map(|number| {
        let access = access.clone();
        tokio::spawn(async move { create(&access, &request("a", "1"), number).await.unwrap() })
    });
    let mut answers = Vec::new();
    for done in all.collect::<Vec<_>>() {
        answers.push(done.await.unwrap());
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(books(&access).await, 1);
}

#[tokio::test]
async fn answer_expires_after_a_day() {
    let access = open().await;
    create(&access, &request("a", "1"), 1).await.unwrap();
    access.engines().clock.advance(Duration::from_secs(24 * 60 * 60 - 60));
    assert_eq!(create(&access, &request("a", "1"), 2).await.unwrap().1, answer(1));
    access.engines().clock.advance(Duration::from_secs(120));
    assert_eq!(create(&access, &request("a", "1"), 2).await.unwrap().1, answer(2));
}

#[tokio::test]
async fn request_with_a_lost_answer_succeeds() {
    let (access, faults) = proxy::open().await;
    faults.then(Fault::LostAnswer);
    assert_eq!(create(&access, &request("a", "1"), 1).await.unwrap().1, answer(1));
    assert!(faults.all_happened());
    assert_eq!(books(&access).await, 1);
}

#[tokio::test]
async fn transact_once_works_without_sort_key_and_without_idempotency_key() {
    let access = open().await;
    let visit = |visitor: &str| {
        let key = VisitKey { visitor: Escaped::new(visitor).unwrap() };
        vec![Action::create(&VISITS, key, &book("")).unwrap()]
    };
    let request = request("a", "1");
    let once = |visitor, request| access.transact_once(&ALL, &VISITS, request, visit(visitor), answer(1));
    let first = once("ann", Some(&request)).await.unwrap();
    assert_eq!(once("bob", Some(&request)).await.unwrap(), first);
    let error = once("ann", None).await.unwrap_err();
    assert_eq!(error.failed(0).unwrap().cause, Cause::Exists);
}
