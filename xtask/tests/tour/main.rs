//! The commands of README.md and docs/tour.md, on a platform with the small sample. Every command runs, and its output
//! is compared with the one on the page.
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
mod page;
mod platform;
mod shell;

use std::time::Duration;

use page::Step;
use platform::Toured;

/// The address of the platform on the pages.
const HERE: &str = "localhost:8080";

/// How long a write may take until search finds it.
const PATIENCE: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread")]
async fn commands_print_the_output_on_the_pages() {
    let page = |name: &str| page::steps_of(&std::fs::read_to_string(xtask::root().join(name)).unwrap());
    let steps = [page("README.md"), page("docs/tour.md")].concat();
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
    // Only reads may be repeated until search shows the last write.
    let mut answer = first;
    let begun = tokio::time::Instant::now();
    while request.only_reads() && begun.elapsed() < PATIENCE {
        tokio::time::sleep(Duration::from_millis(100)).await;
        answer = toured.send(&request).await;
        if expected::fits(&step.output, &answer) {
            return;
        }
    }
    panic!("$ {}\nanswers\n{}\nand the page shows\n{}", step.command, expected::laid_out(&answer), step.output);
}
