//! Many people who join one group chat at once.

use std::cell::Cell;

use ::chat::schema::GROUP_CHATS;
use futures::future::join_all;
use local::identity::Person;
use serde_json::json;

use super::stage::{Chat, Member, id};
use crate::harness::table::Item;
use crate::harness::{Cairn, sized};
use crate::tests;

tests! { chat_herd:
    twelve_joiners_of_ten_seats_fill_the_chat,
    #[long] crowd_of_joiners_fills_the_chat,
}

/// The users of this many people, who are members of the community.
async fn crowd(cairn: &Cairn, community: &str, size: usize) -> Vec<Member> {
    let person = async |number: usize| {
        let name: &'static str = format!("joiner{number}").leak();
        let user = cairn.person(name, Person::new(name)).await;
        let member = Member { id: id(&user.get("/chat/me").await.is(200)), user };
        member.joins_community(community).await.is(201);
        member
    };
    let mut crowd = Vec::new();
    for numbers in (0..size).collect::<Vec<_>>().chunks(10) {
        crowd.extend(join_all(numbers.iter().map(|number| person(*number))).await);
    }
    crowd
}

/// Joins, and repeats what conflicts. Returns whether the joiner got a seat.
async fn joins(member: &Member, chat: &str) -> bool {
    loop {
        let answer = member.joins_group_chat(chat).await;
        match (answer.status, answer["type"].as_str()) {
            (201, _) => return true,
            (409, Some("urn:cairn:problem:chat-full")) => return false,
            (409, Some("urn:cairn:problem:conflict")) => {}
            _ => panic!("{}", answer.told()),
        }
    }
}

async fn fill(joiners: usize, capacity: usize, rounds: usize) {
    let chat = Chat::new().await;
    let community = chat.ann.creates_community().await;
    let crowd = crowd(&chat.cairn, &community, joiners).await;
    for _ in 0..rounds {
        let group = chat.ann.creates_group_chat(&community, json!({ "name": "Bogs", "capacity": capacity })).await;
        let path = format!("/chat/groupchats/{group}");
        let all = join_all(crowd.iter().map(|member| joins(member, &group)));
        let reads = Cell::new(0);
        let reader = async {
            loop {
                let read = chat.ann.user.get(&path).await.is(200);
                assert!(read["numMembers"].as_u64().unwrap() <= capacity as u64, "{}", read.told());
                reads.set(reads.get() + 1);
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        let seats = tokio::select! {
            seats = all => seats,
            () = reader => unreachable!(),
        };
        assert!(reads.get() > 0);
        // The owner has one seat.
        assert_eq!(seats.iter().filter(|seated| **seated).count(), capacity - 1);
        assert_eq!(chat.ann.user.get(&path).await.is(200)["numMembers"], capacity);
        let table = chat.cairn.table_of(&GROUP_CHATS);
        let is_member = |item: &Item| table.name_of(item).starts_with(&format!("GROUPCHAT#{group}#USER#"));
        assert_eq!(table.items().await.iter().filter(|item| is_member(item)).count(), capacity);
    }
}

async fn twelve_joiners_of_ten_seats_fill_the_chat() {
    fill(12, 10, 2).await;
}

async fn crowd_of_joiners_fills_the_chat() {
    fill(sized(60, 200), sized(30, 100), sized(1, 50)).await;
}
