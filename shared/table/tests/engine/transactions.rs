use table::item::{flag, text};
use table::{Access, Action, Cause, Changes, Condition, Escaped};

use crate::shop::{ALL, Book, SHOP, ShelfKey, VISITS, VisitKey, again, book, book_key, calls, open};

fn shelf() -> ShelfKey {
    ShelfKey { room: Escaped::new("east").unwrap() }
}

fn one_more() -> Action {
    Action::update(&SHOP, shelf(), Changes::new().add("pages", 1))
}

async fn count(access: &Access) -> u32 {
    let shelf = access.table(&ALL, &SHOP).get_consistent(shelf()).await.unwrap().unwrap();
    shelf.read::<Book>().unwrap().pages
}

#[tokio::test]
async fn transaction_across_tables_is_atomic() {
    let access = open().await;
    let visit = VisitKey { visitor: Escaped::new("ann").unwrap() };
    access.write(&ALL, Action::create(&SHOP, shelf(), &book("east")).unwrap()).await.unwrap();
    let rev = access
        .transact(&ALL, &[Action::check(&SHOP, shelf()), Action::create(&VISITS, &visit, &book("")).unwrap()])
        .await
        .unwrap();
    let found = access.table(&ALL, &VISITS).get(&visit).await.unwrap().unwrap();
    assert_eq!(found.rev, Some(rev));

    let failed = access
        .transact(
            &ALL,
            &[
                Action::check(&SHOP, shelf()).when(Condition::Equals("closed", flag(true))),
                Action::create(&SHOP, book_key(1), &book("Fern")).unwrap(),
                Action::create(&VISITS, &visit, &book("")).unwrap(),
                Action::delete(&SHOP, book_key(2)),
            ],
        )
        .await
        .unwrap_err();
    let causes: Vec<_> = (0..4).map(|index| failed.failed(index).map(|failed| failed.cause)).collect();
    assert_eq!(causes, [Some(Cause::Unmet), None, Some(Cause::Exists), Some(Cause::Missing)]);
    assert_eq!(failed.failed(0).unwrap().item.as_ref().unwrap()["title"], text("east"));
    assert_eq!(failed.failed(3).unwrap().item, None);
    assert_eq!(access.table(&ALL, &SHOP).get_consistent(book_key(1)).await.unwrap(), None);
}

#[tokio::test]
async fn transaction_records_each_part_and_its_cost_once() {
    let access = open().await;
    access.write(&ALL, Action::create(&SHOP, shelf(), &book("east")).unwrap()).await.unwrap();
    let visit = VisitKey { visitor: Escaped::new("ann").unwrap() };
    let actions = [
        Action::check(&SHOP, shelf()),
        Action::create(&VISITS, visit, &book("")).unwrap(),
        Action::create(&SHOP, book_key(1), &book("Fern")).unwrap(),
    ];
    let access = again(&access);
    access.transact(&ALL, &actions).await.unwrap();
    let told: Vec<_> = access.performed().iter().map(|calls| (calls.times, calls.write_units)).collect();
    assert_eq!(told, [(1, 4.0), (1, 2.0), (1, 0.0)]);
}

#[tokio::test]
async fn concurrent_transactions_lose_no_increment() {
    let access = open().await;
    access.write(&ALL, Action::create(&SHOP, shelf(), &book("east")).unwrap()).await.unwrap();
    let all = (0..60).map(|number| {
        let access = access.clone();
        tokio::spawn(async move {
            let create = Action::create(&SHOP, book_key(number), &book("Fern")).unwrap();
            access.transact(&ALL, &[create, one_more()]).await.unwrap()
        })
    });
    let mut revs = Vec::new();
    for done in all.collect::<Vec<_>>() {
        revs.push(done.await.unwrap());
    }
    assert_eq!(count(&access).await, 60);
    let last = access.table(&ALL, &SHOP).get_consistent(shelf()).await.unwrap().unwrap().rev;
    assert_eq!(last, revs.iter().max().copied());
    revs.sort_unstable();
    revs.dedup();
    assert_eq!(revs.len(), 60, "each change of the shelf has a revision of its own");
}

#[tokio::test]
async fn concurrent_increments_without_document_do_not_conflict() {
    let access = open().await;
    let visit = || VisitKey { visitor: Escaped::new("ann").unwrap() };
    let read = async || access.table(&ALL, &VISITS).get_consistent(visit()).await.unwrap().unwrap();
    access.write(&ALL, Action::create(&VISITS, visit(), &book("")).unwrap()).await.unwrap();
    let (first, before) = (read().await, calls(&access));
    let all = (0..60).map(|number| {
        let access = access.clone();
        let count = Action::update(&VISITS, visit(), Changes::new().add("pages", 1));
        let create = Action::create(&SHOP, book_key(number), &book("Fern")).unwrap();
        tokio::spawn(async move { access.transact(&ALL, &[create, count]).await.unwrap() })
    });
    for done in all.collect::<Vec<_>>() {
        done.await.unwrap();
    }
    let last = read().await;
    assert_eq!(last.read::<Book>().unwrap().pages, 60);
    assert_eq!(last.rev.unwrap().number(), first.rev.unwrap().number() + 2 * 60);
    assert_eq!(calls(&access) - before, 60 * 2 + 1, "each transaction was sent once");

    let stale = Action::update(&VISITS, visit(), Changes::new().add("pages", 1)).if_unchanged(&first);
    let error = access.transact(&ALL, &[stale, Action::check(&SHOP, book_key(1))]).await.unwrap_err();
    assert_eq!(error.failed(0).unwrap().cause, Cause::Stale);
}

#[tokio::test]
async fn stale_part_fails_the_transaction_by_its_index() {
    let access = open().await;
    let old = access.write(&ALL, Action::create(&SHOP, shelf(), &book("east")).unwrap()).await.unwrap();
    let new = access.write(&ALL, one_more()).await.unwrap();
    let create = || Action::create(&SHOP, book_key(1), &book("Fern")).unwrap();
    let error = access.transact(&ALL, &[create(), one_more().if_rev(old)]).await.unwrap_err();
    assert_eq!(error.failed(1).unwrap().cause, Cause::Stale);
    assert!(error.failed(0).is_none());
    let after = access.transact(&ALL, &[create(), one_more().if_rev(new)]).await.unwrap();
    assert!(after > new);
    assert_eq!(count(&access).await, 2);
}
