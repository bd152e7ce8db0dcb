//! The searches of `samples/judged.tsv` whose items are in the small sample. `cargo xtask judge` runs all of them.

use local::Progress;
use local::sample::judged::{Asked, Judged};
use local::sample::{Samples, Size, load_these};
use reqwest::Client;

use crate::harness::Cairn;
use crate::tests;

tests! { judged:
    #[long] names_of_the_small_sample_rank_first,
}

async fn names_of_the_small_sample_rank_first() {
    let cairn = Cairn::start().await;
    let samples = Samples::read(Size::Small).unwrap();
    let judged = Judged::among(&samples).unwrap();
    assert!(judged.len() >= 20, "{}", judged.len());
    let token = cairn.token("sample", &["parks-admin"]).await;
    load_these(samples, cairn.url(), &token, &Progress::silent()).await.unwrap();
    cairn.caught_up().await;
    let client = Client::new();
    for judged in judged {
        for asked in Asked::ALL {
            let judgement = judged.ask(&client, cairn.url(), asked).await.unwrap();
            assert_eq!(judgement.rank, Some(1), "{judgement}");
        }
    }
}
