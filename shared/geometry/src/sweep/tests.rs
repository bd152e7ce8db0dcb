//! The sweep takes O(n log n) steps on any shape.

use super::*;
use crate::segment_graph::Ring;

/// n log n grows by 10 × 4/3 and 10 × 5/4.
fn assert_n_log_n(name: &str, shape: impl Fn(u32) -> Vec<Position>) {
    let [thousand, ten, hundred] = [1_000, 10_000, 100_000].map(|count| {
        let mut graph = SegmentGraph::default();
        graph.add(Ring { counterclockwise: true, ..Ring::default() }, shape(count));
        sweep_and_count(&graph).1 as f64
    });
    assert!(ten / thousand < 14.0 && hundred / ten < 14.0, "{name}: {thousand} {ten} {hundred}");
    assert!(hundred < 100_000.0 * 60.0, "{name}: {hundred}");
}

fn comb(count: u32) -> Vec<Position> {
    let tooth = |at: u32| [f64::from(at) * 100.0 / f64::from(count), if at.is_multiple_of(2) { 1.0 } else { 50.0 }];
    [[100.0, 0.0], [0.0, 0.0]].into_iter().chain((0..count).map(tooth)).collect()
}

#[test]
fn sweep_of_a_comb_and_of_a_star_takes_n_log_n_steps() {
    assert_n_log_n("comb", comb);
    assert_n_log_n("rotated comb", |count| comb(count).into_iter().map(|[x, y]| [y, x / 2.0]).collect());
    assert_n_log_n("star", |count| {
        let point = |at: u32| {
            let turn = f64::from(at) / f64::from(count) * std::f64::consts::TAU;
            let radius = if at.is_multiple_of(2) { 40.0 } else { 1.0 };
            [radius * turn.cos(), radius * turn.sin()]
        };
        (0..count).map(point).collect()
    });
}

#[test]
fn sweep_of_a_long_edge_over_many_short_ones_takes_n_log_n_steps() {
    assert_n_log_n("long edge", |count| {
        let step = |at: u32| [f64::from(at) * 100.0 / f64::from(count), if at.is_multiple_of(2) { 1.0 } else { 1.5 }];
        [[100.0, 2.0], [0.0, 2.0]].into_iter().chain((0..count).map(step)).collect()
    });
}

#[test]
fn sweep_of_edges_that_all_cross_takes_n_log_n_steps() {
    // Each edge crosses almost each other one.
    assert_n_log_n("polygram", |count| {
        let count = count | 1;
        let point = |at: u32| {
            let steps = u64::from(at) * u64::from(count / 2) % u64::from(count);
            let turn = steps as f64 / f64::from(count) * std::f64::consts::TAU;
            [40.0 * turn.cos(), 40.0 * turn.sin()]
        };
        (0..count).map(point).collect()
    });
    // One edge crosses all others.
    assert_n_log_n("crossed comb", |count| {
        let mut ring = comb(count);
        ring[0] = [100.0, 25.0];
        ring[1] = [-1.0, 25.0];
        ring
    });
}

#[test]
fn sweep_of_many_rings_at_one_point_takes_n_log_n_steps() {
    let fans = |count: u32| {
        let mut graph = SegmentGraph::default();
        for fan in 0..count / 3 {
            let turn = |at: f64| (f64::from(fan) + at) / f64::from(count) * 3.0;
            let ring = Ring { part: fan, counterclockwise: true, ..Ring::default() };
            graph.add(ring, [[0.0, 0.0], [9.0, turn(0.1)], [9.0, turn(0.9)]]);
        }
        let (swept, orientation_tests) = sweep_and_count(&graph);
        assert!(swept.intersections.is_empty());
        orientation_tests as f64
    };
    let [ten, hundred] = [10_000, 100_000].map(fans);
    assert!(hundred / ten < 14.0, "{ten} {hundred}");
}
