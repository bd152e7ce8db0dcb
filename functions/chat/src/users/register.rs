//! `POST /chat/users`

use serde::Deserialize;
use table::part::Escaped;
use table::{AccessPattern, Action};
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Created, Fault, Json, Problem, Route, Rules, Sample, Valid, Who, problem};

use super::{Guard, LIST, Role, User};
use crate::access::USERS;
use crate::issuer::require_own_login;
use crate::keys::{UserEmailKey, UserKey, UsernameKey};
use crate::me::Me;
use crate::names::UserId;
use crate::passwords::Password;
use crate::usernames::{address_fault, address_key, username_fault};
use crate::{rates, schema, usernames};

/// A new user with a unique username and a unique address.
const REGISTER: AccessPattern = AccessPattern::new("register", &[USERS.put()]);

/// A person who registers. Members that are absent here were refused by the schema.
#[derive(Debug, Deserialize, ToSchema)]
struct Registration {
    /// It is stored in lower case.
    #[serde(default)]
    #[schema(required = true, min_length = 1, max_length = 100, example = "ann")]
    username: String,
    #[serde(default)]
    #[schema(required = true, min_length = 1, max_length = 80, example = "Ann Field")]
    name: String,
    #[serde(default)]
    #[schema(required = true, min_length = 1, max_length = 254, example = "ann@example.org")]
    email: String,
    #[serde(default)]
    #[schema(required = true)]
    password: Password,
}

impl Rules for Registration {
    fn faults(&self) -> Vec<Fault> {
        let present = |text: &str, fault: fn(&str, &str) -> Option<Fault>, pointer: &str| {
            if text.is_empty() { None } else { fault(pointer, text) }
        };
        let mut faults: Vec<Fault> = [
            present(&self.username, username_fault, "/username"),
            present(&self.name, name_fault, "/name"),
            present(&self.email, address_fault, "/email"),
        ]
        .into_iter()
        .flatten()
        .collect();
        faults.extend(self.password.faults("/password", &self.username, Some(&self.email)));
        faults
    }
}

pub fn route() -> Route {
    Route::post("registerUser", LIST, Who::Public, register)
        .summary("Register with a username, an address and a password; 404 without own logins")
        .patterns(&[&REGISTER, &rates::COUNT])
        .problems(&[problem::NOT_FOUND, problem::TAKEN, problem::CONFLICT, problem::TOO_MANY_REQUESTS])
        .sample(
            Sample::new(LIST)
                .body(r#"{"username":"bob","name":"Bob Stone","email":"bob@example.org","password":"moss on stones"}"#),
        )
}

async fn register(cx: Context, Valid(Json(registration)): Valid<Json<Registration>>) -> Result<Created<Me>, Problem> {
    require_own_login(&cx.engines().config)?;
    rates::count(&cx, &rates::REGISTRATIONS, &[&cx.network(rates::NETWORK)]).await?;
    let Registration { username, name, email, password } = registration;
    let id = UserId::now(&cx.engines().clock);
    let user = User {
        id,
        username: usernames::stored(&username),
        name: Some(name),
        password_hash: Some(password.hash(&cx).await?),
        email: Some(email),
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
    let part = |text: String| Escaped::new(text).map_err(Problem::internal);
    let username = UsernameKey { username: part(user.username.clone())? };
    let email = UserEmailKey { email: part(address_key(user.email.as_deref().unwrap_or_default()))? };
    let guard = Guard { user_id: id };
    let actions = [
        Action::create(&schema::USERS, username, &guard)?,
        Action::create(&schema::USERS, email, &guard)?,
        Action::create(&schema::USERS, UserKey { user: id }, &user)?,
    ];
    match cx.access().transact(&REGISTER, &actions).await {
        Ok(rev) => Ok(Created::new(format!("/chat/users/{id}"), rev, &Me::with_role(user, Role::User))),
        Err(error) => {
            let fields = [(0, "/username"), (1, "/email")];
            let taken = fields.iter().filter(|(action, _)| error.failed(*action).is_some());
            let taken: Vec<Fault> = taken.map(|(_, pointer)| Fault::pointer(*pointer, "is already in use")).collect();
            Err(if taken.is_empty() { error.into() } else { Problem::taken(taken) })
        }
    }
}
