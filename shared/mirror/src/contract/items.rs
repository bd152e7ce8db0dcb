//! The tables: consistent reads, stamps, segment scans.

use std::collections::BTreeSet;

use table::schema::Table;
use table::{Key, Rev};

use super::{Broken, Fixture, same};
use crate::item::{presence, rev_value};
use crate::ports::{Items, Segment};

/// Checks an engine with an empty table that has a sort key.
pub async fn items(items: &impl Items, fixture: &impl Fixture, table: &'static Table) -> Result<(), Broken> {
    stamps(items, fixture, table).await?;
    scans(items, fixture, table).await
}

async fn stamps(items: &impl Items, fixture: &impl Fixture, table: &'static Table) -> Result<(), Broken> {
    let key = Key::new("contract", "1");
    let rev = |number| Rev::new(number).ok_or_else(|| Broken("no revision".to_owned()));
    same("no item", items.read(table, &key).await?, None)?;
    same("no item is stamped", items.stamp(table, &key, None, rev(2)?).await?, false)?;
    same("a stamp creates no item", items.read(table, &key).await?, None)?;

    for (before, wrong) in [
        (None, r#"{"N":"2"}"#),
        (Some(r#"{"N":"10"}"#), r#"{"N":"8"}"#),
        (Some(r#"{"N":"-1"}"#), r#"{"N":"1"}"#),
        (Some(r#"{"N":"3.5"}"#), r#"{"S":"3.5"}"#),
        (Some(r#"{"S":"new"}"#), r#"{"N":"3"}"#),
        (Some(r#"{"N":"36893488147419103232"}"#), r#"{"N":"36893488147419103233"}"#),
    ] {
        let others = r#""name":{"S":"x"},"size":{"N":"1.5"},"tags":{"SS":["p","q"]}"#;
        fixture.put(table, &item(table, &key, others, before)).await?;
        let what = format!("rev {before:?}");
        same(&what, items.stamp(table, &key, Some(wrong), rev(20)?).await?, false)?;
        if before.is_some() {
            same(&what, items.stamp(table, &key, None, rev(20)?).await?, false)?;
        }
        same(&what, items.stamp(table, &key, before, rev(20)?).await?, true)?;
        let found = items.read(table, &key).await?.ok_or_else(|| Broken("the item is gone".to_owned()))?;
        same(&what, presence(rev_value(found.as_str())).number(), Some(20))?;
        let image = found.image().map_err(|fault| Broken(fault.to_string()))?;
        let kept =
            (image.text("name").ok(), image.number("size").ok().map(|size| size.as_str()), image.text_set("tags").ok());
        same(
            "nothing but `rev` has changed",
            kept,
            (Some("x".into()), Some("1.5"), Some(vec!["p".into(), "q".into()])),
        )?;
    }
    fixture.remove(table, &key).await?;
    same("an item that was removed", items.stamp(table, &key, Some(r#"{"N":"20"}"#), rev(22)?).await?, false)?;
    same("stays removed", items.read(table, &key).await?, None)
}

async fn scans(items: &impl Items, fixture: &impl Fixture, table: &'static Table) -> Result<(), Broken> {
    let keys: BTreeSet<_> = (0..9).map(|n| Key::new(format!("contract{n}"), "1")).collect();
    for key in &keys {
        fixture.put(table, &item(table, key, r#""name":{"S":"x"}"#, None)).await?;
    }
    let mut found = Vec::new();
    for number in 0..3 {
        let mut after = None;
        loop {
            let page = items.scan(table, Segment { number, of: 3 }, after.as_ref()).await?;
            for item in &page.items {
                let image = item.image().map_err(|fault| Broken(fault.to_string()))?;
                found.push(image.key(table).map_err(|fault| Broken(fault.to_string()))?);
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
    }
    found.sort();
    same("a scan of all segments", found, keys.iter().cloned().collect())?;
    for key in &keys {
        fixture.remove(table, key).await?;
    }
    Ok(())
}

fn item(table: &Table, key: &Key, others: &str, rev: Option<&str>) -> String {
    let sk = table.sk.zip(key.sk.as_ref()).map(|(name, value)| format!(r#","{name}":{{"S":"{value}"}}"#));
    let rev = rev.map(|rev| format!(r#","rev":{rev}"#));
    format!(r#"{{"{}":{{"S":"{}"}}{},{others}{}}}"#, table.pk, key.pk, sk.unwrap_or_default(), rev.unwrap_or_default())
}
