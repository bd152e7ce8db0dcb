//! What each access pattern consumes of DynamoDB's capacity.

use std::time::Duration;

use ::jobs::RUN_JOBS;
use serde_json::json;

use super::{Shelf, new};
use crate::harness::measured::Measured;
use crate::tests;

tests! { shelf_costs: each_access_pattern_costs_what_is_recorded }

async fn each_access_pattern_costs_what_is_recorded() {
    let shelf = Shelf::new().await;
    let Shelf { cairn, reader, librarian } = &shelf;
    let mut measured = Measured::default();
    let added = measured.of("add a book", reader.post("/shelf/books", new("A Field Guide to Moss")), 201).await;
    measured.of("a book", reader.get(added.header("location")), 200).await;
    for number in 1..25 {
        shelf.add(&format!("Moss {number}")).await;
    }
    measured.of("25 books, newest first", reader.get("/shelf/books"), 200).await;
    cairn.caught_up().await;
    measured.of("search, with 25 hits", reader.get("/shelf/books?q=moss"), 200).await;
    // No other worker works on the job.
    cairn.engines().wind_down();
    let job = measured.of("begin to clear the shelf", librarian.delete("/shelf/books"), 202).await;
    measured.of("a job", librarian.get(job.header("location")), 200).await;
    let run = (RUN_JOBS, &json!({}));
    measured.of_event("clear 25 books", cairn, ::shelf::app, run, Duration::ZERO).await;
    measured.of_event("look for due jobs, none there", cairn, ::shelf::app, run, Duration::ZERO).await;
    measured.of("the health of the system", reader.get("/shelf/health"), 200).await;
    measured.match_record("shelf");
}
