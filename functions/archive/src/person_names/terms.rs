//! The terms of a stored name.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::particles::joined;
use super::reading::{Reading, has_gap, readings};
use super::sounds::sounds;
use crate::particles::is_particle;

/// The most words of one part of a name. Words beyond it are not found.
const MAX_WORDS: usize = 20;

/// A part of a person's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = NamePart)]
pub enum Part {
    Given,
    Surname,
}

/// The terms of one part of a stored name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameTerms {
    /// The words that were read in full, and those joined with the particles before them.
    pub words: Vec<String>,
    /// The possible spellings of the other words, each with at most one gap.
    pub uncertain: Vec<String>,
    /// The sounds of the words and the spellings.
    pub sounds: Vec<String>,
}

/// The fields of a stored name in search. All are keywords.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct NameFields {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    given: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    given_uncertain: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    given_sound: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    surname: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    surname_uncertain: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    surname_sound: Vec<String>,
}

impl Part {
    /// Returns the field of the certain words.
    pub const fn words_field(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Surname => "surname",
        }
    }

    /// Returns the field of the uncertain readings.
    pub const fn uncertain_field(self) -> &'static str {
        match self {
            Self::Given => "givenUncertain",
            Self::Surname => "surnameUncertain",
        }
    }

    /// Returns the field of the sounds.
    pub const fn sounds_field(self) -> &'static str {
        match self {
            Self::Given => "givenSound",
            Self::Surname => "surnameSound",
        }
    }
}

impl NameTerms {
    /// Returns the terms of the given names or the surname of a person, as transcribed.
    pub fn new(text: &str) -> Self {
        let mut terms = Self::default();
        for reading in readings(text).into_iter().take(MAX_WORDS) {
            match reading {
                Reading::Certain(word) => terms.words.push(word),
                Reading::Uncertain(spellings) => terms.uncertain.extend(spellings),
            }
        }
        terms.words.extend(joined(&terms.words));
        let sounding = terms.words.iter().filter(|word| !is_particle(word));
        let spelled = terms.uncertain.iter().filter(|spelling| !has_gap(spelling));
        terms.sounds = sounding.chain(spelled).flat_map(|word| sounds(word)).collect();
        for list in [&mut terms.words, &mut terms.uncertain, &mut terms.sounds] {
            list.sort_unstable();
            list.dedup();
        }
        terms
    }
}

impl NameFields {
    /// Returns the fields of a person's name, as transcribed.
    pub fn new(given: &str, surname: &str) -> Self {
        let (given, surname) = (NameTerms::new(given), NameTerms::new(surname));
        Self {
            given: given.words,
            given_uncertain: given.uncertain,
            given_sound: given.sounds,
            surname: surname.words,
            surname_uncertain: surname.uncertain,
            surname_sound: surname.sounds,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn stored_name_has_words_uncertain_readings_and_sounds() {
        let fields = json!(NameFields::new("Wm. J_hn", "van der Berg"));
        assert_eq!(fields["given"], json!(["wm"]));
        assert_eq!(fields["givenUncertain"], json!(["j_hn"]));
        assert_eq!(fields["surname"], json!(["berg", "der", "van", "vanderberg"]));
        assert!(fields["surnameSound"].as_array().is_some_and(|codes| codes.contains(&json!("795000"))));
        assert_eq!(fields.get("surnameUncertain"), None);
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_terms(text in "\\PC{0,40}") {
            let terms = NameTerms::new(&text);
            proptest::prop_assert!(terms.words.len() <= 2 * MAX_WORDS);
        }
    }
}
