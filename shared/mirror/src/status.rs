//! The status of a system's search in one word, with the reason, for operators.

use table::Engines;
use table::schema::System;

use crate::audit::{LastAudit, Overdue, last_full_audit, overdue_audit};
use crate::engines::{DynamoState, OpenSearchIndex};
use crate::generation::{Generation, Generations, Phase};
use crate::heartbeat::{Heartbeat, UNKNOWN_TABLE};
use crate::mirrored::HANDLER;
use crate::ports::{Fault, Index, State};
use crate::readers::wrong_readers_alias;
use crate::redrive::{CountedGivenUp, count_given_up};

/// The status of a system's search.
#[derive(Clone, Debug)]
pub struct Status {
    pub word: StatusWord,
    /// The reason, unless all is well.
    pub reason: Option<String>,
    pub generations: Option<Generations>,
    /// The number of open markers, to at most [`MAX_STATUS_COUNT`].
    pub markers: usize,
    /// The number of objects with records that Lambda gave up, to at most [`MAX_STATUS_COUNT`].
    pub given_up: usize,
    /// The age of search in milliseconds, if it lags.
    pub lag: Option<i64>,
    /// When the last full audit of the index that serves began, in microseconds since 1970-01-01T00:00:00Z.
    pub audited: Option<i64>,
    /// The number of findings that this audit has left.
    pub audit_findings: u64,
}

/// The status in one word: the first that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusWord {
    /// The system is not deployed here.
    Absent,
    /// No index is published yet.
    Unindexed,
    /// OpenSearch does not respond, an index that is written is missing, or readers search another index than the one
    /// that serves.
    Down,
    /// This code has another mapping than an index.
    Outdated,
    /// Records have waited for more than a minute.
    Lagging,
    /// Lambda gave records up.
    GivenUp,
    /// Items are in quarantine.
    Poisoned,
    /// Another index is being published or filled, or an index is kept.
    Rebuilding,
    /// The last full audit has left differences, or shapes whose objects do not exist.
    Differs,
    /// The last full audit ended more than 26 hours ago, or the first one began then and has not ended.
    Unaudited,
    Ok,
}

const NO_INDEX: &str = "no index is published yet: create the first index";

/// The number up to which markers and objects are counted.
pub const MAX_STATUS_COUNT: usize = 1000;

impl StatusWord {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Down => "down",
            Self::Unindexed => "unindexed",
            Self::Outdated => "outdated",
            Self::Rebuilding => "rebuilding",
            Self::Lagging => "lagging",
            Self::GivenUp => "given-up",
            Self::Poisoned => "poisoned",
            Self::Differs => "differs",
            Self::Unaudited => "unaudited",
            Self::Ok => "ok",
        }
    }
}

/// Returns the status of a system. `mapping` is the version of the mapping that this code has.
pub async fn status(system: &'static System, engines: &Engines, mapping: u32) -> Result<Status, Fault> {
    let state = DynamoState::new(engines, system);
    let generations = match state.generations().await {
        Err(fault) if fault.reason.contains("ResourceNotFoundException") => {
            let reason = Some(format!("the table `{}` does not exist", state.table()));
            return Ok(Status {
                word: StatusWord::Absent,
                reason,
                generations: None,
                markers: 0,
                given_up: 0,
                lag: None,
                audited: None,
                audit_findings: 0,
            });
        }
        read => read?,
    };
    let now = engines.clock.micros() / 1000;
    let heartbeats = state.heartbeats().await?;
    let written = generations.as_ref().map(|generations| generations.written.as_slice()).unwrap_or_default();
    let markers = count_markers(&state, written).await?;
    let CountedGivenUp { objects: given_up, newest } =
        count_given_up(system, engines, HANDLER, MAX_STATUS_COUNT).await?;
    let slowest = slowest(&heartbeats, newest, now);
    let trouble = match &generations {
        None => Some((StatusWord::Unindexed, NO_INDEX.to_owned())),
        // The first index is being created.
        Some(generations) if generations.last == 0 && generations.written.is_empty() => {
            Some((StatusWord::Unindexed, NO_INDEX.to_owned()))
        }
        Some(generations) if generations.written.is_empty() => {
            let reason = format!("no index is written, and every batch waits: `cairn rebuild start {}`", system.name);
            Some((StatusWord::Unindexed, reason))
        }
        Some(generations) => of_indexes(system, engines, &state, generations, mapping).await?,
    };
    let (audit, overdue) = match generations.as_ref().and_then(|generations| generations.of(Phase::Serving)) {
        Some(serving) => {
            let audit = last_full_audit(&state, system, serving).await?;
            (audit, overdue_audit(&state, serving, &audit, engines.clock.micros()).await?)
        }
        None => (LastAudit::default(), None),
    };
    let trouble = trouble
        .or_else(|| slowest.map(|(age, heartbeat)| (StatusWord::Lagging, lagging(age, heartbeat))))
        .or_else(|| {
            (given_up > 0)
                .then(|| (StatusWord::GivenUp, format!("{} of records that Lambda gave up", many(given_up, "object"))))
        })
        .or_else(|| (markers > 0).then(|| (StatusWord::Poisoned, format!("{} in quarantine", many(markers, "entry")))))
        .or_else(|| generations.as_ref().and_then(of_rebuild))
        .or_else(|| of_audit(system, audit, overdue));
    let (word, reason) = trouble.map_or((StatusWord::Ok, None), |(word, reason)| (word, Some(reason)));
    let lag = slowest.map(|(age, _)| age);
    Ok(Status { word, reason, generations, markers, given_up, lag, audited: audit.started, audit_findings: audit.left })
}

/// Returns why searches fail or read another index than the one that serves, if they do. It needs only the rights of
/// the function that creates indexes.
pub async fn wrong_indexes(system: &System, engines: &Engines) -> Result<Option<String>, Fault> {
    let state = DynamoState::new(engines, system);
    match state.generations().await? {
        Some(generations) => wrong_generations(system, engines, &state, &generations).await,
        None => Ok(None),
    }
}

/// Returns what is not as it should be with the audits of the index that serves.
fn of_audit(system: &System, audit: LastAudit, overdue: Option<Overdue>) -> Option<(StatusWord, String)> {
    let system = system.name;
    if audit.left > 0 {
        let left = many(usize::try_from(audit.left).unwrap_or(MAX_STATUS_COUNT), "finding");
        let reason = format!("the last audit has left {left}: `cairn audit {system} --last` prints what differs");
        return Some((StatusWord::Differs, reason));
    }
    let since = match overdue? {
        Overdue::Ended { hours } => format!("the last audit ended {hours} hours ago"),
        Overdue::NeverEnded { hours } => format!("no audit has ended, and the first one began {hours} hours ago"),
    };
    Some((StatusWord::Unaudited, format!("{since}: `cairn audit {system}`")))
}

/// Returns the age of search and the heartbeat of the table that lags most, if one lags. Records that were reported
/// before Lambda gave records up may be these. If others wait, they are reported again. Times are in milliseconds.
fn slowest(heartbeats: &[Heartbeat], given_up: Option<i64>, now: i64) -> Option<(i64, &Heartbeat)> {
    let waits =
        |heartbeat: &&Heartbeat| heartbeat.reason.is_none() || given_up.is_none_or(|given_up| given_up < heartbeat.at);
    let lagging = heartbeats.iter().filter(waits).filter_map(|heartbeat| Some((heartbeat.lag(now)?, heartbeat)));
    lagging.max_by_key(|(age, _)| *age)
}

/// Returns what is not as it should be with the indexes.
async fn of_indexes(
    system: &System,
    engines: &Engines,
    state: &DynamoState<'_>,
    generations: &Generations,
    mapping: u32,
) -> Result<Option<(StatusWord, String)>, Fault> {
    if let Some(wrong) = wrong_generations(system, engines, state, generations).await? {
        return Ok(Some((StatusWord::Down, wrong)));
    }
    let written = &generations.written;
    let outdated = written.iter().find(|generation| generation.mapping != mapping);
    if let Some(outdated) = outdated.filter(|_| written.len() == 1) {
        return Ok(Some((StatusWord::Outdated, outdated.mapping_difference(None, mapping))));
    }
    Ok(None)
}

/// Returns why searches fail or read another index than the one that serves, if they do.
async fn wrong_generations(
    system: &System,
    engines: &Engines,
    state: &DynamoState<'_>,
    generations: &Generations,
) -> Result<Option<String>, Fault> {
    let index = OpenSearchIndex::new(engines)?;
    for generation in &generations.written {
        if let Err(fault) = index.newest(&generation.write_alias()).await {
            return Ok(Some(match index.exists(&generation.index).await {
                Ok(false) => lost(system, generation),
                _ => fault.to_string(),
            }));
        }
    }
    let wrong = wrong_readers_alias(system, state, &index, generations).await;
    Ok(wrong.unwrap_or_else(|fault| Some(fault.to_string())))
}

/// Returns what a rebuild has not ended yet.
fn of_rebuild(generations: &Generations) -> Option<(StatusWord, String)> {
    let written = &generations.written;
    let reason = if generations.rebuild_paused {
        "the rebuild is paused".to_owned()
    } else if let Some(published) = generations.of(Phase::Published) {
        format!("{} is about to be filled", published.index)
    } else if let Some(filling) = generations.of(Phase::Filling) {
        format!("{} is being filled", filling.index)
    } else if written.len() > 1 {
        let names: Vec<&str> = written.iter().map(|generation| generation.index.as_str()).collect();
        format!("{} are written", names.join(" and "))
    } else {
        format!("{} is not deleted yet", generations.dropping.first()?)
    };
    Some((StatusWord::Rebuilding, reason))
}

/// The reason of a lost index, with the command that helps.
fn lost(system: &System, generation: &Generation) -> String {
    let (index, system) = (&generation.index, system.name);
    match generation.phase {
        Phase::Kept => format!("the kept index {index} is lost: `cairn rebuild finish {system}`"),
        _ => format!("the index {index} is lost: `cairn rebuild start {system} --replace`"),
    }
}

/// Counts the open markers, to at most [`MAX_STATUS_COUNT`].
pub(crate) async fn count_markers(state: &impl State, written: &[Generation]) -> Result<usize, Fault> {
    let mut count = 0;
    for generation in written {
        let mut after = None::<String>;
        while count < MAX_STATUS_COUNT {
            let page = state.markers_after(&generation.index, after.as_deref()).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.subject.name());
            count += page.len();
        }
    }
    Ok(count.min(MAX_STATUS_COUNT))
}

fn lagging(age: i64, heartbeat: &Heartbeat) -> String {
    let reason = heartbeat.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    if heartbeat.table == UNKNOWN_TABLE {
        return format!("an invocation of the mirror failed before its table was known{reason}");
    }
    format!("records of {} have waited for {} s{reason}", heartbeat.table, age / 1000)
}

fn many(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        MAX_STATUS_COUNT => format!("{MAX_STATUS_COUNT} or more {}", plural(what)),
        count => format!("{count} {}", plural(what)),
    }
}

fn plural(what: &str) -> String {
    what.strip_suffix('y').map_or_else(|| format!("{what}s"), |start| format!("{start}ies"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heartbeat::tests::heartbeat;
    use crate::simulation::toy::TOY;

    #[test]
    fn findings_of_the_last_audit_come_before_an_overdue_audit() {
        let word = |left, overdue| {
            let audit = LastAudit { left, ..LastAudit::default() };
            of_audit(&TOY, audit, overdue).map(|(word, reason)| (word.name(), reason))
        };
        let findings = "the last audit has left 2 findings: `cairn audit toy --last` prints what differs".to_owned();
        let overdue = "the last audit ended 27 hours ago: `cairn audit toy`".to_owned();
        assert_eq!(word(0, None), None);
        assert_eq!(word(2, None), Some(("differs", findings.clone())));
        let ended = Some(Overdue::Ended { hours: 27 });
        assert_eq!(word(0, ended), Some(("unaudited", overdue)));
        assert_eq!(word(2, ended), Some(("differs", findings)));
        let never = "no audit has ended, and the first one began 30 hours ago: `cairn audit toy`".to_owned();
        assert_eq!(word(0, Some(Overdue::NeverEnded { hours: 30 })), Some(("unaudited", never)));
    }

    #[test]
    fn records_that_were_given_up_do_not_lag() {
        let reported = heartbeat(1_000_000, 90_000, Some("search is down"));
        let lag = |given_up| slowest(std::slice::from_ref(&reported), given_up, 1_001_000).map(|(age, _)| age);
        assert_eq!((lag(None), lag(Some(999_999))), (Some(91_010), Some(91_010)));
        assert_eq!((lag(Some(1_000_000)), lag(Some(1_000_500))), (None, None));
        // Late records that were handled are not those.
        let handled = heartbeat(1_000_000, 90_000, None);
        assert!(slowest(&[handled], Some(1_000_500), 1_001_000).is_some());
    }
}
