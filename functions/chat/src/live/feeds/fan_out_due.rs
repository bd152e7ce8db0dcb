//! The fan-out of a feed to its followers past the first. The feed's head keeps what is due, and what has begun with
//! more than its message says, until that is delivered.

use table::item::{number, text};
use table::{Access, AccessPattern, Action, Backoff, Changes, Condition, Error};

use super::Head;
use crate::access::LIVE as ON_LIVE;
use crate::keys::FeedHeadKey;
use crate::live::feed::Feed;
use crate::names::Millisecond;
use crate::schema::LIVE;

/// The last number of a feed, and when its many followers are served.
pub const FAN_OUT_DUE: AccessPattern = AccessPattern::new("fanOutDue", &[ON_LIVE.get(), ON_LIVE.update()]);

const FANOUT_DUE: &str = "FanoutDue";
const FANOUT_FROM: &str = "FanoutFrom";
const FANOUT_AFTER: &str = "FanoutAfter";
const BEGUN_FROM: &str = "BegunFrom";
const BEGUN_AFTER: &str = "BegunAfter";

/// How long after it was due a fan-out counts as lost.
const FANOUT_LOST_MILLIS: i64 = 5000;

/// What a fan-out to the followers past the first delivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The first number.
    pub from: u64,
    /// The sort key of the subscription after which the followers begin.
    pub after: String,
}

/// A fan-out that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The number of the last event.
    pub head: u64,
    pub rest: Rest,
    /// Whether the head keeps it, because its message says less.
    pub is_kept: bool,
}

impl Rest {
    /// Returns what contains both.
    fn with(self, other: Self) -> Self {
        Self { from: self.from.min(other.from), after: self.after.min(other.after) }
    }
}

impl Head {
    /// Returns what the fan-out that is due delivers.
    fn due(&self) -> Option<Rest> {
        let (from, after) = (self.fanout_from?, self.fanout_after.clone()?);
        (self.fanout_due > 0).then_some(Rest { from, after })
    }

    /// Returns what a fan-out that has begun delivers beyond its message.
    fn begun(&self) -> Option<Rest> {
        Some(Rest { from: self.begun_from?, after: self.begun_after.clone()? })
    }

    /// Returns the conditions that hold until another writer changes the fan-out that is due or the one that has begun.
    fn same_fan_outs(&self) -> [Condition; 5] {
        let same =
            |name, value: Option<_>| value.map_or(Condition::Absent(name), |value| Condition::Equals(name, value));
        [
            Condition::Equals(FANOUT_DUE, number(self.fanout_due)),
            same(FANOUT_FROM, self.fanout_from.map(number)),
            same(FANOUT_AFTER, self.fanout_after.clone().map(text)),
            same(BEGUN_FROM, self.begun_from.map(number)),
            same(BEGUN_AFTER, self.begun_after.clone().map(text)),
        ]
    }
}

/// Marks a fan-out as due. Returns false if one is due already: it then delivers this as well, with all events up to its
/// start. Batches overlap, so a later one may not have begun with the first of their events, nor with the same followers.
pub async fn set_fan_out_due(access: &Access, feed: Feed, rest: &Rest) -> Result<bool, Error> {
    let mut backoff = Backoff::new();
    loop {
        let Some(head) = load(access, feed).await? else { return Ok(false) };
        let now = Millisecond::now(&access.engines().clock).millis();
        let is_due = head.fanout_due > now - FANOUT_LOST_MILLIS;
        let both = head.due().map_or_else(|| rest.clone(), |due| due.with(rest.clone()));
        if is_due && head.due().as_ref() == Some(&both) {
            return Ok(false);
        }
        let due = Changes::new()
            .set(FANOUT_DUE, number(if is_due { head.fanout_due } else { now }))
            .set(FANOUT_FROM, number(both.from))
            .set(FANOUT_AFTER, text(both.after));
        match change_fan_out(access, feed, &head, due).await {
            Ok(()) => return Ok(!is_due),
            Err(Error::NotFound) => return Ok(false),
            Err(Error::ConditionFailed(_)) if backoff.wait().await => {}
            Err(error) => return Err(error),
        }
    }
}

/// Marks no fan-out as due, so that the next event makes one due again. Returns the number of the last event, read after
/// that, and what is to be delivered: this with what became due since and what an earlier fan-out has not delivered.
///
/// The message says only the first of these, and it may be delivered again. So the head keeps the others until
/// [`finish_fan_out`].
pub async fn begin_fan_out(access: &Access, feed: Feed, rest: Rest) -> Result<Option<Begun>, Error> {
    let mut backoff = Backoff::new();
    loop {
        let Some(before) = load(access, feed).await? else { return Ok(None) };
        let all = [before.due(), before.begun()].into_iter().flatten().fold(rest.clone(), Rest::with);
        let none = Changes::new().set(FANOUT_DUE, number(0)).remove(FANOUT_FROM).remove(FANOUT_AFTER);
        let is_kept = all != rest;
        let changes = match is_kept {
            true => none.set(BEGUN_FROM, number(all.from)).set(BEGUN_AFTER, text(all.after.clone())),
            false => none.remove(BEGUN_FROM).remove(BEGUN_AFTER),
        };
        match change_fan_out(access, feed, &before, changes).await {
            Ok(()) => return Ok(head(access, feed).await?.map(|head| Begun { head, rest: all, is_kept })),
            Err(Error::NotFound) => return Ok(None),
            Err(Error::ConditionFailed(_)) if backoff.wait().await => {}
            Err(error) => return Err(error),
        }
    }
}

/// Removes from the head what a fan-out has delivered, unless another one that delivers more has begun since.
pub async fn finish_fan_out(access: &Access, feed: Feed, begun: &Begun) -> Result<(), Error> {
    if !begun.is_kept {
        return Ok(());
    }
    let delivered = Changes::new().remove(BEGUN_FROM).remove(BEGUN_AFTER);
    let same = [
        Condition::Equals(BEGUN_FROM, number(begun.rest.from)),
        Condition::Equals(BEGUN_AFTER, text(begun.rest.after.clone())),
    ];
    match access.write(&FAN_OUT_DUE, Action::update(&LIVE, FeedHeadKey { feed }, delivered).when_all(same)).await {
        Ok(_) | Err(Error::NotFound | Error::ConditionFailed(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Changes the fan-outs of a feed unless another writer has changed them since the head was read.
async fn change_fan_out(access: &Access, feed: Feed, head: &Head, changes: Changes) -> Result<(), Error> {
    let action = Action::update(&LIVE, FeedHeadKey { feed }, changes).when_all(head.same_fan_outs());
    access.write(&FAN_OUT_DUE, action).await.map(|_| ())
}

/// Returns the number of the last event of a feed, strongly consistent.
pub async fn head(access: &Access, feed: Feed) -> Result<Option<u64>, Error> {
    Ok(load(access, feed).await?.map(|head| head.n))
}

async fn load(access: &Access, feed: Feed) -> Result<Option<Head>, Error> {
    let stored = access.table(&FAN_OUT_DUE, &LIVE).get_consistent(FeedHeadKey { feed }).await?;
    stored.map(|stored| stored.read()).transpose()
}
