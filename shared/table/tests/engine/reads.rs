use table::Call;
use table::access::{Performed, TableAction};
use table::{Access, AccessPattern, Action, Cause, Condition, EntityKey, Error, Escaped, Key, Number, Sequence, item};

use crate::shop::{ALL, Book, SHOP, SequenceKey, VISITS, VisitKey, book, book_key, open};

#[tokio::test]
async fn item_is_read_with_its_key_and_revision() {
    let access = open().await;
    let rev = access.write(&ALL, Action::create(&SHOP, book_key(1), &book("Fern")).unwrap()).await.unwrap();
    for stored in [
        access.table(&ALL, &SHOP).get(book_key(1)).await.unwrap().unwrap(),
        access.table(&ALL, &SHOP).get_consistent(book_key(1)).await.unwrap().unwrap(),
    ] {
        assert_eq!((stored.key.clone(), stored.rev), (Key::new("book::east", "1"), Some(rev)));
        assert_eq!(stored.read::<Book>().unwrap(), book("Fern"));
    }
    assert_eq!(access.table(&ALL, &SHOP).get(book_key(2)).await.unwrap(), None);
}

#[tokio::test]
async fn table_without_sort_key_uses_its_own_key_attribute() {
    let access = open().await;
    let key = VisitKey { visitor: Escaped::new("a#b").unwrap() };
    access.write(&ALL, Action::create(&VISITS, &key, &book("Fern")).unwrap()).await.unwrap();
    let stored = access.table(&ALL, &VISITS).get(&key).await.unwrap().unwrap();
    assert_eq!(stored.key, Key::partition("VISIT#a~23b"));
    assert!(stored.item.contains_key("PK"));
}

#[tokio::test]
async fn key_over_the_limits_is_absent() {
    let access = open().await;
    let long = Key::new("book::east", "1".repeat(3000));
    assert_eq!(access.table(&ALL, &SHOP).get(&long).await.unwrap(), None);
    assert_eq!(access.table(&ALL, &SHOP).batch_get(std::slice::from_ref(&long)).await.unwrap(), [None]);
    let error = access.write(&ALL, Action::delete(&SHOP, &long)).await.unwrap_err();
    assert!(matches!(error, Error::Key(_)), "{error}");
}

#[tokio::test]
async fn expired_item_counts_as_absent() {
    let access = open().await;
    let expires = access.engines().clock.seconds() + 60;
    let create = || Action::create(&SHOP, book_key(1), &Book { expires: Some(expires), ..book("Fern") }).unwrap();
    let first = access.write(&ALL, create()).await.unwrap();
    let table = access.table(&ALL, &SHOP);
    assert!(table.get(book_key(1)).await.unwrap().is_some());
    assert!(matches!(access.write(&ALL, create()).await, Err(Error::Exists)));

    access.engines().clock.advance(std::time::Duration::from_secs(61));
    assert_eq!(table.get(book_key(1)).await.unwrap(), None);
    assert_eq!(table.batch_get(&[book_key(1).into()]).await.unwrap(), [None]);
    assert_eq!(table.query("book::east").all().await.unwrap(), []);
    let update = Action::update(&SHOP, book_key(1), table::Changes::new().add("pages", 1));
    assert!(matches!(access.write(&ALL, update).await, Err(Error::NotFound)));
    let delete = Action::delete(&SHOP, book_key(1));
    assert!(matches!(access.write(&ALL, delete).await, Err(Error::NotFound)));
    let again = Action::create(&SHOP, book_key(1), &book("Fern")).unwrap();
    assert!(access.write(&ALL, again).await.unwrap() > first);
}

#[tokio::test]
async fn undeclared_call_is_refused_and_each_call_is_recorded_with_its_cost() {
    const GET: &[Call] = &[Call::Table { table: "shop", action: TableAction::GetItem }];
    static READ: AccessPattern = AccessPattern { name: "read", calls: GET };
    static OTHER: AccessPattern = AccessPattern { name: "other", calls: GET };
    static GRANTED: &[&AccessPattern] = &[&READ];
    let writer = open().await;
    let big = Book { title: "x".repeat(5000), ..book("") };
    writer.write(&ALL, Action::create(&SHOP, book_key(1), &big).unwrap()).await.unwrap();
    assert_eq!(writer.performed().len(), 1);
    assert_eq!(writer.performed()[0].write_units, 5.0);

    let access = Access::new(writer.engines().clone(), GRANTED);
    access.table(&READ, &SHOP).get(book_key(1)).await.unwrap();
    access.table(&READ, &SHOP).get_consistent(book_key(1)).await.unwrap();
    let refused = access.table(&READ, &SHOP).query("book::east").all().await.unwrap_err();
    assert!(matches!(refused, Error::Undeclared(_)));
    let refused = access.table(&OTHER, &SHOP).get(book_key(1)).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`other` does not declare Table { table: \"shop\", action: GetItem }, or the route does not declare `other`"
    );
    let both = Performed { pattern: "read", call: GET[0], times: 2, read_units: 1.0 + 2.0, write_units: 0.0 };
    assert_eq!(access.performed(), [both], "equal calls are grouped");
}

#[tokio::test]
async fn existing_sequence_allocates_each_number_once() {
    let access = open().await;
    let sequence = SequenceKey { room: Escaped::new("east").unwrap() }.key();
    let table = access.table(&ALL, &SHOP);
    assert!(matches!(table.next_numbers(sequence.clone(), 1).await, Err(Error::NotFound)));
    access.write(&ALL, Action::create_sequence(&SHOP, sequence.clone())).await.unwrap();
    assert!(matches!(access.write(&ALL, Action::create_sequence(&SHOP, sequence.clone())).await, Err(Error::Exists)));
    assert_eq!(table.next_numbers(sequence.clone(), 1).await.unwrap(), 1..=1);
    assert_eq!(table.next_numbers(sequence.clone(), 5).await.unwrap(), 2..=6);
    assert_eq!(table.next_numbers(sequence.clone(), 1).await.unwrap(), 7..=7);
    assert_eq!(table.get(&sequence).await.unwrap().unwrap().rev, None);

    let taken = (0..40).map(|_| {
        let (access, sequence) = (access.clone(), sequence.clone());
        tokio::spawn(async move { access.table(&ALL, &SHOP).next_numbers(sequence, 1).await.unwrap() })
    });
    let mut numbers = Vec::new();
    for taken in taken.collect::<Vec<_>>() {
        numbers.extend(taken.await.unwrap());
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (8..48).collect::<Vec<_>>());
}

#[tokio::test]
async fn sequence_allocates_no_number_above_its_highest() {
    let access = open().await;
    let sequence = Sequence::from(SequenceKey { room: Escaped::new("east").unwrap() }.key()).up_to(5);
    let next = async |count| access.table(&ALL, &SHOP).next_numbers(sequence.clone(), count).await;
    assert!(matches!(next(1).await, Err(Error::NotFound)));
    access.write(&ALL, Action::create_sequence(&SHOP, sequence.clone())).await.unwrap();
    assert_eq!(next(4).await.unwrap(), 1..=4);
    let refused = next(2).await.unwrap_err();
    assert_eq!(refused.failed(0).map(|failed| failed.cause), Some(Cause::Unmet));
    assert_eq!(next(1).await.unwrap(), 5..=5);
    assert!(matches!(next(1).await, Err(Error::ConditionFailed(_))));
}

#[tokio::test]
async fn sequence_is_raised_only_above_its_last_number() {
    let access = open().await;
    let sequence = Sequence::counting(SequenceKey { room: Escaped::new("east").unwrap() }, "last");
    let raise = |to| Action::raise_sequence(&SHOP, sequence.clone(), to);
    let next = async || access.table(&ALL, &SHOP).next_numbers(sequence.clone(), 1).await;
    assert!(matches!(access.transact(&ALL, &[raise(5)]).await, Err(Error::ConditionFailed(_))));
    access.write(&ALL, Action::create_sequence(&SHOP, sequence.clone())).await.unwrap();
    access.transact(&ALL, &[raise(5), Action::create(&SHOP, book_key(1), &book("Fern")).unwrap()]).await.unwrap();
    assert_eq!(next().await.unwrap(), 6..=6);
    for taken in [5, 6] {
        let refused = access.transact(&ALL, &[raise(taken)]).await.unwrap_err();
        assert_eq!(refused.failed(0).map(|failed| failed.cause), Some(Cause::Unmet), "{taken}");
    }
    assert_eq!(next().await.unwrap(), 7..=7);
    let back = |from: u64| {
        let last = Condition::Equals("last", item::number(from));
        Action::set_sequence(&SHOP, sequence.clone(), 2).when(last)
    };
    assert!(matches!(access.write(&ALL, back(6)).await, Err(Error::ConditionFailed(_))));
    access.write(&ALL, back(7)).await.unwrap();
    assert_eq!(next().await.unwrap(), 3..=3);
}

#[tokio::test]
async fn item_that_does_not_fit_its_type_is_a_misfit() {
    let access = open().await;
    let odd = std::collections::HashMap::from([("title", 7)]);
    access.write(&ALL, Action::create(&SHOP, book_key(1), &odd).unwrap()).await.unwrap();
    let stored = access.table(&ALL, &SHOP).get(book_key(1)).await.unwrap().unwrap();
    assert!(matches!(stored.read::<Book>(), Err(Error::Misfit(_))));
    assert_eq!(Number(1).to_string(), stored.key.sk.unwrap());
}
