//! Each change of an item with its effects, as a table.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use table::schema::Table;
use table::{Key, item};

use super::*;
use crate::communities::{Community, CommunityMember};
use crate::group_chats::{ChatMember, GroupChat};
use crate::keys::*;
use crate::live::connections::StoredConnection;
use crate::live::event::{ChatDetails, EventMessage, MembershipState};
use crate::messages::{LastReaction, Message, MessageView};
use crate::names::{CommunityId, RequestId};
use crate::notifications::{Notification, NotificationType, UnreadCount};
use crate::private_chats::PrivateChat;
use crate::requests::{ChatRequest, RequestStatus};
use crate::users::{Ban, Role, SessionsFrom, User};

const REV: u64 = 3_534_451_200_000_000;

/// The ids of a test.
struct Ids {
    ann: UserId,
    bob: UserId,
    group: GroupChatId,
    private: PrivateChatId,
    community: CommunityId,
}

fn ids() -> Ids {
    Ids {
        ann: UserId::at(1),
        bob: UserId::at(2),
        group: GroupChatId::at(3),
        private: PrivateChatId::at(4),
        community: CommunityId::at(5),
    }
}

fn image(table: &Table, key: &Key, value: &impl Serialize, rev: u64) -> table::Item {
    let mut image = item::to_item(value).unwrap();
    image.extend(item::key_item(table, key));
    image.insert("rev".to_owned(), item::number(rev));
    image
}

/// Returns the effects of a change, and asserts that a stamp of its result has none.
fn of<T: Serialize>(table: &'static Table, key: impl Into<Key>, old: Option<T>, new: Option<T>) -> Vec<Effect> {
    let key = key.into();
    let record = |old: Option<&T>, new: Option<&T>| Record {
        sequence: "1".to_owned(),
        table,
        key: key.clone(),
        old: old.map(|old| image(table, &key, old, REV - 2)),
        new: new.map(|new| image(table, &key, new, REV)),
        received: Duration::ZERO,
    };
    for present in [&old, &new].into_iter().flatten() {
        assert_eq!(effects(&record(Some(present), Some(present))).unwrap(), Vec::new(), "a stamp has effects");
    }
    effects(&record(old.as_ref(), new.as_ref())).unwrap()
}

fn message(ids: &Ids, id: MessageId) -> Message {
    Message {
        id,
        sender_id: ids.ann,
        content: Some("hi @bob".to_owned()),
        reply_to: None,
        created_at: id.time().to_string(),
        reactions: BTreeMap::new(),
        last_reaction: None,
        editted: false,
        editted_at: None,
        deleted_at: None,
        deleted_by: None,
        mentions: [ids.ann, ids.bob].into(),
        member_ids: Default::default(),
    }
}

fn view(message: &Message) -> EventMessage {
    EventMessage::View(Box::new(MessageView::new(message.clone(), table::Rev::new(REV))))
}

fn notification(user: UserId, notification_type: NotificationType, target: String, actor: UserId) -> Effect {
    Effect::Notify(NewNotification { user, notification_type, target, actor: Some(actor) })
}

#[test]
fn new_message_is_told_to_its_chat_and_to_those_mentioned() {
    let (ids, id) = (ids(), MessageId::at(9));
    let new = message(&ids, id);
    let chat = ChatId::Group(ids.group);
    let key = GroupChatMessageKey { chat: ids.group, time: id.time(), message: id };
    let event = Event::MessageCreated { chat, message: view(&new) };
    let mention = NewNotification {
        user: ids.bob,
        notification_type: NotificationType::Mention,
        target: format!("/chat/groupchats/{}/messages/{id}", ids.group),
        actor: Some(ids.ann),
    };
    assert_eq!(
        of(&GROUP_CHATS, key, None, Some(new)),
        [
            Effect::Append { feed: Feed::GroupChat(ids.group), event },
            Effect::Mention { chat, message: id, notification: mention },
        ]
    );
}

#[test]
fn message_of_a_private_chat_is_told_to_both_members() {
    let (ids, id) = (ids(), MessageId::at(9));
    let members = [ids.ann, ids.bob].into();
    let new = Message { member_ids: members, mentions: Default::default(), ..message(&ids, id) };
    let key = PrivateChatMessageKey { chat: ids.private, time: id.time(), message: id };
    let event = Event::MessageCreated { chat: ChatId::Private(ids.private), message: view(&new) };
    let told = [ids.ann, ids.bob].map(|user| Effect::Append { feed: Feed::User(user), event: event.clone() });
    assert_eq!(of(&PRIVATE_CHATS, key, None, Some(new)), told);
}

#[test]
fn changes_of_a_message_are_told_by_what_changed() {
    let (ids, id) = (ids(), MessageId::at(9));
    let old = message(&ids, id);
    let chat = ChatId::Group(ids.group);
    let all = |new: &Message| {
        let key = GroupChatMessageKey { chat: ids.group, time: id.time(), message: id };
        of(&GROUP_CHATS, key, Some(old.clone()), Some(new.clone()))
    };
    let told = |new: &Message| {
        all(new).into_iter().filter_map(|effect| match effect {
            Effect::Append { feed, event } => {
                assert_eq!(feed, Feed::GroupChat(ids.group));
                Some(event)
            }
            Effect::MentionChanged { .. } => None,
            other => panic!("{other:?}"),
        })
    };
    let mentioned = old.mentions.iter().filter(|user| **user != old.sender_id);
    let changed = |user, change| Effect::MentionChanged { chat, message: id, user, change };
    let removed: Vec<Effect> = mentioned.map(|user| changed(*user, MentionChange::Removed)).collect();
    assert!(!removed.is_empty());
    let edited = Message {
        content: Some("ho".to_owned()),
        editted: true,
        editted_at: Some("2026-01-01T00:00:00.000Z".to_owned()),
        mentions: Default::default(),
        ..old.clone()
    };
    assert_eq!(all(&edited)[1..], removed);
    assert!(told(&edited).eq([Event::MessageEdited { chat, message: view(&edited) }]));
    let cy = UserId::at(7);
    let added = Message { mentions: [ids.ann, ids.bob, cy].into(), ..edited };
    assert_eq!(all(&added)[1..], [changed(cy, MentionChange::Added)]);
    let reactions: BTreeMap<String, u64> = [("👍".to_owned(), 1)].into();
    let last_reaction = Some(LastReaction { by: ids.bob, kind: "👍".to_owned(), on: true });
    let reacted = Message { reactions: reactions.clone(), last_reaction, ..old.clone() };
    let (message_id, reaction) = (id, "👍".to_owned());
    let event = Event::Reaction { chat, message_id, user_id: ids.bob, reaction, on: true, reactions, rev: REV };
    assert!(told(&reacted).eq([event]) && all(&reacted).len() == 1);
    let deleted = Message {
        content: None,
        mentions: Default::default(),
        deleted_at: Some("2026-01-01T00:00:00.000Z".to_owned()),
        deleted_by: Some(ids.bob),
        ..old.clone()
    };
    assert_eq!(all(&deleted)[1..], removed);
    assert!(told(&deleted).eq([Event::MessageDeleted { chat, message_id, deleted_by: Some(ids.bob), rev: REV }]));
}

#[test]
fn reactions_to_a_deleted_message_are_deleted() {
    let (ids, id) = (ids(), MessageId::at(9));
    let old = Message { reactions: [("👍".to_owned(), 1)].into(), mentions: Default::default(), ..message(&ids, id) };
    let deleted_at = Some("2026-01-01T00:00:00.000Z".to_owned());
    let new = Message { content: None, reactions: BTreeMap::new(), deleted_at, ..old.clone() };
    let key = GroupChatMessageKey { chat: ids.group, time: id.time(), message: id };
    let chat = ChatId::Group(ids.group);
    assert_eq!(of(&GROUP_CHATS, key, Some(old), Some(new))[1..], [Effect::DeleteReactions { chat, message: id }]);
}

#[test]
fn removed_message_is_told_to_nobody() {
    let (ids, id) = (ids(), MessageId::at(9));
    let key = GroupChatMessageKey { chat: ids.group, time: id.time(), message: id };
    assert_eq!(of(&GROUP_CHATS, key, Some(message(&ids, id)), None), []);
}

#[test]
fn joining_and_leaving_are_told_to_the_chat_and_the_member() {
    let ids = ids();
    let (chat, user) = (ids.group, ids.bob);
    let member = ChatMember::new(format!("GROUPCHAT#{chat}"), user, String::new());
    let key = || GroupChatMemberKey { chat, user };
    let told = |state| {
        let event = Event::Membership { chat: Some(chat.into()), community: None, user_id: user, state };
        append([Feed::GroupChat(chat), Feed::User(user)], &event)
    };
    assert_eq!(of(&GROUP_CHATS, key(), None, Some(member.clone())), told(MembershipState::Joined));
    let mut left = told(MembershipState::Left);
    left.push(Effect::EndSubscriptions { user, chat });
    assert_eq!(of(&GROUP_CHATS, key(), Some(member.clone()), None), left);
    let added = ChatMember { added_by: Some(ids.ann), ..member };
    let mut effects = told(MembershipState::Joined);
    effects.push(notification(user, NotificationType::Added, format!("/chat/groupchats/{chat}"), ids.ann));
    assert_eq!(of(&GROUP_CHATS, key(), None, Some(added)), effects);
}

#[test]
fn read_position_is_told_to_the_reader_or_to_both_members_of_a_private_chat() {
    let ids = ids();
    let (first, second) = (MessageId::at(8), MessageId::at(9));
    let members = [ids.ann, ids.bob].into();
    let old = ChatMember { member_ids: members, ..ChatMember::new(String::new(), ids.bob, String::new()) };
    let read = ChatMember { last_read_id: Some(second), last_sent_id: Some(first), ..old.clone() };
    let sent = ChatMember { last_read_id: Some(second), last_sent_id: Some(second), ..old.clone() };
    let event = |chat| Event::Read { chat, user_id: ids.bob, up_to: second, rev: REV };
    let group = || GroupChatMemberKey { chat: ids.group, user: ids.bob };
    let told = append([Feed::User(ids.bob)], &event(ids.group.into()));
    assert_eq!(of(&GROUP_CHATS, group(), Some(old.clone()), Some(read.clone())), told);
    assert_eq!(of(&GROUP_CHATS, group(), Some(old.clone()), Some(sent)), []);
    let muted = ChatMember { muted_until: Some("2026-01-01T00:00:00.000Z".to_owned()), hidden: true, ..old.clone() };
    assert_eq!(of(&GROUP_CHATS, group(), Some(old.clone()), Some(muted)), []);
    let private = || PrivateChatMemberKey { chat: ids.private, user: ids.bob };
    let told = append([Feed::User(ids.ann), Feed::User(ids.bob)], &event(ids.private.into()));
    assert_eq!(of(&PRIVATE_CHATS, private(), Some(old.clone()), Some(read)), told);
    let blocked = ChatMember { blocked_at: Some("2026-01-01T00:00:00.000Z".to_owned()), ..old.clone() };
    let end = Effect::EndPresence { chat: ids.private, one: ids.bob, other: ids.ann };
    assert_eq!(of(&PRIVATE_CHATS, private(), Some(old), Some(blocked)), [end]);
}

#[test]
fn changed_details_of_a_chat_are_told_and_a_count_is_not() {
    let ids = ids();
    let old = GroupChat {
        id: ids.group,
        community_id: ids.community,
        name: "Owls".to_owned(),
        description: String::new(),
        capacity: 100,
        private: false,
        num_members: 1,
        owner: ids.ann,
        moderators: Default::default(),
        created_at: String::new(),
        deleting_at: None,
        deletion_job: None,
    };
    let told = |new: GroupChat| of(&GROUP_CHATS, GroupChatKey { chat: ids.group }, Some(old.clone()), Some(new));
    assert_eq!(told(GroupChat { num_members: 2, ..old.clone() }), []);
    let details = ChatDetails {
        name: "Owls".to_owned(),
        description: String::new(),
        capacity: Some(100),
        private: Some(false),
        owner_id: Some(ids.ann),
        moderator_ids: Some([ids.bob].into()),
    };
    let chat = ChatId::Group(ids.group);
    let feed = Feed::GroupChat(ids.group);
    let target = format!("/chat/groupchats/{}", ids.group);
    assert_eq!(
        told(GroupChat { moderators: [ids.bob].into(), ..old.clone() }),
        [
            Effect::Append { feed, event: Event::ChatChanged { chat, details, rev: REV } },
            notification(ids.bob, NotificationType::MadeModerator, target, ids.ann),
        ]
    );
    let deleting = GroupChat { deleting_at: Some("2026-01-01T00:00:00.000Z".to_owned()), ..old.clone() };
    assert_eq!(
        told(deleting),
        [Effect::Append { feed, event: Event::ChatDeleted { chat } }, Effect::EndFeed { chat: ids.group }]
    );
}

#[test]
fn changed_name_of_a_private_chat_is_told_to_both_members() {
    let ids = ids();
    let chat = |name: &str| PrivateChat {
        id: ids.private,
        name: name.to_owned(),
        description: String::new(),
        member_ids: [ids.ann, ids.bob].into(),
        created_at: String::new(),
    };
    let told = of(&PRIVATE_CHATS, PrivateChatKey { chat: ids.private }, Some(chat("a")), Some(chat("b")));
    let feeds: Vec<Feed> = told
        .iter()
        .filter_map(|effect| match effect {
            Effect::Append { feed, event: Event::ChatChanged { details, .. } } if details.name == "b" => Some(*feed),
            _ => None,
        })
        .collect();
    assert_eq!(feeds, [Feed::User(ids.ann), Feed::User(ids.bob)]);
}

#[test]
fn membership_and_moderators_of_a_community_are_told_to_the_user() {
    let ids = ids();
    let key = || CommunityMemberKey { community: ids.community, user: ids.bob };
    let member = CommunityMember::new(ids.community, ids.bob, String::new());
    let told = |state| {
        let event = Event::Membership { chat: None, community: Some(ids.community), user_id: ids.bob, state };
        append([Feed::User(ids.bob)], &event)
    };
    assert_eq!(of(&COMMUNITIES, key(), None, Some(member.clone())), told(MembershipState::Joined));
    assert_eq!(of(&COMMUNITIES, key(), Some(member.clone()), None), told(MembershipState::Left));
    let leaving = CommunityMember { leaving_at: Some("2026-01-01T00:00:00.000Z".to_owned()), ..member.clone() };
    assert_eq!(of(&COMMUNITIES, key(), Some(member), Some(leaving)), []);
    let old = Community {
        id: ids.community,
        name: "Owls".to_owned(),
        description: String::new(),
        topic: "birds".to_owned(),
        avatar_url: None,
        cover_photo_url: None,
        location: None,
        country_key: None,
        place_key: None,
        founder: ids.ann,
        moderators: Default::default(),
        num_members: 1,
        num_group_chats: 0,
        retention_days: None,
        created_at: String::new(),
        deleting_at: None,
        deletion_job: None,
    };
    let new = Community { moderators: [ids.bob].into(), ..old.clone() };
    let target = format!("/chat/communities/{}", ids.community);
    let moderator = notification(ids.bob, NotificationType::MadeModerator, target, ids.ann);
    assert_eq!(of(&COMMUNITIES, CommunityKey { community: ids.community }, Some(old), Some(new)), [moderator]);
}

#[test]
fn request_is_told_to_moderators_and_its_settlement_to_its_user() {
    let (ids, request) = (ids(), RequestId::at(9));
    let (user, chat, time) = (ids.bob, ids.group, request.time());
    let pending = ChatRequest {
        id: request,
        user_id: user,
        chat_id: chat,
        status: RequestStatus::Pending,
        pending_id: Some(request),
        seen: false,
        note: None,
        created_at: String::new(),
        settled_at: None,
        settled_by: None,
    };
    let of_chat = || RequestOfChatKey { chat, time, request };
    let of_user = || RequestOfUserKey { user, time, request };
    let target = format!("/chat/groupchats/{chat}/requests/{request}");
    let moderators = Effect::NotifyModerators { chat, target, actor: user };
    assert_eq!(of(&CHAT_REQUESTS, of_chat(), None, Some(pending.clone())), [moderators]);
    assert_eq!(of(&CHAT_REQUESTS, of_user(), None, Some(pending.clone())), []);
    let cases = [
        (RequestStatus::Approved, Some((NotificationType::RequestApproved, format!("/chat/groupchats/{chat}")))),
        (RequestStatus::Denied, Some((NotificationType::RequestDenied, format!("/chat/me/requests/{request}")))),
        (RequestStatus::Withdrawn, None),
    ];
    for (status, told) in cases {
        let settled = ChatRequest { status, pending_id: None, settled_by: Some(ids.ann), ..pending.clone() };
        let told: Vec<Effect> =
            told.into_iter().map(|(kind, target)| notification(user, kind, target, ids.ann)).collect();
        assert_eq!(of(&CHAT_REQUESTS, of_user(), Some(pending.clone()), Some(settled.clone())), told);
        assert_eq!(of(&CHAT_REQUESTS, of_chat(), Some(pending.clone()), Some(settled)), []);
    }
}

#[test]
fn notification_is_told_to_its_user_and_the_count_is_not() {
    let (ids, id) = (ids(), NotificationId::at(9));
    let (user, time) = (ids.bob, id.time());
    let new = Notification {
        id,
        notification_type: NotificationType::Mention,
        message: String::new(),
        target: String::new(),
        read: false,
        seen: false,
        actor_id: None,
        created_at: time.to_string(),
        read_at: None,
    };
    let key = || UnreadNotificationKey { user, time, notification: id };
    let told = |new: Notification| append([Feed::User(user)], &Event::Notification { notification: new.view(REV) });
    assert_eq!(of(&NOTIFICATIONS, key(), None, Some(new.clone())), told(new.clone()));
    let seen = Notification { seen: true, ..new.clone() };
    assert_eq!(of(&NOTIFICATIONS, key(), Some(new.clone()), Some(seen.clone())), told(seen));
    let removed = Effect::NotificationRemoved { user, notification: id, rev: REV - 1 };
    assert_eq!(of(&NOTIFICATIONS, key(), Some(new), None), [removed]);
    let count = |num| Some(UnreadCount { num });
    assert_eq!(of(&NOTIFICATIONS, UnreadCountKey { user }, count(1), count(2)), []);
}

#[test]
fn connections_close_with_a_ban_a_deletion_and_the_end_of_a_session() {
    let ids = ids();
    let old = User {
        id: ids.bob,
        username: "bob".to_owned(),
        name: None,
        password_hash: None,
        email: None,
        bio: None,
        location: None,
        avatar_url: None,
        cover_photo_url: None,
        role: Role::User,
        ban: None,
        sessions_from: None,
        created_at: String::new(),
        deleted_at: None,
    };
    let told = |new: User| of(&USERS, UserKey { user: ids.bob }, Some(old.clone()), Some(new));
    let close = Effect::CloseConnections { user: ids.bob, session: None };
    let ban = Some(Ban { reason: String::new(), by: ids.ann, until: None });
    assert_eq!(told(User { ban, ..old.clone() }), std::slice::from_ref(&close));
    assert_eq!(told(User { deleted_at: Some(String::new()), ..old.clone() }), [close]);
    let from = SessionsFrom { at: "2026-03-01T10:00:00.000Z".to_owned(), kept: None };
    let sessions_from = Some(from.clone());
    assert_eq!(told(User { sessions_from, ..old.clone() }), [Effect::EndSessions { user: ids.bob, from }]);
    assert_eq!(told(User { bio: Some(String::new()), ..old.clone() }), []);
    let session = SessionId::at(7);
    let key = || SessionKey { user: ids.bob, session };
    let item = || Some(BTreeMap::from([("Generation", 1)]));
    let close = Effect::CloseConnections { user: ids.bob, session: Some(session) };
    assert_eq!(of(&LIVE, key(), item(), None), [close]);
    assert_eq!(of(&LIVE, key(), None, item()), []);
}

#[test]
fn connection_changes_the_presence_of_its_user() {
    let ids = ids();
    let connection = table::Escaped::new("c=").unwrap();
    let key = || UserConnectionKey { user: ids.bob, connection: connection.clone() };
    let expires = |expires| Some(StoredConnection { user_id: ids.bob, session_id: None, connected_at: 1, expires });
    let (early, late) = (1_767_225_500, 1_767_225_700);
    let changed = |change| [Effect::Connections { user: ids.bob, change }];
    let ended = |millis| changed(ConnectionChange::Ended(Millisecond::at(millis).unwrap()));
    assert_eq!(of(&LIVE, key(), None, expires(late)), changed(ConnectionChange::Opened("c=".to_owned())));
    assert_eq!(of(&LIVE, key(), expires(late), None), ended(1_767_225_599_999));
    assert_eq!(of(&LIVE, key(), expires(early), None), ended(early * 1000));
    assert_eq!(of(&LIVE, ConnectionKey { connection: connection.clone() }, None, expires(late)), []);
}
