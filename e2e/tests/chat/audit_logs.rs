//! The audit logs of communities and of the platform.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::reports::{administrator, entries, place};
use super::stage::Chat;
use crate::harness::User;
use crate::tests;

tests! { chat_audit_logs:
    audit_log_lists_what_moderators_did_the_newest_first,
    audit_log_says_why_though_the_operations_have_no_body,
}

async fn audit_log_lists_what_moderators_did_the_newest_first() {
    let chat = Chat::without_search().await;
    let place = place(&chat).await;
    let path = format!("/chat/communities/{}/audit", place.community);
    let moderator = format!("/chat/communities/{}/moderators/{}", place.community, chat.bob.id);
    chat.cy.puts(&moderator).await.is(204);
    chat.cairn.clock.advance(Duration::from_millis(5));
    let removal = format!("/chat/communities/{}/members/{}?reason=Rude", place.community, chat.ann.id);
    chat.bob.user.delete(&removal).await.is(204);
    let log = chat.bob.user.get(&path).await.is(200);
    assert_eq!(log.each("action"), ["removeMember", "setModerator"]);
    let expected = json!({ "actorId": chat.bob.id, "targetId": chat.ann.id, "reason": "Rude" });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&log["items"][0][name], value, "{}", log.told());
    }
    let pages = chat.cy.user.pages(&path, 1).await;
    assert_eq!(pages.len(), 2);
    chat.ann.user.get(&path).await.refused(403, "forbidden");
}

async fn audit_log_says_why_though_the_operations_have_no_body() {
    let chat = Chat::without_stream_readers().await;
    let place = place(&chat).await;
    let community = format!("/chat/communities/{}", place.community);
    let why = |path: &str, reason: &str| format!("{path}?reason={reason}");
    for place in [&community, &place.group_chat] {
        let moderator = format!("{place}/moderators/{}", chat.bob.id);
        chat.cy.puts(&why(&moderator, "set")).await.is(204);
        chat.cy.user.delete(&why(&moderator, "unset")).await.is(204);
    }
    chat.cy.user.patch(&why(&place.group_chat, "chat"), json!({ "ownerId": chat.bob.id })).await.is(200);
    chat.cy.user.delete(&why(&place.group_chat, "delete")).await.is(202);
    chat.cy.user.patch(&why(&community, "community"), json!({ "founderId": chat.bob.id })).await.is(200);
    // Times and ids of entries that were written at once have no order.
    let reasons = async |user: &User, path: &str| {
        let log = user.get(path).await.is(200);
        let entries = log["items"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let mut reasons: Vec<_> = entries.map(|entry| (text(&entry["action"]), text(&entry["reason"]))).collect();
        reasons.sort();
        reasons
    };
    let expected = [
        ("deleteGroupChat", "delete"),
        ("handOver", "chat"),
        ("handOver", "community"),
        ("setModerator", "set"),
        ("setModerator", "set"),
        ("unsetModerator", "unset"),
        ("unsetModerator", "unset"),
    ];
    assert_eq!(reasons(&chat.bob.user, &format!("{community}/audit")).await, entries(&expected));
    let admin = administrator(&chat).await;
    let ban = format!("/chat/users/{}/ban", chat.ann.id);
    admin.put(&ban, json!({ "reason": "ban" })).await.is(204);
    admin.delete(&why(&ban, "unban")).await.is(204);
    admin.call(Method::POST, &why(&format!("/chat/users/{}/password-resets", chat.ann.id), "reset")).await.is(201);
    admin.delete(&why(&community, "delete")).await.is(202);
    let expected =
        [("banUser", "ban"), ("createPasswordReset", "reset"), ("deleteCommunity", "delete"), ("unbanUser", "unban")];
    assert_eq!(reasons(&admin, "/chat/audit").await, entries(&expected));
    let long = why(&format!("{community}/moderators/{}", chat.ann.id), &"x".repeat(201));
    chat.cy.puts(&long).await.faulty(&["reason"]);
}
