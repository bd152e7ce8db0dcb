//! The tables, indexes, bucket and event sources of chat.

use ::jobs::{JobDueKey, JobKey};
use table::schema::{Bucket, Entity, EventSource, Index, Projection, Secret, System, Table};

use crate::keys::{
    BanKey, ChatReportKey, CommunityAuditKey, CommunityKey, CommunityMemberKey, CommunityReportKey, ConnectionKey,
    ExportKey, FeedEntryKey, FeedHeadKey, GroupChatCountKey, GroupChatKey, GroupChatMemberKey, GroupChatMessageKey,
    GroupChatReactionKey, GroupChatRowKey, LastSeenKey, MadeKey, MembershipCountKey, PairKey, PasswordResetKey,
    PersonGuardKey, PictureKey, PlatformAuditKey, PlatformReportKey, PrivateChatKey, PrivateChatMemberKey,
    PrivateChatMessageKey, PrivateChatReactionKey, RateKey, ReadNotificationKey, ReportPlaceKey, ReportedKey,
    RequestGuardKey, RequestOfChatKey, RequestOfUserKey, RetentionKey, SentKey, SessionKey, SubscriptionKey, TicketKey,
    UnreadCountKey, UnreadNotificationKey, UserConnectionKey, UserEmailKey, UserKey, UsernameKey,
};

pub static SYSTEM: System = System {
    name: "chat",
    tables: &[&USERS, &COMMUNITIES, &NOTIFICATIONS, &GROUP_CHATS, &PRIVATE_CHATS, &CHAT_REQUESTS, &LIVE, &MIRROR],
    secrets: &[Secret { name: IDENTITY, description: "Signs the tokens of people who log in to chat." }],
    buckets: &[Bucket { name: BUCKET, expiring: &[("incoming/", 2), ("exports/", 7), ("quarantine/", 90)] }],
    sources: &[
        // Most items have no documents.
        EventSource::Streams { handler: mirror::HANDLER, filtered: true },
        EventSource::Deployment { handler: mirror::CREATE_INDEX },
        mirror::REBUILDS,
        EventSource::Schedule { every_minutes: 60, handler: mirror::SWEEP },
        EventSource::Schedule { every_minutes: mirror::AUDIT_MINUTES, handler: mirror::AUDIT },
        EventSource::Objects { bucket: BUCKET, prefix: "incoming/", handler: STORE_PICTURE },
        EventSource::Queue { name: QUEUE, handler: RUN_JOB },
        EventSource::Schedule { every_minutes: 1, handler: ::jobs::RUN_JOBS },
        EventSource::Records { handler: TELL, filtered: false },
        EventSource::Queue { name: FAN_OUT_QUEUE, handler: FAN_OUT_REST },
        EventSource::Socket { connect: CONNECT, disconnect: DISCONNECT, receive: RECEIVE },
        EventSource::Schedule { every_minutes: 1440, handler: APPLY_RETENTION },
    ],
};

/// The bucket of pictures and exports.
pub const BUCKET: &str = "chat";

/// The secret from which the keys of access tokens and refresh tokens are derived.
pub const IDENTITY: &str = "chat-identity";

/// The handler of uploaded pictures.
pub const STORE_PICTURE: &str = "storePicture";

/// The queue of jobs that begin at once, and the handler of its messages.
pub const QUEUE: &str = "chat-jobs";
pub const RUN_JOB: &str = "runJob";

/// The handler of the streams' records, which sends events of the changes to clients.
pub const TELL: &str = "live";

/// The queue of followers of a feed past the first ones, and the handler of its messages.
pub const FAN_OUT_QUEUE: &str = "chat-fanout";
pub const FAN_OUT_REST: &str = "fanOutRest";

/// The handlers of the socket.
pub const CONNECT: &str = "connect";
pub const DISCONNECT: &str = "disconnect";
pub const RECEIVE: &str = "receive";
/// The handler that deletes messages which are older than their community keeps them.
pub const APPLY_RETENTION: &str = "applyRetention";

/// The mirror's generations, markers and checkpoints.
static MIRROR: Table = mirror::schema::state_table("chat-mirror");

/// Users, and their unique names and addresses.
pub static USERS: Table = Table {
    name: "chat-Users",
    pk: "pk",
    sk: None,
    stream: true,
    indexes: &[],
    entities: &[
        Entity::document::<UserKey>("user"),
        Entity::never::<UsernameKey>("username"),
        Entity::never::<UserEmailKey>("email"),
        Entity::never::<PersonGuardKey>("issuer"),
        Entity::never::<LastSeenKey>("lastSeen"),
    ],
};

pub const COMMUNITY_LOCATION_INDEX: &str = "CommunityLocationIndex";
pub const COMMUNITY_MEMBERS_INDEX: &str = "CommunityMembersIndex";
pub const COMMUNITY_GROUP_CHATS_INDEX: &str = "CommunityGroupChatsIndex";

/// Communities with their members, bans, reports and audit log, and the rows of their group chats.
pub static COMMUNITIES: Table = Table {
    name: "chat-Communities",
    pk: "pk",
    sk: Some("sk"),
    stream: true,
    indexes: &[
        // No counter is projected, so a join does not write the index.
        Index {
            name: COMMUNITY_LOCATION_INDEX,
            pk: "CountryKey",
            sk: Some("PlaceKey"),
            projection: Projection::Include(&[
                "Id",
                "Name",
                "Description",
                "Topic",
                "AvatarURL",
                "Location",
                "CreatedAt",
            ]),
        },
        Index {
            name: COMMUNITY_MEMBERS_INDEX,
            pk: "MemberKey",
            sk: Some("MemberCommunityKey"),
            projection: Projection::KeysOnly,
        },
        Index {
            name: COMMUNITY_GROUP_CHATS_INDEX,
            pk: "GroupChatKey",
            sk: Some("GroupChatCommunityKey"),
            projection: Projection::KeysOnly,
        },
    ],
    entities: &[
        Entity::document::<CommunityKey>("community"),
        Entity::never::<CommunityMemberKey>("communityMember"),
        Entity::never::<GroupChatRowKey>("groupChatRow"),
        Entity::never::<CommunityReportKey>("communityReport"),
        Entity::never::<PlatformReportKey>("platformReport"),
        Entity::never::<ChatReportKey>("chatReport"),
        Entity::never::<ReportPlaceKey>("reportPlace"),
        Entity::never::<ReportedKey>("reported"),
        Entity::never::<CommunityAuditKey>("communityAudit"),
        Entity::never::<PlatformAuditKey>("platformAudit"),
        Entity::never::<BanKey>("ban"),
        Entity::never::<RetentionKey>("retention"),
        Entity::never::<MembershipCountKey>("membershipCount"),
    ],
};

/// The notifications of people, and how many are unread.
pub static NOTIFICATIONS: Table = Table {
    name: "chat-Notifications",
    pk: "pk",
    sk: Some("sk"),
    stream: true,
    indexes: &[],
    entities: &[
        Entity::never::<UnreadNotificationKey>("unread"),
        Entity::never::<ReadNotificationKey>("read"),
        Entity::never::<UnreadCountKey>("unreadCount"),
    ],
};

pub const GROUP_CHAT_MEMBERS_INDEX: &str = "GroupChatMembersIndex";

/// Group chats with their members, messages and reactions.
pub static GROUP_CHATS: Table = Table {
    name: "chat-GroupChats",
    pk: "pk",
    sk: Some("sk"),
    stream: true,
    indexes: &[Index {
        name: GROUP_CHAT_MEMBERS_INDEX,
        pk: "MemberKey",
        sk: Some("MemberChatKey"),
        projection: Projection::KeysOnly,
    }],
    entities: &[
        Entity::document::<GroupChatKey>("groupChat"),
        Entity::never::<GroupChatMemberKey>("groupChatMember"),
        Entity::document::<GroupChatMessageKey>("groupChatMessage"),
        Entity::never::<GroupChatReactionKey>("groupChatReaction"),
        Entity::never::<GroupChatCountKey>("groupChatCount"),
    ],
};

pub const PRIVATE_CHAT_MEMBERS_INDEX: &str = "PrivateChatMembersIndex";

/// Private chats with their two members, messages and reactions.
pub static PRIVATE_CHATS: Table = Table {
    name: "chat-PrivateChats",
    pk: "pk",
    sk: Some("sk"),
    stream: true,
    indexes: &[Index {
        name: PRIVATE_CHAT_MEMBERS_INDEX,
        pk: "MemberKey",
        sk: Some("MemberChatKey"),
        projection: Projection::KeysOnly,
    }],
    entities: &[
        Entity::never::<PrivateChatKey>("privateChat"),
        Entity::never::<PrivateChatMemberKey>("privateChatMember"),
        Entity::document::<PrivateChatMessageKey>("privateChatMessage"),
        Entity::never::<PrivateChatReactionKey>("privateChatReaction"),
        Entity::never::<PairKey>("pair"),
    ],
};

pub const PENDING_INDEX: &str = "ChatRequestsPendingIndex";

/// Requests to join group chats, each in the partition of its user and in that of its chat.
pub static CHAT_REQUESTS: Table = Table {
    name: "chat-ChatRequests",
    pk: "pk",
    sk: Some("sk"),
    stream: true,
    indexes: &[Index { name: PENDING_INDEX, pk: "pk", sk: Some("PendingId"), projection: Projection::All }],
    entities: &[
        Entity::never::<RequestOfUserKey>("requestOfUser"),
        Entity::never::<RequestOfChatKey>("requestOfChat"),
        Entity::never::<RequestGuardKey>("requestGuard"),
    ],
};

/// The index of jobs by the time at which they are due.
pub const DUE_INDEX: &str = "DueJobs";

/// The items without a place in the other tables: sessions, connections, feeds, rates and jobs. The loss of the table
/// signs people out and makes clients reload, and loses no data.
pub static LIVE: Table = Table {
    name: "chat-Live",
    pk: "pk",
    sk: Some("sk"),
    stream: true,
    indexes: &[Index { name: DUE_INDEX, pk: "list", sk: Some("time"), projection: Projection::KeysOnly }],
    entities: &[
        Entity::never::<SessionKey>("session"),
        Entity::never::<TicketKey>("ticket"),
        Entity::never::<PasswordResetKey>("passwordReset"),
        Entity::never::<PictureKey>("picture"),
        Entity::never::<ExportKey>("export"),
        Entity::never::<ConnectionKey>("connection"),
        Entity::never::<UserConnectionKey>("userConnection"),
        Entity::never::<SubscriptionKey>("subscription"),
        Entity::never::<FeedHeadKey>("feedHead"),
        Entity::never::<FeedEntryKey>("feedEntry"),
        Entity::never::<SentKey>("sent"),
        Entity::never::<MadeKey>("made"),
        Entity::never::<RateKey>("rate"),
        Entity::never::<JobKey>("job"),
        Entity::never::<JobDueKey>("jobDue"),
    ],
};
