//! Properties of the check, on shapes that are small enough to be compared with brute force.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "tests say what they expect by it")]

use std::collections::BTreeSet;

use geo::Validation;
use geometry::{Checked, InvalidShape, Kind, Limits, Repair, Shape, check};
use proptest::prelude::*;

type Point = (i32, i32);
type Ring = Vec<Point>;
type Polygons = Vec<Vec<Ring>>;

/// More cases than the default, because failures are rare. `PROPTEST_CASES` sets more still.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: default.cases.max(2000),
        failure_persistence: None,
        max_global_rejects: u32::MAX,
        ..default
    }
}

fn boundary(document: &str) -> Result<Checked, InvalidShape> {
    check(document.as_bytes(), Kind::Boundary, &Limits::UPLOAD)
}

/// Returns GeoJSON with closed rings, moved east by `moved` degrees and onto the map.
fn document(polygons: &Polygons, moved: i32) -> String {
    let normalize_longitude = |x: i32| if x > 180 { x - 360 } else { x };
    let ring = |ring: &Ring| {
        let closed = ring.iter().chain(ring.first());
        let positions: Vec<_> = closed.map(|(x, y)| format!("[{},{y}]", normalize_longitude(x + moved))).collect();
        format!("[{}]", positions.join(","))
    };
    let polygon = |rings: &Vec<Ring>| format!("[{}]", rings.iter().map(ring).collect::<Vec<_>>().join(","));
    let all: Vec<_> = polygons.iter().map(polygon).collect();
    format!(r#"{{"type":"MultiPolygon","coordinates":[{}]}}"#, all.join(","))
}

fn point(size: i32) -> impl Strategy<Value = Point> {
    (0..size, 0..size)
}

/// Random positions in random order: rings that mostly cross themselves.
fn scribble() -> impl Strategy<Value = Ring> {
    prop::collection::vec(point(7), 3..9)
}

/// Positions sorted by angle around their middle: rings that are mostly simple.
fn round(size: i32) -> impl Strategy<Value = Ring> {
    prop::collection::vec(point(size), 3..9).prop_map(|mut ring| {
        let count = ring.len() as f64;
        let (x, y) = ring.iter().fold((0.0, 0.0), |(x, y), point| (x + f64::from(point.0), y + f64::from(point.1)));
        let (x, y) = (x / count + 0.01, y / count + 0.013);
        ring.sort_by(|one, other| {
            let turn = |point: &Point| (f64::from(point.1) - y).atan2(f64::from(point.0) - x);
            turn(one).total_cmp(&turn(other))
        });
        ring.dedup();
        ring
    })
}

fn polygons() -> impl Strategy<Value = Polygons> {
    let shell = prop_oneof![1 => scribble(), 4 => round(12)];
    let hole = prop_oneof![1 => scribble(), 4 => round(7).prop_map(|ring| {
        ring.into_iter().map(|(x, y)| (x + 2, y + 2)).collect()
    })];
    let polygon = (shell, prop::collection::vec(hole, 0..3))
        .prop_map(|(shell, holes)| std::iter::once(shell).chain(holes).collect::<Vec<_>>());
    prop::collection::vec((polygon, point(14)), 1..4).prop_map(|polygons| {
        let moved = |(polygon, (x, y)): (Vec<Ring>, Point)| {
            polygon.into_iter().map(|ring| ring.into_iter().map(|point| (point.0 + x, point.1 + y)).collect()).collect()
        };
        polygons.into_iter().map(moved).collect()
    })
}

fn turn(from: Point, to: Point, of: Point) -> i32 {
    ((to.0 - from.0) * (of.1 - from.1) - (to.1 - from.1) * (of.0 - from.0)).signum()
}

fn between(one: Point, other: Point, of: Point) -> bool {
    let within = |one: i32, other: i32, of: i32| one.min(other) <= of && of <= one.max(other);
    turn(one, other, of) == 0 && within(one.0, other.0, of.0) && within(one.1, other.1, of.1)
}

/// Returns the indices of the positions that violate rule 6, by a comparison of all pairs of edges.
fn broken_edges(ring: &Ring) -> BTreeSet<usize> {
    let count = ring.len();
    let edges: Vec<(Point, Point)> = (0..count).map(|edge| (ring[edge], ring[(edge + 1) % count])).collect();
    let mut broken = BTreeSet::new();
    for later in 0..count {
        for earlier in 0..later {
            let ((a, b), (c, d)) = (edges[earlier], edges[later]);
            let cross = turn(a, b, c) * turn(a, b, d) < 0 && turn(c, d, a) * turn(c, d, b) < 0;
            let along = turn(a, b, c) == 0 && turn(a, b, d) == 0;
            let inner = |point: Point| between(a, b, point) && between(c, d, point);
            let shared: BTreeSet<Point> = [a, b, c, d].into_iter().filter(|point| inner(*point)).collect();
            if cross || (along && shared.len() > 1) {
                broken.insert(later + 1);
            }
        }
    }
    // Points through which the ring passes again: at a vertex (the edges before and after) or in the interior of an edge.
    for at in ring {
        let mut ways: Vec<[usize; 2]> = (0..count)
            .filter_map(|index| {
                let vertex = [(index + count - 1) % count, index];
                if ring[index] == *at {
                    Some([vertex[0].min(vertex[1]), vertex[0].max(vertex[1])])
                } else {
                    let (from, to) = edges[index];
                    (between(from, to, *at) && to != *at).then_some([index, index])
                }
            })
            .collect();
        ways.sort();
        let first = ways[0];
        broken.extend(ways.iter().skip(1).map(|way| first[0].max(way[0]) + 1));
    }
    broken
}

fn flat(ring: &Ring) -> bool {
    let second = ring.iter().find(|point| **point != ring[0]);
    second.is_none_or(|second| ring.iter().all(|point| turn(ring[0], *second, *point) == 0))
}

fn without_repeats(ring: &Ring) -> bool {
    (0..ring.len()).all(|index| ring[index] != ring[(index + 1) % ring.len()])
}

/// Returns whether the ring has a spike. At ±180, a spike along the antimeridian is lost in the split.
fn runs_back(ring: &Ring) -> bool {
    let count = ring.len();
    (0..count).any(|index| {
        let (before, at, after) = (ring[index], ring[(index + 1) % count], ring[(index + 2) % count]);
        turn(before, at, after) == 0 && !between(before, after, at)
    })
}

/// Returns whether rounding decides the result: the antimeridian splits an edge that contains a vertex of another ring.
/// Also, edges along the antimeridian on its two sides do not touch on the map.
fn depends_on_rounding(polygons: &Polygons, antimeridian: i32) -> bool {
    let along = |ring: &&Ring| {
        (0..ring.len()).any(|index| ring[index].0 == antimeridian && ring[(index + 1) % ring.len()].0 == antimeridian)
    };
    let rings: Vec<&Ring> = polygons.iter().flatten().collect();
    if rings.iter().copied().filter(along).count() > 1 {
        return true;
    }
    rings.iter().any(|ring| {
        (0..ring.len()).any(|index| {
            let (from, to) = (ring[index], ring[(index + 1) % ring.len()]);
            let crosses = from.0.min(to.0) < antimeridian && antimeridian < from.0.max(to.0);
            crosses
                && rings.iter().any(|other| other.iter().any(|at| *at != from && *at != to && between(from, to, *at)))
        })
    })
}

fn oracle(polygons: &Polygons) -> geo::MultiPolygon {
    let ring = |ring: &Ring| {
        geo::LineString::from(ring.iter().map(|(x, y)| (f64::from(*x), f64::from(*y))).collect::<Vec<_>>())
    };
    let polygon = |rings: &Vec<Ring>| geo::Polygon::new(ring(&rings[0]), rings[1..].iter().map(ring).collect());
    geo::MultiPolygon(polygons.iter().map(polygon).collect())
}

fn oracle_of(shape: &Shape) -> geo::MultiPolygon {
    let value: serde_json::Value = serde_json::from_str(&shape.canonical()).unwrap();
    let coordinates = value["coordinates"].clone();
    let polygons: Vec<Vec<Vec<Vec<f64>>>> = match value["type"].as_str().unwrap() {
        "Polygon" => vec![serde_json::from_value(coordinates).unwrap()],
        _ => serde_json::from_value(coordinates).unwrap(),
    };
    let ring = |ring: &Vec<Vec<f64>>| {
        geo::LineString::from(ring.iter().map(|position| (position[0], position[1])).collect::<Vec<_>>())
    };
    let polygon =
        |rings: &Vec<Vec<Vec<f64>>>| geo::Polygon::new(ring(&rings[0]), rings[1..].iter().map(ring).collect());
    geo::MultiPolygon(polygons.iter().map(polygon).collect())
}

/// Returns the pointers of the faults, and whether `geo` checks none of them.
fn verdict(result: &Result<Checked, InvalidShape>) -> (Vec<String>, bool) {
    let faults = result.as_ref().err().map(|refused| refused.faults.as_slice()).unwrap_or_default();
    let pointers = faults.iter().map(|fault| fault.pointer.clone()).collect();
    (pointers, faults.iter().all(|fault| fault.detail.contains("cut in two")))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn self_intersections_equal_those_of_all_pairs_of_edges(
        ring in scribble().prop_filter("rule 4", |ring| without_repeats(ring) && !flat(ring))
    ) {
        let (pointers, _) = verdict(&boundary(&document(&vec![vec![ring.clone()]], 0)));
        let expected: Vec<_> =
            broken_edges(&ring).into_iter().map(|index| format!("/coordinates/0/0/{index}")).collect();
        prop_assert_eq!(pointers, expected);
    }

    #[test]
    fn check_accepts_what_geo_finds_valid(
        polygons in polygons().prop_filter("rule 4", |polygons| {
            polygons.iter().flatten().all(|ring| without_repeats(ring) && !flat(ring))
        })
    ) {
        let result = boundary(&document(&polygons, 0));
        let (pointers, beyond_geo) = verdict(&result);
        prop_assert_eq!(oracle(&polygons).is_valid(), beyond_geo, "{:?}", pointers);
    }

    #[test]
    fn result_at_the_antimeridian_equals_result_elsewhere(
        polygons in polygons().prop_filter("rule 4", |polygons| {
            polygons.iter().flatten().all(|ring| without_repeats(ring) && !flat(ring) && !runs_back(ring))
        }),
        moved in 155..181,
    ) {
        prop_assume!(!depends_on_rounding(&polygons, 180 - moved));
        let (here, there) = (boundary(&document(&polygons, 0)), boundary(&document(&polygons, moved)));
        // Rings that touch on the antimeridian from its two sides do not disconnect the interior, as it is split there.
        prop_assume!(here.is_ok() || !verdict(&here).1);
        prop_assert_eq!(here.is_ok(), there.is_ok(), "{:?} {:?}", verdict(&here), verdict(&there));
        if let (Ok(here), Ok(there)) = (here, there) {
            prop_assert!(oracle_of(&there.shape).is_valid(), "{}", there.shape.canonical());
            let area = |shape: &Shape| geo::Area::unsigned_area(&oracle_of(shape));
            prop_assert!((area(&here.shape) - area(&there.shape)).abs() < 1e-9, "{}", there.shape.canonical());
            let again = boundary(&there.shape.canonical()).unwrap();
            prop_assert_eq!(&again.shape, &there.shape);
            prop_assert!(again.repairs.is_empty());
            prop_assert!(here.repairs.is_subset(&there.repairs) || there.repairs.contains(&Repair::Cut));
        }
    }

    #[test]
    fn no_document_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(check(&bytes, Kind::Any, &Limits::BODY).is_err());
    }

    #[test]
    fn check_of_damaged_document_does_not_panic(polygons in polygons(), moved in 155..181, at in 0_usize..2000, byte in any::<u8>()) {
        let mut bytes = document(&polygons, moved).into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        match check(&bytes, Kind::Boundary, &Limits::BODY) {
            Ok(checked) => prop_assert!(boundary(&checked.shape.canonical()).is_ok()),
            Err(refused) => prop_assert!(refused.count >= refused.faults.len() && !refused.faults.is_empty()),
        }
    }

    #[test]
    fn envelope_omits_the_widest_gap(spans in prop::collection::vec((-18_i32..18, 0_i32..4), 1..6)) {
        // Each span is in steps of ten degrees and ends at the antimeridian at the latest.
        let spans: Vec<_> = spans.into_iter().map(|(west, width)| (west, (west + width).min(18))).collect();
        let lines = spans.iter().map(|(west, east)| format!("[[{},0],[{},1]]", west * 10, east * 10));
        let lines = lines.collect::<Vec<_>>().join(",");
        let text = format!(r#"{{"type":"MultiLineString","coordinates":[{lines}]}}"#);
        let envelope = Shape::parse_canonical(&text).unwrap().envelope();
        // Brute force: which of the 36 tenths of the circle are covered, and the longest run that is not.
        let covered: Vec<bool> =
            (-18..18).map(|tenth| spans.iter().any(|(west, east)| *west <= tenth && tenth < *east)).collect();
        let runs = (0..36).map(|start| (0..36).take_while(|step| !covered[(start + step) % 36]).count());
        let width = if envelope.crosses_antimeridian() { envelope.east + 360.0 - envelope.west } else { envelope.east - envelope.west };
        // A span without width may halve a gap, which the covered tenths do not show.
        if spans.iter().all(|(west, east)| west < east) {
            prop_assert_eq!(width, 360.0 - runs.max().unwrap_or(0) as f64 * 10.0);
        }
        for (west, east) in spans {
            for x in [f64::from(west * 10), f64::from(east * 10)] {
                let within = if envelope.crosses_antimeridian() { x >= envelope.west || x <= envelope.east } else { envelope.west <= x && x <= envelope.east };
                prop_assert!(within, "{} {:?}", x, envelope);
            }
        }
        prop_assert_eq!(envelope.union(&envelope), envelope);
    }
}
