//! The faults of requests.

use super::choices::Random;
use super::world::{Call, Fate, Kind, World};

/// Draws the fate of the next request.
pub(crate) fn draw(random: &mut impl Random, world: &mut World, call: Call) -> Fate {
    let kind = call.kind();
    if matches!(kind, Kind::Pause | Kind::Expired) {
        return Fate::Answered;
    }
    match (random.below(16), kind) {
        (15, _) => Fate::Lost,
        (14, _) => Fate::Denied,
        (13, Kind::Write | Kind::Bulk) => Fate::AnswerLost,
        // A request that moves the alias has no condition, so it may not arrive after others.
        (12, Kind::Write | Kind::Bulk) if !call.moves_alias() => Fate::Late,
        (11, Kind::Bulk) => Fate::Refused(random.one_of(&[429, 503, 413, 403, 400])),
        (10, Kind::Bulk) => Fate::Short,
        (9, Kind::Bulk) => {
            let refused = (0..3).filter(|_| random.one_in(2)).collect::<Vec<_>>();
            let refused = refused.into_iter().map(|place| (place, random.one_of(&[429, 503, 403])));
            world.disturbance.refused = refused.collect();
            Fate::Answered
        }
        (8, Kind::Bulk) => {
            world.disturbance.unapplied = (0..3).filter(|_| random.one_in(2)).collect();
            Fate::HalfApplied
        }
        _ => Fate::Answered,
    }
}

/// Draws a fault for a request that is to have one.
pub(crate) fn of_target(random: &mut impl Random, call: Call) -> Fate {
    match random.below(4) {
        3 if call.kind() != Kind::Read => Fate::AnswerLost,
        2 if call.kind() != Kind::Read && !call.moves_alias() => Fate::Late,
        1 => Fate::Denied,
        _ => Fate::Lost,
    }
}

/// Returns the name of a fate that is a fault.
pub(crate) const fn name(fate: Fate) -> Option<&'static str> {
    match fate {
        Fate::Answered => None,
        Fate::Lost => Some("lost"),
        Fate::AnswerLost => Some("answer lost"),
        Fate::Late => Some("late"),
        Fate::Denied => Some("denied"),
        Fate::HalfApplied => Some("half applied"),
        Fate::Refused(_) => Some("refused"),
        Fate::Short => Some("too few"),
    }
}
