//! The index keys of places, made of their names.

use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizerBorrowed;

use crate::locations::normalized;

/// Returns the index key of a country.
pub fn country_key(country: &str) -> String {
    format!("COUNTRY#{}", folded(country))
}

/// Returns the index key of a place in its country. An absent state or city is empty.
pub fn place_key(state: Option<&str>, city: Option<&str>) -> String {
    format!("{}{}", state_prefix(state.unwrap_or_default()), folded(city.unwrap_or_default()))
}

/// Returns the prefix of the index keys in a state. It ends after the state's name, so `New` does not match `New York`.
pub fn state_prefix(state: &str) -> String {
    format!("STATE#{}#CITY", folded(state))
}

/// Returns a name as keys have it: two spellings that differ only in case are one place.
fn folded(name: &str) -> String {
    let folded = CaseMapper::new().fold_string(&normalized(name)).into_owned();
    ComposingNormalizerBorrowed::new_nfc().normalize(&folded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_case_spaces_or_composition_have_one_key() {
        for name in ["Québec", " QUÉBEC ", "Que\u{301}bec"] {
            assert_eq!(place_key(Some(name), Some("Trois   Rivières")), "STATE#québec#CITYtrois rivières");
        }
        assert_eq!(country_key("CANADA"), "COUNTRY#canada");
    }

    #[test]
    fn absent_state_or_city_is_empty() {
        assert_eq!(place_key(None, None), "STATE##CITY");
        assert_eq!(place_key(None, Some("Nome")), "STATE##CITYnome");
    }

    #[test]
    fn state_does_not_match_a_longer_name() {
        assert!(place_key(Some("New York"), None).starts_with(&state_prefix("new york")));
        assert!(!place_key(Some("New York"), None).starts_with(&state_prefix("New")));
    }
}
