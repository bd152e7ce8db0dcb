//! `GET /agencies/search`: agencies by name, and the members of one.

mod answer;
mod form;
mod request;
mod scope;

use serde_json::value::RawValue;
use web::search::Marks;
use web::{Answer, Kind, Problem, Request};

use crate::access::SEARCH;
use answer::SearchResponse;
use request::Asked;
use scope::Scope;

pub use answer::{Found, FoundItem};
pub use form::SearchForm;

pub const NARROW_SEARCH: Kind = Kind::new(400, "narrow-search", "Too much would have to be searched");

/// The alias behind which the system's documents are.
const ALIAS: &str = "agencies";

pub async fn search(request: Request) -> Result<Answer, Problem> {
    let form: SearchForm = request.query()?;
    let after: Option<Box<RawValue>> = request.cursor(form.cursor.as_deref())?;
    let question = form.question().map_err(Problem::faults)?;
    let scope = Scope::of(&request, &question).await?;
    let marks = Marks::random();
    let asked = Asked::new(&question, &scope, after.as_deref(), &marks);
    let response: SearchResponse = request.access().search(&SEARCH, ALIAS, &asked).await?;
    let (mut found, last) = Found::read(&request, &question, &scope, response, &marks).await?;
    found.next_cursor = last.map(|last| request.next_cursor(&last)).transpose()?;
    Ok(Answer::ok(&found))
}
