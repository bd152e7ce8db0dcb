//! `cairn lag`: how far search is behind the tables, in three legs.

use std::process::ExitCode;

use clap::Args;
use mirror::{Lag as OfTable, Lags};
use serde_json::json;

use crate::exit::TO_DO;
use crate::failure::Failure;
use crate::target::Target;
use crate::time::time;

#[derive(Debug, Args)]
pub struct Lag {
    #[command(flatten)]
    target: Target,
}

impl Lag {
    pub async fn run(self) -> Result<ExitCode, Failure> {
        let (engines, served) = self.target.open().await?;
        let Lags { tables, search } = mirror::lag(served.system, &engines).await.map_err(Failure::new)?;
        for lag in &tables {
            if self.target.json {
                println!("{}", as_json(lag));
            } else {
                println!("{}", message(lag));
            }
        }
        if tables.is_empty() && !self.target.json {
            println!("The mirror of {} has received no record yet.", served.system.name);
        }
        // The legs that need no search were printed above.
        if let Some(fault) = search {
            return Err(Failure::new(fault));
        }
        let lags = tables.iter().any(|lag| lag.lags.is_some());
        Ok(if lags { ExitCode::from(TO_DO) } else { ExitCode::SUCCESS })
    }
}

fn message(lag: &OfTable) -> String {
    let OfTable { heartbeat, received, written, refreshed, .. } = lag;
    let written = written.map_or_else(|| "not yet".to_owned(), seconds);
    let reason = heartbeat.reason.as_ref().map(|reason| format!(", {reason}")).unwrap_or_default();
    let (received, refreshed) = (seconds(*received), refreshed.map_or_else(|| "unknown".to_owned(), seconds));
    format!(
        "{}  received {received}, written {written}, refreshed {refreshed}, at {}{reason}",
        heartbeat.table,
        time(heartbeat.at * 1000)
    )
}

fn seconds(millis: i64) -> String {
    format!("{}.{:03} s", millis / 1000, millis % 1000)
}

fn as_json(lag: &OfTable) -> serde_json::Value {
    json!({
        "table": lag.heartbeat.table,
        "at": time(lag.heartbeat.at * 1000),
        "receivedMillis": lag.received,
        "writtenMillis": lag.written,
        "refreshedMillis": lag.refreshed,
        "lags": lag.lags.is_some(),
        "reason": lag.heartbeat.reason,
    })
}
