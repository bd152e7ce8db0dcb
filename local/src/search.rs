//! The search engine: the user's choice and its start.

use std::str::FromStr;
use std::time::Duration;

use serde_json::Value;

use crate::engine::opensearch::{self, Lifetime};
use crate::engine::osmem;
use crate::error::StartError;
use crate::install::maven::Unavailable;
use crate::install::{Cache, Tools};
use crate::process::Process;
use crate::progress::{Progress, Stage};
use crate::state::State;

/// The search engine that the user has chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// A real OpenSearch if Java and Maven are installed, or else osmem.
    #[default]
    Best,
    OpenSearch,
    Osmem,
    /// A running engine.
    Url(String),
}

/// A started search engine.
#[derive(Debug)]
pub struct Search {
    pub url: String,
    /// Identifies the engine's data between starts. Absent if the engine keeps none.
    pub identity: Option<String>,
    pub process: Option<Process>,
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "opensearch" => Ok(Self::OpenSearch),
            "osmem" => Ok(Self::Osmem),
            url if url.starts_with("http://") || url.starts_with("https://") => {
                Ok(Self::Url(url.trim_end_matches('/').to_owned()))
            }
            _ => Err("use `opensearch`, `osmem`, or a URL".to_owned()),
        }
    }
}

/// The stage in which a running engine is asked for a response.
const CONNECTING: Stage = "search";

/// How long a running engine may take to respond.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Starts the chosen engine, and downloads it first if necessary.
pub async fn start(
    choice: &Choice,
    tools: &Tools,
    cache: &Cache,
    state: &State,
    progress: &Progress,
) -> Result<Search, StartError> {
    match choice {
        Choice::Url(url) => existing(url, RESPONSE_TIMEOUT, progress).await,
        Choice::Osmem => start_osmem(tools, cache, state, progress).await,
        Choice::OpenSearch | Choice::Best => match opensearch::RECIPE.install(tools, cache, progress).await {
            Ok(installed) => {
                progress.started("OpenSearch");
                let (process, url) =
                    opensearch::start(&installed, Lifetime::Long, &state.path("opensearch"), &state.log("opensearch")?)
                        .await?;
                progress.finished("OpenSearch", url.clone());
                Ok(Search { url, identity: Some("opensearch".to_owned()), process: Some(process) })
            }
            Err(Unavailable::Missing(what)) if *choice == Choice::Best => {
                progress.note(format!(
                    "Search is osmem, because {what}. It finds shapes by their first outline only, and keeps nothing between \
                     starts. Install Java 17 or newer and Maven to get a real OpenSearch."
                ));
                start_osmem(tools, cache, state, progress).await
            }
            Err(Unavailable::Missing(what)) => Err(StartError::new(
                format!("OpenSearch cannot run, because {what}"),
                "Install Java 17 or newer and Maven, or choose `--search osmem`",
            )),
            Err(Unavailable::Failed(error)) => Err(error),
        },
    }
}

async fn start_osmem(tools: &Tools, cache: &Cache, state: &State, progress: &Progress) -> Result<Search, StartError> {
    let program = osmem::RECIPE.install(tools, cache, progress).await?;
    progress.started("osmem");
    let (process, url) = osmem::start(&program, &state.log("osmem")?).await?;
    progress.finished("osmem", url.clone());
    Ok(Search { url, identity: None, process: Some(process) })
}

async fn existing(url: &str, timeout: Duration, progress: &Progress) -> Result<Search, StartError> {
    progress.started(CONNECTING);
    // Like the platform's client of search, which uses no proxy either.
    let client = || reqwest::Client::builder().timeout(timeout).no_proxy().build();
    let ask = async || client()?.get(url).send().await?.error_for_status();
    let answer = ask().await.map_err(|error| {
        let reason = if error.is_timeout() { format!("no response in {timeout:?}") } else { error.to_string() };
        StartError::new(
            format!("Connecting to OpenSearch at {url} failed: {reason}"),
            "Start it, or omit `--search` to start one here",
        )
    })?;
    progress.finished(CONNECTING, url);
    let cluster = answer.json().await.ok().and_then(|about: Value| cluster(&about));
    Ok(Search { url: url.to_owned(), identity: Some(cluster.unwrap_or_else(|| url.to_owned())), process: None })
}

/// Returns the id of a cluster, which is the same at each of its addresses. osmem has a constant in its place, and a
/// cluster that is being formed has `_na_`; neither has the length of a random id of OpenSearch.
fn cluster(about: &Value) -> Option<String> {
    about["cluster_uuid"].as_str().filter(|id| id.len() == 22).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choice_is_parsed_from_the_command_line() {
        assert_eq!("osmem".parse(), Ok(Choice::Osmem));
        assert_eq!("http://127.0.0.1:9200/".parse(), Ok(Choice::Url("http://127.0.0.1:9200".to_owned())));
        assert!("elastic".parse::<Choice>().is_err());
    }

    #[test]
    fn cluster_is_known_by_its_random_id_only() {
        let of = |id: &str| cluster(&serde_json::json!({ "cluster_uuid": id }));
        assert_eq!(of("jn3sUPJ5Rf2YcsFAhzWVvQ").as_deref(), Some("jn3sUPJ5Rf2YcsFAhzWVvQ"));
        assert_eq!((of("osmem-cluster"), of("_na_"), cluster(&Value::Null)), (None, None, None));
    }

    #[tokio::test]
    async fn silent_engine_is_an_error_with_its_address() {
        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", silent.local_addr().unwrap());
        let error = existing(&url, Duration::from_millis(50), &Progress::silent()).await.unwrap_err();
        assert_eq!(error.happened, format!("Connecting to OpenSearch at {url} failed: no response in 50ms"));
    }
}
