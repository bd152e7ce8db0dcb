//! The deletion of users: what stays, what goes, and that a crash changes nothing.

use std::path::Path;
use std::time::Duration;

use ::chat::schema;
use ::jobs::RUN_JOBS;
use local::identity::Person;
use reqwest::Method;
use serde_json::{Value, json};
use table::{Config, Engines};
use tokio::time::Instant;

use super::conversation::{private_chat, react, send, sending};
use super::export::{export, rows_that_name};
use super::follower::open;
use super::pictures::{objects, png, served, upload};
use super::reports::{Place, place};
use super::stage::{Chat, Member, id};
use crate::harness::stopper::{Met, Stopper, TRANSACTIONS, WRITES};
use crate::harness::{Setup, User, sized};
use crate::tests;

tests! { chat_erasure:
    #[long] deleted_user_leaves_no_personal_data,
    #[long] export_and_deletion_without_their_messages_are_done_by_the_schedule,
    #[long] deletion_killed_at_each_write_leaves_nothing,
    group_chat_is_deleted_after_its_member,
    founder_and_owner_cannot_be_deleted,
    deletion_and_hand_over_at_once_leave_no_deleted_owner,
    hand_over_is_refused_whose_new_owner_is_deleted_meanwhile,
    deletion_is_refused_whose_user_becomes_a_founder_meanwhile,
    community_is_not_handed_over_to_a_deleted_member,
    deleted_user_is_refused_and_cannot_come_back,
    removed_picture_is_gone,
    #[long] deleted_former_founder_leaves_the_picture_of_the_community,
    picture_that_is_stored_while_its_user_is_deleted_is_removed,
    deleted_user_gets_no_notification_and_no_feed,
    user_who_is_deleted_while_joining_becomes_no_member,
    #[long] user_is_deleted_after_a_community_that_is_being_deleted,
    files_that_a_stopped_update_has_left_are_removed,
}

/// Longer than the lease of a worker that has died, and than any wait of the job.
const LEASE: Duration = Duration::from_secs(121);

/// The handler of the messages that begin jobs at once.
const RUN_JOB: &str = "runJob";

const NAME: &str = "Hildegund Zweig";
const ADDRESS: &str = "hildegund.zweig@example.org";

/// A chat with a person who has a name and an address of her own.
struct Scene {
    chat: Chat,
    eve: Member,
    place: Place,
    /// The path of the private chat of eve and bob.
    private: String,
}

impl Scene {
    async fn new() -> Self {
        Self::in_chat(Chat::new().await).await
    }

    async fn in_chat(chat: Chat) -> Self {
        let person = Person { name: Some(NAME), address: Some(ADDRESS), ..Person::new("eve") };
        let user = chat.cairn.person("eve", person).await;
        let eve = Member { id: id(&user.get("/chat/me").await.is(200)), user };
        let place = place(&chat).await;
        eve.joins_community(&place.community).await.is(201);
        let group = place.group_chat.strip_prefix("/chat/groupchats/").unwrap();
        eve.joins_group_chat(group).await.is(201);
        let asked = chat.cy.creates_group_chat(&place.community, json!({ "name": "Few", "private": true })).await;
        eve.user.post(&format!("/chat/groupchats/{asked}/requests"), json!({ "note": "Please" })).await.is(201);
        let other = chat.bob.creates_community().await;
        eve.joins_community(&other).await.is(201);
        let private = private_chat(&eve, &chat.bob).await;
        for path in [&place.group_chat, &private] {
            send(&eve.user, path, "from eve").await;
            let message = send(&chat.bob.user, path, "to eve").await;
            react(&eve.user, &format!("{path}/messages/{}", message.text("id")), "👍").await.is(204);
        }
        eve.user.patch("/chat/me", json!({ "bio": "Reads moss.", "location": { "country": "Austria" } })).await.is(200);
        for kind in ["avatar", "cover"] {
            let ready = upload(&eve.user, json!({ "kind": kind }), &png(40, 40, [1, 2, 3, 255])).await;
            assert_eq!(ready["status"], "ready", "{}", ready.told());
        }
        chat.cairn.caught_up().await;
        Self { chat, eve, place, private }
    }

    async fn members(&self) -> Value {
        let path = format!("/chat/communities/{}", self.place.community);
        self.chat.cy.user.get(&path).await.is(200)["numMembers"].clone()
    }

    /// Asserts that nothing is left of eve but what others need.
    async fn nothing_is_left(&self) {
        let Self { chat, eve, .. } = self;
        chat.cairn.caught_up().await;
        for text in [NAME, ADDRESS] {
            assert_eq!(rows_that_name(chat, text).await.into_iter().collect::<Vec<_>>(), Vec::<String>::new());
            for file in objects(&chat.cairn, "") {
                let bytes = std::fs::read(&file).unwrap();
                assert!(!bytes.windows(text.len()).any(|part| part == text.as_bytes()), "{file} has {text}");
            }
            for item in chat.cairn.table_of(&schema::LIVE).items().await {
                assert!(!format!("{item:?}").contains(text), "{item:?}");
            }
        }
        for prefix in ["pictures", "incoming", "exports"] {
            assert_eq!(objects(&chat.cairn, prefix), Vec::<String>::new());
        }
        let live = chat.cairn.table_of(&schema::LIVE).partitions().await;
        assert!(!live.contains(&format!("USER#{}", eve.id)), "{live:?}");
        let user = format!("chat-Users USER#{} ", eve.id);
        // The username stays taken, and so does the account at the issuer.
        let kept = ["chat-Users USERNAME#", "chat-Users ISSUER#", user.as_str(), "chat-GroupChats GROUPCHAT#"];
        for row in rows_that_name(chat, &eve.id).await {
            let is_row = |part: &str| row.contains(part);
            // The notifications of others name whom they are about.
            let is_of_another = row.starts_with("chat-Notifications ") && !is_row(&eve.id);
            let stays =
                is_of_another || kept.iter().any(|kept| row.starts_with(kept)) || row.starts_with("chat-PrivateChats ");
            let is_membership = is_row("GROUPCHAT#") && is_row(" USER#");
            assert!(stays && !is_membership, "{row}");
        }
        let index = format!("/{}/_search", chat.cairn.engines().config.search_name("chat"));
        let every = json!({ "query": { "match_all": {} }, "size": 1000 });
        let documents = chat.cairn.search_engine(Method::POST, &index, &every).await;
        assert!(documents["hits"]["hits"].as_array().is_some_and(|hits| hits.len() > 5), "{documents}");
        for text in [NAME, ADDRESS] {
            assert!(!documents.to_string().contains(text), "{documents}");
        }
        // Bob and cy are left in the community, and ann.
        assert_eq!(self.members().await, 3);
    }
}

/// Messages carry the job on.
async fn deleted_user_leaves_no_personal_data() {
    let scene = Scene::in_chat(Chat::with(Setup { without: vec![RUN_JOBS], ..Chat::setup() }).await).await;
    let Scene { chat, eve, place, private } = &scene;
    let username = eve.user.get("/chat/me").await.is(200).text("username").to_owned();
    export(eve).await;
    let mut socket = open(eve).await;
    // A picture is on its way.
    eve.user.post("/chat/pictures", json!({ "kind": "avatar", "bytes": 10 })).await.is(201);
    let accepted = eve.user.call(Method::DELETE, "/chat/me").await.is(202);
    eve.user.get("/chat/me").await.refused(403, "banned");
    chat.bob.user.get(&format!("/chat/users/{}", eve.id)).await.is(200);
    socket.ended().await;
    succeeded(chat, &eve.user, accepted.header("location"), &[RUN_JOB, RUN_JOBS]).await;
    scene.nothing_is_left().await;
    // The username stays taken. It leads to what the id leads to.
    for path in [format!("/chat/users/{}", eve.id), format!("/chat/usernames/{username}")] {
        let seen = chat.bob.user.get(&path).await.is(200);
        assert_eq!(seen.body, json!({ "id": eve.id, "deleted": true }), "{path}");
    }
    // The messages stay under the id.
    let page = chat.bob.user.get(&format!("{private}/messages")).await.is(200);
    assert!(page["items"].to_string().contains("from eve"), "{}", page.told());
    let page = chat.bob.user.get(&format!("{}/messages", place.group_chat)).await.is(200);
    assert!(page["items"].to_string().contains("from eve"), "{}", page.told());
    sending(&chat.bob.user, private, "hello?").await.refused(403, "gone");
}

/// Waits until a job has succeeded, with a clock that does not let it wait. These handlers carry it on: that of its
/// messages, or the schedule, which also does the jobs that leave the communities.
async fn succeeded(chat: &Chat, user: &User, job: &str, handlers: &[&str]) {
    let (_, id) = job.rsplit_once('/').unwrap();
    let body = json!({ "job": id }).to_string();
    let message = json!({ "Records": [{ "messageId": "1", "eventSource": "aws:sqs", "body": body }] });
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let read = user.get(job).await.is(200);
        match read.text("status") {
            "succeeded" => return,
            "queued" | "running" => {}
            _ => panic!("{}", read.told()),
        }
        assert!(Instant::now() < end, "{}", read.told());
        chat.cairn.clock.advance(Duration::from_secs(1));
        // The message comes first, so that the schedule finds the job leased, or waiting again. An error of one job does
        // not fail the others.
        for handler in handlers {
            let payload = if *handler == RUN_JOB { message.clone() } else { json!({}) };
            let _ = chat.cairn.event("chat", handler, &payload).await;
        }
    }
}

async fn export_and_deletion_without_their_messages_are_done_by_the_schedule() {
    let without = vec![RUN_JOB];
    let scene = Scene::in_chat(Chat::with(Setup { without, ..Setup::of("chat") }).await).await;
    let Scene { chat, eve, .. } = &scene;
    chat.cairn.caught_up().await;
    let accepted = eve.user.post("/chat/me/export", json!({})).await.is(202);
    succeeded(chat, &eve.user, accepted.header("location"), &[RUN_JOBS]).await;
    // A picture is on its way.
    eve.user.post("/chat/pictures", json!({ "kind": "avatar", "bytes": 10 })).await.is(201);
    let accepted = eve.user.call(Method::DELETE, "/chat/me").await.is(202);
    succeeded(chat, &eve.user, accepted.header("location"), &[RUN_JOBS]).await;
    scene.nothing_is_left().await;
}

async fn deletion_killed_at_each_write_leaves_nothing() {
    let scene = Scene::new().await;
    let Scene { chat, eve, .. } = &scene;
    chat.cairn.engines().wind_down();
    let accepted = eve.user.call(Method::DELETE, "/chat/me").await.is(202);
    // The jobs that leave the communities have new ids in each attempt, and so have their items.
    let met = Met::new(|key| key.starts_with("JOB#"));
    let mut deaths = 0;
    loop {
        let config = chat.cairn.engines().config.clone();
        let stopper = Stopper::at_unmet(&met, config.dynamodb.clone().unwrap()).await;
        let config = Config { dynamodb: Some(stopper.url.clone()), ..config };
        let app = ::chat::app(Engines::new(config, chat.cairn.clock.clone())).metrics_to(|_| {});
        let deadline = Instant::now() + Duration::from_secs(60);
        tokio::select! {
            done = app.event(RUN_JOBS, "{}".into(), deadline) => drop(done),
            () = stopper.stopped() => deaths += 1,
        }
        let job = eve.user.get(accepted.header("location")).await.is(200);
        if job["status"] == "succeeded" {
            break;
        }
        assert!(["queued", "running"].contains(&job.text("status")) && deaths < 300, "{}", job.told());
        chat.cairn.clock.advance(LEASE);
    }
    assert!(deaths > 20, "{deaths}");
    scene.nothing_is_left().await;
}

async fn founder_and_owner_cannot_be_deleted() {
    let chat = Chat::new().await;
    let place = place(&chat).await;
    let community = chat.ann.creates_community().await;
    let group = chat.ann.creates_group_chat(&place.community, json!({ "name": "Runners" })).await;
    let refused = chat.ann.user.delete("/chat/me").await.refused(409, "owns-things");
    let expected = json!([
        { "kind": "community", "id": community, "name": "Moss" },
        { "kind": "groupChat", "id": group, "name": "Runners" },
    ]);
    assert_eq!(refused["owned"], expected);
    chat.ann.user.delete(&format!("/chat/groupchats/{group}")).await.is(202);
    chat.bob.joins_community(&community).await.is(201);
    chat.ann.user.patch(&format!("/chat/communities/{community}"), json!({ "founderId": chat.bob.id })).await.is(200);
    chat.ann.user.get("/chat/me").await.is(200);
    let end = Instant::now() + Duration::from_secs(60);
    // The group chat is being deleted.
    loop {
        let deleted = chat.ann.user.delete("/chat/me").await;
        if deleted.status == 202 {
            return;
        }
        assert!(Instant::now() < end, "{}", deleted.told());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A community and a group chat of a person of which another is a member, by their paths.
async fn shared(owner: &Member, other: &Member) -> [String; 2] {
    let community = owner.creates_community().await;
    let group = owner.creates_group_chat(&community, json!({ "name": "Bogs" })).await;
    other.joins_community(&community).await.is(201);
    other.joins_group_chat(&group).await.is(201);
    [format!("/chat/communities/{community}"), format!("/chat/groupchats/{group}")]
}

async fn group_chat_is_deleted_after_its_member() {
    let chat = Chat::with(Setup { without: vec![RUN_JOB, RUN_JOBS], ..Setup::of("chat") }).await;
    let eve = chat.member("eve").await;
    let [community, group] = shared(&chat.ann, &eve).await;
    let deletion = chat.ann.user.delete(&group).await.is(202);
    eve.user.delete(&format!("{community}/members/me")).await.is(204);
    let erasure = eve.user.call(Method::DELETE, "/chat/me").await.is(202);
    // The job that deletes the group chat has not begun.
    succeeded(&chat, &eve.user, erasure.header("location"), &[RUN_JOB]).await;
    succeeded(&chat, &chat.ann.user, deletion.header("location"), &[RUN_JOBS]).await;
    let left = chat.cairn.table_of(&schema::GROUP_CHATS).partitions().await;
    assert_eq!(left, [format!("MEMBERSHIPS#{}", chat.ann.id)]);
}

async fn deletion_and_hand_over_at_once_leave_no_deleted_owner() {
    let chat =
        Chat::with(Setup { limits: vec![("communities", 1000), ("groupChats", 1000)], ..Setup::of("chat") }).await;
    for round in 0..sized(4, 100) {
        let dan = chat.member(Box::leak(format!("dan{round}").into_boxed_str())).await;
        let [community, group] = shared(&chat.ann, &dan).await;
        let (deletion, founder, owner) = tokio::join!(
            dan.user.delete("/chat/me").into_future(),
            chat.ann.user.patch(&community, json!({ "founderId": dan.id })).into_future(),
            chat.ann.user.patch(&group, json!({ "ownerId": dan.id })).into_future(),
        );
        assert!([202, 409].contains(&deletion.status), "{}", deletion.told());
        for hand_over in [founder, owner] {
            assert!([200, 409, 422].contains(&hand_over.status), "{}", hand_over.told());
            assert!(deletion.status != 202 || hand_over.status != 200, "a deleted user owns: {}", hand_over.told());
        }
    }
}

async fn hand_over_is_refused_whose_new_owner_is_deleted_meanwhile() {
    let chat = Chat::new().await;
    let [community, group] = shared(&chat.ann, &chat.bob).await;
    let mut held = Vec::new();
    for (path, member) in [(&community, "founderId"), (&group, "ownerId")] {
        held.push(chat.held(TRANSACTIONS, Method::PATCH, path, Some(json!({ member: chat.bob.id }))).await);
    }
    chat.bob.user.delete("/chat/me").await.is(202);
    for (stopper, hand_over) in held {
        stopper.resume();
        assert_eq!(hand_over.await.unwrap(), 422);
    }
}

async fn deletion_is_refused_whose_user_becomes_a_founder_meanwhile() {
    let chat = Chat::new().await;
    let [community, _] = shared(&chat.bob, &chat.ann).await;
    let (stopper, deletion) = chat.held(TRANSACTIONS, Method::DELETE, "/chat/me", None).await;
    chat.bob.user.patch(&community, json!({ "founderId": chat.ann.id })).await.is(200);
    stopper.resume();
    assert_eq!(deletion.await.unwrap(), 409);
    chat.ann.user.get("/chat/me").await.is(200);
}

async fn community_is_not_handed_over_to_a_deleted_member() {
    let chat = Chat::new().await;
    let [community, group] = shared(&chat.ann, &chat.bob).await;
    // The job that makes the deleted user leave has not begun.
    let table = chat.cairn.table_of(&schema::USERS);
    let key = format!("USER#{}", chat.bob.id);
    let mut user = table.items().await.into_iter().find(|item| item["pk"].as_s() == Ok(&key)).unwrap();
    user.insert("DeletedAt".to_owned(), table::item::text("2026-03-01T10:00:00.000Z"));
    table.put(user).await;
    let founder = chat.ann.user.patch(&community, json!({ "founderId": chat.bob.id })).await;
    founder.refused(422, "unprocessable").at(&["/founderId"]);
    let owner = chat.ann.user.patch(&group, json!({ "ownerId": chat.bob.id })).await;
    owner.refused(422, "unprocessable").at(&["/ownerId"]);
}

async fn deleted_user_is_refused_and_cannot_come_back() {
    let chat = Chat::new().await;
    let accepted = chat.ann.user.call(Method::DELETE, "/chat/me").await.is(202);
    for path in ["/chat/me", "/chat/me/communities"] {
        chat.ann.user.get(path).await.refused(403, "banned");
    }
    chat.ann.user.call(Method::DELETE, "/chat/me").await.refused(403, "banned");
    chat.ann.user.post("/chat/me/export", json!({})).await.refused(403, "banned");
    let body = json!({ "kind": "person", "targetId": chat.ann.id, "reason": "spam" });
    chat.bob.user.post("/chat/reports", body).await.refused(404, "not-found");
    succeeded(&chat, &chat.ann.user, accepted.header("location"), &[RUN_JOBS]).await;
    chat.ann.user.get("/chat/me").await.refused(403, "banned");
    chat.bob.user.get(accepted.header("location")).await.refused(404, "not-found");
}

async fn deleted_former_founder_leaves_the_picture_of_the_community() {
    let chat = Chat::new().await;
    let community = chat.ann.creates_community().await;
    let path = format!("/chat/communities/{community}");
    for kind in ["communityAvatar", "communityCover"] {
        let new = json!({ "kind": kind, "communityId": community });
        assert_eq!(upload(&chat.ann.user, new, &png(40, 40, [1, 2, 3, 255])).await["status"], "ready");
    }
    chat.bob.joins_community(&community).await.is(201);
    let handed = chat.ann.user.patch(&path, json!({ "founderId": chat.bob.id })).await.is(200);
    let accepted = chat.ann.user.call(Method::DELETE, "/chat/me").await.is(202);
    succeeded(&chat, &chat.ann.user, accepted.header("location"), &[RUN_JOBS]).await;
    for url in ["avatarURL", "coverPhotoURL"] {
        served(&chat.cairn, handed.text(url)).await;
    }
    let live = chat.cairn.table_of(&schema::LIVE).partitions().await;
    assert!(!live.contains(&format!("USER#{}", chat.ann.id)), "{live:?}");
}

async fn picture_that_is_stored_while_its_user_is_deleted_is_removed() {
    let without = vec![RUN_JOB, RUN_JOBS];
    let chat = Chat::with(Setup { without, ..Chat::setup() }).await;
    let other = upload(&chat.bob.user, json!({ "kind": "avatar" }), &png(20, 20, [1, 2, 3, 255])).await;
    let awaited = chat.ann.user.post("/chat/pictures", json!({ "kind": "avatar", "bytes": 10 })).await.is(201);
    let accepted = chat.ann.user.call(Method::DELETE, "/chat/me").await.is(202);
    chat.cairn.event("chat", RUN_JOBS, &json!({})).await.unwrap();
    assert_eq!(listed_pictures(&chat).await, ["avatar"], "that of bob");
    // The function that stores the picture had read the item before.
    let stored = objects(&chat.cairn, "pictures");
    for file in &stored {
        let late = file.replace(other.text("id"), awaited.text("id"));
        std::fs::create_dir_all(Path::new(&late).parent().unwrap()).unwrap();
        std::fs::copy(file, late).unwrap();
    }
    assert_eq!((stored.len(), objects(&chat.cairn, "pictures").len()), (2, 4));
    succeeded(&chat, &chat.ann.user, accepted.header("location"), &[RUN_JOBS]).await;
    assert_eq!(objects(&chat.cairn, "pictures"), stored);
}

async fn deleted_user_gets_no_notification_and_no_feed() {
    let chat = Chat::without_search().await;
    let person = Person { roles: &["chat-admin"], ..Person::new("root") };
    let admin = chat.cairn.person("administrator", person).await;
    admin.get("/chat/me").await.is(200);
    private_chat(&chat.bob, &chat.ann).await;
    let body = json!({ "kind": "person", "targetId": chat.cy.id, "reason": "spam" });
    let report = id(&chat.ann.user.post("/chat/reports", body).await.is(201));
    chat.cairn.caught_up().await;
    let feed = format!("user/{}", chat.ann.id);
    let of_feed = || async {
        let live = chat.cairn.table_of(&schema::LIVE).partitions().await;
        live.into_iter().filter(|partition| partition.ends_with(&feed)).collect::<Vec<_>>()
    };
    assert!(of_feed().await.len() > 1);
    let accepted = chat.ann.user.call(Method::DELETE, "/chat/me").await.is(202);
    succeeded(&chat, &chat.ann.user, accepted.header("location"), &[RUN_JOBS]).await;
    chat.cairn.caught_up().await;
    let settled = admin.post(&format!("/chat/reports/{report}/settle"), json!({ "status": "dismissed" })).await;
    settled.is(200);
    chat.cairn.caught_up().await;
    let partitions = chat.cairn.table_of(&schema::NOTIFICATIONS).partitions().await;
    assert!(!partitions.iter().any(|partition| partition.ends_with(&chat.ann.id)), "{partitions:?}");
    assert_eq!(of_feed().await, Vec::<String>::new());
}

async fn removed_picture_is_gone() {
    let chat = Chat::new().await;
    let community = chat.ann.creates_community().await;
    for (path, new) in [
        ("/chat/me".to_owned(), json!({ "kind": "avatar" })),
        (format!("/chat/communities/{community}"), json!({ "kind": "communityAvatar", "communityId": community })),
    ] {
        let ready = upload(&chat.ann.user, new, &png(40, 40, [1, 2, 3, 255])).await;
        assert_eq!(chat.ann.user.get(&path).await.is(200)["avatarURL"], ready["large"]);
        chat.ann.user.patch(&path, json!({ "avatarURL": null })).await.is(200);
        chat.visitor.get(ready.text("large")).await.refused(404, "not-found");
        // The item of a community's picture expires.
        if path == "/chat/me" {
            chat.ann.user.get(&format!("/chat/me/pictures/{}", id(&ready))).await.refused(404, "not-found");
        }
    }
    assert_eq!(objects(&chat.cairn, "pictures"), Vec::<String>::new());
    assert_eq!(listed_pictures(&chat).await, ["communityAvatar"]);
}

/// Returns the kinds of the pictures that have an item.
async fn listed_pictures(chat: &Chat) -> Vec<String> {
    let items = chat.cairn.table_of(&schema::LIVE).items().await;
    let pictures = items.iter().filter(|item| item["sk"].as_s().unwrap().starts_with("PICTURE#"));
    pictures.map(|item| item["Kind"].as_s().unwrap().clone()).collect()
}

async fn user_who_is_deleted_while_joining_becomes_no_member() {
    let chat = Chat::without_stream_readers().await;
    let community = chat.bob.creates_community().await;
    let path = format!("/chat/communities/{community}");
    let (stopper, join) = chat.held(WRITES, Method::PUT, &format!("{path}/members/me"), None).await;
    chat.ann.user.call(Method::DELETE, "/chat/me").await.is(202);
    stopper.resume();
    assert_eq!(join.await.unwrap(), 403);
    assert_eq!(chat.bob.user.get(&path).await.is(200)["numMembers"], 1);
}

/// The deletion of a community takes away its members last. This one is marked only, so that it takes as long as the test
/// wants.
async fn user_is_deleted_after_a_community_that_is_being_deleted() {
    let chat = Chat::without_search().await;
    let (other, deleted) = (chat.bob.creates_community().await, chat.bob.creates_community().await);
    for community in [&other, &deleted] {
        chat.ann.joins_community(community).await.is(201);
    }
    let communities = chat.cairn.table_of(&schema::COMMUNITIES);
    let pk = format!("COMMUNITY#{deleted}");
    let mut community = communities.get(&pk, &pk).await.unwrap();
    community.insert("DeletingAt".to_owned(), table::item::text("2026-01-01T00:00:00.000Z"));
    communities.put(community).await;
    let accepted = chat.ann.user.call(Method::DELETE, "/chat/me").await.is(202);
    for _ in 0..120 {
        chat.cairn.clock.advance(Duration::from_secs(6));
        let _ = chat.cairn.event("chat", RUN_JOBS, &json!({})).await;
    }
    assert_eq!(chat.bob.user.get(&format!("/chat/communities/{other}")).await.is(200)["numMembers"], 1);
    assert_eq!(chat.ann.user.get(accepted.header("location")).await.is(200)["status"], "running");
    communities.delete(&pk, &format!("USER#{}", chat.ann.id)).await;
    succeeded(&chat, &chat.ann.user, accepted.header("location"), &[RUN_JOBS]).await;
}

async fn files_that_a_stopped_update_has_left_are_removed() {
    let chat = Chat::without_search().await;
    let community = chat.ann.creates_community().await;
    let of_community = json!({ "kind": "communityAvatar", "communityId": community });
    for new in [json!({ "kind": "avatar" }), of_community] {
        assert_eq!(upload(&chat.ann.user, new, &png(40, 40, [1, 2, 3, 255])).await["status"], "ready");
    }
    let (user, community) = (format!("USER#{}", chat.ann.id), format!("COMMUNITY#{community}"));
    for (table, pk, sk) in [(&schema::USERS, &user, ""), (&schema::COMMUNITIES, &community, community.as_str())] {
        let table = chat.cairn.table_of(table);
        let mut item = table.get(pk, sk).await.unwrap();
        item.remove("AvatarURL").unwrap();
        table.put(item).await;
    }
    chat.cairn.caught_up().await;
    assert_eq!(objects(&chat.cairn, "pictures"), Vec::<String>::new());
    assert_eq!(listed_pictures(&chat).await, ["communityAvatar"]);
}
