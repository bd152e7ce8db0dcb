use table::access::TableAction;
use table::{Action, Call, Key};

use crate::shop::{ALL, SHOP, book, book_key, open};

#[tokio::test]
async fn batch_beyond_the_limit_of_a_request_is_split() {
    let access = open().await;
    for number in (1..=150).step_by(2) {
        access.write(&ALL, Action::create(&SHOP, book_key(number), &book("")).unwrap()).await.unwrap();
    }
    let mut keys: Vec<Key> = (1..=150).rev().map(|number| book_key(number).into()).collect();
    keys.push(book_key(1).into());
    let table = access.table(&ALL, &SHOP);
    let found = table.batch_get(&keys).await.unwrap();
    assert_eq!(found.len(), 151);
    for (key, stored) in keys.iter().zip(&found) {
        let number: u64 = key.sk.as_ref().unwrap().parse().unwrap();
        assert_eq!(stored.as_ref().map(|stored| &stored.key), Some(key).filter(|_| number % 2 == 1));
    }
    let batch = Call::Table { table: "shop", action: TableAction::BatchGetItem };
    let of = |call: Call| access.performed().into_iter().find(|performed| performed.call == call).unwrap();
    assert_eq!(of(batch).times, 2);

    table.batch_delete(&keys).await.unwrap();
    assert_eq!(table.query("book::east").all().await.unwrap(), []);
    let batch = Call::Table { table: "shop", action: TableAction::BatchWriteItem };
    assert_eq!(of(batch).write_units, 150.0);
}
