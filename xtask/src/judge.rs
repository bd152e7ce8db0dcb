//! `cargo xtask judge [URL]`: asks the searches of `samples/judged.tsv`, and prints how well they are answered.

use local::identity::Person;
use local::sample::judged::{Asked, Half, Judged, Judgement, mean_reciprocal_rank};
use local::sample::{Size, load};
use local::{Options, Platform, Progress};
use parks::view::ADMINISTRATOR;
use reqwest::Client;
use table::Clock;

use crate::failure::{Doing, Failure};

/// Below this mean reciprocal rank, of either half and either route, the command fails.
const GOAL: f64 = 0.95;

/// Asks the platform at this URL, which has the large sample, or one that is started and filled for it.
pub async fn run(url: Option<&str>) -> Result<(), Failure> {
    let judgements = match url {
        Some(url) => ask(url).await?,
        None => ask_a_new_one().await?,
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
    if missed.is_empty() { Ok(()) } else { Err(Failure::new(format!("below {GOAL}: {}", missed.join("; ")))) }
}

async fn ask(url: &str) -> Result<Vec<Judgement>, Failure> {
    let client = Client::new();
    let mut judgements = Vec::new();
    for judged in Judged::read().doing("samples/judged.tsv")? {
        for asked in Asked::ALL {
            judgements.push(judged.ask(&client, url, asked).await.doing("a search")?);
        }
    }
    Ok(judgements)
}

/// With the large sample of parks, once all of it is indexed.
async fn ask_a_new_one() -> Result<Vec<Judgement>, Failure> {
    let state = tempfile::tempdir().doing("a folder")?;
    let options = Options::new(local::systems::ALL.to_vec(), state.path().join("state"));
    let platform = Platform::start(options, &Progress::silent()).await.doing("the platform")?;
    let person = Person { roles: &[ADMINISTRATOR], ..Person::new("samples") };
    let token = platform.identity.token_of(&person, &Clock::system()).doing("a token")?;
    load(Size::World, &platform.url, &token, &Progress::silent()).await.doing("the sample")?;
    platform.searchable().await;
    let judgements = ask(&platform.url).await;
    platform.stop().await;
    judgements
}
