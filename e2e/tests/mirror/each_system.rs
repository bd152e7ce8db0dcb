//! Direct writes to the tables of each system, whose roles differ. The items are stamped, indexed, quarantined and
//! indexed again, by the mirror and by a deployment.

use std::collections::BTreeSet;

use ::chat::communities::Community;
use ::chat::keys::{CommunityKey, UserKey, message_key};
use ::chat::messages::Message;
use ::chat::names::{ChatId, CommunityId, GroupChatId, MessageId, PrivateChatId, UserId};
use ::chat::schema::{COMMUNITIES, GROUP_CHATS, PRIVATE_CHATS, USERS};
use ::mirror::{CREATE_INDEX, DifferenceKind, Marker};
use ::shelf::books::Book;
use ::shelf::schema::{BookId, BookKey, SHELF};
use aws_sdk_dynamodb::types::AttributeValue;
use local::systems;
use reqwest::Method;
use serde_json::json;
use table::{EntityKey, Key, item};

use crate::agencies::stage::Stage;
use crate::archive::records::Register;
use crate::archive::stage::{Archive, id};
use crate::audit::{Index, audit, counts, mark, unmark};
use crate::chat::stage::Chat;
use crate::harness::proxy::Proxy;
use crate::harness::table::{Item, Table, stored, text};
use crate::harness::{Cairn, Setup, engines};
use crate::tests;
use crate::tracker::fixture::Fixture;

tests! { mirror_of_each_system:
    agencies_items_written_past_the_platform_are_indexed_or_quarantined,
    tracker_items_written_past_the_platform_are_indexed_or_quarantined,
    archive_items_written_past_the_platform_are_indexed_or_quarantined,
    archive_places_written_past_the_platform_are_indexed_or_quarantined,
    archive_records_written_past_the_platform_are_indexed_or_quarantined,
    shelf_items_written_past_the_platform_are_indexed_or_quarantined,
    chat_communities_written_past_the_platform_are_indexed_or_quarantined,
    chat_messages_written_past_the_platform_are_indexed_or_quarantined,
    chat_private_messages_written_past_the_platform_are_indexed_or_quarantined,
    chat_users_written_past_the_platform_are_indexed_or_quarantined,
    agencies_deployment_indexes_earlier_items,
    tracker_deployment_indexes_earlier_items,
    archive_deployment_indexes_earlier_items,
    shelf_deployment_indexes_earlier_items,
    #[long] chat_deployment_indexes_earlier_communities,
    #[long] chat_deployment_indexes_earlier_messages,
    #[long] chat_deployment_indexes_earlier_private_messages,
    #[long] chat_deployment_indexes_earlier_users,
    agencies_audit_repairs_search,
    tracker_audit_repairs_search,
    archive_audit_repairs_search,
    shelf_audit_repairs_search,
    #[long] chat_audit_repairs_communities,
    chat_audit_repairs_messages,
    #[long] chat_audit_repairs_private_messages,
    #[long] chat_audit_repairs_users,
}

/// A system with its fixture.
struct Shown {
    system: &'static str,
    cairn: Cairn,
    table: Table,
    /// Three items that are searchable.
    items: [Item; 3],
    /// The attribute that is searched, and its field. The field may have the folded text.
    name: (&'static str, &'static str),
}

async fn agencies(search: Option<String>) -> Shown {
    let stage = Stage::with(Setup { search, ..Setup::of("agencies") }).await;
    let keys = ["AGENCY#n", "AGENCY#s", "AGENCY#c"];
    Shown::of("agencies", stage.table(), stage.cairn, keys.map(|key| (key, key)), ("name", "name")).await
}

async fn tracker(search: Option<String>) -> Shown {
    let Fixture { cairn, .. } = Fixture::with(Setup { search, ..Setup::of("tracker") }).await;
    let table = cairn.table_of(&::tracker::schema::TRACKER);
    let keys = ["issue-020e", "issue-67d1", "issue-af34"];
    Shown::of("tracker", table, cairn, keys.map(|pk| (pk, "project-35e9")), ("Name", "name")).await
}

async fn archive(search: Option<String>) -> Shown {
    let archive = Archive::with(Setup { search, ..Setup::of("archive") }).await;
    let category = archive.category("Births").await;
    let collection = archive.collection("Llanfair", &[&category]).await;
    let mut posts = Vec::new();
    for name in ["Amber", "Birch", "Cedar"] {
        posts.push(archive.post(name, &collection).await);
    }
    let keys = [0, 1, 2].map(|at| (posts[at].as_str(), "post"));
    Shown::of("archive", archive.table(), archive.cairn, keys, ("name", "name")).await
}

async fn archive_places() -> Shown {
    let archive = Archive::new().await;
    let mut places = Vec::new();
    for name in ["Amber", "Birch", "Cedar"] {
        places.push(id(&archive.administrator.post("/archive/places", json!({ "name": name })).await.is(201)));
    }
    let sort_keys = ["place#am", "place#bi", "place#ce"];
    let keys = [0, 1, 2].map(|at| (places[at].as_str(), sort_keys[at]));
    Shown::of("archive", archive.table(), archive.cairn, keys, ("name", "placeName")).await
}

async fn archive_records() -> Shown {
    let register = Register::new().await;
    let of_rows = [1, 2, 3].map(|row| register.key(row));
    let keys = [0, 1, 2].map(|at| (of_rows[at].0.as_str(), of_rows[at].1.as_str()));
    let Register { archive, .. } = register;
    Shown::of("archive", archive.table(), archive.cairn, keys, ("household", "household")).await
}

async fn shelf(search: Option<String>) -> Shown {
    let cairn = Cairn::with(Setup { search, ..Setup::of("shelf") }).await;
    let books = ["Amber", "Birch", "Cedar"].map(|title| Book {
        id: BookId::new(),
        title: title.to_owned(),
        author: "Ann Field".to_owned(),
    });
    let table = cairn.table_of(&SHELF);
    table.put_all(books.iter().map(|book| stored(&SHELF, &BookKey { book: book.id }.key(), book)).collect()).await;
    let ids = books.map(|book| book.id.to_string());
    let keys = [0, 1, 2].map(|at| (BookKey::PK, ids[at].as_str()));
    Shown::of("shelf", table, cairn, keys, ("title", "title")).await
}

/// Chat, whose tables all have the same attributes as keys.
async fn chat(search: Option<String>, table: &'static table::schema::Table) -> Shown {
    let chat = Chat::with(Setup { search, ..Setup::of("chat") }).await;
    let ann: UserId = chat.ann.id.parse().unwrap();
    let (written, name) = match table.name {
        "chat-Users" => (Vec::new(), ("Name", "name")),
        "chat-Communities" => (["Amber", "Birch", "Cedar"].map(|name| community(name, ann)).into(), ("Name", "name")),
        "chat-GroupChats" => {
            let chat = GroupChatId::at(1_772_359_200_000).into();
            (["Amber", "Birch", "Cedar"].map(|text| message(table, chat, text, ann)).into(), ("Content", "text"))
        }
        _ => {
            let chat = PrivateChatId::at(1_772_359_200_000).into();
            (["Amber", "Birch", "Cedar"].map(|text| message(table, chat, text, ann)).into(), ("Content", "text"))
        }
    };
    let direct = chat.cairn.table_of(table);
    direct.put_all(written.clone()).await;
    let mut keys: Vec<Key> = written.iter().map(|item| item::key(table, item).unwrap()).collect();
    if keys.is_empty() {
        let people = [&chat.ann, &chat.bob, &chat.cy];
        keys = people.map(|member| UserKey { user: member.id.parse().unwrap() }.key()).into();
    }
    let keys = [0, 1, 2].map(|at: usize| (keys[at].pk.as_str(), keys[at].sk.as_deref().unwrap_or_default()));
    Shown::of("chat", direct, chat.cairn, keys, name).await
}

fn community(name: &str, founder: UserId) -> Item {
    let id = CommunityId::at(1_772_359_200_000);
    let community = Community {
        id,
        name: name.to_owned(),
        description: String::new(),
        topic: "walking".to_owned(),
        avatar_url: None,
        cover_photo_url: None,
        location: None,
        country_key: None,
        place_key: None,
        founder,
        moderators: BTreeSet::new(),
        num_members: 1,
        num_group_chats: 0,
        retention_days: None,
        created_at: id.time().to_string(),
        deleting_at: None,
        deletion_job: None,
    };
    stored(&COMMUNITIES, &CommunityKey { community: id }.key(), &community)
}

fn message(table: &'static table::schema::Table, chat: ChatId, content: &str, sender: UserId) -> Item {
    let id = MessageId::at(1_772_359_200_000);
    let mut message = Message::new(id, sender, content.to_owned());
    if let ChatId::Private(_) = chat {
        message.member_ids = BTreeSet::from([sender, UserId::at(1_772_359_200_000)]);
    }
    stored(table, &message_key(chat, id), &message)
}

impl Shown {
    async fn of(
        system: &'static str,
        table: Table,
        cairn: Cairn,
        keys: [(&str, &str); 3],
        name: (&'static str, &'static str),
    ) -> Self {
        cairn.caught_up().await;
        let items = keys.map(|(pk, sk)| {
            let table = &table;
            async move { table.present(&table.key(pk, sk)).await }
        });
        let items = futures::future::join_all(items).await.try_into().unwrap();
        Self { system, cairn, table, items, name }
    }

    /// Puts an item with this name and with this number added to its revision, or without a revision if there is no
    /// number.
    async fn put(&self, item: &Item, name: AttributeValue, later: Option<u64>) {
        let mut item = item.clone();
        item.insert(self.name.0.to_owned(), name);
        let rev: u64 = item.remove("rev").unwrap().as_n().unwrap().parse().unwrap();
        item.extend(later.map(|later| ("rev".to_owned(), AttributeValue::N((rev + later).to_string()))));
        self.table.put(item).await;
    }

    /// Returns the name with which search shows an item.
    async fn found(&self, item: &Item) -> Option<String> {
        self.cairn.caught_up().await;
        let alias = self.cairn.engines().config.search_name(self.system);
        let query = json!({ "query": { "ids": { "values": [self.table.name_of(item)] } } });
        let found = self.cairn.search_engine(Method::POST, &format!("/{alias}/_search"), &query).await;
        let hits = found["hits"]["hits"].as_array().unwrap();
        assert!(hits.len() < 2, "{found}");
        hits.first().map(|hit| hit["_source"][self.name.1].as_str().unwrap().to_owned())
    }

    async fn quarantined(&self) -> Vec<Marker> {
        self.cairn.quarantined_of(systems::named(self.system).unwrap().system).await
    }
}

async fn agencies_items_written_past_the_platform_are_indexed_or_quarantined() {
    found_or_put_aside(agencies(None).await).await;
}

async fn tracker_items_written_past_the_platform_are_indexed_or_quarantined() {
    found_or_put_aside(tracker(None).await).await;
}

async fn archive_items_written_past_the_platform_are_indexed_or_quarantined() {
    found_or_put_aside(archive(None).await).await;
}

async fn archive_places_written_past_the_platform_are_indexed_or_quarantined() {
    found_or_put_aside(archive_places().await).await;
}

async fn archive_records_written_past_the_platform_are_indexed_or_quarantined() {
    found_or_put_aside(archive_records().await).await;
}

async fn shelf_items_written_past_the_platform_are_indexed_or_quarantined() {
    found_or_put_aside(shelf(None).await).await;
}

async fn chat_communities_written_past_the_platform_are_indexed_or_quarantined() {
    found_or_put_aside(chat(None, &COMMUNITIES).await).await;
}

async fn chat_messages_written_past_the_platform_are_indexed_or_quarantined() {
    found_or_put_aside(chat(None, &GROUP_CHATS).await).await;
}

async fn chat_private_messages_written_past_the_platform_are_indexed_or_quarantined() {
    found_or_put_aside(chat(None, &PRIVATE_CHATS).await).await;
}

async fn chat_users_written_past_the_platform_are_indexed_or_quarantined() {
    found_or_put_aside(chat(None, &USERS).await).await;
}

async fn found_or_put_aside(shown: Shown) {
    let [item, ..] = &shown.items;
    // One item has the present revision, the other has none.
    for (name, later) in [("amber", Some(0)), ("birch", None)] {
        shown.put(item, text(name), later).await;
        assert_eq!(shown.found(item).await.as_deref(), Some(name));
    }
    let item = shown.table.present(item).await;
    shown.put(&item, AttributeValue::Bool(true), Some(2)).await;
    assert_eq!(shown.found(&item).await, None, "nothing stale stays visible");
    assert_eq!(shown.quarantined().await.len(), 1);
    shown.put(&item, text("cedar"), Some(4)).await;
    assert_eq!(shown.found(&item).await.as_deref(), Some("cedar"));
    assert_eq!(shown.quarantined().await, Vec::new());
    // The item is restored from a backup after its deletion, so that search has a higher version.
    shown.table.delete_item(&item).await;
    assert_eq!(shown.found(&item).await, None);
    shown.put(&item, text("elder"), Some(0)).await;
    assert_eq!(shown.found(&item).await.as_deref(), Some("elder"));
}

async fn agencies_deployment_indexes_earlier_items() {
    let proxy = Proxy::before(engines::search().await).await;
    a_deployment_finds(agencies(Some(proxy.url.clone())).await, &proxy).await;
}

async fn tracker_deployment_indexes_earlier_items() {
    let proxy = Proxy::before(engines::search().await).await;
    a_deployment_finds(tracker(Some(proxy.url.clone())).await, &proxy).await;
}

async fn archive_deployment_indexes_earlier_items() {
    let proxy = Proxy::before(engines::search().await).await;
    a_deployment_finds(archive(Some(proxy.url.clone())).await, &proxy).await;
}

async fn shelf_deployment_indexes_earlier_items() {
    let proxy = Proxy::before(engines::search().await).await;
    a_deployment_finds(shelf(Some(proxy.url.clone())).await, &proxy).await;
}

async fn chat_deployment_indexes_earlier_communities() {
    let proxy = Proxy::before(engines::search().await).await;
    a_deployment_finds(chat(Some(proxy.url.clone()), &COMMUNITIES).await, &proxy).await;
}

async fn chat_deployment_indexes_earlier_messages() {
    let proxy = Proxy::before(engines::search().await).await;
    a_deployment_finds(chat(Some(proxy.url.clone()), &GROUP_CHATS).await, &proxy).await;
}

async fn chat_deployment_indexes_earlier_private_messages() {
    let proxy = Proxy::before(engines::search().await).await;
    a_deployment_finds(chat(Some(proxy.url.clone()), &PRIVATE_CHATS).await, &proxy).await;
}

async fn chat_deployment_indexes_earlier_users() {
    let proxy = Proxy::before(engines::search().await).await;
    a_deployment_finds(chat(Some(proxy.url.clone()), &USERS).await, &proxy).await;
}

async fn a_deployment_finds(shown: Shown, proxy: &Proxy) {
    let [unstamped, poisoned, held] = &shown.items;
    shown.put(poisoned, AttributeValue::Bool(true), Some(2)).await;
    assert_eq!(shown.quarantined().await.len(), 1);
    // The mirror stops at this item.
    proxy.hold(&shown.table.name_of(held));
    shown.put(held, text("dogwood"), Some(2)).await;
    proxy.holds().await;
    shown.put(unstamped, text("elder"), None).await;
    shown.table.delete_item(held).await;
    crate::deployments::forget_state(&shown.cairn, shown.system).await;
    let answer = shown.cairn.event(shown.system, CREATE_INDEX, &json!({ "RequestType": "Create" })).await.unwrap();
    proxy.release();
    assert_eq!(answer["Status"], "SUCCESS", "{answer}");
    assert_eq!(shown.found(unstamped).await.as_deref(), Some("elder"));
    assert_eq!(shown.found(held).await, None);
    assert_eq!(shown.quarantined().await.len(), 1);
    let second = answer["Data"]["Index"].as_str().unwrap();
    assert!(second.ends_with("-000002"), "{answer}");
    shown.cairn.search_engine(Method::DELETE, &format!("/{second}"), &serde_json::Value::Null).await;
}

async fn agencies_audit_repairs_search() {
    an_audit_repairs(agencies(None).await).await;
}

async fn tracker_audit_repairs_search() {
    an_audit_repairs(tracker(None).await).await;
}

async fn archive_audit_repairs_search() {
    an_audit_repairs(archive(None).await).await;
}

async fn shelf_audit_repairs_search() {
    an_audit_repairs(shelf(None).await).await;
}

async fn chat_audit_repairs_communities() {
    an_audit_repairs(chat(None, &COMMUNITIES).await).await;
}

async fn chat_audit_repairs_messages() {
    an_audit_repairs(chat(None, &GROUP_CHATS).await).await;
}

async fn chat_audit_repairs_private_messages() {
    an_audit_repairs(chat(None, &PRIVATE_CHATS).await).await;
}

async fn chat_audit_repairs_users() {
    an_audit_repairs(chat(None, &USERS).await).await;
}

/// Damages search so that the repair of each item needs other rights.
async fn an_audit_repairs(shown: Shown) {
    let [lost, later, poisoned] = &shown.items;
    let (cairn, table) = (&shown.cairn, shown.table.table);
    let index = Index::of(cairn, shown.system);
    shown.put(poisoned, AttributeValue::Bool(true), Some(2)).await;
    assert_eq!(shown.quarantined().await.len(), 1);
    unmark(cairn, table, &item::key(table, poisoned).unwrap()).await;
    mark(cairn, table, &item::key(table, later).unwrap(), 2).await;
    index.remove(&shown.table.name_of(lost)).await;
    let id = shown.table.name_of(later);
    let (version, source) = index.get(&id).await.unwrap();
    index.put(&id, version + 11, &source).await;
    let found = &audit(cairn, shown.system).await[table.name];
    // The marker is cleared together with the document, or by itself.
    let others: Vec<_> = counts(found).into_iter().filter(|(kind, ..)| *kind != DifferenceKind::StaleMarker).collect();
    assert_eq!(
        others,
        [DifferenceKind::Lost, DifferenceKind::Stale, DifferenceKind::Unmarked].map(|kind| (kind, 1, 0))
    );
    assert!(shown.found(lost).await.is_some() && shown.found(later).await.is_some());
    assert_eq!(shown.quarantined().await.len(), 1);
    // A marker of a valid document.
    mark(cairn, table, &item::key(table, lost).unwrap(), 2).await;
    assert_eq!(counts(&audit(cairn, shown.system).await[table.name]), [(DifferenceKind::StaleMarker, 1, 0)]);
    assert_eq!(shown.quarantined().await.len(), 1);
}
