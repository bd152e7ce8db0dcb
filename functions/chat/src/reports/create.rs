//! `POST /chat/reports`

use serde::Deserialize;
use table::part::Escaped;
use table::schema::Table;
use table::{AccessPattern, Action, Condition, EntityKey};
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Created, Fault, IdempotencyKey, Json, Problem, Route, Rules, Sample, Valid, problem};

use super::{
    ChatReport, Evidence, REPORTED, RETENTION_SECONDS, Reason, Report, ReportPlace, ReportStatus, ReportView, Reported,
    TargetKind, chat_key, key,
};
use crate::access::{CALLER, COMMUNITIES, GROUP_CHATS, LIVE, PRIVATE_CHATS, USERS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::communities::Community;
use crate::group_chats::GroupChat;
use crate::keys::{CommunityKey, GroupChatKey, ReportPlaceKey, ReportedKey, UserKey, member_key, message_key};
use crate::messages::Message;
use crate::names::{ChatId, CommunityId, GroupChatId, MessageId, ReportId, UserId};
use crate::rates::{self, COUNT, count};
use crate::schema;
use crate::users::User;

/// The target of a report, as far as the caller sees it.
const TARGET: AccessPattern =
    AccessPattern::new("reportTarget", &[USERS.get(), COMMUNITIES.get(), GROUP_CHATS.get(), PRIVATE_CHATS.get()]);

/// A new report, the place where it is, its row in the list of a group chat, and the guard that lets its user report
/// the target once, with the checks that its community and group chat are not being deleted.
const CREATE_REPORT: AccessPattern = AccessPattern::new(
    "createReport",
    &[COMMUNITIES.put(), COMMUNITIES.check(), GROUP_CHATS.check(), LIVE.put(), LIVE.get()],
);

const PATH: &str = "/chat/reports";

/// A report about something that the caller sees.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewReport {
    kind: TargetKind,
    /// The id of the message, the user or the community.
    #[schema(min_length = 1, max_length = 36)]
    target_id: String,
    /// The chat of a message, as `groupchat/{id}` or `privatechat/{id}`.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 60, nullable = false)]
    chat: Option<String>,
    reason: Reason,
    #[serde(default)]
    #[schema(min_length = 1, max_length = 500, nullable = false)]
    note: Option<String>,
}

impl Rules for NewReport {
    fn faults(&self) -> Vec<Fault> {
        let chat = self.chat.as_deref().and_then(|chat| chat.parse::<ChatId>().err());
        let chat = chat.map(|expected| Fault::pointer("/chat", expected.to_string()));
        let note = self.note.as_deref().and_then(|note| name_fault("/note", &note.replace('\n', " ")));
        chat.into_iter().chain(note).collect()
    }
}

/// Where a report goes, and its evidence.
struct Target {
    community: Option<CommunityId>,
    group_chat: Option<GroupChatId>,
    evidence: Option<Evidence>,
}

pub fn route() -> Route {
    Route::post("createReport", PATH, SIGNED_IN, create)
        .summary("Create a report about a message, a person or a community, once for each target")
        .patterns(&[&CALLER, &COUNT, &TARGET, &CREATE_REPORT])
        .problems(&[
            problem::FORBIDDEN,
            BANNED,
            problem::NOT_FOUND,
            REPORTED,
            problem::CONFLICT,
            problem::TOO_MANY_REQUESTS,
        ])
        .sample(Sample::new(PATH).body(
            r#"{"kind":"person","targetId":"019b76da-a800-7000-8000-000000000002","reason":"spam","note":"Ads."}"#,
        ))
}

async fn create(
    cx: Context,
    once: IdempotencyKey,
    Valid(Json(new)): Valid<Json<NewReport>>,
) -> Result<Created<ReportView>, Problem> {
    let caller = Caller::load(&cx).await?;
    if let Some(earlier) = once.earlier(&cx, &CREATE_REPORT, &schema::LIVE).await? {
        return Ok(earlier);
    }
    count(&cx, &rates::REPORTS, &[&caller.id.to_string()]).await?;
    let target = match (new.kind, &new.chat) {
        (TargetKind::Message, Some(chat)) => message(&cx, caller.id, &parsed(chat)?, &new.target_id).await?,
        (TargetKind::Message, None) => return Err(fault("/chat", "is required for a message")),
        (_, Some(_)) => return Err(fault("/chat", "is for messages only")),
        (TargetKind::Person, None) => person(&cx, caller.id, &new.target_id).await?,
        (TargetKind::Community, None) => community(&cx, &new.target_id).await?,
    };
    let clock = &cx.engines().clock;
    let id = ReportId::now(clock);
    let expires = clock.seconds() + RETENTION_SECONDS;
    let guard = Escaped::new(new.target_id.clone()).map_err(|_| Problem::not_found())?;
    let report = Report {
        id,
        reporter_id: caller.id,
        kind: new.kind,
        target_id: new.target_id,
        chat_id: new.chat,
        reason: new.reason,
        note: new.note,
        evidence: target.evidence,
        status: ReportStatus::Open,
        created_at: id.time().to_string(),
        settled_by: None,
        settled_at: None,
        pending_measures: [].into(),
        expires,
    };
    let place = ReportPlace { community_id: target.community, expires };
    let reported = Reported { report_id: id, expires };
    let mut actions = vec![
        Action::create(&schema::COMMUNITIES, key(target.community, ReportStatus::Open, id), &report)?,
        Action::create(&schema::COMMUNITIES, ReportPlaceKey { report: id }.key(), &place)?,
        Action::create(&schema::COMMUNITIES, ReportedKey { user: caller.id, target: guard }.key(), &reported)?,
    ];
    // The deletion of a community or group chat deletes its rows, and would not find those that come after it.
    let kept = Condition::Absent("DeletingAt");
    let community = target.community.map(|community| CommunityKey { community });
    actions.extend(community.map(|key| Action::check(&schema::COMMUNITIES, key).when(kept.clone())));
    if let Some(chat) = target.group_chat {
        let listed = ChatReport { expires };
        actions.push(Action::check(&schema::GROUP_CHATS, GroupChatKey { chat }).when(kept));
        actions.push(Action::create(&schema::COMMUNITIES, chat_key(chat, ReportStatus::Open, id), &listed)?);
    }
    let view = ReportView::of_reporter(target.community, report);
    let location = format!("{PATH}/{id}");
    let created = once.create(&cx, &CREATE_REPORT, &schema::LIVE, actions, location, &view).await;
    created.map_err(|error| {
        if error.failed(3).or(error.failed(4)).is_some() {
            return Problem::not_found();
        }
        match error.failed(2) {
            Some(_) => REPORTED.because("You have reported this before."),
            None => error.into(),
        }
    })
}

/// Finds a message of a chat of which the caller is a member. Moderators of the group chat and of its community settle
/// the report. Administrators do in a private chat, which has none, and where the sender alone moderates.
async fn message(cx: &Context, caller: UserId, chat: &ChatId, target: &str) -> Result<Target, Problem> {
    let message: MessageId = parsed(target)?;
    let (table, group_chat): (&'static Table, _) = match *chat {
        ChatId::Private(_) => (&schema::PRIVATE_CHATS, None),
        ChatId::Group(chat) => {
            let groups = cx.access().table(&TARGET, &schema::GROUP_CHATS);
            let stored = groups.get_consistent(GroupChatKey { chat }).await?.ok_or_else(Problem::not_found)?;
            let chat: GroupChat = stored.read()?;
            if chat.deleting_at.is_some() {
                return Err(Problem::not_found());
            }
            (&schema::GROUP_CHATS, Some(chat))
        }
    };
    let rows = cx.access().table(&TARGET, table);
    rows.get_consistent(member_key(*chat, caller)).await?.ok_or_else(Problem::not_found)?;
    let stored = rows.get_consistent(message_key(*chat, message)).await?.ok_or_else(Problem::not_found)?;
    let message: Message = stored.read()?;
    require_other(message.sender_id, caller)?;
    let moderated = match group_chat {
        Some(chat) if is_moderated_by_others(cx, &chat, message.sender_id).await? => Some(chat),
        _ => None,
    };
    let (community, group_chat) = moderated.map(|chat| (chat.community_id, chat.id)).unzip();
    Ok(Target { community, group_chat, evidence: Some(Evidence::of(&message)) })
}

/// Whether a group chat or its community has a moderator besides this person.
async fn is_moderated_by_others(cx: &Context, chat: &GroupChat, person: UserId) -> Result<bool, Problem> {
    if chat.owner != person || chat.moderators.iter().any(|moderator| *moderator != person) {
        return Ok(true);
    }
    let communities = cx.access().table(&TARGET, &schema::COMMUNITIES);
    let stored = communities.get_consistent(CommunityKey { community: chat.community_id }).await?;
    let community: Community = stored.ok_or_else(Problem::not_found)?.read()?;
    Ok(community.founder != person || community.moderators.iter().any(|moderator| *moderator != person))
}

async fn person(cx: &Context, caller: UserId, target: &str) -> Result<Target, Problem> {
    let user: UserId = parsed(target)?;
    let stored = cx.access().table(&TARGET, &schema::USERS).get_consistent(UserKey { user }).await?;
    let found: User = stored.ok_or_else(Problem::not_found)?.read()?;
    if found.deleted_at.is_some() {
        return Err(Problem::not_found());
    }
    require_other(user, caller)?;
    Ok(Target { community: None, group_chat: None, evidence: None })
}

/// Finds a community. Administrators settle the report, since its moderators would judge themselves.
async fn community(cx: &Context, target: &str) -> Result<Target, Problem> {
    let community: CommunityId = parsed(target)?;
    let stored = cx.access().table(&TARGET, &schema::COMMUNITIES).get_consistent(CommunityKey { community }).await?;
    let found: Community = stored.ok_or_else(Problem::not_found)?.read()?;
    if found.deleting_at.is_some() {
        return Err(Problem::not_found());
    }
    Ok(Target { community: None, group_chat: None, evidence: None })
}

fn require_other(person: UserId, caller: UserId) -> Result<(), Problem> {
    if person == caller { Err(fault("/targetId", "is of the caller")) } else { Ok(()) }
}

/// Parses an id. A text that is none names nothing that the caller sees.
fn parsed<T: std::str::FromStr>(text: &str) -> Result<T, Problem> {
    text.parse().map_err(|_| Problem::not_found())
}

fn fault(pointer: &str, detail: &str) -> Problem {
    Problem::faults(vec![Fault::pointer(pointer, detail)])
}
