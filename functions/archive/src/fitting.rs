//! Pages that fit into the response of a function, which has at most 6 MB.

use serde::Serialize;
use web::{Problem, response_bytes};

/// The bytes of its items in a response at which a page ends.
const MAX_BYTES: usize = 4_000_000;

/// Returns the items of a page that fit into a response, at least one, and the position after which the next page starts:
/// that of the last item, or `next` if all of them fit. Items that are not there any more are left out.
pub fn fitting<T: Serialize, P>(
    items: impl IntoIterator<Item = (Option<T>, P)>,
    next: Option<P>,
) -> Result<(Vec<T>, Option<P>), Problem> {
    let (mut kept, mut bytes, mut last) = (Vec::new(), 0, None);
    for (item, position) in items {
        if let Some(item) = item {
            bytes += response_bytes(&item)?;
            if bytes > MAX_BYTES && !kept.is_empty() {
                return Ok((kept, last));
            }
            kept.push(item);
        }
        last = Some(position);
    }
    Ok((kept, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_ends_before_the_item_that_does_not_fit() {
        let large = || Some("x".repeat(1_900_000));
        let page = |items: Vec<Option<String>>, next| {
            let (kept, next) = fitting(items.into_iter().zip(1..), next).unwrap();
            (kept.len(), next)
        };
        assert_eq!(page(vec![large(), None, large()], Some(3)), (2, Some(3)));
        assert_eq!(page(vec![large(), large(), None, large()], None), (2, Some(3)));
        assert_eq!(page(vec![Some("x".repeat(5_000_000)), large()], None), (1, Some(1)));
        assert_eq!(page(vec![large(), None], None), (1, None));
    }
}
