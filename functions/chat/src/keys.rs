//! The keys of every entity. A key with a time has the time of its id.

use ::jobs::JobId;
use table::part::{Escaped, Number};
use table::{EntityKey, Idpid, Key};

use crate::live::feed::Feed;
use crate::names::{
    AuditId, ChatId, CommunityId, GroupChatId, MessageId, Millisecond, NotificationId, PictureId, PrivateChatId,
    ReportId, RequestId, SessionId, UserId,
};
use crate::reports::ReportStatus;

table::key! {
    pub struct UserKey { user: UserId }
    pk "USER#{user}"
}

table::key! {
    /// Makes a username unique.
    pub struct UsernameKey { username: Escaped }
    pk "USERNAME#{username}"
}

table::key! {
    /// Makes an email address unique. The address is in lower case.
    pub struct UserEmailKey { email: Escaped }
    pk "USEREMAIL#{email}"
}

table::key! {
    /// Names the user of a person who is signed in by a foreign issuer.
    pub struct PersonGuardKey { person: Idpid }
    pk "ISSUER#{person}"
}

table::key! {
    /// Has when a user was last online. It is not in the user's item, whose revision others see.
    pub struct LastSeenKey { user: UserId }
    pk "LASTSEEN#{user}"
}

table::key! {
    pub struct CommunityKey { community: CommunityId }
    pk "COMMUNITY#{community}"
    sk "COMMUNITY#{community}"
}

table::key! {
    pub struct CommunityMemberKey { community: CommunityId, user: UserId }
    pk "COMMUNITY#{community}"
    sk "USER#{user}"
}

table::key! {
    /// Lists a group chat in its community.
    pub struct GroupChatRowKey { community: CommunityId, chat: GroupChatId }
    pk "COMMUNITY#{community}"
    sk "GROUPCHAT#{chat}"
}

table::key! {
    pub struct CommunityReportKey { community: CommunityId, status: ReportStatus, time: Millisecond, report: ReportId }
    pk "COMMUNITY#{community}"
    sk "REPORT#{status}#{time}#{report}"
}

table::key! {
    /// A report that only administrators of the platform see.
    pub struct PlatformReportKey { status: ReportStatus, time: Millisecond, report: ReportId }
    pk "PLATFORM"
    sk "REPORT#{status}#{time}#{report}"
}

table::key! {
    /// Lists a report of a community among those about messages of one group chat.
    pub struct ChatReportKey { chat: GroupChatId, status: ReportStatus, time: Millisecond, report: ReportId }
    pk "GROUPCHAT#{chat}"
    sk "REPORT#{status}#{time}#{report}"
}

table::key! {
    /// Says in which community a report is, since its id does not.
    pub struct ReportPlaceKey { report: ReportId }
    pk "REPORT#{report}"
    sk "REPORT#{report}"
}

table::key! {
    /// Lets a user report a target once, and lists the reports of a user.
    pub struct ReportedKey { user: UserId, target: Escaped }
    pk "REPORTED#{user}"
    sk "{target}"
}

table::key! {
    pub struct CommunityAuditKey { community: CommunityId, time: Millisecond, entry: AuditId }
    pk "COMMUNITY#{community}"
    sk "AUDIT#{time}#{entry}"
}

table::key! {
    pub struct PlatformAuditKey { time: Millisecond, entry: AuditId }
    pk "PLATFORM"
    sk "AUDIT#{time}#{entry}"
}

table::key! {
    pub struct BanKey { community: CommunityId, user: UserId }
    pk "COMMUNITY#{community}"
    sk "BAN#{user}"
}

table::key! {
    /// Lists a community that keeps its messages for some days only.
    pub struct RetentionKey { community: CommunityId }
    pk "RETENTION"
    sk "COMMUNITY#{community}"
}

table::key! {
    /// Counts the communities of a user.
    pub struct MembershipCountKey { user: UserId }
    pk "MEMBERSHIPS#{user}"
    sk "MEMBERSHIPS#{user}"
}

table::key! {
    pub struct UnreadNotificationKey { user: UserId, time: Millisecond, notification: NotificationId }
    pk "USER#{user}"
    sk "NOTIFICATION#UNREAD#{time}#{notification}"
}

table::key! {
    pub struct ReadNotificationKey { user: UserId, time: Millisecond, notification: NotificationId }
    pk "USER#{user}"
    sk "NOTIFICATIONREAD#{time}#{notification}"
}

table::key! {
    pub struct UnreadCountKey { user: UserId }
    pk "UNREAD#{user}"
    sk "UNREAD#{user}"
}

table::key! {
    pub struct GroupChatKey { chat: GroupChatId }
    pk "GROUPCHAT#{chat}"
    sk "GROUPCHAT#{chat}"
}

table::key! {
    pub struct GroupChatMemberKey { chat: GroupChatId, user: UserId }
    pk "GROUPCHAT#{chat}"
    sk "USER#{user}"
}

table::key! {
    pub struct GroupChatMessageKey { chat: GroupChatId, time: Millisecond, message: MessageId }
    pk "GROUPCHAT#{chat}"
    sk "MESSAGE#{time}#{message}"
}

table::key! {
    pub struct GroupChatReactionKey { chat: GroupChatId, message: MessageId, user: UserId }
    pk "GROUPCHAT#{chat}"
    sk "REACTION#{message}#{user}"
}

table::key! {
    /// Counts the group chats of a user.
    pub struct GroupChatCountKey { user: UserId }
    pk "MEMBERSHIPS#{user}"
    sk "MEMBERSHIPS#{user}"
}

table::key! {
    pub struct PrivateChatKey { chat: PrivateChatId }
    pk "PRIVATECHAT#{chat}"
    sk "PRIVATECHAT#{chat}"
}

table::key! {
    pub struct PrivateChatMemberKey { chat: PrivateChatId, user: UserId }
    pk "PRIVATECHAT#{chat}"
    sk "USER#{user}"
}

table::key! {
    pub struct PrivateChatMessageKey { chat: PrivateChatId, time: Millisecond, message: MessageId }
    pk "PRIVATECHAT#{chat}"
    sk "MESSAGE#{time}#{message}"
}

table::key! {
    pub struct PrivateChatReactionKey { chat: PrivateChatId, message: MessageId, user: UserId }
    pk "PRIVATECHAT#{chat}"
    sk "REACTION#{message}#{user}"
}

table::key! {
    /// Names the one private chat of two users. The lower id is first.
    pub struct PairKey { lower: UserId, higher: UserId }
    pk "PAIR#{lower}#{higher}"
    sk "PAIR#{lower}#{higher}"
}

table::key! {
    pub struct RequestOfUserKey { user: UserId, time: Millisecond, request: RequestId }
    pk "USER#{user}"
    sk "CHATREQUEST#{time}#{request}"
}

table::key! {
    pub struct RequestOfChatKey { chat: GroupChatId, time: Millisecond, request: RequestId }
    pk "GROUPCHAT#{chat}"
    sk "CHATREQUEST#{time}#{request}"
}

table::key! {
    /// Lets a user have one pending request at a chat, and keeps a denied one from asking again at once.
    pub struct RequestGuardKey { chat: GroupChatId, user: UserId }
    pk "REQUESTPAIR#{chat}#{user}"
    sk "REQUESTPAIR#{chat}#{user}"
}

table::key! {
    pub struct SessionKey { user: UserId, session: SessionId }
    pk "USER#{user}"
    sk "SESSION#{session}"
}

table::key! {
    /// The ticket with this SHA-256 in hex, which opens one connection.
    pub struct TicketKey { hash: Escaped }
    pk "TICKET#{hash}"
    sk "TICKET#{hash}"
}

table::key! {
    /// The reset code with this SHA-256 in hex.
    pub struct PasswordResetKey { hash: Escaped }
    pk "RESET#{hash}"
    sk "RESET#{hash}"
}

table::key! {
    /// A picture that a user uploads.
    pub struct PictureKey { user: UserId, picture: PictureId }
    pk "USER#{user}"
    sk "PICTURE#{picture}"
}

table::key! {
    /// Lists the file of an export among those of its user.
    pub struct ExportKey { user: UserId, job: JobId }
    pk "USER#{user}"
    sk "EXPORT#{job}"
}

table::key! {
    /// A connection by its own id.
    pub struct ConnectionKey { connection: Escaped }
    pk "CONN#{connection}"
    sk "CONN#{connection}"
}

table::key! {
    /// A connection among those of its user.
    pub struct UserConnectionKey { user: UserId, connection: Escaped }
    pk "USER#{user}"
    sk "CONN#{connection}"
}

table::key! {
    pub struct SubscriptionKey { feed: Feed, user: UserId, connection: Escaped }
    pk "SUB#{feed}"
    sk "USER#{user}#{connection}"
}

table::key! {
    /// The number of the last event of a feed.
    pub struct FeedHeadKey { feed: Feed }
    pk "HEAD#{feed}"
    sk "HEAD#{feed}"
}

table::key! {
    /// An event of a feed by its number.
    pub struct FeedEntryKey { feed: Feed, number: Number }
    pk "FEED#{feed}"
    sk "{number}"
}

table::key! {
    /// Makes the sending of a message with an idempotency key unique.
    pub struct SentKey { chat: Escaped, user: UserId, key: Escaped }
    pk "SENT#{chat}#{user}"
    sk "{key}"
}

table::key! {
    /// Makes the creation of a notification unique.
    pub struct MadeKey { notification: NotificationId }
    pk "MADE#{notification}"
    sk "MADE#{notification}"
}

table::key! {
    /// Counts the actions of one kind of a user or network in a period.
    pub struct RateKey { what: Escaped, who: Escaped }
    pk "RATE#{what}#{who}"
    sk "RATE#{what}#{who}"
}

/// The prefixes of sort keys, for queries of one kind in a partition.
pub const MEMBER_PREFIX: &str = "USER#";
pub const AUDIT_PREFIX: &str = "AUDIT#";
pub const BAN_PREFIX: &str = "BAN#";
pub const GROUP_CHAT_PREFIX: &str = "GROUPCHAT#";
pub const MESSAGE_PREFIX: &str = "MESSAGE#";
pub const REPORT_PREFIX: &str = "REPORT#";
pub const REQUEST_PREFIX: &str = "CHATREQUEST#";
pub const SESSION_PREFIX: &str = "SESSION#";

/// Returns the partition of a user's rows: sessions and connections, notifications, or requests.
pub fn user_partition(user: UserId) -> String {
    format!("USER#{user}")
}

/// Returns the partition of a chat with its members, messages and reactions.
pub fn chat_partition(chat: ChatId) -> String {
    chat_key(chat).pk
}

/// Returns the key of a chat's item.
pub fn chat_key(chat: ChatId) -> Key {
    match chat {
        ChatId::Group(chat) => GroupChatKey { chat }.key(),
        ChatId::Private(chat) => PrivateChatKey { chat }.key(),
    }
}

/// Returns the key of a member of a chat.
pub fn member_key(chat: ChatId, user: UserId) -> Key {
    match chat {
        ChatId::Group(chat) => GroupChatMemberKey { chat, user }.key(),
        ChatId::Private(chat) => PrivateChatMemberKey { chat, user }.key(),
    }
}

/// Returns the key of a message.
pub fn message_key(chat: ChatId, message: MessageId) -> Key {
    let time = message.time();
    match chat {
        ChatId::Group(chat) => GroupChatMessageKey { chat, time, message }.key(),
        ChatId::Private(chat) => PrivateChatMessageKey { chat, time, message }.key(),
    }
}

/// Returns the chat and the id of the message with this key.
pub fn message_of(key: &Key) -> Option<(ChatId, MessageId)> {
    if let Some(GroupChatMessageKey { chat, message, .. }) = GroupChatMessageKey::parse(key) {
        return Some((ChatId::Group(chat), message));
    }
    let PrivateChatMessageKey { chat, message, .. } = PrivateChatMessageKey::parse(key)?;
    Some((ChatId::Private(chat), message))
}

/// Returns the key of a user's reactions to a message.
pub fn reaction_key(chat: ChatId, message: MessageId, user: UserId) -> Key {
    match chat {
        ChatId::Group(chat) => GroupChatReactionKey { chat, message, user }.key(),
        ChatId::Private(chat) => PrivateChatReactionKey { chat, message, user }.key(),
    }
}

/// Returns the key of the pair of two users, whichever starts.
pub fn pair_key(one: UserId, other: UserId) -> Key {
    PairKey { lower: one.min(other), higher: one.max(other) }.key()
}
