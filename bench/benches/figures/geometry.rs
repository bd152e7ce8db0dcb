//! What shapes cost: validated and cut, and validly simplified, on one core.

use std::hint::black_box;
use std::time::Duration;

use geometry::{Kind, Limits, check};
use serde_json::Value;

use crate::Failure;
use crate::figure::{Figure, Goal, Table, milliseconds};
use crate::shapes::SHAPES;
use crate::timing::shortest;

/// What a document of a map holds at most in its coarse form.
const COARSE: usize = geometry::MAX_COARSE_POSITIONS;

const CHECKED: Duration = Duration::from_millis(40);
const SIMPLIFIED: Duration = Duration::from_millis(60);

/// How much longer ten times the positions may take: 10 × log 10^6 / log 10^5, and a little for the caches.
const GROWTH: f64 = 13.0;

/// Read by serde_json, checked, simplified.
type Measured = [Duration; 3];

pub fn run(table: &mut Table) -> Result<(), Failure> {
    for (name, shape) in SHAPES {
        let small = measure(&shape(100_000), 7)?;
        show(table, &format!("geometry: {name}, 10^5"), small, None);
        let large = measure(&shape(1_000_000), 3)?;
        show(table, &format!("geometry: {name}, 10^6"), large, Some(small));
    }
    Ok(())
}

fn measure(document: &str, rounds: usize) -> Result<Measured, Failure> {
    let limits = Limits { bytes: usize::MAX, positions: 2_000_000, ..Limits::UPLOAD };
    let read = || serde_json::from_str::<Value>(document).is_ok();
    let validate = || check(document.as_bytes(), Kind::Boundary, &limits);
    let checked = validate()?;
    Ok(shortest(
        rounds,
        [&mut || _ = black_box(read()), &mut || _ = black_box(validate()), &mut || {
            _ = black_box(checked.shape.simplify_to(COARSE))
        }],
    ))
}

fn show(table: &mut Table, name: &str, measured: Measured, tenth: Option<Measured>) {
    let [read, ..] = measured;
    let steps = [("validated and cut", CHECKED), ("validly simplified", SIMPLIFIED)];
    for (step, ((what, most), time)) in steps.into_iter().zip(measured.into_iter().skip(1)).enumerate() {
        let goal = match tenth.and_then(|tenth| tenth.get(step + 1).copied()) {
            None => Goal::within(most, time),
            Some(tenth) => {
                let growth = time.as_secs_f64() / tenth.as_secs_f64();
                Goal::at_most(GROWTH, growth, format!("{growth:.1} ≤ {GROWTH} × 10^5"))
            }
        };
        table.add(&Figure {
            name: &format!("{name}, {what}"),
            measured: milliseconds(time),
            goal,
            baseline: format!("serde_json, the same JSON: {}", milliseconds(read)),
            ratio: Some(time.as_secs_f64() / read.as_secs_f64()),
        });
    }
}
