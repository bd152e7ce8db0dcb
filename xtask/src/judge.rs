//! `cargo xtask judge [URL]`: sends the searches of `samples/judged.tsv`, and prints the quality of the answers.

use local::identity::Person;
use local::sample::judged::{Asked, Half, Judged, Judgement, mean_reciprocal_rank};
use local::sample::{Size, load};
use local::{Options, Platform, Progress};
use parks::view::ADMINISTRATOR;
use reqwest::Client;
use table::Clock;

use crate::failure::{Doing, Failure};

/// The minimum mean reciprocal rank of each half and each route.
const GOAL: f64 = 0.95;

/// Judges the platform at this URL, which must have the large sample, or starts a platform and loads the sample.
pub async fn run(url: Option<&str>) -> Result<(), Failure> {
    let judgements = match url {
        Some(url) => ask(url).await?,
        None => ask_new_platform().await?,
    };
    judgements.iter().filter(|judgement| judgement.rank != Some(1)).for_each(|judgement| println!("{judgement}"));
    let mut missed = Vec::new();
    for asked in Asked::ALL {
        for half in [Half::Tuning, Half::Reporting] {
            let of = |judgement: &&Judgement| judgement.asked == asked && judgement.judged.half == half;
            let rank = mean_reciprocal_rank(judgements.iter().filter(of));
            let count = judgements.iter().filter(of).count();
            println!("{asked:?}, {half:?} half: mean reciprocal rank {rank:.3} of {count}");
            if rank < GOAL {
                missed.push(format!("{asked:?}, {half:?} half: {rank:.3}"));
            }
        }
    }
    if missed.is_empty() {
        Ok(())
    } else {
        Err(Failure::new(format!("the mean reciprocal rank is below {GOAL}: {}", missed.join("; "))))
    }
}

async fn ask(url: &str) -> Result<Vec<Judgement>, Failure> {
    let client = Client::new();
    let mut judgements = Vec::new();
    for judged in Judged::read().doing("samples/judged.tsv")? {
        for asked in Asked::ALL {
            judgements.push(judged.ask(&client, url, asked).await.doing("sending a search")?);
        }
    }
    Ok(judgements)
}

/// Starts a platform, loads the large sample of parks and judges it.
async fn ask_new_platform() -> Result<Vec<Judgement>, Failure> {
    let state = tempfile::tempdir().doing("creating a temporary folder")?;
    let options = Options::new(local::systems::ALL.to_vec(), state.path().join("state"));
    let platform = Platform::start(options, &Progress::silent()).await.doing("starting the platform")?;
    let person = Person { roles: &[ADMINISTRATOR], ..Person::new("samples") };
    let token = platform.identity.token_of(&person, &Clock::system()).doing("creating a token")?;
    load(Size::World, &platform.url, &token, &Progress::silent()).await.doing("loading the sample")?;
    platform.searchable().await;
    let judgements = ask(&platform.url).await;
    platform.stop().await;
    judgements
}
