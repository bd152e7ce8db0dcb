//! The tests of parks, one file for each theme.

mod activities;
mod cascade_time;
mod cascades;
mod cascades_stopped;
mod collections;
mod costs;
mod dates;
mod every_kind;
mod facilities;
mod found;
mod geometry;
mod geometry_rules;
mod geozones;
mod held;
mod hostile;
mod idempotency;
mod identity;
pub mod imports;
mod imports_cancelled;
mod imports_dry_run;
mod imports_killed;
mod imports_layers;
mod imports_mapped;
mod imports_missing;
mod imports_refused;
mod imports_shapes;
mod imports_visibility;
mod items;
mod open_days;
mod pages;
mod places;
mod products;
mod ranking;
mod relationships;
mod representations;
mod search;
mod season;
pub mod shapes;
mod structure;
mod sweep;
mod uploads;

use crate::harness::Test;

pub fn tests() -> Vec<Test> {
    let themes = [
        cascades::tests(),
        cascade_time::tests(),
        cascades_stopped::tests(),
        collections::tests(),
        costs::tests(),
        geozones::tests(),
        facilities::tests(),
        activities::tests(),
        products::tests(),
        dates::tests(),
        season::tests(),
        open_days::tests(),
        geometry::tests(),
        geometry_rules::tests(),
        uploads::tests(),
        imports::tests(),
        imports_cancelled::tests(),
        imports_dry_run::tests(),
        imports_killed::tests(),
        imports_layers::tests(),
        imports_mapped::tests(),
        imports_missing::tests(),
        imports_refused::tests(),
        imports_shapes::tests(),
        imports_visibility::tests(),
        sweep::tests(),
        hostile::tests(),
        idempotency::tests(),
        identity::tests(),
        items::tests(),
        pages::tests(),
        places::tests(),
        relationships::tests(),
        ranking::tests(),
        representations::tests(),
        search::tests(),
        structure::tests(),
        every_kind::tests(),
        found::tests(),
        vec![found::deep_and_hostile()],
    ];
    themes.into_iter().flatten().collect()
}
