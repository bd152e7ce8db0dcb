//! The access patterns that several subjects use. Those of one subject or operation are in its file.

use table::access::{AccessPattern, Call, OnObjects, OnQueue, OnTable};

use crate::schema::{
    BUCKET, COMMUNITY_MEMBERS_INDEX, DUE_INDEX, GROUP_CHAT_MEMBERS_INDEX, PRIVATE_CHAT_MEMBERS_INDEX, QUEUE,
};

pub const USERS: OnTable = OnTable("chat-Users");
pub const COMMUNITIES: OnTable = OnTable("chat-Communities");
pub const NOTIFICATIONS: OnTable = OnTable("chat-Notifications");
pub const GROUP_CHATS: OnTable = OnTable("chat-GroupChats");
pub const PRIVATE_CHATS: OnTable = OnTable("chat-PrivateChats");
pub const CHAT_REQUESTS: OnTable = OnTable("chat-ChatRequests");
pub const LIVE: OnTable = OnTable("chat-Live");

/// The files of exports, which expire after a week.
pub const EXPORTS: OnObjects = OnObjects { bucket: BUCKET, prefix: "exports/" };

/// The alias of the system's documents.
pub const ALIAS: &str = "chat";

/// The user who calls, by id, or by issuer and subject.
pub const CALLER: AccessPattern = AccessPattern::new("caller", &[USERS.get()]);

/// The message by which a job begins at once.
pub const BEGIN_JOB: AccessPattern = AccessPattern::new("beginJob", &[OnQueue(QUEUE).send()]);

/// The jobs that are due.
pub const LIST_DUE: AccessPattern = AccessPattern::new("listDue", &[LIVE.query_index(DUE_INDEX)]);

/// The lease of a job.
pub const LEASE: AccessPattern = AccessPattern::new("lease", &[LIVE.get(), LIVE.update()]);

/// The steps of leaving a community.
pub const LEAVE_COMMUNITY: AccessPattern = AccessPattern::new(
    "leaveCommunity",
    &[
        COMMUNITIES.get(),
        COMMUNITIES.query(),
        COMMUNITIES.update(),
        COMMUNITIES.delete(),
        GROUP_CHATS.batch_get(),
        GROUP_CHATS.update(),
        GROUP_CHATS.delete(),
        CHAT_REQUESTS.batch_get(),
        CHAT_REQUESTS.update(),
        CHAT_REQUESTS.delete(),
        LIVE.update(),
        LIVE.delete(),
    ],
);

/// The steps of deleting a group chat.
pub const DELETE_GROUP_CHAT: AccessPattern = AccessPattern::new(
    "deleteGroupChat",
    &[
        COMMUNITIES.query(),
        COMMUNITIES.batch_delete(),
        GROUP_CHATS.batch_get(),
        GROUP_CHATS.query(),
        GROUP_CHATS.update(),
        GROUP_CHATS.delete(),
        GROUP_CHATS.batch_delete(),
        CHAT_REQUESTS.query(),
        CHAT_REQUESTS.update(),
        CHAT_REQUESTS.delete(),
        LIVE.query(),
        LIVE.batch_delete(),
        LIVE.update(),
        LIVE.delete(),
    ],
);

/// The steps of deleting a community.
pub const DELETE_COMMUNITY: AccessPattern = AccessPattern::new(
    "deleteCommunity",
    &[
        COMMUNITIES.get(),
        COMMUNITIES.query(),
        COMMUNITIES.update(),
        COMMUNITIES.delete(),
        COMMUNITIES.batch_delete(),
        GROUP_CHATS.batch_get(),
        GROUP_CHATS.query(),
        GROUP_CHATS.update(),
        GROUP_CHATS.delete(),
        GROUP_CHATS.batch_delete(),
        CHAT_REQUESTS.query(),
        CHAT_REQUESTS.update(),
        CHAT_REQUESTS.delete(),
        LIVE.query(),
        LIVE.batch_delete(),
        LIVE.update(),
        LIVE.delete(),
    ],
);

/// All rows that name a user, and the file with them.
pub const EXPORT: AccessPattern = AccessPattern::new(
    "export",
    &[
        USERS.get(),
        USERS.check(),
        NOTIFICATIONS.get(),
        NOTIFICATIONS.query(),
        CHAT_REQUESTS.query(),
        CHAT_REQUESTS.batch_get(),
        COMMUNITIES.get(),
        COMMUNITIES.batch_get(),
        COMMUNITIES.query(),
        COMMUNITIES.query_index(COMMUNITY_MEMBERS_INDEX),
        GROUP_CHATS.get(),
        GROUP_CHATS.query(),
        GROUP_CHATS.query_index(GROUP_CHAT_MEMBERS_INDEX),
        PRIVATE_CHATS.get(),
        PRIVATE_CHATS.query(),
        PRIVATE_CHATS.query_index(PRIVATE_CHAT_MEMBERS_INDEX),
        LIVE.query(),
        LIVE.update(),
        LIVE.delete(),
        EXPORTS.put(),
        EXPORTS.get(),
        EXPORTS.head(),
        EXPORTS.list(),
        EXPORTS.delete(),
    ],
);

/// The rows and files of a user, and their removal.
pub const DELETE_USER: AccessPattern = AccessPattern::new(
    "deleteUser",
    &[
        LIVE.query(),
        LIVE.batch_delete(),
        LIVE.put(),
        LIVE.update(),
        LIVE.delete(),
        COMMUNITIES.query_index(COMMUNITY_MEMBERS_INDEX),
        COMMUNITIES.batch_get(),
        COMMUNITIES.update(),
        COMMUNITIES.check(),
        COMMUNITIES.batch_delete(),
        GROUP_CHATS.batch_delete(),
        PRIVATE_CHATS.query_index(PRIVATE_CHAT_MEMBERS_INDEX),
        PRIVATE_CHATS.batch_get(),
        PRIVATE_CHATS.update(),
        CHAT_REQUESTS.query(),
        CHAT_REQUESTS.batch_delete(),
        NOTIFICATIONS.query(),
        NOTIFICATIONS.batch_delete(),
    ],
);

/// Whether search answers, and how far it is behind.
pub const HEALTH: AccessPattern =
    AccessPattern::new("health", &[OnTable("chat-mirror").query(), Call::Search { alias: "chat" }]);
