//! The order of hits. Each ends in the keys, so that it is total and pages walk it without gaps.

use serde_json::{Value, json};
use web::Order;

use super::point::Point;
use super::query::Sort;

/// What hits are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordering {
    Relevance,
    /// From the point that is asked for.
    Distance,
    Name(Order),
    Number(Order),
    Updated(Order),
}

impl Ordering {
    /// The one that was asked for or, by default, the one that fits what was asked. A fault names its parameter.
    pub fn choose(
        sort: Option<Sort>,
        order: Option<Order>,
        words: bool,
        near: bool,
    ) -> Result<Self, (&'static str, &'static str)> {
        let sort = sort.unwrap_or(match (words, near) {
            (true, _) => Sort::Relevance,
            (false, true) => Sort::Distance,
            (false, false) => Sort::Name,
        });
        let direction = order.unwrap_or_default();
        match sort {
            Sort::Relevance if !words => Err(("sort", "requires `q` to sort by relevance")),
            Sort::Distance if !near => Err(("sort", "requires `near` to sort by distance")),
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

    /// The values that `search_after` takes are those of these keys, in this order.
    pub fn request(self, near: Option<Point>) -> Value {
        let mut keys = match self {
            // Among equally good hits the wider thing, then the shorter name, then names in their order.
            Self::Relevance => vec![
                json!({ "_score": "desc" }),
                json!({ "rank": "asc" }),
                json!({ "nameLength": "asc" }),
                json!({ "nameOrder": "asc" }),
            ],
            // Only what holds the point has a score, the smaller the higher.
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

    /// At which of the sort values the distance stands.
    pub fn distance_at(self) -> Option<usize> {
        (self == Self::Distance).then_some(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_fits_what_was_asked() {
        let by_default = |words, near| Ordering::choose(None, None, words, near);
        assert_eq!(by_default(true, true), Ok(Ordering::Relevance));
        assert_eq!(by_default(false, true), Ok(Ordering::Distance));
        assert_eq!(by_default(false, false), Ok(Ordering::Name(Order::Asc)));
    }

    #[test]
    fn an_order_without_its_ground_is_a_fault() {
        let fault = |sort, order| Ordering::choose(Some(sort), order, false, false).unwrap_err().0;
        assert_eq!(fault(Sort::Relevance, None), "sort");
        assert_eq!(fault(Sort::Distance, None), "sort");
        assert_eq!(Ordering::choose(None, Some(Order::Desc), true, false).unwrap_err().0, "order");
    }

    #[test]
    fn every_order_ends_in_the_keys() {
        let request = Ordering::Number(Order::Desc).request(None);
        assert_eq!(request, json!([{ "number": "desc" }, { "pk": "asc" }, { "sk": "asc" }]));
    }
}
