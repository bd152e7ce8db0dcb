//! The bucket of what functions gave up.

use super::{Broken, Fixture, same};
use crate::ports::Failures;

/// Checks an empty bucket.
pub async fn failures(failures: &impl Failures, fixture: &impl Fixture) -> Result<(), Broken> {
    same("an empty bucket", failures.list(None, 10).await?, Vec::new())?;
    same("an object that does not exist", failures.read("a/none").await?, None)?;
    failures.delete("a/none").await?;

    let names = ["a/1", "a/2", "b/1/2", "b/1/3"];
    for name in names {
        fixture.give_up(name, &format!("body of {name}")).await?;
    }
    let listed = async |after: Option<&str>, limit| {
        let page = failures.list(after, limit).await?;
        Ok::<_, Broken>(page.into_iter().map(|object| object.name).collect::<Vec<_>>())
    };
    same("all objects", listed(None, 10).await?, names.map(str::to_owned).to_vec())?;
    same("as many as are asked for", listed(None, 3).await?, ["a/1", "a/2", "b/1/2"].map(str::to_owned).to_vec())?;
    same("those after a name", listed(Some("a/2"), 10).await?, ["b/1/2", "b/1/3"].map(str::to_owned).to_vec())?;
    same("none after the last", listed(Some("b/1/3"), 10).await?, Vec::new())?;
    same("an object", failures.read("b/1/2").await?.as_deref(), Some(&b"body of b/1/2"[..]))?;

    let times: Vec<i64> = failures.list(None, 10).await?.iter().map(|object| object.since).collect();
    let now = fixture.micros();
    let recent = |time: &i64| (now - 60_000_000..=now + 1_000_000).contains(time);
    same("the times of objects that were just stored", times.iter().all(recent), true)?;

    failures.delete("b/1/2").await?;
    failures.delete("b/1/2").await?;
    same("an object that was deleted", failures.read("b/1/2").await?, None)?;
    same("the other objects", listed(Some("a/1"), 10).await?, ["a/2", "b/1/3"].map(str::to_owned).to_vec())
}
