//! The stage of chat: a community with private group chats, a private chat of two of its members, and a community of the
//! stranger. People see what they are members of; communities and users are there for all.

use chat::keys::UnreadCountKey;
use chat::names::{NotificationId, UserId};
use chat::notifications::{Notification, NotificationType, UnreadCount, unread_key};
use chat::schema::NOTIFICATIONS;
use local::Served;
use local::identity::Person;
use reqwest::Method;
use serde_json::{Value, json};
use table::EntityKey;

use super::stage::{Parts, Stage, Thing};
use crate::chat::conversation::{private_chat, react, send};
use crate::chat::pictures::{png, upload};
use crate::chat::stage::{Chat, Member, id};
use crate::harness::table::stored;
use crate::harness::{Setup, User};

/// An id that nothing has.
const ABSENT: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

/// The password in the samples.
const PASSWORD: &str = "moss on stones";

const REACTION: &str = ":wave:";

/// The handlers that would change the tables while the stage restores them.
const WITHOUT: [&str; 5] = ["live", "fanOutRest", "runJob", "runJobs", "applyRetention"];

/// The principals' requests are more than people send.
const LIMITS: [&str; 8] =
    ["logIn", "logInAnywhere", "passwords", "register", "communities", "requests", "tickets", "searches"];

pub async fn stage(served: &'static Served) -> Stage {
    let limits = LIMITS.into_iter().chain(["sends", "privateChats"]).map(|name| (name, 100_000)).collect();
    let chat = Chat::with(Setup { limits, without: WITHOUT.to_vec(), ..Setup::of("chat") }).await;
    let stranger = chat.member("stranger").await;
    let eve = registered(&chat, "eve").await;
    let member = registered(&chat, "val").await;
    let administrator = Person { roles: &["chat-admin"], ..Person::new("ada") };
    let administrator = chat.cairn.person("administrator", administrator).await;
    administrator.get("/chat/me").await.is(200);
    let place = Place::new(&chat, &member, &administrator).await;
    let foreign = Foreign::new(&stranger, &eve).await;
    let own = Personal::of(&chat, &member, "val").await;
    let of_eve = Personal::of(&chat, &eve, "eve").await;
    let reset = administrator.call(Method::POST, &format!("/chat/users/{}/password-resets", member.id)).await.is(201);
    let Chat { cairn, ann, bob, cy, .. } = chat;
    let parts = Parts {
        principals: vec![
            ("stranger", stranger.user),
            ("applicant", bob.user),
            ("member", member.user),
            ("moderator", ann.user),
            ("owner", cy.user),
            ("administrator", administrator),
        ],
        expired: ("ada", &["chat-admin"]),
        things: vec![
            Thing::new("communityId", &place.community, &foreign.community, ABSENT).open(),
            Thing::new("userId", &member.id, &eve.id, ABSENT).open(),
            Thing::new("userId", &ann.id, &eve.id, ABSENT).below("moderators").open(),
            Thing::new("userId", &place.banned, &eve.id, ABSENT).below("bans").open(),
            Thing::new("username", "val", "eve", "nobody").open(),
            Thing::new("chatId", &place.group_chat, &foreign.group_chat, ABSENT),
            Thing::new("messageId", &place.group_message, &foreign.group_message, ABSENT),
            Thing::new("chatId", &place.private_chat, &foreign.private_chat, ABSENT).below("privatechats"),
            Thing::new("messageId", &place.private_message, &foreign.private_message, ABSENT).below("privatechats"),
            Thing::same("reaction", REACTION),
            Thing::new("requestId", &place.request, &foreign.request, ABSENT),
            Thing::new("requestId", &place.own_request, &foreign.request, ABSENT).below("me"),
            Thing::new("reportId", &place.report, &foreign.report, ABSENT),
            Thing::new("notificationId", &own.notification, &of_eve.notification, ABSENT),
            Thing::new("sessionId", &own.session, &of_eve.session, ABSENT),
            Thing::new("jobId", &own.job, &of_eve.job, ABSENT),
            Thing::new("pictureId", &own.picture, &of_eve.picture, ABSENT).open(),
            Thing::new("pictureId", &own.picture, &of_eve.picture, ABSENT).below("me"),
            Thing::same("size", "small").open(),
            Thing::new("chat", &group(&place.group_chat), &group(&foreign.group_chat), &group(ABSENT)),
        ],
        texts: vec![
            ("REFRESH-TOKEN", own.refresh_token),
            ("RESET-CODE", reset.text("code").to_owned()),
            (r#""username":"samples""#, format!(r#""username":"samples","currentPassword":"{PASSWORD}""#)),
            (r#""email":"samples@example.org""#, format!(r#""email":"s@example.org","currentPassword":"{PASSWORD}""#)),
            (r#""login":"bob""#, r#""login":"val""#.to_owned()),
            (r#""username":"bob""#, r#""username":"pat""#.to_owned()),
            ("bob@example.org", "pat@example.org".to_owned()),
            ("019b76da-a800-7000-8000-000000000002", place.requester.clone()),
            ("019b76da-a800-7000-8000-000000000041", "{messageId}".to_owned()),
            ("q=bob", "q=moss".to_owned()),
            ("q=hello", "q=moss".to_owned()),
            ("q=bryophytes", "q=moss".to_owned()),
        ],
        outsiders: &["none", "expired", "stranger"],
        insiders: &["member", "owner"],
        others: "stranger",
        bodies: vec![
            (
                "createReport",
                "moderator",
                r#"{"kind": "message", "chat": "{chat}", "targetId": "{messageId}", "reason": "spam"}"#,
            ),
            ("markRead", "moderator", r#"{"upTo": "{messageId}"}"#),
            ("sendMessage", "moderator", r#"{"content": "Peat, too.", "replyTo": "{messageId}"}"#),
        ],
        word: "sphagnum",
        values: Some(("kind", &["groupchats", "privatechats"])),
        open_searches: &["searchCommunities", "searchUsers"],
        counters: Some("RATE#"),
        ..Parts::default()
    };
    Stage::new(cairn, served, parts).await
}

/// Returns a group chat as searches name it.
fn group(chat: &str) -> String {
    format!("groupchat/{chat}")
}

/// Registers a person, and logs in.
async fn registered(chat: &Chat, name: &'static str) -> Member {
    let new = json!({
        "username": name, "name": format!("Moss {name}"), "email": format!("{name}@example.org"), "password": PASSWORD,
    });
    let id = id(&chat.visitor.post("/chat/users", new).await.is(201));
    let tokens = chat.visitor.post("/chat/sessions", json!({ "login": name, "password": PASSWORD })).await.is(201);
    let user = chat.cairn.user(name, &format!("Bearer {}", tokens.text("accessToken")));
    Member { user, id }
}

async fn creates(user: &User, path: &str, new: Value) -> String {
    id(&user.post(path, new).await.is(201))
}

/// The community of cy, with ann as its moderator and bob as a member of it alone, and its chats.
struct Place {
    community: String,
    /// A private group chat of cy, the member and its moderator ann.
    group_chat: String,
    group_message: String,
    /// The private chat of the member and ann.
    private_chat: String,
    private_message: String,
    /// Who asks to join the group chat, and the request.
    requester: String,
    request: String,
    report: String,
    banned: String,
    /// A request of the member to join another group chat.
    own_request: String,
}

impl Place {
    async fn new(chat: &Chat, member: &Member, administrator: &User) -> Self {
        let Chat { ann, bob, cy, .. } = chat;
        let (dee, gus) = (chat.member("dee").await, chat.member("gus").await);
        let mut communities = Vec::new();
        for name in ["More Moss", "Moss"] {
            let new = json!({ "name": name, "topic": "Plants", "location": { "country": "Canada" } });
            communities.push(creates(&cy.user, "/chat/communities", new).await);
        }
        let community = communities.pop().unwrap();
        for person in [ann, bob, member, &dee, &gus] {
            person.joins_community(&community).await.is(201);
        }
        cy.puts(&format!("/chat/communities/{community}/moderators/{}", ann.id)).await.is(204);
        let mut chats = Vec::new();
        for name in ["Least Moss", "More Moss", "Moss"] {
            chats.push(cy.creates_group_chat(&community, json!({ "name": name, "private": true })).await);
        }
        let group_chat = chats.pop().unwrap();
        let group = format!("/chat/groupchats/{group_chat}");
        for person in [ann, member] {
            cy.puts(&format!("{group}/members/{}", person.id)).await.is(201);
        }
        cy.puts(&format!("{group}/moderators/{}", ann.id)).await.is(204);
        let private = private_chat(member, ann).await;
        private_chat(member, &dee).await;
        let mut messages = Vec::new();
        for chat in [&group, &private] {
            let first = id(&send(&member.user, chat, "the first moss").await);
            send(&ann.user, chat, "more moss").await;
            for person in [ann, member] {
                react(&person.user, &format!("{chat}/messages/{first}"), REACTION).await.is(204);
            }
            messages.push(first);
        }
        let mut request = String::new();
        for person in [&gus, &dee] {
            request = creates(&person.user, &format!("{group}/requests"), json!({})).await;
        }
        let mut own_request = String::new();
        for other in &chats {
            own_request = creates(&member.user, &format!("/chat/groupchats/{other}/requests"), json!({})).await;
        }
        // Cy reports the message, too, so that there are two.
        let message = id(&send(&ann.user, &group, "even more moss").await);
        let target =
            json!({ "kind": "message", "chat": self::group(&group_chat), "targetId": message, "reason": "spam" });
        let report = creates(&member.user, "/chat/reports", target.clone()).await;
        creates(&cy.user, "/chat/reports", target).await;
        for person in [ann, bob] {
            let new = json!({ "kind": "person", "targetId": gus.id, "reason": "other" });
            creates(&person.user, "/chat/reports", new).await;
        }
        let mut banned = String::new();
        for name in ["kit", "lee"] {
            banned = chat.member(name).await.id;
            let ban = json!({ "reason": "Advertises" });
            cy.user.put(&format!("/chat/communities/{community}/bans/{banned}"), ban.clone()).await.is(204);
            administrator.put(&format!("/chat/users/{banned}/ban"), ban).await.is(204);
        }
        let [group_message, private_message] = messages.try_into().unwrap();
        let private_chat = private.rsplit('/').next().unwrap().to_owned();
        Self {
            community,
            group_chat,
            group_message,
            private_chat,
            private_message,
            requester: dee.id,
            request,
            report,
            banned,
            own_request,
        }
    }
}

/// The community of the stranger, with chats of the stranger and another person.
struct Foreign {
    community: String,
    group_chat: String,
    group_message: String,
    private_chat: String,
    private_message: String,
    request: String,
    report: String,
}

impl Foreign {
    async fn new(stranger: &Member, eve: &Member) -> Self {
        let Member { user, .. } = stranger;
        let community = creates(user, "/chat/communities", json!({ "name": "Bog", "topic": "Plants" })).await;
        eve.joins_community(&community).await.is(201);
        let mut chats = Vec::new();
        for name in ["Peat", "Sphagnum"] {
            chats.push(stranger.creates_group_chat(&community, json!({ "name": name, "private": true })).await);
        }
        let group_chat = chats.pop().unwrap();
        let (group, private) = (format!("/chat/groupchats/{group_chat}"), private_chat(stranger, eve).await);
        let mut messages = Vec::new();
        for chat in [&group, &private] {
            messages.push(id(&send(user, chat, "sphagnum grows").await));
        }
        let request = creates(&eve.user, &format!("{group}/requests"), json!({})).await;
        stranger.puts(&format!("/chat/groupchats/{}/members/{}", chats[0], eve.id)).await.is(201);
        let message = id(&send(user, &format!("/chat/groupchats/{}", chats[0]), "peat").await);
        let target =
            json!({ "kind": "message", "chat": self::group(&chats[0]), "targetId": message, "reason": "spam" });
        let report = creates(&eve.user, "/chat/reports", target).await;
        let [group_message, private_message] = messages.try_into().unwrap();
        let private_chat = private.rsplit('/').next().unwrap().to_owned();
        Self { community, group_chat, group_message, private_chat, private_message, request, report }
    }
}

/// What belongs to one person, two of each kind.
struct Personal {
    notification: String,
    session: String,
    refresh_token: String,
    job: String,
    picture: String,
}

impl Personal {
    async fn of(chat: &Chat, person: &Member, name: &str) -> Self {
        let tokens = chat.visitor.post("/chat/sessions", json!({ "login": name, "password": PASSWORD })).await.is(201);
        let mut job = String::new();
        for _ in 0..2 {
            let accepted = person.user.call(Method::POST, "/chat/me/export").await.is(202);
            job = accepted.header("location").rsplit('/').next().unwrap().to_owned();
        }
        let picture = upload(&person.user, json!({ "kind": "avatar" }), &png(32, 32, [90, 120, 60, 255])).await;
        Self {
            notification: notified(chat, person).await,
            session: tokens.text("sessionId").to_owned(),
            refresh_token: tokens.text("refreshToken").to_owned(),
            job,
            picture: id(&picture),
        }
    }
}

/// Writes two unread notifications directly, since their writer reads the streams.
async fn notified(chat: &Chat, person: &Member) -> String {
    let (user, table) = (person.id.parse::<UserId>().unwrap(), chat.cairn.table_of(&NOTIFICATIONS));
    let mut last = String::new();
    for _ in 0..2 {
        let id = NotificationId::now(&chat.cairn.clock);
        let notification = Notification {
            id,
            notification_type: NotificationType::Added,
            message: "You were added to a group chat.".to_owned(),
            target: "/chat/groupchats".to_owned(),
            read: false,
            seen: false,
            actor_id: None,
            created_at: id.time().to_string(),
            read_at: None,
        };
        table.put(stored(&NOTIFICATIONS, &unread_key(user, id).key(), &notification)).await;
        last = id.to_string();
    }
    table.put(stored(&NOTIFICATIONS, &UnreadCountKey { user }.key(), &UnreadCount { num: 2 })).await;
    last
}
