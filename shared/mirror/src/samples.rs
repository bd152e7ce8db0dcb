//! The documents of sample items as text, by which a test notices a change of what is written.

use table::schema::{Search, Table};

use crate::document::Found;
use crate::documents::{Documents, document_of};
use crate::image::Image;

/// Returns the document of an item with this version of the mapping, as one line of text with the name of its entity.
/// Returns `None` if the item has no document. The item is given in DynamoDB JSON.
pub fn sample_document<D: Documents>(
    documents: &D,
    version: u32,
    table: &'static Table,
    item: &str,
) -> Result<Option<String>, String> {
    let image = Image::parse(item).map_err(|fault| fault.to_string())?;
    let key = image.key(table).map_err(|_| format!("the item has no key of {}", table.name))?;
    let Some(entity) = table.entity_of(&key).filter(|entity| entity.search == Search::Document) else {
        return Ok(None);
    };
    let found = document_of(documents, version, entity, &image).map_err(|fault| fault.to_string())?;
    let document = match found {
        Found::Document(document) => {
            let shapes = document.shapes().iter().map(|(field, source)| format!(" {field}: {source:?}"));
            format!("{{{}}}{}", document.fields(), shapes.collect::<String>())
        }
        Found::Hidden => "hidden".to_owned(),
    };
    Ok(Some(format!("{} {} {document}", entity.name, key.document_id())))
}
