//! The limit of reports: 20 an hour from a caller and network. A counter for each source and hour expires by itself.

use std::net::Ipv4Addr;

use table::item::number;
use table::schema::EXPIRES;
use table::{Action, Changes, Condition, EntityKey, Key};
use web::{Context, Problem, problem};

use crate::access::CREATE_REPORT;
use crate::keys::ReportCountKey;
use crate::names::ReportSource;
use crate::schema::ARCHIVE;

/// The reports that one source may send in an hour.
const MAX_REPORTS: u32 = 20;

const HOUR: i64 = 3_600;

/// The attribute that counts reports.
const REPORTS: &str = "n";

/// The source of a report in the present hour.
#[derive(Clone, Debug)]
pub struct Source {
    source: ReportSource,
    /// Hours since 1970.
    hour: i64,
}

impl Source {
    pub fn of(cx: &Context) -> Self {
        let hour = cx.engines().clock.seconds().div_euclid(HOUR);
        let secret = cx.engines().config.cursor_secrets.first().map_or("", String::as_str);
        let parts = [secret, &hour.to_string(), &cx.network(Ipv4Addr::BROADCAST), cx.principal().text()];
        Self { source: ReportSource::of(&parts), hour }
    }

    fn key(&self) -> Key {
        ReportCountKey { source: self.source.clone() }.key()
    }

    /// 429 if the source has reached the limit. It costs less than a refused transaction.
    pub async fn require_room(&self, cx: &Context) -> Result<(), Problem> {
        let counted = cx.access().table(&CREATE_REPORT, &ARCHIVE).get(self.key()).await?;
        let counted = counted.and_then(|stored| stored.item.get(REPORTS)?.as_n().ok()?.parse::<u32>().ok());
        if counted.unwrap_or(0) < MAX_REPORTS { Ok(()) } else { Err(exceeded(cx)) }
    }

    /// Returns the update that counts a report. It fails if the source has reached the limit.
    pub fn counted(&self) -> Action {
        // It outlives its hour, so that a clock that is behind still counts.
        let changes = Changes::new().set(EXPIRES, number((self.hour + 2) * HOUR)).add(REPORTS, 1);
        let room = Condition::AtMost(REPORTS, number(MAX_REPORTS - 1));
        Action::update(&ARCHIVE, self.key(), changes).when(room).or_absent()
    }
}

/// 429 until the next hour begins.
pub fn exceeded(cx: &Context) -> Problem {
    let rest = HOUR - cx.engines().clock.seconds().rem_euclid(HOUR);
    problem::TOO_MANY_REQUESTS
        .because(format!("{MAX_REPORTS} reports were sent from here in this hour. Send the others in the next hour."))
        .retry_after(u32::try_from(rest).unwrap_or(1))
}
