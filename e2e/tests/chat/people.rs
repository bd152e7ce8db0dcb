//! People who register and log in to chat itself, with passwords.

use serde_json::{Value, json};

use crate::harness::{Answer, Cairn, User};

/// A person with a password.
pub struct Registered {
    pub user: User,
    pub id: String,
    pub name: &'static str,
    pub session: String,
    pub access_token: String,
    pub refresh_token: String,
}

/// Returns the password of a person.
pub fn password(name: &str) -> String {
    format!("moss on stones of {name}")
}

/// Returns the body of a registration.
pub fn registration(name: &str) -> Value {
    json!({ "username": name, "name": format!("Person {name}"), "email": address(name), "password": password(name) })
}

pub fn address(name: &str) -> String {
    format!("{name}@example.org")
}

/// Registers a person, and logs in.
pub async fn register(cairn: &Cairn, name: &'static str) -> Registered {
    cairn.visitor().post("/chat/users", registration(name)).await.is(201);
    log_in(cairn, name).await
}

/// Logs in once more.
pub async fn log_in(cairn: &Cairn, name: &'static str) -> Registered {
    let tokens = attempt(cairn, name, &password(name)).await.is(201);
    let access_token = tokens.text("accessToken").to_owned();
    let user = cairn.user(name, &format!("Bearer {access_token}"));
    Registered {
        id: user.get("/chat/me").await.is(200).text("id").to_owned(),
        user,
        name,
        session: tokens.text("sessionId").to_owned(),
        access_token,
        refresh_token: tokens.text("refreshToken").to_owned(),
    }
}

/// Sends a login.
pub async fn attempt(cairn: &Cairn, login: &str, password: &str) -> Answer {
    cairn.visitor().post("/chat/sessions", json!({ "login": login, "password": password })).await
}

/// Sends a login through a gateway from an address.
pub async fn attempt_from(cairn: &Cairn, address: &str, login: &str, password: &str) -> Answer {
    let body = json!({ "login": login, "password": password });
    cairn.visitor().post("/chat/sessions", body).header("x-forwarded-for", address).await
}

/// Sends a refresh token.
pub async fn refresh(cairn: &Cairn, token: &str) -> Answer {
    cairn.visitor().post("/chat/sessions/refresh", json!({ "refreshToken": token })).await
}
