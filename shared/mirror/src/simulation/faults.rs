//! The faults of requests, drawn from the seed.

use fastrand::Rng;

use super::world::{Fate, Kind, World};

/// Draws the fate of the next request.
pub(crate) fn draw(rng: &mut Rng, world: &mut World, kind: Kind) -> Fate {
    match (kind, rng.u8(0..12)) {
        (Kind::Pause | Kind::Expired, _) => Fate::Answered,
        (Kind::Bulk, 0) => Fate::Refused([429, 503, 413, 403, 400][rng.usize(0..5)]),
        (Kind::Bulk, 1) => Fate::Short,
        (Kind::Bulk, 2) => {
            world.busy = (0..3).filter(|_| rng.bool()).collect();
            Fate::Answered
        }
        (_, 3) => Fate::Lost,
        (_, 4) => Fate::AnswerLost,
        _ => Fate::Answered,
    }
}
