//! Refusal of existing tables that differ from their declarations. A deployment would change a table. Here it stays as
//! it is.

use table::schema::System;
use table::{Engines, table_difference};

use crate::error::StartError;

/// Refuses tables that lack something that the system declares.
pub(super) async fn check(engines: &Engines, system: &System) -> Result<(), StartError> {
    for table in system.tables {
        let name = engines.config.table(table.name);
        let difference = table_difference(engines.dynamodb(), &engines.config, table).await.map_err(|error| {
            StartError::new(format!("Describing the table `{name}` failed: {error}"), "Start again")
        })?;
        if let Some(difference) = difference {
            return Err(StartError::new(
                format!("The table `{name}` comes from another version of Cairn: {difference}"),
                "`cairn local reset` starts over; or use another folder with `--state`",
            ));
        }
    }
    Ok(())
}
