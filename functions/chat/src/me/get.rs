//! `GET /chat/me`

use table::{AccessPattern, Action};
use web::visible::name_fault;
use web::{Context, Known, Problem, Route, Sample, Tagged, problem};

use super::{ME, Me, guards};
use crate::access::{CALLER, USERS};
use crate::caller::{self, BANNED, Caller, SIGNED_IN};
use crate::keys::{PersonGuardKey, UserKey};
use crate::names::UserId;
use crate::schema;
use crate::usernames::address_fault;
use crate::users::{Guard, Role, User};

/// The user of a person who is seen for the first time, with a unique username.
const CREATE_PERSON: AccessPattern = AccessPattern::new("createPerson", &[USERS.put()]);

pub fn route() -> Route {
    Route::get("getMe", ME, SIGNED_IN, get)
        .summary("Get the caller's user; that of a person from another issuer is created at first sight")
        .patterns(&[&CALLER, &CREATE_PERSON])
        .problems(&[problem::FORBIDDEN, BANNED, problem::CONFLICT])
        .sample(Sample::new(ME))
}

async fn get(cx: Context) -> Result<Tagged<Me>, Problem> {
    let known = cx.principal().signed_in()?;
    let id = match caller::find(&cx, known).await? {
        Some(id) => id,
        None => create(&cx, known).await?,
    };
    let caller = Caller::of(&cx, known, id).await?;
    let role = caller.role();
    Ok(Tagged::new(&Me::with_role(caller.user, role), caller.stored.rev))
}

/// Creates the user. Of concurrent requests one creates it, and all return it.
async fn create(cx: &Context, known: &Known) -> Result<UserId, Problem> {
    cx.retry(|| async {
        let id = UserId::now(&cx.engines().clock);
        let base = username_of(known.name.as_deref().unwrap_or(&known.subject));
        let unique = id.to_string();
        let suffix = unique.rsplit('-').next().unwrap_or_default();
        let mut username = base.clone();
        // An address that another user has proved nothing about this person, who goes without one.
        let mut email = known.address.clone().filter(|email| address_fault("", email).is_none());
        for _ in 0..3 {
            let actions = creation(known, id, &username, email.as_deref())?;
            let error = match cx.access().transact(&CREATE_PERSON, &actions).await {
                Ok(_) => return Ok(id),
                Err(error) => error,
            };
            // Another request has created the user.
            if error.failed(0).is_some() {
                return caller::find(cx, known).await?.ok_or_else(Problem::lost_race);
            }
            let (is_username_taken, is_email_taken) = (error.failed(2).is_some(), error.failed(3).is_some());
            if is_username_taken {
                username = format!("{base}.{suffix}");
            }
            if is_email_taken {
                email = None;
            }
            if !is_username_taken && !is_email_taken {
                return Err(error.into());
            }
        }
        Err(Problem::lost_race())
    })
    .await
}

/// Returns the creation of a user with its guards: of the person, the username and the address.
fn creation(known: &Known, id: UserId, username: &str, email: Option<&str>) -> Result<Vec<Action>, Problem> {
    let name = known.name.as_deref().filter(|name| name_fault("", name).is_none()).unwrap_or(username);
    let user = User {
        id,
        username: username.to_owned(),
        name: Some(name.chars().take(80).collect()),
        password_hash: None,
        email: email.map(str::to_owned),
        bio: None,
        location: None,
        avatar_url: None,
        cover_photo_url: None,
        role: Role::User,
        ban: None,
        sessions_from: None,
        created_at: id.time().to_string(),
        deleted_at: None,
    };
    let guard = Guard { user_id: id };
    let person = PersonGuardKey { person: known.idpid().clone() };
    let mut actions = vec![
        Action::create(&schema::USERS, person, &guard)?,
        Action::create(&schema::USERS, UserKey { user: id }, &user)?,
        guards::create_username(username, id)?,
    ];
    actions.extend(email.map(|email| guards::create_email(email, id)).transpose()?);
    Ok(actions)
}

/// Returns a valid username that is like this name, of at most 15 characters.
fn username_of(name: &str) -> String {
    let name = name.to_lowercase();
    let kept = name.chars().filter(|character| matches!(character, 'a'..='z' | '0'..='9' | '_' | '.'));
    let kept: String = kept.skip_while(|character| !character.is_ascii_lowercase()).take(15).collect();
    let kept = kept.trim_end_matches('.');
    if kept.len() < 3 { format!("user{kept}") } else { kept.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn username_is_made_of_what_a_name_has_of_valid_characters() {
        let cases = [("Ann Field", "annfield"), ("4.cy", "usercy"), ("Łukasz.", "ukasz"), ("", "user")];
        for (name, username) in cases {
            assert_eq!(username_of(name), username, "{name}");
        }
    }
}
