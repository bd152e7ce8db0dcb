//! Searches with their expected first results, and the quality of a platform's answers.

use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};

use reqwest::{Client, Url};
use serde_json::Value;

use super::{SampleError, Samples};

const JUDGED: &str = include_str!("../../../samples/judged.tsv");

/// A search of a line in `samples/judged.tsv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    pub half: Half,
    /// The kind of the query: a whole name, a prefix, a typo, another spelling.
    pub kind: &'static str,
    pub typed: &'static str,
    /// The expected names, one of which must come first.
    pub wanted: Vec<&'static str>,
}

/// The use of a search: rules are tuned by one half and judged by the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    Tuning,
    Reporting,
}

/// A judged route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Search,
    Suggest,
}

/// The rank of an expected name.
#[derive(Clone, Debug)]
pub struct Judgement {
    pub judged: Judged,
    pub asked: Asked,
    /// The rank from 1, or none if the first page has no expected name.
    pub rank: Option<usize>,
    /// The first result.
    pub first: Option<String>,
}

impl Judged {
    /// Reads all judged searches.
    pub fn read() -> Result<Vec<Self>, SampleError> {
        let lines = JUDGED.lines().filter(|line| !line.starts_with('#')).skip(1);
        lines.map(|line| Self::parse(line).ok_or_else(|| SampleError::Unreadable(line.to_owned()))).collect()
    }

    /// Reads the judged searches whose expected names are all in these samples.
    pub fn among(samples: &Samples) -> Result<Vec<Self>, SampleError> {
        let names: HashSet<&str> = samples.display_names().collect();
        let mut judged = Self::read()?;
        judged.retain(|judged| judged.wanted.iter().all(|wanted| names.contains(wanted)));
        Ok(judged)
    }

    fn parse(line: &'static str) -> Option<Self> {
        let mut fields = line.split('\t');
        let half = match fields.next()? {
            "tuning" => Half::Tuning,
            "reporting" => Half::Reporting,
            _ => return None,
        };
        let (kind, typed) = (fields.next()?, fields.next()?);
        Some(Self { half, kind, typed, wanted: fields.next()?.split("; ").collect() })
    }

    /// Sends the search to a gateway.
    pub async fn ask(&self, client: &Client, gateway: &str, asked: Asked) -> Result<Judgement, SampleError> {
        let failed = |reason: &dyn Display| SampleError::Gateway {
            request: format!("{} {}", asked.path(), self.typed),
            reason: reason.to_string(),
        };
        let mut url = Url::parse(gateway).and_then(|url| url.join(asked.path())).map_err(|error| failed(&error))?;
        url.query_pairs_mut().append_pair("q", self.typed);
        let answer = client.get(url).send().await.and_then(reqwest::Response::error_for_status);
        let answer: Value = answer.map_err(|error| failed(&error))?.json().await.map_err(|error| failed(&error))?;
        let items = answer.get("items").and_then(Value::as_array);
        let items = items.ok_or_else(|| failed(&"the response has no items"))?;
        let names: Vec<&str> = items.iter().filter_map(|item| item.get("displayName")?.as_str()).collect();
        let rank = names.iter().position(|name| self.wanted.contains(name)).map(|place| place + 1);
        Ok(Judgement { judged: self.clone(), asked, rank, first: names.first().map(|name| (*name).to_owned()) })
    }
}

impl Asked {
    pub const ALL: [Self; 2] = [Self::Search, Self::Suggest];

    const fn path(self) -> &'static str {
        match self {
            Self::Search => "/parks/search",
            Self::Suggest => "/parks/suggest",
        }
    }
}

/// Returns the mean of 1 divided by the rank, or 0 for a name that is not on the first page.
pub fn mean_reciprocal_rank<'a>(judgements: impl IntoIterator<Item = &'a Judgement>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0_f64);
    for judgement in judgements {
        #[expect(clippy::cast_precision_loss, reason = "a page has at most 100 hits")]
        let reciprocal = judgement.rank.map_or(0.0, |rank| 1.0 / rank as f64);
        sum += reciprocal;
        count += 1.0;
    }
    sum / count.max(1.0)
}

impl Display for Judgement {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Self { judged: Judged { kind, typed, wanted, .. }, asked, rank, first } = self;
        let rank = rank.map_or_else(|| "absent".to_owned(), |rank| rank.to_string());
        let first = first.as_deref().unwrap_or("nothing");
        write!(
            formatter,
            "{asked:?}, {kind}: `{typed}` expects {}, whose rank is {rank}; the first result is {first}",
            wanted.join(" or ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::Size;
    use super::*;

    #[test]
    fn judged_searches_are_balanced_and_expect_names_of_the_sample() {
        let all = Judged::read().unwrap();
        let tuning = all.iter().filter(|judged| judged.half == Half::Tuning).count();
        assert!(all.len() >= 120 && tuning.abs_diff(all.len() - tuning) <= 2, "{tuning} of {}", all.len());
        assert_eq!(Judged::among(&Samples::read(Size::World).unwrap()).unwrap(), all);
    }
}
