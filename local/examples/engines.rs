//! Starts OpenSearch and dynoxide, prints their endpoints, and ends when standard input closes:
//! `cargo run -p local --example engines FOLDER`.

use std::io::Read;
use std::path::PathBuf;

use local::StartError;
use local::engine::{dynoxide::Dynoxide, opensearch};
use local::install::{Cache, Tools, maven::Unavailable};
use local::progress::{Event, Progress};

#[tokio::main]
async fn main() -> Result<(), StartError> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| std::env::temp_dir().join("cairn-engines"));
    std::fs::create_dir_all(&folder).map_err(|error| StartError::folder(&folder, error))?;
    let progress = Progress::new(|event| {
        if !matches!(event, Event::Advanced { .. }) {
            eprintln!("{event:?}");
        }
    });
    let installed = opensearch::RECIPE.install(&Tools::from_env(), &Cache::from_env(), &progress).await;
    let installed = installed.map_err(|unavailable| match unavailable {
        Unavailable::Missing(what) => StartError::new(what, "Install it"),
        Unavailable::Failed(error) => error,
    })?;
    let (search, url) = opensearch::start(
        &installed,
        opensearch::Lifetime::Long,
        &folder.join("opensearch"),
        &folder.join("opensearch.log"),
    )
    .await?;
    println!("CAIRN_SEARCH_ENDPOINT={url}");
    let dynoxide = Dynoxide::start(Some(&folder.join("dynamodb.sqlite"))).await?;
    println!("CAIRN_DYNAMODB_ENDPOINT={}", dynoxide.front);

    let _ = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await;
    search.stop().await;
    dynoxide.stop().await;
    Ok(())
}
