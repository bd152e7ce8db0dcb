//! The shelf, declared in one file, as a new system may be.

use std::sync::Arc;

use reqwest::Method;
use serde_json::{Value, json};
use shelf::books::Book;
use shelf::clear_shelf::LIBRARIAN;
use shelf::schema::{BookKey, SHELF};
use table::{Engines, EntityKey};

use super::Declared;
use crate::deployed::smoke::{User, text};
use crate::failure::Failure;
use crate::records::{OBJECT, Write, invalid, of, stored};
use crate::rehearsal::Stage;
use crate::rehearsal::Step::{self, Names, Others, Sample, Until};

pub fn declared(engines: Arc<Engines>) -> Declared {
    Declared {
        app: shelf::app(engines),
        role: LIBRARIAN,
        records: records(),
        rehearsal: STEPS,
        denied: ("addBook", "dynamodb:PutItem"),
        smoke: |stage, stranger| Box::pin(smoke(stage, stranger)),
    }
}

const STEPS: &[Step] = &[Names("addBook", "/id", OBJECT), Until("listBooks"), Others, Sample("clearShelf")];

/// The stream records of a book that is added.
fn records() -> Vec<Value> {
    let Ok(id) = OBJECT.parse() else { return invalid() };
    let book = Book { id, title: "A Field Guide to Moss".to_owned(), author: "Ann Field".to_owned() };
    let key = BookKey { book: id }.key();
    of(&SHELF, &[Write { after: stored(&SHELF, &key, &book, 3_534_508_800_000_000), before: None, key }])
}

/// Adds a book, finds it, and sends requests that must be refused. `stranger` is the token of a person without a role.
async fn smoke(stage: &Stage<'_>, stranger: &str) -> Result<(), Failure> {
    let user = User(stage);
    let new = json!({ "title": "Smoke Signals", "author": "Ann Field" });
    let added = user.sends(Method::POST, "/shelf/books", Some(&new), 201).await?;
    let book = user.sends(Method::GET, &format!("/shelf/books/{}", text(&added, "/id")?), None, 200).await?;
    user.has(&book, "/title", "Smoke Signals")?;
    user.finds("/shelf/books?q=signals", "/items/0/title", "Smoke Signals").await?;
    let refused = [
        (Method::POST, "/shelf/books", None, &[] as &[_], 401),
        (Method::POST, "/shelf/books", Some("not.a.token"), &[], 401),
        (Method::DELETE, "/shelf/books", Some(stranger), &[], 403),
    ];
    user.refuses(&refused, &new).await
}
