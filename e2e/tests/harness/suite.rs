//! The list of tests and the run over it.

use std::future::Future;
use std::num::NonZero;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use futures::FutureExt;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use tokio::runtime::Runtime;
use tracing::Level;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::cairn;
use super::differences::Differences;
use super::durations;
use super::engines;
use super::leaks;
use super::lines;
use super::metrics;
use super::password_hashes;
use super::process::build_time;
use super::recorder;
use super::seed;
use super::tier::{self, Tier, sized};
use super::warnings;

/// One test.
pub struct Test {
    pub name: String,
    /// Whether `cargo test` leaves it to `.ci/run`.
    pub long: bool,
    run: Box<dyn FnOnce() -> Running + Send>,
}

type Running = Pin<Box<dyn Future<Output = ()>>>;

/// The runtime of all tests.
pub static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap());

/// The timeout of a test. At full size it may run beside others for a long time.
static LIMIT: LazyLock<Duration> = LazyLock::new(|| Duration::from_mins(sized(10, 60)));

impl Test {
    pub fn new<F, R>(name: impl Into<String>, test: F) -> Self
    where
        F: FnOnce() -> R + Send + 'static,
        R: Future<Output = ()> + 'static,
    {
        Self { name: name.into(), long: false, run: Box::new(|| Box::pin(test())) }
    }

    /// Marks a test that takes more than about 3 s.
    pub fn long(self) -> Self {
        Self { long: true, ..self }
    }

    fn trial(self) -> Trial {
        let name = self.name.clone();
        Trial::test(self.name, move || timed(&name, || passes((self.run)())).map_err(Failed::from))
    }

    /// Returns a test that this set of engines cannot pass, as an ignored one.
    fn ignored(self, reason: String) -> Trial {
        Trial::ignorable_test(self.name, move || Ok(Completion::ignored_with(reason)))
    }

    /// Returns the counterpart of an ignored test, which fails when the test passes on this set of engines.
    fn still_differs(self) -> Trial {
        Trial::test(format!("differences::still::{}", self.name), move || {
            let outcome = timed(&self.name, || SILENT.sync_scope(true, || passes((self.run)())));
            match outcome {
                Err(_) => Ok(()),
                Ok(()) => Err(Failed::from("it passes by now: take it off the list of differences")),
            }
        })
    }
}

tokio::task_local! {
    /// Whether a panic is expected and is not printed.
    static SILENT: bool;
}

/// Lists the functions of a module as tests, each under the name of its theme. `#[long]` before a name marks a test that
/// `cargo test` leaves to `.ci/run`.
#[macro_export]
macro_rules! tests {
    ($theme:ident: $($(#[$long:ident])? $test:ident),+ $(,)?) => {
        pub fn tests() -> Vec<$crate::harness::Test> {
            vec![$(
                $crate::harness::Test::new(concat!(stringify!($theme), "::", stringify!($test)), $test)$(.$long())?
            ),+]
        }
    };
}

/// Runs the tests that the command line chooses on the engines that the environment chooses.
pub fn run(tests: Vec<Test>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert_with(tests_at_once);
    let set = engines::set();
    logs();
    expected_panics_are_silent();
    if !arguments.list {
        println!("Random tests repeat with CAIRN_SEED={}.", seed::of_the_run());
    }
    let differences = Differences::read();
    let (unknown, empty) = (differences.unknown(&tests), tier::themes_without_tests(&tests));
    let mut trials = vec![
        Trial::test("differences::each_row_names_an_existing_test", move || {
            if unknown.is_empty() { Ok(()) } else { Err(format!("no test has these names: {unknown:?}").into()) }
        }),
        Trial::test("differences::each_theme_of_the_engines_has_a_test", move || {
            if empty.is_empty() { Ok(()) } else { Err(format!("no test has these themes: {empty:?}").into()) }
        }),
    ];
    let tier = Tier::of_the_run();
    let is_filtered = arguments.filter.is_some();
    let mut left_out = 0_usize;
    for test in tests {
        match differences.reason(set, &test.name) {
            // A filter chooses among all tests of these engines.
            None if tier.has(set, &test) || (is_filtered && tier == Tier::Ordinary) => trials.push(test.trial()),
            None => left_out += 1,
            // Each difference is checked in every tier.
            Some(reason) => {
                let name = test.name.clone();
                trials.push(test.still_differs());
                trials.push(Test::new(name, || async {}).ignored(reason.to_owned()));
            }
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    RUNTIME.block_on(async {
        cairn::all_stopped().await;
        engines::stop().await;
    });
    if arguments.list {
        return conclusion.exit_code();
    }
    durations::OF_THE_RUN.print_slowest();
    if left_out > 0 {
        println!("{left_out} tests are not part of this tier. `CAIRN_TIER=complete` runs all.");
    }
    let complete = !is_filtered
        && arguments.skip.is_empty()
        && !arguments.ignored
        && matches!(tier, Tier::Complete | Tier::Nightly);
    let kept = recorder::judge(complete && !conclusion.has_failed() && set == engines::Set::Embedded);
    if kept && leaks::judge() { conclusion.exit_code() } else { ExitCode::FAILURE }
}

/// The number of concurrent tests. It is higher than the number of cores, since tests often wait for engines, leases
/// and refreshes.
fn tests_at_once() -> usize {
    2 * std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Runs a test to its end. The error is the message of its panic.
fn passes(test: Running) -> Result<(), String> {
    let outcome = RUNTIME.block_on(async {
        let mut test = pin!(AssertUnwindSafe(test).catch_unwind());
        let (began, built) = (Instant::now(), build_time());
        loop {
            let end = began + *LIMIT + (build_time() - built);
            match tokio::time::timeout_at(end.into(), &mut test).await {
                Ok(outcome) => return Some(outcome),
                // It may have waited for the programs meanwhile.
                Err(_) if Instant::now() < began + *LIMIT + (build_time() - built) => {}
                Err(_) => return None,
            }
        }
    });
    match outcome {
        Some(Ok(())) => Ok(()),
        Some(Err(panic)) => Err(told(&*panic)),
        None => Err(format!("it hangs: it was not done after {} s", LIMIT.as_secs())),
    }
}

fn timed<T>(test: &str, run: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let outcome = run();
    durations::OF_THE_RUN.add(test, began.elapsed());
    outcome
}

fn told(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked").to_owned()
}

/// Prints the location of a panic. Its message is printed at the end, with the name of the test.
fn expected_panics_are_silent() {
    std::panic::set_hook(Box::new(|panic| {
        if !SILENT.try_with(|silent| *silent).unwrap_or(false) {
            eprintln!("{panic}");
        }
    }));
}

/// Installs the subscriber that counts metrics lines, and keeps the lines of requests and events and the warnings of
/// tracker. `RUST_LOG=info cargo test -p e2e NAME` prints the platform's log.
fn logs() {
    let shown = std::env::var_os("RUST_LOG").map(|_| {
        let filter = tracing_subscriber::EnvFilter::from_default_env();
        tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_filter(filter)
    });
    let counted = metrics::Counted.with_filter(Targets::new().with_target(metrics::TARGET, Level::INFO));
    let kept = lines::OF_THE_RUN.clone();
    let kept = kept.with_filter(Targets::new().with_target(lines::TARGET, Level::DEBUG));
    let warned = warnings::OF_THE_RUN.clone().with_filter(Targets::new().with_target("tracker", Level::WARN));
    let hashed = password_hashes::OF_THE_RUN.clone();
    let hashed = hashed.with_filter(Targets::new().with_target(password_hashes::TARGET, Level::DEBUG));
    let searched = leaks::Leaks.with_filter(Targets::new().with_default(Level::INFO));
    tracing_subscriber::registry().with(counted).with(kept).with(warned).with(hashed).with(searched).with(shown).init();
}
