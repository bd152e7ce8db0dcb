//! The stage of the shelf, whose books all callers share.

use ::shelf::schema::SHELF;
use jobs::JobKey;
use local::Served;
use local::identity::Person;
use serde_json::json;
use table::EntityKey;

use super::stage::{Parts, Stage, Thing};
use crate::harness::table::stored;
use crate::harness::{Cairn, Setup};

const JOB: &str = "019e0000-0000-7000-8000-000000000001";
const ABSENT: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

pub async fn stage(served: &'static Served) -> Stage {
    let cairn = Cairn::with(Setup::of("shelf")).await;
    let reader = cairn.person("reader", Person::new("rex")).await;
    let librarian = cairn.person("librarian", Person { roles: &["librarian"], ..Person::new("lib") }).await;
    let mut book = String::new();
    for title in ["Moss", "More Moss"] {
        let added = reader.post("/shelf/books", json!({ "title": title, "author": "Ann Field" })).await.is(201);
        added.text("id").clone_into(&mut book);
    }
    let job = json!({
        "kind": "clearShelf", "status": "succeeded", "counts": { "total": 0, "done": 0 },
        "createdAt": "2026-01-01T00:00:00.000000Z", "createdBy": "local:lib",
    });
    cairn.table_of(&SHELF).put_all(vec![stored(&SHELF, &JobKey { job: JOB.parse().unwrap() }.key(), &job)]).await;
    // The stage restores the present state of the table, and no worker may write to it then.
    cairn.engines().wind_down();
    let parts = Parts {
        principals: vec![("reader", reader), ("administrator", librarian)],
        expired: ("lib", &["librarian"]),
        things: vec![Thing::new("book", &book, &book, ABSENT), Thing::new("jobId", JOB, JOB, ABSENT)],
        texts: Vec::new(),
        outsiders: &["none", "expired"],
        insiders: &[],
        others: "administrator",
        bodies: Vec::new(),
        word: "moss",
        removal: None,
        ..Parts::default()
    };
    Stage::new(cairn, served, parts).await
}
