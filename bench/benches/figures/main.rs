//! What Cairn costs, each figure beside its baseline of the same run: `cargo bench`, or `cargo bench -- NAME` for one.

mod backlog;
mod bare_tracker;
mod child;
mod cold;
mod columns;
mod creators;
mod csv;
mod event;
mod figure;
mod function;
mod gateway;
mod geometry;
mod get;
mod grid;
mod import;
mod layer;
mod markers;
mod memory;
mod mirror;
mod pipeline;
mod platform;
mod rebuild;
mod scaling;
mod scan;
mod shapes;
mod tenant;
mod timing;
mod tls;
mod write;

use std::alloc::System;
use std::error::Error;
use std::process::ExitCode;

use figure::Table;
use futures::FutureExt;
use futures::future::BoxFuture;
use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc};
use platform::Platform;
use tracing_subscriber::EnvFilter;

/// Counts what is allocated, for the figures of memory. It costs every allocation a few nanoseconds, in what is
/// measured as in the baselines.
#[global_allocator]
static ALLOCATOR: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

type Failure = Box<dyn Error + Send + Sync>;

/// A figure, or some that belong together, by the name that chooses it.
struct Bench {
    name: &'static str,
    run: Run,
}

enum Run {
    Alone(fn(&mut Table) -> Result<(), Failure>),
    /// On a platform with a real OpenSearch.
    OnPlatform(for<'a> fn(&'a Platform, &'a mut Table) -> BoxFuture<'a, Result<(), Failure>>),
}

/// In this order: the events of `memory` leave things in quarantine, which every later batch would look at.
const BENCHES: [Bench; 16] = [
    Bench { name: "mirror", run: Run::Alone(mirror::run) },
    Bench { name: "geometry", run: Run::Alone(geometry::run) },
    Bench { name: "creators", run: Run::Alone(creators::run) },
    Bench { name: "grid", run: Run::Alone(grid::run) },
    Bench { name: "scan", run: Run::Alone(scan::run) },
    Bench { name: "function", run: Run::OnPlatform(|platform, table| function::run(platform, table).boxed()) },
    Bench { name: "cold", run: Run::OnPlatform(|platform, table| cold::run(platform, table).boxed()) },
    Bench { name: "get", run: Run::OnPlatform(|platform, table| get::run(platform, table).boxed()) },
    Bench { name: "pipeline", run: Run::OnPlatform(|platform, table| pipeline::run(platform, table).boxed()) },
    Bench { name: "markers", run: Run::OnPlatform(|platform, table| markers::run(platform, table).boxed()) },
    Bench { name: "write", run: Run::OnPlatform(|platform, table| write::run(platform, table).boxed()) },
    Bench { name: "import", run: Run::OnPlatform(|platform, table| import::run(platform, table).boxed()) },
    Bench { name: "csv", run: Run::OnPlatform(|platform, table| csv::run(platform, table).boxed()) },
    Bench { name: "scaling", run: Run::OnPlatform(|platform, table| scaling::run(platform, table).boxed()) },
    Bench { name: "rebuild", run: Run::OnPlatform(|platform, table| rebuild::run(platform, table).boxed()) },
    Bench { name: "memory", run: Run::OnPlatform(|platform, table| memory::run(platform, table).boxed()) },
];

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let names: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match names.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [child::DYNAMODB, file] => return ended(serve(child::dynamodb(file))),
        [child::PLATFORM, platform @ ..] => {
            if let Ok(platform) = <[&str; 5]>::try_from(platform) {
                return ended(serve(child::platform(platform)));
            }
        }
        _ => {}
    }
    if let Some(unknown) = names.iter().find(|name| BENCHES.iter().all(|bench| bench.name != **name)) {
        let known = BENCHES.map(|bench| bench.name).join(", ");
        eprintln!("There is no figure `{unknown}`; give some of {known}, or nothing for all.");
        return ExitCode::from(2);
    }
    ended(measure(&names))
}

fn ended(outcome: Result<(), Failure>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Log lines are made as in production, and go nowhere.
fn log() {
    let lines = tracing_subscriber::fmt().json().flatten_event(true).with_env_filter(EnvFilter::new("info"));
    lines.with_writer(std::io::sink).init();
}

/// Serves another run of this program.
fn serve(service: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    log();
    tokio::runtime::Runtime::new()?.block_on(service)
}

/// Measures what is named, or everything.
fn measure(names: &[String]) -> Result<(), Failure> {
    log();
    let mut table = Table::begin();
    let mut on_platform = Vec::new();
    for bench in BENCHES.iter().filter(|bench| names.is_empty() || names.iter().any(|name| name == bench.name)) {
        match bench.run {
            Run::Alone(run) => run(&mut table)?,
            Run::OnPlatform(run) => on_platform.push((bench.name, run)),
        }
    }
    if on_platform.is_empty() {
        return Ok(());
    }
    tokio::runtime::Runtime::new()?.block_on(async {
        if let Err(missing) = platform::engines().await {
            let skipped: Vec<&str> = on_platform.iter().map(|(name, _)| *name).collect();
            println!("Skipped: {}, because {missing}; they need Java 17 or newer and Maven.", skipped.join(", "));
            return Ok(());
        }
        let platform = Platform::start().await?;
        for (_, run) in on_platform {
            run(&platform, &mut table).await?;
        }
        platform.stop().await;
        Ok(())
    })
}
