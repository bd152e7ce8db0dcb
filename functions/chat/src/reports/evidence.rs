//! The evidence of a report: the message as it was.

use serde::{Deserialize, Serialize};

use crate::messages::Message;
use crate::names::UserId;

/// The most bytes of the content, so that the evidence has at most 4 KB.
const MAX_CONTENT_BYTES: usize = 3_800;

/// A message as it was when it was reported, of at most 4 KB.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Evidence {
    pub sender_id: UserId,
    /// Absent if the message was deleted before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Whether the content was longer.
    #[serde(default)]
    pub truncated: bool,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<String>,
}

impl Evidence {
    pub fn of(message: &Message) -> Self {
        let content = message.content.as_deref();
        let kept = content.map(|content| {
            let end = content.floor_char_boundary(MAX_CONTENT_BYTES);
            content.get(..end).unwrap_or_default().to_owned()
        });
        Self {
            sender_id: message.sender_id,
            truncated: kept.as_ref().map(String::len) != content.map(str::len),
            content: kept,
            created_at: message.created_at.clone(),
            edited_at: message.editted_at.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::names::MessageId;

    #[test]
    fn long_content_is_cut_at_the_end_of_a_character() {
        let message = Message {
            id: MessageId::at(1),
            sender_id: UserId::at(1),
            content: Some("é".repeat(4_000)),
            reply_to: None,
            created_at: "2026-03-01T10:00:00.123Z".to_owned(),
            reactions: BTreeMap::new(),
            last_reaction: None,
            editted: false,
            editted_at: None,
            deleted_at: None,
            deleted_by: None,
            mentions: BTreeSet::new(),
            member_ids: BTreeSet::new(),
        };
        let evidence = Evidence::of(&message);
        assert_eq!(evidence.content, Some("é".repeat(1_900)));
        assert!(evidence.truncated);
        let short = Message { content: Some("hi".to_owned()), ..message };
        assert!(!Evidence::of(&short).truncated);
        let deleted = Message { content: None, ..short };
        assert_eq!((Evidence::of(&deleted).content, Evidence::of(&deleted).truncated), (None, false));
    }
}
