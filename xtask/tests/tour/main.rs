//! The README's tour, taken on a platform with the samples: every command is carried out, and what it answers is
//! compared with what stands below it there.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "tests say what they expect by unwrapping it"
)]

mod curl;
mod expected;
mod platform;
mod readme;
mod shell;

use std::time::Duration;

use platform::Toured;
use readme::Step;

/// Where the README says that the platform is.
const HERE: &str = "localhost:8080";

/// How long a write may take until it is found.
const PATIENCE: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread")]
async fn the_tour_gives_what_the_readme_says() {
    let steps = readme::tour(&std::fs::read_to_string(xtask::root().join("README.md")).unwrap());
    assert!(steps.len() >= 10, "the tour has {} commands", steps.len());
    let mut toured = Toured::start().await;
    for step in &steps {
        take(&mut toured, step).await;
    }
    toured.stop().await;
}

async fn take(toured: &mut Toured, step: &Step) {
    if let Some((variable, role)) = shell::token(&step.command) {
        let token = toured.token(&role);
        toured.variables.insert(variable, token);
        return;
    }
    let words = shell::words(&step.command, &toured.variables);
    let request = curl::parse(&words);
    let first = toured.send(&request).await;
    if expected::fits(&step.output, &first) {
        return;
    }
    // Only what reads may be asked again, until search shows the last write.
    let mut answer = first;
    let begun = tokio::time::Instant::now();
    while request.only_reads() && begun.elapsed() < PATIENCE {
        tokio::time::sleep(Duration::from_millis(100)).await;
        answer = toured.send(&request).await;
        if expected::fits(&step.output, &answer) {
            return;
        }
    }
    panic!("$ {}\nanswers\n{}\nand the README says\n{}", step.command, expected::laid_out(&answer), step.output);
}
