//! Books: add, get, list and search them.

use serde::{Deserialize, Serialize};
use table::{Action, EntityKey, Position};
use utoipa::ToSchema;
use web::{Context, Created, IdempotencyKey, Json, Limit, Page, PageQuery, Path, Problem, Query, Route, Sample, Who};

use crate::schema::{BookId, BookKey, CREATE, FOUND, GET, LIST, SEARCH, SHELF};

pub fn routes() -> [Route; 3] {
    [
        Route::post("addBook", "/shelf/books", Who::SignedIn, add)
            .summary("Add a book")
            .patterns(&[&CREATE])
            .sample(Sample::new("/shelf/books").body(r#"{"title":"A Field Guide to Moss","author":"Ann Field"}"#)),
        Route::get("getBook", "/shelf/books/{book}", Who::SignedIn, get)
            .summary("Get a book")
            .patterns(&[&GET])
            .problems(&[web::problem::NOT_FOUND]),
        Route::get("listBooks", "/shelf/books", Who::SignedIn, list)
            .summary("List the books, newest first, or search them by the words of their titles")
            .patterns(&[&LIST, &SEARCH, &FOUND])
            .sample(Sample::new("/shelf/books?q=moss")),
    ]
}

/// A book, as the table stores it and as responses show it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Book {
    pub id: BookId,
    pub title: String,
    pub author: String,
}

#[derive(Debug, Deserialize, ToSchema)]
pub struct NewBook {
    #[schema(min_length = 1, max_length = 200, format = "readable")]
    title: String,
    #[schema(min_length = 1, max_length = 200, format = "readable")]
    author: String,
}

async fn add(cx: Context, once: IdempotencyKey, Json(new): Json<NewBook>) -> Result<Created<Book>, Problem> {
    let book = Book { id: BookId::new(), title: new.title, author: new.author };
    let create = Action::create(&SHELF, BookKey { book: book.id }, &book)?;
    Ok(once.create(&cx, &CREATE, &SHELF, vec![create], format!("/shelf/books/{}", book.id), &book).await?)
}

async fn get(cx: Context, Path(key): Path<BookKey>) -> Result<Json<Book>, Problem> {
    let book = cx.access().table(&GET, &SHELF).get_consistent(key).await?;
    Ok(Json(book.ok_or_else(Problem::not_found)?.read()?))
}

#[derive(Debug, Deserialize, ToSchema)]
pub struct BooksQuery {
    /// Words of a title. The last word may be a prefix; typos are tolerated.
    #[schema(min_length = 1, max_length = 200)]
    q: Option<String>,
    #[serde(default)]
    limit: Limit,
    #[schema(min_length = 1)]
    cursor: Option<String>,
}

async fn list(cx: Context, Query(BooksQuery { q, limit, cursor }): Query<BooksQuery>) -> Result<Page<Book>, Problem> {
    if let Some(q) = q {
        let found = cx.search_words(&SEARCH, "shelf", ("title", &q, &[]), &PageQuery { limit, cursor }).await?;
        // A book that was deleted a moment ago may still be found.
        let books = cx.access().table(&FOUND, &SHELF).batch_get(&found.keys).await?.into_iter().flatten();
        let items = books.map(|stored| Ok(stored.read()?)).collect::<Result<_, Problem>>()?;
        return Ok(Page { items, next_cursor: found.next_cursor });
    }
    let after: Option<Position> = cx.cursor(cursor.as_deref())?;
    let books = cx.access().table(&LIST, &SHELF).query(BookKey::PK).backward().after(after);
    cx.page(books.page(limit.0).await?, |stored| Ok(stored.read()?))
}
