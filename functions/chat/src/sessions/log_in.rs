//! `POST /chat/sessions`

use http::header;
use serde::Deserialize;
use table::part::Escaped;
use table::{AccessPattern, Action, Changes, Key, item};
use utoipa::ToSchema;
use web::{Context, Created, Json, Kind, Problem, Route, Sample, Who};

use super::{LIST, START_SESSION, Tokens, start};
use crate::access::USERS;
use crate::caller::{BANNED, banned};
use crate::issuer::{READ_IDENTITY, require_own_login};
use crate::keys::{UserEmailKey, UserKey, UsernameKey};
use crate::names::UserId;
use crate::passwords::{BAD_CREDENTIALS, Password, is_outdated};
use crate::schema::{self, IDENTITY};
use crate::users::{Guard, User};
use crate::{rates, usernames};

pub const TOO_MANY_ATTEMPTS: Kind = Kind::new(429, "too-many-attempts", "Too many failed logins");

/// The user who logs in, by username or address.
const LOGIN: AccessPattern = AccessPattern::new("login", &[USERS.get()]);

/// The renewal of a password's hash after its parameters have changed.
const RENEW_HASH: AccessPattern = AccessPattern::new("renewHash", &[USERS.update()]);

#[derive(Debug, Deserialize, ToSchema)]
struct LoginRequest {
    /// The username or the email address.
    #[schema(min_length = 1, max_length = 254)]
    login: String,
    password: Password,
}

pub fn route() -> Route {
    Route::post("logIn", LIST, Who::Public, log_in)
        .summary("Log in with a password; 404 without own logins")
        .patterns(&[&LOGIN, &RENEW_HASH, &START_SESSION, &READ_IDENTITY, &rates::COUNT])
        .problems(&[BAD_CREDENTIALS, BANNED, web::problem::NOT_FOUND, web::problem::CONFLICT, TOO_MANY_ATTEMPTS])
        .sample(Sample::new(LIST).body(r#"{"login":"bob","password":"moss on stones"}"#))
}

async fn log_in(cx: Context, Json(request): Json<LoginRequest>) -> Result<Created<Tokens>, Problem> {
    require_own_login(&cx.engines().config)?;
    let login = request.login.to_lowercase();
    let network = cx.network(rates::NETWORK);
    let user = find(&cx, &login).await?;
    // The attempt counts before the password is checked, so that attempts at the same time count as well. Username and
    // address of a user count separately: if they counted together, attempts with one would show whose the other is.
    let (here, anywhere) = ([login.as_str(), network.as_str()], [login.as_str()]);
    rates::count_as(&cx, &rates::LOGIN_FROM_NETWORK, &here, TOO_MANY_ATTEMPTS).await?;
    if let Err(refused) = rates::count_as(&cx, &rates::LOGIN, &anywhere, TOO_MANY_ATTEMPTS).await {
        // An attempt whose password is not checked is no failure of the network.
        rates::give_back(&cx, &rates::LOGIN_FROM_NETWORK, &here).await?;
        return Err(refused);
    }
    let hash = user.as_ref().and_then(|user| user.password_hash.as_deref());
    let is_right = request.password.verify(&cx, hash).await?;
    let (Some(user), Some(hash), true) = (&user, hash, is_right) else {
        let problem = BAD_CREDENTIALS.because("No user has this login and password. Check both and retry.");
        return Err(problem.header(header::WWW_AUTHENTICATE, "Bearer"));
    };
    rates::give_back(&cx, &rates::LOGIN_FROM_NETWORK, &here).await?;
    rates::give_back(&cx, &rates::LOGIN, &anywhere).await?;
    if let Some(problem) = banned(user, &cx.engines().clock) {
        return Err(problem);
    }
    let hash =
        if is_outdated(hash) { renew(&cx, &login, (user, hash), &request.password).await? } else { hash.to_owned() };
    let secret = cx.access().secret(&READ_IDENTITY, IDENTITY).await?;
    let (tokens, rev) = start::start(&cx, &secret, user, &hash).await?;
    Ok(Created::new(format!("/chat/me/sessions/{}", tokens.session_id), rev, &tokens))
}

/// Returns the user with a username or an address. An unknown one takes as many reads.
async fn find(cx: &Context, login: &str) -> Result<Option<User>, Problem> {
    let Ok(part) = Escaped::new(login) else { return Ok(None) };
    let guard: Key = if login.contains('@') {
        let Ok(email) = Escaped::new(usernames::address_key(login)) else { return Ok(None) };
        UserEmailKey { email }.into()
    } else {
        UsernameKey { username: part }.into()
    };
    let users = cx.access().table(&LOGIN, &schema::USERS);
    let guard = users.get_consistent(guard).await?.map(|guard| guard.read::<Guard>()).transpose()?;
    let user = guard.map_or_else(|| UserId::at(0), |guard| guard.user_id);
    let user = users.get_consistent(UserKey { user }).await?;
    let user = user.map(|stored| stored.read::<User>()).transpose()?;
    Ok(user.filter(|user| user.deleted_at.is_none()))
}

/// Stores a hash with the present parameters. Returns the hash that the user has then: if another login has renewed it
/// at the same time, that one.
async fn renew(cx: &Context, login: &str, (user, hash): (&User, &str), password: &Password) -> Result<String, Problem> {
    let renewed = password.hash(cx).await?;
    let changes = Changes::new().set("PasswordHash", item::text(&renewed));
    let same = table::Condition::Equals("PasswordHash", item::text(hash));
    let renew = Action::update(&schema::USERS, UserKey { user: user.id }, changes).when(same);
    match cx.access().write(&RENEW_HASH, renew).await {
        Ok(_) => Ok(renewed),
        Err(table::Error::ConditionFailed(_)) => {
            let present = find(cx, login).await?.and_then(|user| user.password_hash);
            // The password may have been changed as well.
            let is_right = password.verify(cx, present.as_deref()).await?;
            present.filter(|_| is_right).ok_or_else(Problem::lost_race)
        }
        Err(error) => Err(error.into()),
    }
}
