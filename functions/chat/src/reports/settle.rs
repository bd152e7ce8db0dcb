//! `POST /chat/reports/{reportId}/settle`

use std::collections::BTreeSet;

use serde::Deserialize;
use table::{AccessPattern, Action, Changes, Error};
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Fault, Json, Path, Problem, Route, Rules, Sample, Valid, problem};

use super::get::{Found, REPORT, ReportPath, find};
use super::{
    ChatReport, MODERATED, Measure, REPORT_SETTLED, Report, ReportStatus, ReportView, TargetKind, chat_key, key,
};
use crate::access::{CALLER, COMMUNITIES, GROUP_CHATS, LEASE, LEAVE_COMMUNITY, PRIVATE_CHATS};
use crate::audit::{self, AuditedAction, Log};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::communities::ban::{BAN_STRANGER, ban_user};
use crate::communities::departure::{BEGIN_DEPARTURE, Cause, LOAD_DEPARTURE, depart, require_no_owner};
use crate::communities::{Community, OWNER_MUST_TRANSFER};
use crate::live::end::{CLOSE_CONNECTIONS, END_SUBSCRIPTIONS};
use crate::messages::delete::{DELETE_REACTIONS, delete_reactions, to_placeholder};
use crate::names::{ChatId, MessageId, Millisecond, UserId};
use crate::schema;
use crate::sessions::end::{END_SESSIONS, end_all};
use crate::users::Ban;
use crate::users::ban::{BAN_USER, set};

/// The settled rows of a report instead of the open ones, and the deleted message, with entries in the audit log.
const SETTLE_REPORT: AccessPattern = AccessPattern::new(
    "settleReport",
    &[COMMUNITIES.delete(), COMMUNITIES.put(), COMMUNITIES.update(), GROUP_CHATS.update(), PRIVATE_CHATS.update()],
);

/// How a report is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
enum Settlement {
    Upheld,
    Dismissed,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Settle {
    status: Settlement,
    /// The measures that are taken at once, if the report is upheld.
    #[serde(default)]
    #[schema(max_items = 3)]
    measures: BTreeSet<Measure>,
    /// Why, for the audit log.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 200, nullable = false)]
    reason: Option<String>,
}

impl Settle {
    /// Returns the measures about the person.
    fn about_person(&self) -> BTreeSet<Measure> {
        self.measures.iter().copied().filter(|measure| *measure != Measure::DeleteMessage).collect()
    }
}

impl Rules for Settle {
    fn faults(&self) -> Vec<Fault> {
        self.reason.as_deref().and_then(|reason| name_fault("/reason", reason)).into_iter().collect()
    }
}

pub fn route() -> Route {
    Route::post("settleReport", "/chat/reports/{reportId}/settle", SIGNED_IN, settle)
        .summary("Settle an open report: dismiss it, or uphold it and delete the message, remove or ban the person")
        .patterns(&[
            &CALLER,
            &REPORT,
            &MODERATED,
            &SETTLE_REPORT,
            &DELETE_REACTIONS,
            &LOAD_DEPARTURE,
            &BEGIN_DEPARTURE,
            &BAN_STRANGER,
            &LEASE,
            &LEAVE_COMMUNITY,
            &BAN_USER,
            &END_SESSIONS,
            &END_SUBSCRIPTIONS,
            &CLOSE_CONNECTIONS,
        ])
        .timeout(web::route::MAX_TIMEOUT)
        .problems(&[
            problem::FORBIDDEN,
            BANNED,
            problem::NOT_FOUND,
            REPORT_SETTLED,
            OWNER_MUST_TRANSFER,
            problem::CONFLICT,
        ])
        .sample(
            Sample::new("/chat/reports/019b76da-a800-7000-8000-000000000071/settle")
                .body(r#"{"status":"dismissed","reason":"No rule forbids it."}"#),
        )
}

async fn settle(
    cx: Context,
    Path(path): Path<ReportPath>,
    Valid(Json(settle)): Valid<Json<Settle>>,
) -> Result<Json<ReportView>, Problem> {
    let reason = settle.reason.as_deref().unwrap_or_default();
    // Of two who settle it at once, only the one who closes it takes measures.
    let (caller, community, report) = cx
        .retry(|| async {
            let caller = Caller::load(&cx).await?;
            let found = find(&cx, &caller, path.report_id).await?;
            if !found.may_settle {
                return Err(Problem::forbidden("Only moderators and administrators settle reports."));
            }
            // An earlier request of the caller has closed the report, and was stopped before it took all measures.
            let pending = &found.report.pending_measures;
            if !pending.is_empty() && *pending == settle.about_person() && found.report.settled_by == Some(caller.id) {
                return Ok((caller, found.community, found.report));
            }
            require_open(&found.report)?;
            check_measures(&settle, &found.report, found.community.is_some())?;
            check_power(&settle, found.community.as_ref(), &caller)?;
            if let (Some(community), Some(person)) = (&found.community, found.report.person())
                && acts_on_members(&settle.measures)
            {
                require_no_owner(&cx, community, person).await?;
            }
            close(&cx, caller, found, &settle, reason).await
        })
        .await?;
    if let Some(person) = report.person().filter(|_| !report.pending_measures.is_empty()) {
        let measures = &report.pending_measures;
        match &community {
            Some(community) => {
                cx.retry(|| measure_in_community(&cx, measures, community, person, caller.id, reason)).await?;
            }
            None => measure_on_platform(&cx, measures, person, &caller, reason).await?,
        }
        let key = key(community.as_ref().map(|community| community.id), report.status, report.id);
        let done = Action::update(&schema::COMMUNITIES, key, Changes::new().remove("PendingMeasures"));
        match cx.access().write(&SETTLE_REPORT, done).await {
            // The report has expired.
            Ok(_) | Err(Error::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Json(ReportView::new(community.map(|community| community.id), report)))
}

/// Settles the report, and deletes its message in the same transaction. The report then has the measures about the person
/// that are to be taken.
async fn close(
    cx: &Context,
    caller: Caller,
    found: Found,
    settle: &Settle,
    reason: &str,
) -> Result<(Caller, Option<Community>, Report), Problem> {
    let Found { community, group_chat, stored, report, .. } = found;
    let of = community.as_ref().map(|community| community.id);
    let (clock, log) = (&cx.engines().clock, of.map_or(Log::Platform, Log::Community));
    let now = Millisecond::now(clock);
    let settled = Report {
        status: match settle.status {
            Settlement::Upheld => ReportStatus::Upheld,
            Settlement::Dismissed => ReportStatus::Dismissed,
        },
        settled_by: Some(caller.id),
        settled_at: Some(now.to_string()),
        pending_measures: settle.about_person(),
        ..report
    };
    let mut own = vec![
        Action::delete(&schema::COMMUNITIES, stored.key),
        Action::create(&schema::COMMUNITIES, key(of, settled.status, settled.id), &settled)?,
        audit::entry(clock, log, caller.id, AuditedAction::SettleReport, settled.id, reason)?,
    ];
    // The deletion of a group chat deletes the rows of its list.
    if let Some(chat) = group_chat {
        let listed = ChatReport { expires: settled.expires };
        let [open, closed] = [ReportStatus::Open, settled.status].map(|status| chat_key(chat.id, status, settled.id));
        own.push(Action::delete(&schema::COMMUNITIES, open).or_absent());
        own.push(Action::create(&schema::COMMUNITIES, closed, &listed)?);
    }
    let deleted = message(&settled).filter(|_| settle.measures.contains(&Measure::DeleteMessage));
    let mut actions = own.clone();
    if let Some((chat, message)) = deleted {
        actions.push(to_placeholder(chat, message, now, Some(caller.id))?);
        actions.push(audit::entry(clock, log, caller.id, AuditedAction::DeleteMessage, message, reason)?);
    }
    let mut written = cx.access().transact(&SETTLE_REPORT, &actions).await;
    // The message is gone already.
    if written.as_ref().is_err_and(|error| error.failed(0).is_none() && error.failed(own.len()).is_some()) {
        written = cx.access().transact(&SETTLE_REPORT, &own).await;
    }
    match written {
        Ok(_) => {}
        // Another moderator has settled it, as the next attempt finds out.
        Err(Error::ConditionFailed(_)) => return Err(Problem::lost_race()),
        Err(error) => return Err(error.into()),
    }
    if let Some((chat, message)) = deleted {
        delete_reactions(cx.access(), &DELETE_REACTIONS, chat, message).await?;
    }
    Ok((caller, community, settled))
}

/// 400 for measures that the report leaves no room for.
fn check_measures(settle: &Settle, report: &Report, has_community: bool) -> Result<(), Problem> {
    let fault = |detail: &str| Err(Problem::faults(vec![Fault::pointer("/measures", detail)]));
    let has = |measure| settle.measures.contains(&measure);
    if settle.status == Settlement::Dismissed && !settle.measures.is_empty() {
        return fault("are for reports that are upheld");
    }
    if report.kind == TargetKind::Community && !settle.measures.is_empty() {
        return fault("are for messages and people; a community is deleted by its own operation");
    }
    if report.kind != TargetKind::Message && has(Measure::DeleteMessage) {
        return fault("has `deleteMessage`, and the report is about no message");
    }
    if !has_community && has(Measure::Remove) {
        return fault("has `remove`, and the report has no community");
    }
    Ok(())
}

/// 403 for a moderator of a group chat who removes or bans from its community.
fn check_power(settle: &Settle, community: Option<&Community>, caller: &Caller) -> Result<(), Problem> {
    if acts_on_members(&settle.measures) && community.is_some_and(|community| !community.is_moderated_by(caller.id)) {
        let detail = "Only moderators of the community remove or ban its members. You can delete the message, and \
                      remove the person from the group chat by its own operation.";
        return Err(Problem::forbidden(detail));
    }
    Ok(())
}

fn acts_on_members(measures: &BTreeSet<Measure>) -> bool {
    measures.contains(&Measure::Remove) || measures.contains(&Measure::Ban)
}

async fn measure_in_community(
    cx: &Context,
    measures: &BTreeSet<Measure>,
    community: &Community,
    person: UserId,
    by: UserId,
    reason: &str,
) -> Result<(), Problem> {
    // A ban removes the member, too. The work that a response cannot wait for is finished by a job.
    if measures.contains(&Measure::Ban) {
        ban_user(cx, community, person, by, reason).await?;
    } else if measures.contains(&Measure::Remove) {
        depart(cx, community, person, Cause::Removed { by, reason: reason.to_owned() }).await?;
    }
    Ok(())
}

async fn measure_on_platform(
    cx: &Context,
    measures: &BTreeSet<Measure>,
    person: UserId,
    caller: &Caller,
    reason: &str,
) -> Result<(), Problem> {
    if measures.contains(&Measure::Ban) {
        let ban = Ban { reason: reason.to_owned(), by: caller.id, until: None };
        match set(cx, caller, person, Some(ban), AuditedAction::BanUser, reason).await {
            Ok(()) => end_all(cx.access(), person).await?,
            // A person who was deleted cannot come back, and the deletion ends the sessions.
            Err(problem) if problem.kind() == problem::NOT_FOUND => {}
            Err(problem) => return Err(problem),
        }
    }
    Ok(())
}

/// Returns the message that a report is about.
fn message(report: &Report) -> Option<(ChatId, MessageId)> {
    let chat = report.chat_id.as_ref()?.parse().ok()?;
    Some((chat, report.target_id.parse().ok()?))
}

/// 409 for a report that is settled.
fn require_open(report: &Report) -> Result<(), Problem> {
    if report.status == ReportStatus::Open {
        return Ok(());
    }
    let detail = format!("The report was settled before: it is {}.", report.status);
    Err(REPORT_SETTLED.because(detail).with("reportStatus", report.status.to_string()))
}
