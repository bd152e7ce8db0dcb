//! Search: what each person may find, and in which order.

use std::collections::BTreeSet;
use std::time::Duration;

use ::chat::communities::{Community, CommunityMember};
use ::chat::group_chats::{ChatMember, GroupChat};
use ::chat::keys::{CommunityKey, CommunityMemberKey, GroupChatMemberKey, UserKey, chat_key, member_key, message_key};
use ::chat::locations::Location;
use ::chat::messages::{Message, table_of};
use ::chat::names::{ChatId, CommunityId, GroupChatId, MessageId, UserId};
use ::chat::schema::{COMMUNITIES, GROUP_CHATS, TELL, USERS};
use ::chat::users::{Ban, User};
use reqwest::Method;
use serde_json::{Value, json};
use table::{EntityKey, item};

use super::conversation::{chat_of, private_chat, send};
use super::stage::{Chat, Member};
use crate::harness::engines::{self, Set};
use crate::harness::table::{Table, stored};
use crate::harness::{Answer, Setup};
use crate::tests;

tests! { chat_search:
    messages_of_own_chats_are_found_and_no_others,
    chat_that_was_left_is_not_found_though_the_index_lags,
    deleted_and_edited_messages_are_found_as_they_are_now,
    message_search_has_phrases_typos_and_filters,
    message_pages_are_newest_first_and_full,
    communities_are_found_by_words_and_places_with_facets,
    community_being_deleted_is_not_found,
    group_chats_of_own_communities_are_found_and_no_others,
    users_are_found_by_prefix_first,
    banned_and_deleted_users_are_not_found,
    hit_whose_item_is_gone_is_in_no_total,
    highlights_are_pieces_that_stored_text_cannot_imitate,
    search_faults_name_their_parameters,
    search_with_more_words_than_opensearch_takes_is_refused,
    search_beyond_the_limit_returns_429,
}

/// Items that are written directly into the tables.
struct Stage {
    chat: Chat,
}

impl Stage {
    async fn new() -> Self {
        // Search needs nothing that is pushed to clients.
        Self { chat: Chat::with(Setup { without: vec![TELL], ..Setup::of("chat") }).await }
    }

    fn table(&self, table: &'static table::schema::Table) -> Table {
        self.chat.cairn.table_of(table)
    }

    /// Creates a community with this name and topic. Returns its id.
    async fn community(&self, name: &str, topic: &str, members: &[&Member]) -> CommunityId {
        self.community_of(name, topic, members, |_| ()).await
    }

    async fn community_of(
        &self,
        name: &str,
        topic: &str,
        members: &[&Member],
        change: impl FnOnce(&mut Community),
    ) -> CommunityId {
        let id = CommunityId::now(&self.chat.cairn.clock);
        let mut community = Community {
            id,
            name: name.to_owned(),
            description: String::new(),
            topic: topic.to_owned(),
            avatar_url: None,
            cover_photo_url: None,
            location: None,
            country_key: None,
            place_key: None,
            founder: user(&self.chat.ann),
            moderators: BTreeSet::new(),
            num_members: members.len() as u64,
            num_group_chats: 0,
            retention_days: None,
            created_at: id.time().to_string(),
            deleting_at: None,
            deletion_job: None,
        };
        change(&mut community);
        let table = self.table(&COMMUNITIES);
        table.put(stored(&COMMUNITIES, &CommunityKey { community: id }.key(), &community)).await;
        for member in members {
            let row = CommunityMember::new(id, user(member), id.time().to_string());
            let key = CommunityMemberKey { community: id, user: user(member) };
            table.put(stored(&COMMUNITIES, &key.key(), &row)).await;
        }
        id
    }

    /// Creates a group chat with these members.
    async fn group_chat(&self, community: CommunityId, name: &str, members: &[&Member]) -> GroupChatId {
        let id = GroupChatId::now(&self.chat.cairn.clock);
        let chat = GroupChat {
            id,
            community_id: community,
            name: name.to_owned(),
            description: "about it".to_owned(),
            capacity: 100,
            private: false,
            num_members: members.len() as u64,
            owner: user(&self.chat.ann),
            moderators: BTreeSet::new(),
            created_at: id.time().to_string(),
            deleting_at: None,
            deletion_job: None,
        };
        self.table(&GROUP_CHATS).put(stored(&GROUP_CHATS, &chat_key(id.into()), &chat)).await;
        for member in members {
            self.join(id, member).await;
        }
        id
    }

    async fn join(&self, chat: GroupChatId, member: &Member) {
        let row = ChatMember::new(format!("GROUPCHAT#{chat}"), user(member), chat.time().to_string());
        let key = member_key(chat.into(), user(member));
        self.table(&GROUP_CHATS).put(stored(&GROUP_CHATS, &key, &row)).await;
    }

    async fn leave(&self, chat: GroupChatId, member: &Member) {
        let key = GroupChatMemberKey { chat, user: user(member) }.key();
        self.table(&GROUP_CHATS).delete(&key.pk, key.sk.as_deref().unwrap()).await;
    }

    /// Writes a message into a chat.
    async fn write(&self, chat: impl Into<ChatId>, sender: &Member, content: &str) -> MessageId {
        let id = MessageId::now(&self.chat.cairn.clock);
        self.put(chat.into(), &message(id, sender, content)).await;
        id
    }

    async fn put(&self, chat: ChatId, message: &Message) {
        let table = table_of(chat);
        self.table(table).put(stored(table, &message_key(chat, message.id), message)).await;
    }

    async fn search(&self, member: &Member, query: &str) -> Answer {
        self.chat.cairn.caught_up().await;
        member.user.get(&format!("/chat/search/{query}")).await.is(200)
    }

    /// Changes a user's item directly.
    async fn change_user(&self, member: &Member, change: impl FnOnce(&mut User)) {
        let (table, key) = (self.table(&USERS), UserKey { user: user(member) }.key());
        let mut changed: User = item::from_item(table.present(&item::key_item(&USERS, &key)).await).unwrap();
        change(&mut changed);
        table.put(stored(&USERS, &key, &changed)).await;
    }
}

fn user(member: &Member) -> UserId {
    member.id.parse().unwrap()
}

fn message(id: MessageId, sender: &Member, content: &str) -> Message {
    Message::new(id, user(sender), content.to_owned())
}

/// Returns the contents of the messages of a page.
fn contents(answer: &Answer) -> Vec<&str> {
    answer.each("message").into_iter().map(|message| message["content"].as_str().unwrap()).collect()
}

/// Returns the names of the things of a page.
fn names<'a>(answer: &'a Answer, kind: &str) -> Vec<&'a str> {
    answer.each(kind).into_iter().map(|thing| thing["name"].as_str().unwrap()).collect()
}

fn total(answer: &Answer) -> u64 {
    answer["total"]["value"].as_u64().unwrap()
}

async fn messages_of_own_chats_are_found_and_no_others() {
    let stage = Stage::new().await;
    let Chat { ann, bob, cy, .. } = &stage.chat;
    let community = bob.creates_community().await;
    ann.joins_community(&community).await.is(201);
    let mut chats = Vec::new();
    for name in ["one", "two", "three"] {
        let chat = bob.creates_group_chat(&community, json!({ "name": name })).await;
        if name != "three" {
            ann.joins_group_chat(&chat).await.is(201);
        }
        send(&bob.user, &format!("/chat/groupchats/{chat}"), &format!("moss {name}")).await;
        chats.push(chat);
    }
    let found = stage.search(ann, "messages?q=moss").await;
    assert_eq!((contents(&found), total(&found)), (vec!["moss two", "moss one"], 2));
    assert_eq!(found["items"][0]["chat"], format!("groupchat/{}", chats[1]));
    assert_eq!(total(&stage.search(cy, "messages?q=moss").await), 0);
    // She is removed from one. She joins the third, whose old messages appear.
    bob.user.delete(&format!("/chat/groupchats/{}/members/{}", chats[0], ann.id)).await.is(204);
    let found = ann.user.get("/chat/search/messages?q=moss&limit=1").await.is(200);
    assert_eq!((contents(&found), total(&found)), (vec!["moss two"], 1));
    ann.joins_group_chat(&chats[2]).await.is(201);
    let found = ann.user.get("/chat/search/messages?q=moss").await.is(200);
    assert_eq!(contents(&found), ["moss three", "moss two"]);
    // A private message is found by its two members only.
    let chat = private_chat(ann, cy).await;
    send(&cy.user, &chat, "moss in private").await;
    for (member, expected) in [(ann, 3), (bob, 3), (cy, 1)] {
        assert_eq!(total(&stage.search(member, "messages?q=moss").await), expected);
    }
    let found = stage.search(cy, "messages?q=moss").await;
    assert_eq!(found["items"][0]["chat"], chat_of(&chat).to_string());
    stage.chat.visitor.get("/chat/search/messages?q=moss").await.is(401);
    // A cursor belongs to its caller.
    let page = stage.search(ann, "messages?q=moss&limit=1").await;
    let path = format!("/chat/search/messages?q=moss&limit=1&cursor={}", page.text("nextCursor"));
    ann.user.get(&path).await.is(200);
    bob.user.get(&path).await.faulty(&["cursor"]);
    // Who leaves the community leaves its chats.
    ann.user.delete(&format!("/chat/communities/{community}/members/me")).await.is(204);
    let found = ann.user.get("/chat/search/messages?q=moss").await.is(200);
    assert_eq!((contents(&found), total(&found)), (vec!["moss in private"], 1));
}

async fn chat_that_was_left_is_not_found_though_the_index_lags() {
    let stage = Stage::new().await;
    let Chat { ann, bob, .. } = &stage.chat;
    let community = stage.community("Walkers", "walking", &[ann, bob]).await;
    let mut chats = Vec::new();
    for name in ["first", "second", "third"] {
        let chat = stage.group_chat(community, name, &[ann, bob]).await;
        for number in 0..4 {
            stage.write(chat, bob, &format!("moss {name} {number}")).await;
        }
        chats.push(chat);
    }
    // The index still lists a chat that ann is no member of: a row with her index keys under a key that is not hers.
    for chat in [chats[1], chats[2]] {
        stage.leave(chat, ann).await;
        let row = ChatMember::new(format!("GROUPCHAT#{chat}"), user(ann), chat.time().to_string());
        let stale = GroupChatMemberKey { chat, user: UserId::at(1) };
        stage.table(&GROUP_CHATS).put(stored(&GROUP_CHATS, &stale.key(), &row)).await;
    }
    let found = stage.search(ann, "messages?q=moss&limit=3").await;
    assert_eq!((found.each("message").len(), total(&found)), (3, 4), "{}", found.told());
    assert!(contents(&found).iter().all(|content| content.starts_with("moss first")));
    let pages = ann.user.pages("/chat/search/messages?q=moss", 3).await;
    assert_eq!(pages.iter().map(|page| page.each("message").len()).collect::<Vec<_>>(), [3, 1]);
}

async fn deleted_and_edited_messages_are_found_as_they_are_now() {
    let stage = Stage::new().await;
    let Chat { ann, bob, .. } = &stage.chat;
    let chat = private_chat(ann, bob).await;
    let mut paths = Vec::new();
    for number in 0..3 {
        let sent = send(&bob.user, &chat, &format!("moss {number}")).await;
        paths.push(format!("{chat}/messages/{}", sent.text("id")));
    }
    assert_eq!(contents(&stage.search(ann, "messages?q=moss").await), ["moss 2", "moss 1", "moss 0"]);
    // Search may lag behind: a deleted message is left out at once, and the page is filled up.
    bob.user.delete(&paths[2]).await.is(204);
    let found = ann.user.get("/chat/search/messages?q=moss&limit=1").await.is(200);
    assert_eq!(contents(&found), ["moss 1"]);
    let found = stage.search(ann, "messages?q=moss").await;
    assert_eq!((contents(&found), total(&found)), (vec!["moss 1", "moss 0"], 2));
    bob.user.patch(&paths[1], json!({ "content": "fern" })).await.is(200);
    let found = stage.search(ann, "messages?q=fern").await;
    assert_eq!((contents(&found), &found["items"][0]["message"]["edited"]), (vec!["fern"], &json!(true)));
    assert_eq!(contents(&stage.search(ann, "messages?q=moss").await), ["moss 0"]);
}

async fn message_search_has_phrases_typos_and_filters() {
    let stage = Stage::new().await;
    let Chat { ann, bob, .. } = &stage.chat;
    let community = stage.community("Walkers", "walking", &[ann, bob]).await;
    let first = stage.group_chat(community, "first", &[ann, bob]).await;
    let second = stage.group_chat(community, "second", &[ann, bob]).await;
    let at = |second: i64| MessageId::at(1_772_359_200_000 + second * 1000);
    let written = [
        (first, at(0), ann, "green moss on the wall"),
        (first, at(1), bob, "moss that is green"),
        (second, at(2), bob, "Crème brûlée, with a spoon"),
    ];
    for (chat, id, sender, content) in written {
        stage.put(chat.into(), &message(id, sender, content)).await;
    }
    let expected = [
        ("q=moss+green", vec![1, 0]),
        ("q=%22green+moss%22", vec![0]),
        ("q=%22moss+green%22", vec![]),
        ("q=%22green+moss%22+%22the+wall%22", vec![0]),
        ("q=%22green+moss%22+%22a+spoon%22", vec![]),
        ("q=gren+%22moss+that%22", vec![1]),
        ("q=mos+gren", vec![1, 0]),
        ("q=creme+BRULEE", vec![2]),
        ("q=green+spoon", vec![]),
        ("q=oss", vec![]),
        (&format!("chat=groupchat/{first}"), vec![1, 0]),
        (&format!("sender={}", bob.id), vec![2, 1]),
        (&format!("q=green&sender={}", ann.id), vec![0]),
        ("from=2026-03-01T10:00:01Z", vec![2, 1]),
        ("from=2026-03-01T10:00:00.5Z&to=2026-03-01T11:00:02%2B01:00", vec![1]),
        ("chat=privatechat/019b76da-a800-7000-8000-000000000031", vec![]),
        ("", vec![2, 1, 0]),
    ];
    for (query, expected) in expected {
        let found = stage.search(ann, &format!("messages?{query}")).await;
        let expected: Vec<&str> = expected.into_iter().map(|number: usize| written[number].3).collect();
        assert_eq!(contents(&found), expected, "{query}");
    }
}

async fn message_pages_are_newest_first_and_full() {
    let stage = Stage::new().await;
    let Chat { ann, bob, .. } = &stage.chat;
    let community = stage.community("Walkers", "walking", &[ann, bob]).await;
    let chat = stage.group_chat(community, "first", &[ann, bob]).await;
    let mut expected = Vec::new();
    for number in 0..23 {
        // Several messages of one millisecond.
        let id = MessageId::at(1_772_359_200_000 + number / 5);
        stage.put(chat.into(), &message(id, bob, "moss")).await;
        expected.push(id.to_string());
    }
    expected.sort_unstable_by(|one, other| other.cmp(one));
    stage.chat.cairn.caught_up().await;
    let pages = ann.user.pages("/chat/search/messages?q=moss", 5).await;
    let ids = pages.iter().flat_map(|page| page.each("message")).map(|message| message["id"].as_str().unwrap());
    assert_eq!(ids.collect::<Vec<_>>(), expected);
    assert_eq!(total(&pages[0]), 23);
}

async fn communities_are_found_by_words_and_places_with_facets() {
    let stage = Stage::new().await;
    let Chat { ann, bob, cy, .. } = &stage.chat;
    let place = |country: &str, state: &str, city: &str| {
        let part = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Some(Location { country: country.to_owned(), state: part(state), city: part(city) })
    };
    let communities = [
        ("Hill Walkers", "Walking", "for early risers", place("Wales", "Gwynedd", "Bangor"), 5),
        ("Walk and Talk", "Talking", "", place("Wales", "Dyfed", "Lampeter"), 9),
        ("Bakers", "Baking", "we walk to the mill", place("France", "", "Lyon"), 7),
        ("Night Walkers", "walking", "", None, 8),
    ];
    for (name, topic, description, location, size) in communities {
        let change = |community: &mut Community| {
            community.description = description.to_owned();
            community.location = location;
            community.num_members = size;
        };
        stage.community_of(name, topic, &[ann], change).await;
    }
    let expected = [
        // The word counts most in the name, then its beginning; of equal ones the larger is first.
        ("q=walk", vec!["Walk and Talk", "Night Walkers", "Hill Walkers", "Bakers"]),
        ("q=walkres", vec!["Night Walkers", "Hill Walkers"]),
        ("q=walk+mill", vec!["Bakers"]),
        ("q=walking", vec!["Night Walkers", "Hill Walkers"]),
        ("topic=WALKING", vec!["Night Walkers", "Hill Walkers"]),
        ("country=wales", vec!["Walk and Talk", "Hill Walkers"]),
        ("country=Wales&state=gwynedd", vec!["Hill Walkers"]),
        ("city=lyon", vec!["Bakers"]),
        ("country=+Wales&city=Bangor++", vec!["Hill Walkers"]),
        ("q=walk&country=Wales", vec!["Walk and Talk", "Hill Walkers"]),
        ("", vec!["Walk and Talk", "Night Walkers", "Bakers", "Hill Walkers"]),
    ];
    for (query, expected) in expected {
        // Everybody finds all communities.
        for member in [ann, bob, cy] {
            let found = stage.search(member, &format!("communities?{query}")).await;
            assert_eq!(names(&found, "community"), expected, "{query}");
        }
    }
    let found = stage.search(bob, "communities?country=Wales&topic=walking").await;
    assert_eq!((names(&found, "community"), total(&found)), (vec!["Hill Walkers"], 1));
    let count = |value: &str, count: u64| json!({ "value": value, "count": count });
    assert_eq!(found["facets"]["topic"], json!([count("talking", 1), count("walking", 1)]), "{}", found.told());
    assert_eq!(found["facets"]["country"], json!([count("wales", 1)]));
    let all = stage.search(bob, "communities?limit=3").await;
    assert_eq!(all["facets"]["country"], json!([count("wales", 2), count("france", 1)]));
    let next = format!("communities?limit=3&cursor={}", all.text("nextCursor"));
    assert_eq!(stage.search(bob, &next).await["facets"], Value::Null);
    let pages = bob.user.pages("/chat/search/communities?q=walk", 1).await;
    let in_pages: Vec<&str> = pages.iter().flat_map(|page| names(page, "community")).collect();
    assert_eq!(in_pages, ["Walk and Talk", "Night Walkers", "Hill Walkers", "Bakers"]);
}

async fn community_being_deleted_is_not_found() {
    let stage = Stage::new().await;
    let Chat { ann, bob, .. } = &stage.chat;
    stage.community("Hill Walkers", "walking", &[ann]).await;
    let gone = |community: &mut Community| community.deleting_at = Some(community.created_at.clone());
    let deleted = stage.community_of("Night Walkers", "walking", &[ann], gone).await;
    let found = stage.search(bob, "communities?q=walkers").await;
    assert_eq!((names(&found, "community"), total(&found)), (vec!["Hill Walkers"], 1));
    let document = stage.chat.cairn.document("chat", &CommunityKey { community: deleted }.key().document_id()).await;
    assert_eq!(document.unwrap()["deleted"], true);
}

async fn group_chats_of_own_communities_are_found_and_no_others() {
    let stage = Stage::new().await;
    let Chat { ann, bob, cy, .. } = &stage.chat;
    let mine = stage.community("Walkers", "walking", &[ann]).await;
    let shared = stage.community("Bakers", "baking", &[ann, bob]).await;
    stage.group_chat(mine, "Routes in the hills", &[ann]).await;
    stage.group_chat(shared, "Routes to the mill", &[ann]).await;
    stage.group_chat(shared, "Ovens", &[ann]).await;
    let found = stage.search(ann, "groupchats?q=route").await;
    assert_eq!((names(&found, "groupChat"), total(&found)), (vec!["Routes to the mill", "Routes in the hills"], 2));
    let found = stage.search(bob, "groupchats?q=route").await;
    assert_eq!((names(&found, "groupChat"), total(&found)), (vec!["Routes to the mill"], 1));
    assert_eq!(names(&stage.search(bob, "groupchats").await, "groupChat"), ["Ovens", "Routes to the mill"]);
    assert_eq!(total(&stage.search(cy, "groupchats?q=route").await), 0);
    // Who is leaving a community finds nothing of it any more, though the index lists the membership.
    let row = CommunityMember {
        leaving_at: Some("2026-03-01T10:00:00.000Z".to_owned()),
        ..CommunityMember::new(shared, user(ann), shared.time().to_string())
    };
    let key = CommunityMemberKey { community: shared, user: user(ann) }.key();
    stage.table(&COMMUNITIES).put(stored(&COMMUNITIES, &key, &row)).await;
    let found = stage.search(ann, "groupchats?q=route&limit=1").await;
    assert_eq!((names(&found, "groupChat"), total(&found)), (vec!["Routes in the hills"], 1));
}

async fn users_are_found_by_prefix_first() {
    let stage = Stage::new().await;
    let Chat { ann, bob, cy, .. } = &stage.chat;
    let dan = stage.chat.member("dan").await;
    let profiles = [
        (ann, "Ann Field", "likes moss"),
        (bob, "Bob Annis", "walks"),
        (cy, "Cy Anders", "a friend of Ann"),
        (&dan, "Quill O'Mara", "bakes"),
    ];
    for (member, name, bio) in profiles {
        let change = |user: &mut User| {
            user.name = Some(name.to_owned());
            user.bio = Some(bio.to_owned());
            user.email = Some("secret@example.org".to_owned());
        };
        stage.change_user(member, change).await;
    }
    let expected = [
        ("q=ann", vec!["Ann Field", "Bob Annis", "Cy Anders"]),
        ("q=an", vec!["Ann Field", "Bob Annis", "Cy Anders"]),
        ("q=Ann+Fie", vec!["Ann Field"]),
        ("q=annes", vec!["Bob Annis"]),
        ("q=moss", vec!["Ann Field"]),
        ("q=BOB", vec!["Bob Annis"]),
        ("q=mara", vec![]),
        ("q=o%27mara", vec!["Quill O'Mara"]),
        // By the username.
        ("q=%40dan", vec!["Quill O'Mara"]),
        ("q=dna", vec!["Quill O'Mara"]),
        ("q=secret", vec![]),
    ];
    for (query, expected) in expected {
        let found = stage.search(bob, &format!("users?{query}")).await;
        assert_eq!(names(&found, "user"), expected, "{query}");
        assert!(!found.body.to_string().contains("example.org"), "{}", found.told());
    }
    let country = Location { country: "Wales".to_owned(), state: None, city: None };
    stage.change_user(cy, |user| user.location = Some(country)).await;
    assert_eq!(names(&stage.search(bob, "users?q=an&country=WALES").await, "user"), ["Cy Anders"]);
}

async fn banned_and_deleted_users_are_not_found() {
    let stage = Stage::new().await;
    let Chat { ann, bob, cy, .. } = &stage.chat;
    let ban =
        |until: Option<&str>| Some(Ban { reason: "spam".to_owned(), by: user(ann), until: until.map(str::to_owned) });
    assert_eq!(total(&stage.search(ann, "users?q=bob").await), 1);
    let until = (stage.chat.cairn.clock.now() + Duration::from_secs(3600)).to_string();
    stage.change_user(bob, |user| user.ban = ban(Some(&until))).await;
    assert_eq!(total(&stage.search(ann, "users?q=bob").await), 0);
    // The ban ends without a write.
    stage.chat.cairn.clock.advance(Duration::from_secs(3000));
    assert_eq!(total(&stage.search(ann, "users?q=bob").await), 0);
    stage.chat.cairn.clock.advance(Duration::from_secs(601));
    assert_eq!(names(&stage.search(ann, "users?q=bob").await, "user"), ["bob"]);
    stage.change_user(bob, |user| user.ban = ban(None)).await;
    assert_eq!(total(&stage.search(ann, "users?q=bob").await), 0);
    bob.user.get("/chat/search/users?q=ann").await.refused(403, "banned");
    let gone = |user: &mut User| {
        user.deleted_at = Some(user.created_at.clone());
        user.name = None;
    };
    stage.change_user(cy, gone).await;
    assert_eq!(total(&stage.search(ann, "users?q=cy").await), 0);
}

/// The mirror may be behind the table.
async fn hit_whose_item_is_gone_is_in_no_total() {
    let stage = Stage::new().await;
    let Chat { ann, cairn, .. } = &stage.chat;
    let community = stage.community("Hill Walkers", "walking", &[ann]).await;
    stage.group_chat(community, "Walks", &[ann]).await;
    let clock = &cairn.clock;
    let (user, gone) = (UserId::now(clock), CommunityId::now(clock));
    let stale = [
        (UserKey { user }.key(), json!({ "entity": "user", "username": "annie", "name": "Ann", "nameKey": "Ann" })),
        (CommunityKey { community: gone }.key(), json!({ "entity": "community", "name": "Night Walkers" })),
        (
            chat_key(GroupChatId::now(clock).into()),
            json!({ "entity": "groupChat", "communityId": community.to_string(), "name": "Walks at night" }),
        ),
    ];
    cairn.caught_up().await;
    let index = format!("{}-000001", cairn.engines().config.search_name("chat"));
    for (key, mut document) in stale {
        let id = key.document_id().replace('#', "%23");
        (document["pk"], document["sk"]) = (json!(key.pk), json!(key.sk));
        let path = format!("/{index}/_doc/{id}?version=10&version_type=external&refresh=true");
        cairn.search_engine(Method::PUT, &path, &document).await;
    }
    for (query, kind, name) in [
        ("users?q=ann", "user", "ann"),
        ("communities?q=walkers", "community", "Hill Walkers"),
        ("groupchats?q=walks", "groupChat", "Walks"),
    ] {
        let found = stage.search(ann, query).await;
        assert_eq!(
            (names(&found, kind), &found["total"]),
            (vec![name], &json!({ "value": 1, "exact": true })),
            "{query}"
        );
    }
}

async fn highlights_are_pieces_that_stored_text_cannot_imitate() {
    let stage = Stage::new().await;
    let Chat { ann, .. } = &stage.chat;
    let community = stage.community("Hill Walkers", "walking", &[ann]).await;
    let chat = stage.group_chat(community, "first", &[ann]).await;
    stage.write(chat, ann, "<em>the</em> cat & <b>cats</b>").await;
    let found = stage.search(ann, "messages?q=cat").await;
    let piece = |text: &str, hit: bool| json!({ "text": text, "hit": hit });
    let pieces = json!([[
        piece("<em>the</em> ", false),
        piece("cat", true),
        piece(" & <b>", false),
        piece("cats", true),
        piece("</b>", false),
    ]]);
    assert_eq!(found["items"][0]["highlights"]["text"], pieces, "{}", found.told());
    // A long message has its fragments.
    let long = format!("{} fern {}", "word ".repeat(350), "word ".repeat(350));
    stage.write(chat, ann, &long).await;
    let found = stage.search(ann, "messages?q=fern").await;
    let fragments = found["items"][0]["highlights"]["text"].as_array().unwrap();
    let text = |fragment: &Value| -> String {
        fragment.as_array().unwrap().iter().map(|piece| piece["text"].as_str().unwrap()).collect()
    };
    assert!(fragments.len() == 1 && long.contains(&text(&fragments[0])), "{}", found.told());
    let found = stage.search(ann, "communities?q=hill").await;
    let pieces = json!([[piece("Hill", true), piece(" Walkers", false)]]);
    assert_eq!(found["items"][0]["highlights"], json!({ "name": pieces }));
}

async fn search_faults_name_their_parameters() {
    let stage = Stage::new().await;
    let ann = &stage.chat.ann.user;
    let bad = "/chat/search/messages?q=--&chat=x&sender=y&from=soon&to=later&limit=0&more=1";
    ann.get(bad).await.faulty(&["sender", "from", "to", "limit", "more"]);
    ann.get("/chat/search/messages?q=--&chat=x").await.faulty(&["q", "chat"]);
    ann.get("/chat/search/users").await.faulty(&["q"]);
    for kind in ["communities", "groupchats", "users"] {
        ann.get(&format!("/chat/search/{kind}?q=--")).await.faulty(&["q"]);
        ann.get(&format!("/chat/search/{kind}?q={}", "a+".repeat(21))).await.faulty(&["q"]);
        ann.get(&format!("/chat/search/{kind}?q=a&cursor=x")).await.faulty(&["cursor"]);
    }
}

/// Each character is a word. OpenSearch has a limit of clauses, and osmem has none.
async fn search_with_more_words_than_opensearch_takes_is_refused() {
    let stage = Stage::new().await;
    let ann = &stage.chat.ann;
    stage.community("一丁丂七丄", "一丁", &[ann]).await;
    stage.chat.cairn.caught_up().await;
    let many: String = ('一'..).take(200).collect();
    for kind in ["communities", "groupchats", "users"] {
        let answer = ann.user.get(&format!("/chat/search/{kind}?q={many}")).await;
        if engines::set() == Set::WithoutJava {
            answer.is(200)
        } else {
            answer.faulty(&["q"])
        };
    }
}

async fn search_beyond_the_limit_returns_429() {
    let chat = Chat::with(Setup { limits: vec![("searches", 3)], ..Setup::of("chat") }).await;
    for kind in ["messages", "communities", "groupchats"] {
        chat.ann.user.get(&format!("/chat/search/{kind}?q=moss")).await.is(200);
    }
    let refused = chat.ann.user.get("/chat/search/users?q=moss").await.refused(429, "too-many-requests");
    assert!(!refused.header("retry-after").is_empty());
    chat.bob.user.get("/chat/search/users?q=moss").await.is(200);
    chat.cairn.clock.advance(Duration::from_secs(61));
    chat.ann.user.get("/chat/search/users?q=moss").await.is(200);
}
