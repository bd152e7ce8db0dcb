//! The user item of the person who calls, found by issuer and subject, and created at first sight.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use table::{Action, Error};
use web::{Context, Known, Problem};

use crate::access::{CALLER, CREATE_USER};
use crate::audit::now;
use crate::item::{User, UserOfPerson};
use crate::keys::{UserHashKey, UserKey};
use crate::names::{UserHash, UserId};
use crate::schema::ARCHIVE;
use crate::sequence::next_id;

/// What is encoded in a sort key: all but the unreserved characters of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The longest sort key of an index in bytes.
const MAX_SORT_KEY: usize = 1024;

/// The longest name and the longest address in characters.
const MAX_CHARACTERS: usize = 200;

/// Returns the text that is unique to a person: `iss={issuer}&sub={subject}`, both encoded.
pub fn sort_key(cx: &Context, caller: &Known) -> Result<String, Problem> {
    let mut issuers = cx.engines().config.issuers.iter();
    let issuer = issuers.find(|issuer| issuer.name == caller.issuer).map(|issuer| issuer.issuer.as_str());
    let issuer = issuer.ok_or_else(|| Problem::internal(format!("the issuer {} is not configured", caller.issuer)))?;
    let encoded = |text| utf8_percent_encode(text, ENCODED);
    let key = format!("iss={}&sub={}", encoded(issuer), encoded(&caller.subject));
    if key.len() > MAX_SORT_KEY {
        return Err(Problem::forbidden("The issuer and the subject of the token are too long for this archive."));
    }
    Ok(key)
}

/// Reads the user of the person, if the archive has seen the person before.
pub async fn find(cx: &Context, sort_key: &str) -> Result<Option<User>, Problem> {
    let table = cx.access().table(&CALLER, &ARCHIVE);
    let Some(stored) = table.get_consistent(UserHashKey { hash: UserHash::of(sort_key) }).await? else {
        return Ok(None);
    };
    let user = stored.read::<UserOfPerson>()?.user_id;
    match table.get_consistent(UserKey { user }).await? {
        Some(stored) => Ok(Some(stored.read()?)),
        // It was deleted between the two reads.
        None => Ok(None),
    }
}

/// Creates the user of a person who is seen for the first time, with the name and the address of the token. Of
/// concurrent requests one creates it, and all return it.
pub async fn create(cx: &Context, sort_key: &str) -> Result<User, Problem> {
    let caller = cx.principal().signed_in()?;
    cx.retry(|| async {
        let id = next_id(cx, UserId::new).await?;
        let short = |text: &Option<String>| text.clone().filter(|text| text.chars().count() <= MAX_CHARACTERS);
        let user = User::new(id, sort_key.to_owned(), short(&caller.name), short(&caller.address), now(cx));
        let unique = UserHashKey { hash: UserHash::of(sort_key) };
        let actions = [
            Action::create(&ARCHIVE, unique, &UserOfPerson { user_id: id })?,
            Action::create(&ARCHIVE, UserKey { user: id }, &user)?,
        ];
        match cx.access().transact(&CREATE_USER, &actions).await {
            Ok(_) => Ok(user),
            Err(Error::ConditionFailed(_)) => find(cx, sort_key).await?.ok_or_else(Problem::lost_race),
            Err(error) => Err(error.into()),
        }
    })
    .await
}
