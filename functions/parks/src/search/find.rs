//! `GET` and `POST` of a search.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use table::clock;
use table::search::SearchError;
use web::search::Marks;
use web::{Answer, Kind, Problem, Request};

use super::answer::Found;
use super::area::Compared;
use super::boundary::{Sending, boundary_of};
use super::features::{FoundFeatures, Link};
use super::form::{Format, SearchForm, ShapeForm};
use super::hits::SearchResponse;
use super::open::ACTIVITIES;
use super::question::{Question, Source, for_administrators};
use super::request::NAMED;
use super::words::Closeness;
use super::{ALIAS, SEARCH};
use crate::geojson;
use crate::view::{ADMINISTRATOR, View};

pub const NARROW_SEARCH: Kind = Kind::new(400, "narrow-search", "Too much would have to be searched");

pub async fn search(request: Request) -> Result<Answer, Problem> {
    let form: SearchForm = request.query()?;
    find(&request, form, None, Source::Query).await
}

pub async fn search_by_shape(request: Request) -> Result<Answer, Problem> {
    let ShapeForm { form, shape } = request.json()?;
    find(&request, form, shape, Source::Body).await
}

async fn find(request: &Request, form: SearchForm, shape: Option<Value>, source: Source) -> Result<Answer, Problem> {
    let view = View::of(request, form.view);
    permit(request, &form, view)?;
    let position: Option<Position> = request.cursor(form.cursor.as_deref())?;
    let mut question = Question::of(form, shape.as_ref(), view, source).map_err(Problem::faults)?;
    let (mut shape_status, mut tolerance) = (None, None);
    let activities = activities(request, &question).await?;
    let marks = Marks::random();
    let mut sending = Sending::Reference;
    let (response, closeness) = loop {
        if let Some(id) = &question.shape_of {
            let boundary = boundary_of(request, id, question.relation, view, source, sending).await?;
            question.area = Some(boundary.compared);
            (shape_status, tolerance) = (Some(boundary.status), boundary.tolerance);
        }
        match closest(request, &question, position.as_ref(), &activities, &marks).await {
            // The document has gone since it was found, or this search engine compares with no document.
            Err(SearchError::Refused(_)) if matches!(question.area, Some(Compared::Document { .. })) => {
                sending = Sending::Positions;
            }
            closest => break closest?,
        }
    };
    let read = Found::read(&question, response, &marks);
    let (mut found, last) = read.ok_or_else(|| Problem::internal("a hit lacks its keys"))?;
    found.shape_status = shape_status;
    found.shape_tolerance = tolerance;
    found.relaxed = closeness == Closeness::MostWords && found.total.value > 0;
    found.next_cursor = last.map(|after| request.next_cursor(&Position { closeness, after })).transpose()?;
    let as_geojson = match question.format {
        Some(format) => format == Format::Geojson,
        None => request.content_type() == geojson::CONTENT_TYPE,
    };
    let answer = if as_geojson {
        let next = found.next_cursor.as_deref().map(|cursor| Link::next(request, cursor, source));
        let now = clock::rfc3339(request.engines().clock.now());
        Answer::ok(&FoundFeatures::new(found, question.shape_as, now, next)).content_type(geojson::CONTENT_TYPE)
    } else {
        Answer::ok(&found)
    };
    Ok(view.cached(answer))
}

/// What only administrators may ask is not ignored: the answer would look as if it had been heeded.
fn permit(request: &Request, form: &SearchForm, view: View) -> Result<(), Problem> {
    match for_administrators(form) {
        Some(name) if view == View::Visitor => {
            request.principal().signed_in()?;
            let detail = format!("`{name}` is for administrators (the role `{ADMINISTRATOR}`), in their own view.");
            Err(Problem::forbidden(detail))
        }
        _ => Ok(()),
    }
}

/// Where the page before ended, and how close to the words its hits are.
#[derive(Debug, Serialize, Deserialize)]
struct Position {
    closeness: Closeness,
    after: Box<RawValue>,
}

/// What is found as closely as anything is found: with typos where no name has the words as they are, by most of the
/// words where nothing has all of them. Later pages are of the first one's kind.
async fn closest(
    request: &Request,
    question: &Question,
    position: Option<&Position>,
    activities: &[String],
    marks: &Marks,
) -> Result<(SearchResponse, Closeness), SearchError> {
    let after = position.map(|position| &*position.after);
    let mut closeness = position.map(|position| position.closeness).unwrap_or_default();
    loop {
        let asked = question.request(after, activities, marks, closeness);
        let mut response: SearchResponse = request.access().search(&SEARCH, ALIAS, &asked).await?;
        let named = response.take_count(NAMED);
        let found = match closeness {
            Closeness::AsTyped => !named.is_empty(),
            Closeness::WithTypos | Closeness::MostWords => response.total().value > 0,
        };
        let next =
            question.words.as_ref().filter(|_| after.is_none() && !found).and_then(|words| closeness.next(words));
        match next {
            Some(next) => closeness = next,
            None => return Ok((response, closeness)),
        }
    }
}

/// The activities that are offered on the days that are asked for.
async fn activities(request: &Request, question: &Question) -> Result<Vec<String>, Problem> {
    let Some(asked) = question.join() else { return Ok(Vec::new()) };
    let mut response: SearchResponse = request.access().search(&SEARCH, ALIAS, &asked).await?;
    let counted = response.take_counts().remove("activities").unwrap_or_default();
    if counted.len() > ACTIVITIES {
        let detail =
            format!("More than {ACTIVITIES} activities are offered on these days; add `collectionId` or `type`.");
        return Err(NARROW_SEARCH.because(detail));
    }
    Ok(counted.into_iter().map(|activity| activity.value).collect())
}
