//! Mentions: `@` and the username of a member of the chat.

use std::collections::BTreeSet;

use table::{AccessPattern, Escaped};
use web::{Context, Problem};

use super::{Membership, table_of};
use crate::access::{GROUP_CHATS, USERS};
use crate::keys::{UserKey, UsernameKey, member_key};
use crate::names::{ChatId, UserId};
use crate::schema;
use crate::users::{Guard, User};

/// The members whom a message mentions. Those of a private chat are known, so their usernames are read.
pub const MENTIONS: AccessPattern = AccessPattern::new("mentions", &[USERS.batch_get(), GROUP_CHATS.batch_get()]);

/// The most members that a message mentions. Further mentions are plain text.
pub const MAX_MENTIONS: usize = 20;

/// The number of usernames that are looked up at once.
const BATCH: usize = 100;

const USERNAME_LENGTHS: std::ops::RangeInclusive<usize> = 3..=30;

/// Returns the first distinct members of the chat that the content mentions.
pub async fn find(cx: &Context, membership: &Membership, content: &str) -> Result<BTreeSet<UserId>, Problem> {
    let usernames = usernames(content);
    let mut found = Vec::new();
    match membership.chat {
        _ if usernames.is_empty() => {}
        ChatId::Private(_) => {
            let keys: Vec<_> = membership.member_ids().iter().map(|user| UserKey { user: *user }.into()).collect();
            for user in cx.access().table(&MENTIONS, &schema::USERS).batch_get(&keys).await?.into_iter().flatten() {
                let user: User = user.read()?;
                if user.deleted_at.is_none() && usernames.contains(&user.username) {
                    found.push(user.id);
                }
            }
        }
        ChatId::Group(_) => {
            for batch in usernames.chunks(BATCH) {
                found.extend(members(cx, membership.chat, batch).await?);
                if found.len() >= MAX_MENTIONS {
                    break;
                }
            }
        }
    }
    Ok(found.into_iter().take(MAX_MENTIONS).collect())
}

/// Returns those of a group chat's members who have these usernames, in their order.
async fn members(cx: &Context, chat: ChatId, usernames: &[String]) -> Result<Vec<UserId>, Problem> {
    let names = usernames.iter().filter_map(|username| Escaped::new(username.clone()).ok());
    let keys: Vec<_> = names.map(|username| UsernameKey { username }.into()).collect();
    let guards = cx.access().table(&MENTIONS, &schema::USERS).batch_get(&keys).await?;
    let mut users = Vec::new();
    for guard in guards.into_iter().flatten() {
        users.push(guard.read::<Guard>()?.user_id);
    }
    if users.is_empty() {
        return Ok(users);
    }
    let keys: Vec<_> = users.iter().map(|user| member_key(chat, *user)).collect();
    let members = cx.access().table(&MENTIONS, table_of(chat)).batch_get(&keys).await?;
    Ok(users.into_iter().zip(members).filter(|(_, member)| member.is_some()).map(|(user, _)| user).collect())
}

/// Returns the distinct usernames that a content mentions, in lower case and in their order.
pub fn usernames(content: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut usernames = Vec::new();
    let mut before = None;
    for (at, character) in content.char_indices() {
        if character == '@' && before.is_none_or(may_precede) {
            let rest = content.get(at + 1..).unwrap_or_default();
            let end = rest.find(|next: char| !is_of_username(next)).unwrap_or(rest.len());
            // A dot at the end belongs to the sentence.
            let username = rest.get(..end).unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
            let is_valid = USERNAME_LENGTHS.contains(&username.len())
                && username.starts_with(|first: char| first.is_ascii_lowercase());
            if is_valid && seen.insert(username.clone()) {
                usernames.push(username);
            }
        }
        before = Some(character);
    }
    usernames
}

/// Whether an `@` after this character begins a mention. After others it belongs to an address, for example.
fn may_precede(character: char) -> bool {
    !character.is_alphanumeric() && !matches!(character, '_' | '.' | '@')
}

fn is_of_username(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '.')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn mention_is_an_at_sign_and_a_username() {
        let cases: &[(&str, &[&str])] = &[
            ("@ann", &["ann"]),
            ("hi @Ann, @BOB!", &["ann", "bob"]),
            ("@ann @ANN", &["ann"]),
            ("ask @ann.", &["ann"]),
            ("ask @ann...", &["ann"]),
            ("(@a.b_c9.)", &["a.b_c9"]),
            ("a@b.org and a@bob", &[]),
            ("é@bob 9@bob _@bob .@bob @@bob", &[]),
            ("@ann@bob", &["ann"]),
            ("@an @9ann @_ann @.ann @", &[]),
            ("@annさん", &["ann"]),
            ("-@ann\n@bob", &["ann", "bob"]),
        ];
        for (content, expected) in cases {
            assert_eq!(usernames(content), *expected, "{content}");
        }
        assert_eq!(usernames(&format!("@{}", "a".repeat(30))).len(), 1);
        assert!(usernames(&format!("@{}", "a".repeat(31))).is_empty());
    }

    fn username() -> impl Strategy<Value = String> {
        "[a-z][a-z0-9_.]{1,28}[a-z0-9_]"
    }

    proptest! {
        #[test]
        fn each_mention_in_a_sentence_is_found(names in prop::collection::vec(username(), 0..30), upper: bool) {
            let written = |name: &String| if upper { name.to_uppercase() } else { name.clone() };
            let content: String = names.iter().map(|name| format!("so, @{}. ", written(name))).collect();
            let mut expected: Vec<String> = Vec::new();
            for name in names {
                if !expected.contains(&name) {
                    expected.push(name);
                }
            }
            prop_assert_eq!(usernames(&content), expected);
        }

        #[test]
        fn any_content_mentions_valid_usernames_only(content in "([@a-c. _é9]|\\PC){0,40}") {
            for username in usernames(&content) {
                prop_assert!(USERNAME_LENGTHS.contains(&username.len()) && !username.ends_with('.'));
                let mention = format!("@{username}");
                prop_assert!(content.to_ascii_lowercase().contains(&mention));
            }
        }

        #[test]
        fn address_mentions_nobody(before in "[a-zA-Z0-9_.é@]", name in username()) {
            let content = format!("x{before}@{name}");
            prop_assert!(usernames(&content).is_empty());
        }
    }
}
