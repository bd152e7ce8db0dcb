//! Random requests to chat. The items that the examples of the API description name exist.

use ::chat::communities::{Community, CommunityMember};
use ::chat::group_chats::{ChatMember, GroupChat, GroupChatRow, MembershipCount};
use ::chat::keys::{
    CommunityKey, CommunityMemberKey, GroupChatCountKey, GroupChatKey, GroupChatRowKey, MembershipCountKey,
    PrivateChatKey, UserKey, member_key, message_key, pair_key,
};
use ::chat::messages::Message;
use ::chat::names::{ChatId, CommunityId, GroupChatId, MessageId, PrivateChatId, UserId};
use ::chat::private_chats::{Pair, PrivateChat};
use ::chat::rates;
use ::chat::schema::{COMMUNITIES, GROUP_CHATS, PRIVATE_CHATS, RUN_JOB, USERS};
use ::chat::users::User as StoredUser;
use local::identity::Person;
use serde::Serialize;
use table::schema::Table;
use table::{EntityKey, Key};

use super::stage::id;
use crate::generated::requests_to_each_operation;
use crate::harness::table::{Item, stored};
use crate::harness::{Cairn, Setup, recorder, sized};
use crate::tests;

tests! { chat_generated:
    #[long] no_request_breaks_chat_or_its_description,
}

const CREATED_AT: &str = "2026-01-01T00:00:00.000Z";

/// Returns an id of the examples, which differ in their last two digits.
fn example<T: std::str::FromStr<Err: std::fmt::Debug>>(number: u8) -> T {
    format!("019b76da-a800-7000-8000-0000000000{number:02}").parse().unwrap()
}

async fn no_request_breaks_chat_or_its_description() {
    let limits = rates::ALL.iter().map(|limit| (limit.name, 1_000_000)).collect();
    // Jobs would delete the restored items.
    let without = vec![RUN_JOB, ::jobs::RUN_JOBS];
    let cairn = Cairn::with(Setup { limits, without, ..Setup::of("chat") }).await;
    recorder::OF_THE_RUN.at_random(cairn.engines());
    let ann = cairn.person("ann", Person { roles: &["chat-admin"], ..Person::new("ann") }).await;
    let user: UserId = id(&ann.get("/chat/me").await.is(200)).parse().unwrap();
    let items = cairn.table_of(&USERS).items().await;
    let found = items.into_iter().find(|item| item["pk"].as_s() == Ok(&format!("USER#{user}"))).unwrap();
    let user: StoredUser = table::item::from_item(found).unwrap();
    let items = examples(&user);
    let restore = async || {
        for (table, items) in &items {
            cairn.table_of(table).put_all(items.clone()).await;
        }
    };
    requests_to_each_operation(&cairn, "chat", std::slice::from_ref(&ann), sized(6, 100), |_, _| None, restore).await;
}

fn item(table: &'static Table, key: Key, value: &impl Serialize) -> Item {
    stored(table, &key, value)
}

/// Returns the items that the examples name, by table. Ann owns them, and bob is a member.
fn examples(ann: &StoredUser) -> Vec<(&'static Table, Vec<Item>)> {
    let (community, group, private): (CommunityId, GroupChatId, PrivateChatId) =
        (example(11), example(21), example(31));
    let (bob, message): (UserId, MessageId) = (example(2), example(41));
    let both = [ann.id, bob];
    let count = MembershipCount { num: 100 };
    let mut users = vec![item(&USERS, UserKey { user: ann.id }.key(), ann)];
    let name = "bob".to_owned();
    let other = StoredUser { id: bob, username: name.clone(), name: Some(name), email: None, ..ann.clone() };
    users.push(item(&USERS, UserKey { user: bob }.key(), &other));

    let mut communities = vec![
        item(&COMMUNITIES, CommunityKey { community }.key(), &new_community(community, ann.id)),
        item(
            &COMMUNITIES,
            GroupChatRowKey { community, chat: group }.key(),
            &GroupChatRow {
                group_chat_key: format!("GROUPCHAT#{group}"),
                group_chat_community_key: format!("COMMUNITY#{community}"),
                created_at: CREATED_AT.to_owned(),
            },
        ),
    ];
    let mut groups =
        vec![item(&GROUP_CHATS, GroupChatKey { chat: group }.key(), &new_group_chat(group, community, ann.id))];
    let chat = PrivateChat {
        id: private,
        name: String::new(),
        description: String::new(),
        member_ids: both.into(),
        created_at: CREATED_AT.to_owned(),
    };
    let mut privates = vec![
        item(&PRIVATE_CHATS, PrivateChatKey { chat: private }.key(), &chat),
        item(&PRIVATE_CHATS, pair_key(ann.id, bob), &Pair { chat_id: private }),
    ];
    for user in both {
        let member = CommunityMember::new(community, user, CREATED_AT.to_owned());
        communities.push(item(&COMMUNITIES, CommunityMemberKey { community, user }.key(), &member));
        communities.push(item(&COMMUNITIES, MembershipCountKey { user }.key(), &count));
        let member = ChatMember::new(format!("GROUPCHAT#{group}"), user, CREATED_AT.to_owned());
        groups.push(item(&GROUP_CHATS, member_key(ChatId::Group(group), user), &member));
        groups.push(item(&GROUP_CHATS, GroupChatCountKey { user }.key(), &count));
        let member = ChatMember {
            member_ids: both.into(),
            ..ChatMember::new(format!("PRIVATECHAT#{private}"), user, CREATED_AT.to_owned())
        };
        privates.push(item(&PRIVATE_CHATS, member_key(ChatId::Private(private), user), &member));
    }
    let sent = Message::new(message, ann.id, "Hello, Bob!".to_owned());
    groups.push(item(&GROUP_CHATS, message_key(ChatId::Group(group), message), &sent));
    let sent = Message { member_ids: both.into(), ..sent };
    privates.push(item(&PRIVATE_CHATS, message_key(ChatId::Private(private), message), &sent));
    vec![(&USERS, users), (&COMMUNITIES, communities), (&GROUP_CHATS, groups), (&PRIVATE_CHATS, privates)]
}

fn new_community(id: CommunityId, founder: UserId) -> Community {
    Community {
        id,
        name: "Moss friends".to_owned(),
        description: String::new(),
        topic: "Plants".to_owned(),
        avatar_url: None,
        cover_photo_url: None,
        location: None,
        country_key: None,
        place_key: None,
        founder,
        moderators: [].into(),
        num_members: 2,
        num_group_chats: 1,
        retention_days: None,
        created_at: CREATED_AT.to_owned(),
        deleting_at: None,
        deletion_job: None,
    }
}

fn new_group_chat(id: GroupChatId, community_id: CommunityId, owner: UserId) -> GroupChat {
    GroupChat {
        id,
        community_id,
        name: "Bryophytes".to_owned(),
        description: String::new(),
        capacity: 100,
        private: true,
        num_members: 2,
        owner,
        moderators: [].into(),
        created_at: CREATED_AT.to_owned(),
        deleting_at: None,
        deletion_job: None,
    }
}
