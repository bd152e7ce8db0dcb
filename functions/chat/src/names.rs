//! The ids of this system, and the times that they contain.

use std::fmt::{self, Display};
use std::str::FromStr;
use std::time::Duration;

use jiff::Timestamp;
use serde_with::{DeserializeFromStr, SerializeDisplay};
use table::part::NotAPart;
use table::{Clock, KeyPart};
use uuid::{Builder, Uuid, Variant};

/// Declares the type of an id: a UUID v7 whose milliseconds are the time of its item, so that the key of an item follows
/// from its id.
macro_rules! id {
    ($(#[$attribute:meta])* $name:ident) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, SerializeDisplay, DeserializeFromStr)]
        pub struct $name(Uuid);

        impl $name {
            /// Creates an id of the present time.
            pub fn now(clock: &Clock) -> Self {
                Self::at(clock.micros().div_euclid(1000))
            }

            /// Creates an id of a time in milliseconds since 1970.
            pub fn at(millis: i64) -> Self {
                Self(uuid_at(millis))
            }

            /// Returns the time of the id.
            pub fn time(self) -> Millisecond {
                Millisecond::of(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = NotAPart;

            fn from_str(text: &str) -> Result<Self, NotAPart> {
                parse(text).map(Self)
            }
        }

        impl Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                Display::fmt(&self.0, formatter)
            }
        }

        impl KeyPart for $name {}

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                let text = utoipa::openapi::ObjectBuilder::new().schema_type(utoipa::openapi::schema::Type::String);
                text.pattern(Some(PATTERN)).into()
            }
        }

        impl utoipa::ToSchema for $name {}
    };
}

id!(
    /// The id of a user.
    UserId
);
id!(
    /// The id of a community.
    CommunityId
);
id!(
    /// The id of a group chat.
    GroupChatId
);
id!(
    /// The id of a private chat.
    PrivateChatId
);
id!(
    /// The id of a message.
    MessageId
);
id!(
    /// The id of a request to join a group chat.
    RequestId
);
id!(
    /// The id of a notification.
    NotificationId
);
id!(
    /// The id of a report about a message, a person or a community.
    ReportId
);
id!(
    /// The id of an entry in the audit log.
    AuditId
);
id!(
    /// The id of a picture.
    PictureId
);
id!(
    /// The id of a session.
    SessionId
);

impl NotificationId {
    /// Returns the one id that a notification of this time and source has, however often it is created.
    pub fn derived(time: Millisecond, source: &str) -> Self {
        let [_, _, _, _, _, _, hash @ ..] = Uuid::new_v5(&Uuid::NAMESPACE_OID, source.as_bytes()).into_bytes();
        Self(Builder::from_unix_timestamp_millis(u64::try_from(time.0).unwrap_or_default(), &hash).into_uuid())
    }
}

/// The pattern of an id in the API description.
const PATTERN: &str = "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$";

fn uuid_at(millis: i64) -> Uuid {
    // The last 10 bytes of a random UUID are random but for two bits, which the builder sets anyway.
    let [_, _, _, _, _, _, random @ ..] = Uuid::new_v4().into_bytes();
    Builder::from_unix_timestamp_millis(u64::try_from(millis).unwrap_or_default(), &random).into_uuid()
}

/// Accepts one spelling of a UUID v7 only, since another would be another key.
fn parse(text: &str) -> Result<Uuid, NotAPart> {
    let id = Uuid::parse_str(text).ok();
    let id = id.filter(|id| id.get_version_num() == 7 && id.get_variant() == Variant::RFC4122);
    let id = id.filter(|id| id.to_string() == text).ok_or(NotAPart("a UUID v7 in lower case with hyphens"))?;
    let is_in_keys = Millisecond::of(&id).timestamp().is_some();
    is_in_keys.then_some(id).ok_or(NotAPart("a UUID v7 of a time before the year 10000"))
}

/// A time to the millisecond, as keys and ids have it: `2026-03-01T10:00:00.123Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Millisecond(i64);

/// The end of the times of ids, in the second of [`Timestamp::MAX`], which is on the last day but one of the year 9999.
const END: i64 = 253_402_207_200_000;

impl Millisecond {
    pub fn now(clock: &Clock) -> Self {
        Self(clock.micros().div_euclid(1000))
    }

    /// Returns a time in milliseconds since 1970, or none for one that keys cannot have.
    pub fn at(millis: i64) -> Option<Self> {
        Some(Self(millis)).filter(|time| time.timestamp().is_some())
    }

    fn of(id: &Uuid) -> Self {
        let [a, b, c, d, e, f, ..] = id.into_bytes();
        Self(i64::from_be_bytes([0, 0, a, b, c, d, e, f]))
    }

    /// Returns the milliseconds since 1970-01-01T00:00:00Z.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// Returns none after the year 9999, where the text would be longer and sort elsewhere.
    fn timestamp(self) -> Option<Timestamp> {
        Timestamp::from_millisecond(self.0).ok().filter(|_| (0..END).contains(&self.0))
    }
}

/// The time since 1970. One that keys cannot have becomes the last one that they can have.
impl From<Duration> for Millisecond {
    fn from(since_epoch: Duration) -> Self {
        let millis = i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX);
        Self(millis.min(END - 1))
    }
}

impl Display for Millisecond {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.timestamp().unwrap_or(Timestamp::UNIX_EPOCH);
        write!(formatter, "{time:.3}")
    }
}

impl FromStr for Millisecond {
    type Err = NotAPart;

    /// Accepts exactly the text that it is displayed as.
    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let time = text.parse::<Timestamp>().ok().map(|time| Self(time.as_millisecond()));
        let time = time.filter(|time| time.timestamp().is_some() && time.to_string() == text);
        time.ok_or(NotAPart("a time such as 2026-03-01T10:00:00.123Z"))
    }
}

impl KeyPart for Millisecond {}

/// A chat of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, SerializeDisplay, DeserializeFromStr)]
pub enum ChatId {
    Group(GroupChatId),
    Private(PrivateChatId),
}

/// As events and search name a chat: `groupchat/{id}` or `privatechat/{id}`.
impl Display for ChatId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group(id) => write!(formatter, "groupchat/{id}"),
            Self::Private(id) => write!(formatter, "privatechat/{id}"),
        }
    }
}

impl FromStr for ChatId {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        match text.split_once('/') {
            Some(("groupchat", id)) => id.parse().map(Self::Group),
            Some(("privatechat", id)) => id.parse().map(Self::Private),
            _ => Err(NotAPart("`groupchat/` or `privatechat/` and an id")),
        }
    }
}

impl From<GroupChatId> for ChatId {
    fn from(id: GroupChatId) -> Self {
        Self::Group(id)
    }
}

impl From<PrivateChatId> for ChatId {
    fn from(id: PrivateChatId) -> Self {
        Self::Private(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_contains_the_millisecond_of_its_creation() {
        let id = MessageId::at(1_772_359_200_123);
        assert_eq!(id.time().to_string(), "2026-03-01T10:00:00.123Z");
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!("2026-03-01T10:00:00.123Z".parse(), Ok(id.time()));
    }

    #[test]
    fn ids_of_one_millisecond_differ() {
        assert_ne!(MessageId::at(1), MessageId::at(1));
    }

    #[test]
    fn derived_id_has_its_time_and_follows_from_its_source() {
        let time = Millisecond::at(1_772_359_200_123).unwrap();
        let id = NotificationId::derived(time, "a");
        assert_eq!((id, id.time()), (NotificationId::derived(time, "a"), time));
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_ne!(id, NotificationId::derived(time, "b"));
    }

    #[test]
    fn only_one_spelling_of_an_id_is_accepted() {
        let id = UserId::at(1_772_359_200_123).to_string();
        let v4 = "0f0e0d0c-0b0a-4908-8706-050403020100";
        for text in [&id.to_uppercase(), &id.replace('-', ""), v4, ""] {
            assert!(text.parse::<UserId>().is_err(), "{text}");
        }
    }

    #[test]
    fn id_of_a_time_that_keys_cannot_have_is_refused_with_that_reason() {
        let (last, end) = (MessageId::at(END - 1).to_string(), MessageId::at(END).to_string());
        assert!(last.parse::<MessageId>().is_ok(), "{last}");
        assert_eq!(END / 1000, Timestamp::MAX.as_second());
        for text in [end.as_str(), "ffffffff-ffff-7fff-bfff-ffffffffffff"] {
            let NotAPart(expected) = text.parse::<MessageId>().unwrap_err();
            assert!(expected.contains("before the year 10000"), "{text}: {expected}");
        }
    }

    #[test]
    fn time_in_another_spelling_is_refused() {
        for text in ["2026-03-01T10:00:00Z", "2026-03-01T10:00:00.1234Z", "2026-03-01T11:00:00.123+01:00", "x"] {
            assert!(text.parse::<Millisecond>().is_err(), "{text}");
        }
    }
}
