//! The order of hits. Every order ends with the keys, so that it is total and pages neither repeat nor miss a hit.

use serde_json::{Value, json};
use web::Order;

use super::point::Point;
use super::query::Sort;

/// The order of hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordering {
    Relevance,
    /// By distance from the point of the request.
    Distance,
    Name(Order),
    Number(Order),
    Updated(Order),
}

impl Ordering {
    /// The requested order, or the default for the query. A fault has the name of its parameter.
    pub fn choose(
        sort: Option<Sort>,
        order: Option<Order>,
        has_words: bool,
        has_point: bool,
    ) -> Result<Self, (&'static str, &'static str)> {
        let sort = sort.unwrap_or(match (has_words, has_point) {
            (true, _) => Sort::Relevance,
            (false, true) => Sort::Distance,
            (false, false) => Sort::Name,
        });
        let direction = order.unwrap_or_default();
        match sort {
            Sort::Relevance if !has_words => Err(("sort", "requires `q` to sort by relevance")),
            Sort::Distance if !has_point => Err(("sort", "requires `near` to sort by distance")),
            Sort::Relevance | Sort::Distance if order.is_some() => {
                Err(("order", "is allowed only with `sort` by name, number or updated"))
            }
            Sort::Relevance => Ok(Self::Relevance),
            Sort::Distance => Ok(Self::Distance),
            Sort::Name => Ok(Self::Name(direction)),
            Sort::Number => Ok(Self::Number(direction)),
            Sort::Updated => Ok(Self::Updated(direction)),
        }
    }

    /// The sort keys of the request. The values of `search_after` are in their order.
    pub fn request(self, near: Option<Point>) -> Value {
        let mut keys = match self {
            // Among equally good hits: larger kinds of area first, then shorter names, then names in order.
            Self::Relevance => vec![
                json!({ "_score": "desc" }),
                json!({ "rank": "asc" }),
                json!({ "nameLength": "asc" }),
                json!({ "nameOrder": "asc" }),
            ],
            // Only the items that contain the point have a score, smaller ones a higher one.
            Self::Distance => {
                let from = near.map(|Point { longitude, latitude }| [longitude, latitude]);
                let distance = json!({ "_geo_distance": { "location": from, "order": "asc", "unit": "m" } });
                vec![json!({ "_score": "desc" }), distance]
            }
            Self::Name(order) => vec![json!({ "nameOrder": order })],
            Self::Number(order) => vec![json!({ "number": order })],
            Self::Updated(order) => vec![json!({ "updatedAt": order })],
        };
        keys.extend([json!({ "pk": "asc" }), json!({ "sk": "asc" })]);
        Value::Array(keys)
    }

    /// The index of the distance among the sort values.
    pub fn distance_index(self) -> Option<usize> {
        (self == Self::Distance).then_some(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_order_depends_on_words_and_point() {
        let by_default = |has_words, has_point| Ordering::choose(None, None, has_words, has_point);
        assert_eq!(by_default(true, true), Ok(Ordering::Relevance));
        assert_eq!(by_default(false, true), Ok(Ordering::Distance));
        assert_eq!(by_default(false, false), Ok(Ordering::Name(Order::Asc)));
    }

    #[test]
    fn sort_without_its_parameter_is_a_fault() {
        let fault = |sort, order| Ordering::choose(Some(sort), order, false, false).unwrap_err().0;
        assert_eq!(fault(Sort::Relevance, None), "sort");
        assert_eq!(fault(Sort::Distance, None), "sort");
        assert_eq!(Ordering::choose(None, Some(Order::Desc), true, false).unwrap_err().0, "order");
    }

    #[test]
    fn every_order_ends_with_the_keys() {
        let request = Ordering::Number(Order::Desc).request(None);
        assert_eq!(request, json!([{ "number": "desc" }, { "pk": "asc" }, { "sk": "asc" }]));
    }
}
