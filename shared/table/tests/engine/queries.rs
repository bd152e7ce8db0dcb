use std::time::Duration;

use aws_sdk_dynamodb::types::{PutRequest, WriteRequest};
use table::{Access, Action, EntityKey, Error, Position, Stored, item, ordered};

use crate::shop::{ALL, Book, SHOP, book, book_key, calls, open};

/// Books 1 to `count`, listed by number.
async fn shelve(access: &Access, count: u64) {
    for number in 1..=count {
        let listed = Book {
            list_pk: Some("east".to_owned()),
            list_sk: Some(ordered::integer(number)),
            ..book(&format!("Volume {number}"))
        };
        access.write(&ALL, Action::create(&SHOP, book_key(number), &listed).unwrap()).await.unwrap();
    }
}

fn numbers(items: &[Stored]) -> Vec<u64> {
    items.iter().map(|item| item.key.sk.as_ref().unwrap().parse().unwrap()).collect()
}

#[tokio::test]
async fn query_selects_sort_keys() {
    let access = open().await;
    shelve(&access, 12).await;
    let books = || access.table(&ALL, &SHOP).query("book::east");
    assert_eq!(numbers(&books().all().await.unwrap()), [1, 10, 11, 12, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(numbers(&books().begins_with("1").consistent().all().await.unwrap()), [1, 10, 11, 12]);
    assert_eq!(numbers(&books().between("11", "3").all().await.unwrap()), [11, 12, 2, 3]);
    assert_eq!(numbers(&books().below("11").backward().all().await.unwrap()), [10, 1]);
    assert_eq!(numbers(&books().backward().first().await.unwrap().into_iter().collect::<Vec<_>>()), [9]);
    assert_eq!(access.table(&ALL, &SHOP).query("book::west").first().await.unwrap(), None);
    let listed = books_listed(&access).await;
    assert_eq!(listed, (1..=12).collect::<Vec<_>>());
}

async fn books_listed(access: &Access) -> Vec<u64> {
    numbers(&access.table(&ALL, &SHOP).query("east").index("list").all().await.unwrap())
}

#[tokio::test]
async fn pages_have_every_item_once() {
    let access = open().await;
    shelve(&access, 12).await;
    for backward in [false, true] {
        for limit in [1, 5, 6, 12, 13] {
            let mut position: Option<Position> = None;
            let mut walked = Vec::new();
            loop {
                let query = access.table(&ALL, &SHOP).query("east").index("list").after(position);
                let query = if backward { query.backward() } else { query };
                let page = query.page(limit).await.unwrap();
                walked.extend(numbers(&page.items));
                assert!(page.next.is_none() || page.items.len() == usize::try_from(limit).unwrap());
                // A position survives a cursor.
                position = serde_json::from_str(&serde_json::to_string(&page.next).unwrap()).unwrap();
                if position.is_none() {
                    break;
                }
            }
            let mut expected: Vec<u64> = (1..=12).collect();
            if backward {
                expected.reverse();
            }
            assert_eq!(walked, expected, "limit {limit}");
        }
    }
}

#[tokio::test]
async fn page_is_full_despite_expired_items() {
    let access = open().await;
    let expires = Some(access.engines().clock.seconds() + 60);
    for number in 1..=9 {
        let expires = expires.filter(|_| number % 3 != 0);
        access
            .write(&ALL, Action::create(&SHOP, book_key(number), &Book { expires, ..book("") }).unwrap())
            .await
            .unwrap();
    }
    access.engines().clock.advance(Duration::from_secs(61));
    let books = access.table(&ALL, &SHOP).query("book::east");
    let page = books.page(2).await.unwrap();
    assert_eq!(numbers(&page.items), [3, 6]);
    let page = books.after(page.next).page(2).await.unwrap();
    assert_eq!((numbers(&page.items), page.next), (vec![9], None));
}

#[tokio::test]
async fn pages_of_values_are_full_and_many_items_without_a_value_take_few_calls() {
    let access = open().await;
    shelve(&access, 300).await;
    let books = || access.table(&ALL, &SHOP).query("east").index("list");
    for limit in [1, 5, 42, 43] {
        let mut position: Option<Position> = None;
        let mut walked = Vec::new();
        loop {
            let sevenths = |page: Vec<Stored>| async move {
                let kept = |number: u64| number.is_multiple_of(7).then_some(number);
                Ok::<_, Error>(numbers(&page).into_iter().map(kept).collect())
            };
            let (kept, next) = books().after(position).page_of(limit, sevenths).await.unwrap();
            assert!(next.is_none() || kept.len() == usize::try_from(limit).unwrap(), "limit {limit}");
            walked.extend(kept);
            position = next;
            if position.is_none() {
                break;
            }
        }
        assert_eq!(walked, (7..=300).step_by(7).collect::<Vec<_>>(), "limit {limit}");
    }
    let before = calls(&access);
    let first = |page: Vec<Stored>| async move {
        Ok::<_, Error>(numbers(&page).into_iter().map(|number| (number <= 5).then_some(number)).collect())
    };
    let (kept, next) = books().page_of(5, first).await.unwrap();
    assert_eq!((kept, next), (vec![1, 2, 3, 4, 5], None));
    let calls = calls(&access) - before;
    assert!(calls <= 12, "{calls} calls");
}

#[tokio::test]
async fn page_of_values_ends_after_thousands_of_items_without_one() {
    let access = open().await;
    let put = |number: u64| {
        let listed = Book { list_pk: Some("east".to_owned()), list_sk: Some(ordered::integer(number)), ..book("") };
        let mut item = item::to_item(&listed).unwrap();
        item.extend(item::key_item(&SHOP, &book_key(number).key()));
        let put = PutRequest::builder().set_item(Some(item)).build().unwrap();
        WriteRequest::builder().put_request(put).build()
    };
    for first in (1..=5_600).step_by(25) {
        let batch = access.engines().dynamodb().batch_write_item();
        let batch =
            batch.request_items(access.engines().config.table(SHOP.name), (first..first + 25).map(put).collect());
        batch.send().await.unwrap();
    }
    let books = || access.table(&ALL, &SHOP).query("east").index("list");
    let last = |page: Vec<Stored>| async move {
        Ok::<_, Error>(numbers(&page).into_iter().map(|number| (number == 5_600).then_some(number)).collect())
    };
    let (kept, next) = books().page_of(5, last).await.unwrap();
    assert_eq!(kept, Vec::<u64>::new());
    let (kept, next) = books().after(Some(next.unwrap())).page_of(5, last).await.unwrap();
    assert_eq!((kept, next), (vec![5_600], None));
}

#[tokio::test]
async fn page_of_large_items_ends_before_a_response_would_be_too_large() {
    let access = open().await;
    let title = "x".repeat(390_000);
    for number in 1..=12 {
        access.write(&ALL, Action::create(&SHOP, book_key(number), &book(&title)).unwrap()).await.unwrap();
    }
    let (mut walked, mut position) = (Vec::new(), None);
    loop {
        let page = access.table(&ALL, &SHOP).query("book::east").after(position).page(12).await.unwrap();
        let bytes: usize = page.items.iter().map(|stored| item::response_bytes(&stored.item)).sum();
        assert!((390_000..4_400_000).contains(&bytes), "{bytes}");
        walked.extend(numbers(&page.items));
        position = page.next;
        if position.is_none() {
            break;
        }
    }
    walked.sort_unstable();
    assert_eq!(walked, (1..=12).collect::<Vec<_>>());

    let (mut walked, mut position) = (Vec::new(), None);
    loop {
        let all = |page: Vec<Stored>| async move { Ok::<_, Error>(page.into_iter().map(Some).collect()) };
        let books = access.table(&ALL, &SHOP).query("book::east").after(position);
        let (kept, next) = books.page_of(12, all).await.unwrap();
        let bytes: usize = kept.iter().map(|stored: &Stored| item::response_bytes(&stored.item)).sum();
        assert!((390_000..5_400_000).contains(&bytes), "{bytes}");
        walked.extend(numbers(&kept));
        position = next;
        if position.is_none() {
            break;
        }
    }
    walked.sort_unstable();
    assert_eq!(walked, (1..=12).collect::<Vec<_>>());
}

#[tokio::test]
async fn page_larger_than_one_answer_is_complete() {
    let access = open().await;
    let heavy = Book { title: "x".repeat(300_000), ..book("") };
    for number in 1..=9 {
        access.write(&ALL, Action::create(&SHOP, book_key(number), &heavy).unwrap()).await.unwrap();
    }
    let before = calls(&access);
    assert_eq!(access.table(&ALL, &SHOP).query("book::east").page(9).await.unwrap().items.len(), 9);
    assert!(calls(&access) > before + 1, "one answer cannot hold 2.7 MB");
}
