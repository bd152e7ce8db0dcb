//! The options of a choice in their order. Their labels may change; their ids are never used twice.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_with::{DeserializeFromStr, SerializeDisplay};
use table::part::NotAPart;
use utoipa::ToSchema;
use web::{Problem, response_bytes};

use crate::values::{Input, folded};

/// Options that are not retired.
pub const MAX_LIVE: usize = 50;

/// Options that an attribute may ever have.
const MAX_EVER: u16 = 999;

/// Bytes of all options of an attribute as JSON, which is longer than DynamoDB's form. An item has at most 400 KB.
const MAX_BYTES: usize = 380 * 1024;

/// `001` to `999`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct OptionId(u16);

/// An option of a choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChoiceOption {
    #[schema(value_type = String, pattern = "^[0-9]{3}$")]
    pub id: OptionId,
    pub label: String,
    /// It is shown where it is set, and cannot be set any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retired: bool,
}

/// The options of an attribute: those that can be set in their order, then those that are retired.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Options(Vec<ChoiceOption>);

/// An option in requests: an existing one by its id, with or without a new label, or a new one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct WantedOption {
    /// Absent for a new option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, pattern = "^[0-9]{3}$")]
    pub id: Option<String>,
    /// Absent if it stays the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, min_length = 1, max_length = 100)]
    pub label: Option<String>,
}

impl Options {
    pub fn all(&self) -> &[ChoiceOption] {
        &self.0
    }

    pub fn live(&self) -> impl Iterator<Item = &ChoiceOption> {
        self.0.iter().filter(|option| !option.retired)
    }

    /// The options in the order of the rows: retired ones come last, by their ids.
    pub fn sorted(&self) -> Vec<&ChoiceOption> {
        let mut options: Vec<&ChoiceOption> = self.0.iter().collect();
        options.sort_by_key(|option| option.retired.then_some(option.id));
        options
    }

    /// The option with this id, also if it is retired.
    pub fn by_id(&self, id: &str) -> Option<&ChoiceOption> {
        let id: OptionId = id.parse().ok()?;
        self.0.iter().find(|option| option.id == id)
    }

    /// The option that a client sets by `{"id"}`, by `{"label"}`, or by its label alone.
    pub fn choose(&self, input: &Input) -> Result<&ChoiceOption, String> {
        let option = match input {
            Input::Id(id) => self.by_id(id),
            Input::Label(label) | Input::Text(label) => self.labelled(label),
            Input::Number(_) => None,
        };
        option.filter(|option| !option.retired).ok_or_else(|| {
            let labels: Vec<_> = self.live().take(10).map(|option| format!("`{}`", option.label)).collect();
            format!(
                "must be the label of an option of the attribute, such as {}, or its id as {{\"id\"}}",
                labels.join(", ")
            )
        })
    }

    /// The option that the operand of a filter names in the same forms, also if it is retired.
    pub fn find(&self, operand: &str) -> Option<&ChoiceOption> {
        match serde_json::from_str(operand) {
            Ok(Input::Id(id)) => self.by_id(&id),
            Ok(Input::Label(label)) => self.labelled(&label),
            _ => self.labelled(operand),
        }
    }

    /// The option with this label, compared without case. An option that can be set precedes a retired one.
    pub fn labelled(&self, label: &str) -> Option<&ChoiceOption> {
        let label = folded(label);
        let by_label = |option: &&ChoiceOption| folded(&option.label) == label;
        self.live().find(by_label).or_else(|| self.0.iter().find(by_label))
    }

    /// The bytes of all options in a response. An empty list has none.
    pub fn response_bytes(&self) -> Result<usize, Problem> {
        self.0.iter().map(|option| Ok(response_bytes(option)? + 1)).sum()
    }

    /// Whether the requested option is a new one, or one of these.
    pub fn may_keep(&self, wanted: &WantedOption) -> bool {
        wanted.id.as_ref().is_none_or(|id| self.by_id(id).is_some())
    }

    /// The options after a client has set all of them. Options that are left out are retired, and retired options that are
    /// listed can be set again. A fault has the index of its option, or none for the list as a whole.
    pub fn replaced(&self, wanted: &[WantedOption]) -> Result<Self, Vec<(Option<usize>, String)>> {
        let mut faults = Vec::new();
        let mut next = self.0.iter().map(|option| option.id.0).max().unwrap_or_default();
        let mut listed: Vec<ChoiceOption> = Vec::new();
        for (index, wanted) in wanted.iter().enumerate() {
            let option = match &wanted.id {
                None => {
                    next += 1;
                    wanted.label.clone().map(|label| ChoiceOption { id: OptionId(next), label, retired: false })
                }
                Some(id) => self.by_id(id).map(|known| ChoiceOption {
                    label: wanted.label.clone().unwrap_or_else(|| known.label.clone()),
                    retired: false,
                    ..known.clone()
                }),
            };
            let Some(option) = option else {
                let fault =
                    if wanted.id.is_some() { "must be an id of this attribute's options" } else { "needs a label" };
                faults.push((Some(index), fault.to_owned()));
                continue;
            };
            if !web::visible::is_readable(&option.label) || option.label.chars().any(char::is_control) {
                faults.push((
                    Some(index),
                    "must have a label with a visible character and no control characters".to_owned(),
                ));
            } else if listed.iter().any(|other| folded(&other.label) == folded(&option.label)) {
                faults.push((Some(index), "has the label of another option".to_owned()));
            } else if listed.iter().any(|other| other.id == option.id) {
                faults.push((Some(index), "is listed twice".to_owned()));
            }
            listed.push(option);
        }
        if listed.len() > MAX_LIVE {
            faults.push((None, format!("must have at most {MAX_LIVE} options")));
        }
        if next > MAX_EVER {
            faults.push((None, format!("would make more than {MAX_EVER} options, including former ones")));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let kept: Vec<OptionId> = listed.iter().map(|option| option.id).collect();
        let left_out = self.0.iter().filter(|option| !kept.contains(&option.id));
        listed.extend(left_out.map(|option| ChoiceOption { retired: true, ..option.clone() }));
        let all = Self(listed);
        if serde_json::to_vec(&all).is_ok_and(|json| json.len() <= MAX_BYTES) {
            Ok(all)
        } else {
            let detail = "would take more than 380 KB, including former ones; shorten their labels";
            Err(vec![(None, detail.to_owned())])
        }
    }
}

impl fmt::Display for OptionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:03}", self.0)
    }
}

impl FromStr for OptionId {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let digits = text.len() == 3 && text.bytes().all(|digit| digit.is_ascii_digit());
        let id = text.parse().ok().filter(|id| digits && *id > 0);
        id.map(Self).ok_or(NotAPart("three digits from 001 to 999"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(id: Option<&str>, label: Option<&str>) -> WantedOption {
        WantedOption { id: id.map(str::to_owned), label: label.map(str::to_owned) }
    }

    fn three() -> Options {
        Options::default().replaced(&["High", "Mid", "Low"].map(|label| wanted(None, Some(label)))).unwrap()
    }

    fn ids(options: &Options) -> Vec<String> {
        options.all().iter().map(|option| format!("{}{}", option.id, if option.retired { "-" } else { "" })).collect()
    }

    #[test]
    fn replaced_options_get_new_ids_and_omitted_options_are_retired() {
        let put_first = three()
            .replaced(&[wanted(None, Some("Urgent")), wanted(Some("001"), Some("Top")), wanted(Some("003"), None)])
            .unwrap();
        assert_eq!(ids(&put_first), ["004", "001", "003", "002-"]);
        let again = put_first.replaced(&[wanted(Some("002"), None), wanted(None, Some("New"))]).unwrap();
        assert_eq!(ids(&again), ["002", "005", "004-", "001-", "003-"]);
    }

    #[test]
    fn labels_are_compared_without_case() {
        assert_eq!(three().choose(&"low".into()).unwrap().id, OptionId(3));
        assert_eq!(three().choose(&Input::Label("low".to_owned())).unwrap().id, OptionId(3));
        assert_eq!(three().choose(&Input::Id("001".to_owned())).unwrap().label, "High");
        for text in ["Other", "", "001"] {
            assert!(three().choose(&text.into()).is_err(), "{text:?}");
        }
        for id in ["High", "", "004", "000"] {
            assert!(three().choose(&Input::Id(id.to_owned())).is_err(), "{id:?}");
        }
        let faults = three().replaced(&[wanted(None, Some("HIGH")), wanted(None, Some(" high "))]).unwrap_err();
        assert_eq!(faults.len(), 1);
        assert!(three().replaced(&[wanted(Some("009"), None)]).is_err());
    }

    #[test]
    fn retired_option_is_found_by_filters_and_cannot_be_set() {
        let without_mid = three().replaced(&[wanted(Some("001"), None), wanted(Some("003"), None)]).unwrap();
        assert!(without_mid.choose(&"Mid".into()).is_err());
        assert_eq!(without_mid.find("Mid").unwrap().id, OptionId(2));
        assert_eq!(without_mid.find(r#"{"id":"002"}"#).unwrap().label, "Mid");
        assert_eq!(without_mid.find("002"), None);
        assert_eq!(without_mid.labelled("mid").unwrap().id, OptionId(2));
        assert_eq!(without_mid.labelled("001"), None);
    }
}
