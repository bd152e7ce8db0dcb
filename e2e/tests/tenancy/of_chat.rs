//! The stage of chat, whose people see what they are members of.

use local::Served;

use super::stage::{Parts, Stage};
use crate::chat::stage::Chat;

pub async fn stage(served: &'static Served) -> Stage {
    let Chat { cairn, ann, bob, .. } = Chat::new().await;
    cairn.caught_up().await;
    cairn.engines().wind_down();
    let parts = Parts {
        principals: vec![("member", ann.user), ("stranger", bob.user)],
        expired: ("ann", &[]),
        things: Vec::new(),
        texts: Vec::new(),
        outsiders: &["none", "expired", "stranger"],
        insiders: &[],
        others: "member",
        bodies: Vec::new(),
        word: "moss",
        removal: None,
    };
    Stage::new(cairn, served, parts).await
}
