//! Whole numbers and decimals. All spellings of a number have one text and one key.

use table::ordered;

use super::Input;

/// A whole number of 64 bits; `10.0` and `1e1` are 10.
pub(super) fn int(input: &Input) -> Option<String> {
    decimal(input).filter(|number| number.parse::<i64>().is_ok())
}

/// Any number that DynamoDB can store, without exponent: `1.50` is `1.5`.
pub(super) fn decimal(input: &Input) -> Option<String> {
    ordered::parse_number(&ordered::number(input.digits())?)
}
