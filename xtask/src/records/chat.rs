//! A user of chat is created.

use chat::keys::UserKey;
use chat::names::UserId;
use chat::schema::USERS;
use serde_json::{Value, json};
use table::EntityKey;

use super::{Write, invalid, of, stored};

const REV: u64 = 3_534_508_800_000_000;

/// The stream records of this.
pub fn records() -> Vec<Value> {
    let Ok(user) = "019b76da-a800-7000-8000-000000000001".parse::<UserId>() else { return invalid() };
    let key = UserKey { user }.key();
    let ann = json!({ "Id": user, "Username": "ann", "Name": "Ann Field" });
    of(&USERS, &[Write { after: stored(&USERS, &key, &ann, REV), before: None, key }])
}
