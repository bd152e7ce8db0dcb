use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use table::item::{number, text};
use table::{Access, Action, Cause, Changes, Condition, Error, Key, Rev};

use crate::shop::{ALL, Book, SHOP, book, book_key, open, stored};

fn create(title: &str) -> Action {
    Action::create(&SHOP, book_key(1), &book(title)).unwrap()
}

fn lend(to: &str) -> Action {
    Action::update(&SHOP, book_key(1), Changes::new().set("lentTo", text(to)))
}

/// Writes an item without the client.
async fn put_by_hand(access: &Access, attributes: &[(&str, AttributeValue)]) {
    let put = access.engines().dynamodb().put_item().table_name("test-shop");
    let put = put.item("pk", text("book::east")).item("sk", text("1")).item("title", text("Fern"));
    let put = put.item("pages", number(0));
    attributes.iter().fold(put, |put, (name, value)| put.item(*name, value.clone())).send().await.unwrap();
}

#[tokio::test]
async fn item_is_created_updated_and_deleted_by_revision() {
    let access = open().await;
    let created = access.write(&ALL, create("Fern")).await.unwrap();
    assert!(matches!(access.write(&ALL, create("Moss")).await, Err(Error::Exists)));

    let changed = access.write(&ALL, lend("Ann").if_rev(created)).await.unwrap();
    assert!(changed > created);
    assert_eq!(stored(&access).await, (Book { lent_to: Some("Ann".to_owned()), ..book("Fern") }, changed));

    let stale = access.write(&ALL, lend("Bob").if_rev(created)).await.unwrap_err();
    assert!(matches!(stale, Error::Stale { current: Some(rev) } if rev == changed), "{stale}");
    let stale = access.write(&ALL, Action::delete(&SHOP, book_key(1)).if_rev(created)).await.unwrap_err();
    assert!(matches!(stale, Error::Stale { current: Some(rev) } if rev == changed), "{stale}");

    let before = access.table(&ALL, &SHOP).get(book_key(1)).await.unwrap().unwrap();
    let again = access.write(&ALL, lend("Bob").if_unchanged(&before)).await.unwrap();
    let delete = Action::delete(&SHOP, book_key(1)).if_unchanged(&before);
    assert!(matches!(access.write(&ALL, delete).await, Err(Error::Stale { .. })));
    access.write(&ALL, Action::delete(&SHOP, book_key(1)).if_rev(again)).await.unwrap();
    assert!(matches!(access.write(&ALL, lend("Ann")).await, Err(Error::NotFound)));
    assert!(matches!(access.write(&ALL, Action::delete(&SHOP, book_key(1))).await, Err(Error::NotFound)));
    assert!(matches!(access.write(&ALL, Action::check(&SHOP, book_key(1))).await, Err(Error::NotFound)));
}

#[tokio::test]
async fn changes_between_two_values_keep_other_attributes() {
    let access = open().await;
    let old = Book { lent_to: Some("Ann".to_owned()), pages: 3, ..book("Fern") };
    access.write(&ALL, Action::create(&SHOP, book_key(1), &old).unwrap()).await.unwrap();
    let unknown = Changes::new().set("unknown", text("kept"));
    access.write(&ALL, Action::update(&SHOP, book_key(1), unknown)).await.unwrap();

    let new = Book { lent_to: None, title: "Moss".to_owned(), ..old.clone() };
    assert!(Changes::between(&old, &old).unwrap().is_empty());
    let changes = Changes::between(&old, &new).unwrap().add("pages", 2);
    access.write(&ALL, Action::update(&SHOP, book_key(1), changes)).await.unwrap();
    let found = access.table(&ALL, &SHOP).get(book_key(1)).await.unwrap().unwrap();
    assert_eq!(found.read::<Book>().unwrap(), Book { pages: 5, ..new });
    assert_eq!(found.item["unknown"], text("kept"));
    assert!(!found.item.contains_key("lentTo"));
}

#[tokio::test]
async fn write_with_a_failed_condition_is_refused() {
    let access = open().await;
    let rev = access.write(&ALL, create("Fern")).await.unwrap();
    for condition in [
        Condition::Equals("title", text("Moss")),
        Condition::Equals("lentTo", text("Ann")),
        Condition::Differs("title", text("Fern")),
        Condition::Present("lentTo"),
        Condition::Absent("title"),
        Condition::NamedEquals("title".to_owned(), text("Moss")),
        Condition::NamedPresent("lentTo".to_owned()),
    ] {
        let error = access.write(&ALL, lend("Bob").when(condition.clone())).await.unwrap_err();
        assert!(matches!(error, Error::ConditionFailed(_)), "{condition:?}: {error}");
    }
    assert_eq!(stored(&access).await, (book("Fern"), rev));
    for condition in [
        Condition::Equals("title", text("Fern")),
        Condition::Differs("lentTo", text("Ann")),
        Condition::Differs("title", text("Moss")),
        Condition::Present("title"),
        Condition::Absent("listPk"),
        Condition::NamedEquals("title".to_owned(), text("Fern")),
        Condition::NamedPresent("title".to_owned()),
    ] {
        access.write(&ALL, lend("Bob").when(condition)).await.unwrap();
    }
}

#[tokio::test]
async fn revision_grows_when_the_clock_is_behind() {
    let access = open().await;
    let ahead = Rev::new(4 * u64::try_from(access.engines().clock.micros()).unwrap()).unwrap();
    put_by_hand(&access, &[("rev", number(ahead.number()))]).await;
    assert_eq!(access.write(&ALL, lend("Ann")).await.unwrap().number(), ahead.number() + 2);
    // An expired item still has its revision.
    put_by_hand(&access, &[("rev", number(ahead.number())), ("expires", number(1))]).await;
    assert_eq!(access.write(&ALL, create("Moss")).await.unwrap().number(), ahead.number() + 2);
}

#[tokio::test]
async fn item_without_a_valid_revision_is_updated_if_unchanged() {
    let access = open().await;
    put_by_hand(&access, &[]).await;
    access.write(&ALL, lend("Ann")).await.unwrap();
    for rev in [None, Some(text("two")), Some(number(7))] {
        let attributes: Vec<_> = rev.iter().map(|rev| ("rev", rev.clone())).collect();
        put_by_hand(&access, &attributes).await;
        let read = access.table(&ALL, &SHOP).get(book_key(1)).await.unwrap().unwrap();
        assert_eq!(read.rev, None);
        let written = access.write(&ALL, lend("Ann").if_unchanged(&read)).await.unwrap();
        assert_eq!(stored(&access).await.1, written);
        assert!(matches!(access.write(&ALL, lend("Bob").if_unchanged(&read)).await, Err(Error::Stale { .. })));
    }
}

#[tokio::test]
async fn key_and_revision_in_a_value_are_ignored() {
    let access = open().await;
    let liar = std::collections::HashMap::from([("pk", "shelf"), ("sk", "x"), ("rev", "9"), ("title", "Fern")]);
    let rev = access.write(&ALL, Action::create(&SHOP, book_key(1), &liar).unwrap()).await.unwrap();
    let changes = Changes::new().set("pk", text("shelf")).remove("sk").set("rev", number(2)).set("pages", number(1));
    let changed = access.write(&ALL, Action::update(&SHOP, book_key(1), changes).if_rev(rev)).await.unwrap();
    assert_eq!(stored(&access).await, (Book { pages: 1, ..book("Fern") }, changed));
}

#[tokio::test]
async fn key_of_no_entity_is_refused_without_a_call() {
    let access = open().await;
    for key in [Key::new("book::east::1", "a#b"), Key::new("lamp", "1"), Key::partition("shelf"), Key::new("shelf", "")]
    {
        let error = access.write(&ALL, Action::create(&SHOP, &key, &book("")).unwrap()).await.unwrap_err();
        assert!(matches!(error, Error::ForeignKey { .. }), "{error}");
    }
    assert!(access.performed().is_empty());
}

#[tokio::test]
async fn item_over_400_kb_is_too_large() {
    let access = open().await;
    let huge = Book { title: "x".repeat(410_000), ..book("") };
    let create_huge = || Action::create(&SHOP, book_key(1), &huge).unwrap();
    assert!(matches!(access.write(&ALL, create_huge()).await, Err(Error::TooLarge)));
    let other = Action::create(&SHOP, book_key(2), &book("")).unwrap();
    assert!(matches!(access.transact(&ALL, &[other, create_huge()]).await, Err(Error::TooLarge)));
    access.write(&ALL, create("Fern")).await.unwrap();
    let grow = Action::update(&SHOP, book_key(1), Changes::new().set("lentTo", text("x".repeat(410_000))));
    assert!(matches!(access.write(&ALL, grow).await, Err(Error::TooLarge)));
}

#[tokio::test]
async fn update_or_absent_creates_the_counter() {
    let access = open().await;
    let count = || Action::update(&SHOP, book_key(1), Changes::new().add("pages", 2).set("title", text("Fern")));
    let none = || Condition::Equals("pages", number(0));
    assert!(matches!(access.write(&ALL, count()).await, Err(Error::NotFound)));
    let both = [
        Action::check(&SHOP, book_key(1)).when(none()).or_absent(),
        Action::create(&SHOP, book_key(2), &book("")).unwrap(),
    ];
    access.transact(&ALL, &both).await.unwrap();
    let first = access.write(&ALL, count().or_absent()).await.unwrap();
    let second = access.write(&ALL, count().or_absent()).await.unwrap();
    assert!(second > first);
    assert_eq!(stored(&access).await, (Book { pages: 4, ..book("Fern") }, second));
    let error = access.transact(&ALL, &both[..1]).await.unwrap_err();
    assert_eq!(error.failed(0).unwrap().cause, Cause::Unmet);
}

#[tokio::test]
async fn check_or_absent_treats_an_expired_item_as_absent() {
    let access = open().await;
    let expires = access.engines().clock.seconds() + 60;
    let expiring = Book { expires: Some(expires), ..book("Fern") };
    access.write(&ALL, Action::create(&SHOP, book_key(1), &expiring).unwrap()).await.unwrap();
    let both = [
        Action::check(&SHOP, book_key(1)).when(Condition::Equals("title", text("Moss"))).or_absent(),
        Action::create(&SHOP, book_key(2), &book("")).unwrap(),
    ];
    let error = access.transact(&ALL, &both).await.unwrap_err();
    assert_eq!(error.failed(0).unwrap().cause, Cause::Unmet);
    access.engines().clock.advance(Duration::from_secs(61));
    access.transact(&ALL, &both).await.unwrap();
}
