//! The queries of the lists of items.

use serde::Deserialize;
use utoipa::ToSchema;
use web::{Limit, Order};

use crate::names::{ActivityType, FacilityType};
use crate::view::ViewParameter;

/// The query of a list of any kind.
#[derive(Debug)]
pub struct ListParameters {
    pub limit: Limit,
    pub cursor: Option<String>,
    pub order: Order,
    pub view: Option<ViewParameter>,
    pub deleted: bool,
    /// Only items of this type, if their kind has types.
    pub item_type: Option<&'static str>,
}

/// Declares the query of a list, with the enumeration of the kind's types if it has any.
macro_rules! list_query {
    ($(#[$doc:meta])* $name:ident $($types:ident)?) => {
        $(#[$doc])*
        #[derive(Debug, Deserialize, ToSchema)]
        pub struct $name {
            #[serde(default)]
            limit: Limit,
            #[serde(default)]
            #[schema(nullable = false)]
            cursor: Option<String>,
            #[serde(default)]
            order: Order,
            /// `public` shows an administrator the visitors' view.
            #[serde(default)]
            #[schema(nullable = false)]
            view: Option<ViewParameter>,
            /// For administrators: the deleted items instead of the live ones.
            #[serde(default)]
            deleted: bool,
            $(
                /// Only items of this type.
                #[serde(default, rename = "type")]
                #[schema(nullable = false)]
                item_type: Option<$types>,
            )?
        }

        impl From<$name> for ListParameters {
            fn from(query: $name) -> Self {
                let mut item_type = None;
                $(item_type = item_type.or(query.item_type.map($types::as_str));)?
                let $name { limit, cursor, order, view, deleted, .. } = query;
                Self { limit, cursor, order, view, deleted, item_type: item_type.take() }
            }
        }
    };
}

list_query! { ListQuery }
list_query! { FacilityListQuery FacilityType }
list_query! { ActivityListQuery ActivityType }
