//! The rehearsal of chat: the caller has two communities, and bob registers, joins one and asks to join its group chat.

use super::Step::{self, As, AsFirst, Names, Others, Request, Sample, Until, Wait};

pub const STEPS: &[Step] = &[
    Sample("getMe"),
    Names("registerUser", "/id", BOB),
    Names("logIn", "/refreshToken", "REFRESH-TOKEN"),
    Sample("refreshSession"),
    Names("logIn", "/accessToken", BOBS_TOKEN),
    // A token lives out its ten minutes after its session was logged out.
    As(BOBS_TOKEN),
    Sample("listSessions"),
    Sample("changePassword"),
    Sample("logOut"),
    Sample("logOutEverywhere"),
    AsFirst,
    // The last community is in the samples, and the first is deleted.
    Names("createCommunity", "/id", "019b76da-a800-7000-8000-000000000012"),
    Names("createCommunity", "/id", COMMUNITY),
    Sample("joinCommunity"),
    As(BOBS_TOKEN),
    Request("PUT", BOB_IN_COMMUNITY, ""),
    AsFirst,
    Names("createGroupChat", "/id", "019b76da-a800-7000-8000-000000000022"),
    // Whoever was denied may not ask the same chat again on that day.
    Names("createGroupChat", "/id", GROUP_CHAT),
    As(BOBS_TOKEN),
    Names("createRequest", "/id", "019b76da-a800-7000-8000-000000000052"),
    AsFirst,
    Sample("denyRequest"),
    Names("createGroupChat", "/id", GROUP_CHAT),
    As(BOBS_TOKEN),
    Names("createRequest", "/id", REQUEST),
    Sample("listMyRequests"),
    Sample("getMyRequest"),
    Sample("withdrawRequest"),
    Names("createRequest", "/id", REQUEST),
    AsFirst,
    Sample("listChatRequests"),
    Sample("getChatRequest"),
    Sample("markRequestSeen"),
    // The caller is notified of three requests, and bob of one.
    Wait("/chat/me/notifications/count", "/unread", "3"),
    Names("listNotifications", "/items/0/id", "019b76da-a800-7000-8000-000000000061"),
    Sample("approveRequest"),
    Sample("setChatModerator"),
    Sample("unsetChatModerator"),
    Sample("listGroupChatMembers"),
    Sample("leaveGroupChat"),
    Names("startPrivateChat", "/id", "019b76da-a800-7000-8000-000000000031"),
    Names("sendMessage", "/id", "019b76da-a800-7000-8000-000000000041"),
    Sample("react"),
    Sample("listReactions"),
    Sample("unreact"),
    Sample("markRead"),
    Sample("listReaders"),
    Until("searchMessages"),
    Until("searchCommunities"),
    Until("searchGroupChats"),
    Until("searchUsers"),
    Sample("setCommunityModerator"),
    Sample("unsetCommunityModerator"),
    Sample("listCommunityMembers"),
    Sample("banFromCommunity"),
    Sample("listCommunityBans"),
    Sample("unbanFromCommunity"),
    As(BOBS_TOKEN),
    Request("PUT", BOB_IN_COMMUNITY, ""),
    AsFirst,
    Sample("leaveCommunity"),
    Names("createReport", "/id", "019b76da-a800-7000-8000-000000000071"),
    Names("exportMe", "/id", JOB),
    Wait(JOB_PATH, "/status", "succeeded"),
    Names("createPasswordReset", "/code", "RESET-CODE"),
    Sample("resetPassword"),
    Others,
    // The reset and a ban have ended the session.
    Names("logIn", "/accessToken", BOBS_TOKEN),
    As(BOBS_TOKEN),
    Sample("deleteMe"),
];

const BOB: &str = "019b76da-a800-7000-8000-000000000002";
const BOBS_TOKEN: &str = "ACCESS-TOKEN";
const COMMUNITY: &str = "019b76da-a800-7000-8000-000000000011";
const BOB_IN_COMMUNITY: &str = "/chat/communities/019b76da-a800-7000-8000-000000000011/members/me";
const GROUP_CHAT: &str = "019b76da-a800-7000-8000-000000000021";
const REQUEST: &str = "019b76da-a800-7000-8000-000000000051";
const JOB: &str = "019b76da-a800-7000-8000-000000000091";
const JOB_PATH: &str = "/chat/me/jobs/019b76da-a800-7000-8000-000000000091";
