//! The primary key of an item and the document id made of it.

/// An item's key as stored: the values of its table's key attributes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub pk: String,
    /// Absent where the table has no sort key.
    pub sk: Option<String>,
}

impl Key {
    pub fn new(pk: impl Into<String>, sk: impl Into<String>) -> Self {
        Self { pk: pk.into(), sk: Some(sk.into()) }
    }

    /// `<pk>#<sk>`, or just `<pk>` where the table has no sort key. Never parsed: documents carry `pk` and `sk`.
    pub fn document_id(&self) -> String {
        match &self.sk {
            Some(sk) => format!("{}#{sk}", self.pk),
            None => self.pk.clone(),
        }
    }
}
