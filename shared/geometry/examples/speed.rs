//! The cost of the check and of simplification, compared with reading the same JSON by `serde_json` in the same run:
//! `cargo run --release -p geometry --example speed`.

use std::time::{Duration, Instant};

use geometry::{Kind, Limits, check};

type Rings = Vec<Vec<Vec<[f64; 2]>>>;

fn main() {
    println!(
        "{:<26} {:>9} {:>10} {:>10} {:>8} {:>10} {:>10}",
        "shape", "positions", "serde_json", "check", "ratio", "canonical", "to 10000"
    );
    for count in [100_000, 1_000_000] {
        for (name, shape) in [
            ("ellipse", ellipse(count)),
            ("coast", coast(count, -125.5)),
            ("coast at 180", coast(count, 180.0)),
            ("islands", islands(count)),
            ("comb", comb(count)),
        ] {
            measure(name, &shape);
        }
    }
}

fn measure(name: &str, shape: &Rings) {
    let text = document(shape);
    let limits = Limits { bytes: usize::MAX, positions: 2_000_000, ..Limits::UPLOAD };
    let (read, _) = best(|| serde_json::from_str::<serde_json::Value>(&text).is_ok());
    let (checking, checked) = best(|| check(text.as_bytes(), Kind::Boundary, &limits));
    let checked = match checked {
        Ok(checked) => checked,
        Err(refused) => {
            println!("{name}: {refused}");
            return;
        }
    };
    let (writing, _) = best(|| checked.shape.canonical());
    let (simplifying, simple) = best(|| checked.shape.simplify_to(10_000));
    println!(
        "{name:<26} {:>9} {:>10.1?} {:>10.1?} {:>8.2} {:>10.1?} {:>10.1?} {} {}",
        checked.shape.positions(),
        read,
        checking,
        checking.as_secs_f64() / read.as_secs_f64(),
        writing,
        simplifying,
        simple.shape.positions(),
        simple.tolerance,
    );
}

/// Returns the shortest of several runs, because other work on the machine only adds time.
fn best<T>(run: impl Fn() -> T) -> (Duration, T) {
    let mut best = Duration::MAX;
    loop {
        let mut result = None;
        for _ in 0..5 {
            let start = Instant::now();
            result = Some(run());
            best = best.min(start.elapsed());
        }
        if let Some(result) = result {
            return (best, result);
        }
    }
}

fn document(shape: &Rings) -> String {
    let text = serde_json::to_string(shape).unwrap_or_default();
    format!(r#"{{"type":"MultiPolygon","coordinates":{text}}}"#)
}

fn short(degrees: f64) -> f64 {
    (degrees * 1e7).round() / 1e7
}

fn round(count: usize, radius: impl Fn(f64) -> f64, middle: f64) -> Rings {
    let ring = (0..=count).map(|step| {
        let turn = (step % count) as f64 / count as f64 * std::f64::consts::TAU;
        let x = middle + 1.6 * radius(turn) * turn.cos();
        [short(if x > 180.0 { x - 360.0 } else { x }), short(49.6 + radius(turn) * turn.sin())]
    });
    vec![vec![ring.collect()]]
}

fn ellipse(count: usize) -> Rings {
    round(count, |_| 0.25, -125.5)
}

/// A coast with bays within bays.
fn coast(count: usize, middle: f64) -> Rings {
    let radius = |turn: f64| {
        let bays: f64 =
            (1..14).map(|bay| (turn * f64::from(1_u32 << bay) + f64::from(bay)).sin() / f64::from(1_u32 << bay)).sum();
        4.0 * (1.0 + 0.4 * bays)
    };
    round(count, radius, middle)
}

fn islands(count: usize) -> Rings {
    let across = ((count / 20) as f64).sqrt() as usize;
    let island = |index: usize| {
        let (x, y) = ((index % across) as f64 * 0.02, (index / across) as f64 * 0.02);
        let ring = (0..=19).map(|step| {
            let turn = f64::from(step % 19) / 19.0 * std::f64::consts::TAU;
            [short(x + 0.008 * turn.cos()), short(y + 0.008 * turn.sin())]
        });
        vec![ring.collect()]
    };
    (0..across * across).map(island).collect()
}

fn comb(count: usize) -> Rings {
    let teeth = count / 2;
    let mut ring: Vec<_> = (0..teeth)
        .flat_map(|tooth| {
            let x = tooth as f64 * 100.0 / teeth as f64;
            [[short(x), 1.0], [short(x + 40.0 / teeth as f64), 50.0]]
        })
        .collect();
    ring.extend([[100.0, 0.0], [0.0, 0.0]]);
    ring.extend(ring.first().copied());
    vec![vec![ring]]
}
