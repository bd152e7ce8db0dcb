//! The names of feeds: numbered events that clients follow, and the presence of people.

use std::fmt::{self, Display};
use std::str::FromStr;

use table::KeyPart;
use table::part::NotAPart;

use crate::names::{ChatId, GroupChatId, UserId};

/// A feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Feed {
    /// The events of one user, for all connections of this user.
    User(UserId),
    /// The events of a group chat, for the members who subscribe.
    GroupChat(GroupChatId),
    /// Whether a user is online. It has no numbered events.
    Presence(UserId),
}

impl Feed {
    /// Parses the name that a frame of this user has.
    pub fn named(name: &str, user: UserId) -> Option<Self> {
        match name {
            "user" => Some(Self::User(user)),
            // Feeds of other users have no name in frames.
            name => name.parse().ok().filter(|feed| !matches!(feed, Self::User(_))),
        }
    }

    /// Returns the name in frames. Each user has one feed of the name `user`.
    pub fn name(self) -> String {
        match self {
            Self::User(_) => "user".to_owned(),
            Self::GroupChat(_) | Self::Presence(_) => self.to_string(),
        }
    }
}

/// As keys have it.
impl Display for Feed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(id) => write!(formatter, "user/{id}"),
            Self::GroupChat(id) => ChatId::Group(*id).fmt(formatter),
            Self::Presence(id) => write!(formatter, "presence/{id}"),
        }
    }
}

impl FromStr for Feed {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        match text.split_once('/') {
            Some(("user", id)) => id.parse().map(Self::User),
            Some(("groupchat", id)) => id.parse().map(Self::GroupChat),
            Some(("presence", id)) => id.parse().map(Self::Presence),
            _ => Err(NotAPart("`user/`, `groupchat/` or `presence/` and an id")),
        }
    }
}

impl KeyPart for Feed {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_in_a_frame_is_that_of_the_key_but_for_the_own_feed() {
        let (ann, bob, chat) = (UserId::at(1), UserId::at(2), GroupChatId::at(3));
        for feed in [Feed::User(ann), Feed::GroupChat(chat), Feed::Presence(bob)] {
            assert_eq!(Feed::named(&feed.name(), ann), Some(feed));
            assert_eq!(feed.to_string().parse(), Ok(feed));
        }
        for name in [Feed::User(bob).to_string(), "groupchat".to_owned(), "presence/x".to_owned(), String::new()] {
            assert_eq!(Feed::named(&name, ann), None, "{name}");
        }
    }
}
