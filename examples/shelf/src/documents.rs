//! The search documents of books.

use mirror::{Document, Documents, Found, Image, Mapping, Unfit, WithoutShapes};
use table::schema::{Entity, System};

#[derive(Clone, Copy, Debug, Default)]
pub struct Shelf;

impl Documents for Shelf {
    fn tables(&self) -> &'static System {
        &crate::schema::SYSTEM
    }

    /// The version grows by one with every change of the mapping or of the documents.
    fn mapping(&self) -> Mapping {
        Mapping { version: 1, body: include_str!("mapping.json") }
    }

    fn document(&self, _: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit> {
        let mut document = Document::new();
        document.text("title", &*image.text("title")?);
        Ok(Found::Document(document))
    }
}

impl WithoutShapes for Shelf {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn book_is_found_by_its_title_only() {
        let item = r#"{"PK":{"S":"BOOKS"},"rev":{"N":"2"},"title":{"S":"Moss"},"author":{"S":"Ann Field"}}"#;
        let (entity, image) = (&crate::schema::SHELF.entities[0], Image::parse(item).unwrap());
        let Ok(Found::Document(moss)) = Shelf.document(entity, &image) else { panic!("no document") };
        assert_eq!(moss.fields(), r#""title":"Moss""#);
    }
}
