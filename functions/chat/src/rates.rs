//! Rate limits of users and networks. A counter begins with the first action of a period and expires with it.

use std::net::Ipv4Addr;

use http::header;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use table::access::AccessPattern;
use table::item::number;
use table::part::Escaped;
use table::{Action, Changes, Condition, EntityKey, Error, Key, Limit};
use web::{Context, Kind, Problem, problem};

use crate::access::LIVE as ON_LIVE;
use crate::keys::RateKey;
use crate::schema::LIVE;

/// What people behind one address share, and what one person can change within: the first 24 bits of an IPv4 address.
pub const NETWORK: Ipv4Addr = Ipv4Addr::new(255, 255, 255, 0);

/// The counters of limits.
pub const COUNT: AccessPattern = AccessPattern::new("count", &[ON_LIVE.update(), ON_LIVE.put()]);

/// Failed logins with one username or address, whether it is known or not, from one network. A login counts as failed until
/// its password proves right.
pub const LOGIN_FROM_NETWORK: Limit = Limit::new("logIn", 10, 900);

/// Failed logins with one username or address from all networks.
pub const LOGIN: Limit = Limit::new("logInAnywhere", 50, 900);

/// Wrong current passwords of one user.
pub const PASSWORDS: Limit = Limit::new("passwords", 10, 900);

/// Registrations from one network.
pub const REGISTRATIONS: Limit = Limit::new("register", 10, 3600);

/// Communities that a user creates.
pub const COMMUNITIES: Limit = Limit::new("communities", 10, 86_400);

/// Group chats that a user creates.
pub const GROUP_CHATS: Limit = Limit::new("groupChats", 50, 86_400);

/// Requests to join group chats.
pub const REQUESTS: Limit = Limit::new("requests", 20, 3600);

/// Tickets of one user, each of which opens one connection.
pub const TICKETS: Limit = Limit::new("tickets", 30, 60);

/// Searches of a user.
pub const SEARCHES: Limit = Limit::new("searches", 60, 60);

/// Messages that a user sends and edits, and the user's reactions.
pub const SENDS: Limit = Limit::new("sends", 30, 10);

/// Private chats that a user starts.
pub const PRIVATE_CHATS: Limit = Limit::new("privateChats", 20, 3600);

/// Pictures that a user uploads, each of which is decoded and scaled.
pub const PICTURES: Limit = Limit::new("pictures", 20, 3600);

/// Exports of a user, each of which reads all chats of the user.
pub const EXPORTS: Limit = Limit::new("exports", 5, 86_400);

/// Reports of a user.
pub const REPORTS: Limit = Limit::new("reports", 20, 3600);

/// All limits, in the order of the docs.
pub const ALL: &[Limit] = &[
    LOGIN_FROM_NETWORK,
    LOGIN,
    PASSWORDS,
    REGISTRATIONS,
    COMMUNITIES,
    GROUP_CHATS,
    REQUESTS,
    TICKETS,
    SEARCHES,
    SENDS,
    PRIVATE_CHATS,
    PICTURES,
    EXPORTS,
    REPORTS,
];

const NUM: &str = "Num";

/// A counter as the table stores it.
#[derive(Debug, Serialize, Deserialize)]
struct Counter {
    #[serde(rename = "Num")]
    num: u32,
    /// The end of the period in seconds since 1970.
    expires: i64,
}

/// Counts one more, or returns 429 `too-many-requests` with `Retry-After`. The route has the pattern [`COUNT`].
pub async fn count(cx: &Context, limit: &Limit, who: &[&str]) -> Result<(), Problem> {
    count_as(cx, limit, who, problem::TOO_MANY_REQUESTS).await
}

/// Counts one more, or returns a problem of this kind with `Retry-After`.
pub async fn count_as(cx: &Context, limit: &Limit, who: &[&str], kind: Kind) -> Result<(), Problem> {
    let key = key(limit, who)?;
    let most = limit.most(&cx.engines().config);
    cx.retry(|| async {
        let clock = &cx.engines().clock;
        let room = Condition::AtMost(NUM, number(most.saturating_sub(1)));
        let add = Action::update(&LIVE, key.clone(), Changes::new().add(NUM, 1)).when(room);
        match cx.access().write(&COUNT, add).await {
            Ok(_) => Ok(()),
            Err(Error::NotFound) => {
                let counter = Counter { num: 1, expires: clock.seconds() + i64::from(limit.seconds) };
                match cx.access().write(&COUNT, Action::create(&LIVE, key.clone(), &counter)?).await {
                    Ok(_) => Ok(()),
                    Err(Error::Exists) => Err(Problem::lost_race()),
                    Err(error) => Err(error.into()),
                }
            }
            Err(error) => match error.failed(0).and_then(|failed| failed.item.clone()) {
                Some(item) => {
                    let counter: Counter = table::item::from_item(item)?;
                    Err(exceeded(kind, counter.expires - clock.seconds()))
                }
                None => Err(error.into()),
            },
        }
    })
    .await
}

/// Takes back what was counted, for something that turned out not to count.
pub async fn give_back(cx: &Context, limit: &Limit, who: &[&str]) -> Result<(), Problem> {
    let one = Condition::Above(NUM, number(0));
    let subtract = Action::update(&LIVE, key(limit, who)?, Changes::new().add(NUM, -1)).when(one);
    match cx.access().write(&COUNT, subtract).await {
        // The period has ended meanwhile.
        Ok(_) | Err(Error::NotFound | Error::ConditionFailed(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn exceeded(kind: Kind, seconds: i64) -> Problem {
    let seconds = seconds.max(1);
    kind.because(format!("This was done too often. Retry in {seconds} s."))
        .header(header::RETRY_AFTER, seconds.to_string())
}

/// Returns the key of a counter. It does not reveal who is counted, since a login may be an address.
fn key(limit: &Limit, who: &[&str]) -> Result<Key, Problem> {
    let mut hash = Sha256::new();
    for part in who {
        // The length keeps two parts from being read as one.
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    let who: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let part = |text: String| Escaped::new(text).map_err(Problem::internal);
    Ok(RateKey { what: part(limit.name.to_owned())?, who: part(who)? }.key())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_different_people_or_limits_differ() {
        let counter = |limit, who: &[&str]| key(limit, who).unwrap();
        assert_ne!(counter(&LOGIN, &["ann", "b"]), counter(&LOGIN, &["an", "nb"]));
        assert_ne!(counter(&LOGIN, &["ann"]), counter(&PASSWORDS, &["ann"]));
        assert_eq!(counter(&LOGIN, &["ann"]), counter(&LOGIN, &["ann"]));
    }
}
