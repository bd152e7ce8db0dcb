//! Registration, usernames and addresses, passwords, and administrators' operations on users.

use std::collections::BTreeSet;
use std::time::Duration;

use chat::schema::{COMMUNITIES, USERS};
use futures::future::join_all;
use local::identity::Person;
use reqwest::Method;
use serde_json::{Value, json};
use table::{Config, Engines};

use super::people::{Registered, address, attempt, log_in, password, refresh, register, registration};
use super::stage::without_stream_readers;
use crate::harness::stopper::{Moment, Stopper};
use crate::harness::{Cairn, Setup, Socket, User, password_hashes};
use crate::tests;

tests! { chat_identity:
    registered_person_logs_in_by_username_or_address,
    address_is_shown_to_its_owner_alone,
    username_or_address_in_use_is_refused_with_its_pointer,
    same_username_registered_by_20_at_once_has_one_user,
    same_username_taken_by_two_at_once_has_one_owner,
    faults_of_a_registration_are_reported_together,
    changed_username_is_free_for_others_at_once,
    changed_address_is_the_new_login,
    changed_password_ends_the_other_sessions,
    sessions_are_refused_after_their_end_was_interrupted,
    ended_sessions_are_deleted_after_a_crash,
    change_needs_the_current_password,
    password_hash_with_other_parameters_is_renewed,
    profile_is_updated_with_its_entity_tag,
    administrator_sets_roles_of_others,
    operator_makes_the_first_administrator,
    ban_ends_sessions_and_stops_writing_at_once,
    ban_with_an_end_is_over_by_itself,
    banned_person_of_another_issuer_sees_no_profile,
    reset_code_sets_a_password_once,
    reset_code_is_void_once_the_password_has_changed,
}

pub async fn platform() -> Cairn {
    Cairn::with(setup()).await
}

/// Returns an empty platform where no function reads the streams.
pub async fn platform_without_stream_readers() -> Cairn {
    Cairn::with(without_stream_readers(setup())).await
}

fn setup() -> Setup {
    Setup { limits: vec![("register", 10_000)], ..Setup::of("chat") }
}

/// Returns a person who is an administrator by another issuer's token.
async fn administrator(cairn: &Cairn) -> User {
    let admin = cairn.person("ada", Person { roles: &["chat-admin"], ..Person::new("ada") }).await;
    admin.get("/chat/me").await.is(200);
    admin
}

async fn registered_person_logs_in_by_username_or_address() {
    let cairn = platform_without_stream_readers().await;
    let registered = cairn.visitor().post("/chat/users", registration("ann")).await.is(201);
    assert_eq!(registered.header("location"), format!("/chat/users/{}", registered.text("id")));
    for login in ["ann", "ANN", "ann@example.org", "Ann@Example.org"] {
        let tokens = attempt(&cairn, login, &password("ann")).await.is(201);
        assert_eq!(tokens.header("location"), format!("/chat/me/sessions/{}", tokens.text("sessionId")));
        let ann = cairn.user("ann", &format!("Bearer {}", tokens.text("accessToken")));
        assert_eq!(ann.get("/chat/me").await.is(200).text("id"), registered.text("id"));
    }
    attempt(&cairn, "ann", &password("bob")).await.refused(401, "bad-credentials");
}

async fn address_is_shown_to_its_owner_alone() {
    let cairn = platform_without_stream_readers().await;
    let (ann, bob) = (register(&cairn, "ann").await, register(&cairn, "bob").await);
    assert_eq!(ann.user.get("/chat/me").await.is(200)["email"], address("ann"));
    for path in [format!("/chat/users/{}", ann.id), "/chat/usernames/Ann".to_owned()] {
        let seen = bob.user.get(&path).await.is(200);
        assert_eq!((seen.text("id"), seen.text("username")), (ann.id.as_str(), "ann"));
        assert!(!String::from_utf8_lossy(&seen.bytes).contains('@'), "{}", seen.told());
    }
    assert_eq!(bob.user.get("/chat/users/me").await.is(200)["id"], bob.id);
    cairn.visitor().get("/chat/usernames/ann").await.refused(401, "not-signed-in");
    bob.user.get("/chat/usernames/cy").await.refused(404, "not-found");
}

async fn username_or_address_in_use_is_refused_with_its_pointer() {
    let cairn = platform_without_stream_readers().await;
    register(&cairn, "ann").await;
    let body = |username: &str, email: &str| json!({ "username": username, "name": "Ann", "email": email, "password": password("ann") });
    let send = |body| cairn.visitor().post("/chat/users", body);
    send(body("ANN", "new@example.org")).await.refused(409, "taken").at(&["/username"]);
    send(body("new", "Ann@EXAMPLE.org")).await.refused(409, "taken").at(&["/email"]);
    send(body("ann", "ann@example.org")).await.refused(409, "taken").at(&["/email", "/username"]);
    send(body("new", "new@example.org")).await.is(201);
}

async fn same_username_registered_by_20_at_once_has_one_user() {
    let cairn = platform_without_stream_readers().await;
    let body = |number: usize| {
        let email = format!("ann{number}@example.org");
        json!({ "username": "ann", "name": "Ann", "email": email, "password": password("ann") })
    };
    let statuses = join_all((0..20).map(|number| cairn.visitor().post("/chat/users", body(number)).into_future()));
    let mut statuses: Vec<u16> = statuses.await.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [vec![201], vec![409; 19]].concat());
    let keys = cairn.table_of(&USERS).partitions().await;
    let count = |prefix: &str| keys.iter().filter(|key| key.starts_with(prefix)).count();
    assert_eq!((count("USER#"), count("USERNAME#"), count("USEREMAIL#"), keys.len()), (1, 1, 1, 3), "{keys:?}");
    let free = (0..20).filter(|number| !keys.contains(&format!("USEREMAIL#ann{number}@example.org")));
    for number in free.take(3) {
        let mut body = body(number);
        body["username"] = format!("bob{number}").into();
        cairn.visitor().post("/chat/users", body).await.is(201);
    }
}

async fn same_username_taken_by_two_at_once_has_one_owner() {
    let cairn = platform_without_stream_readers().await;
    let (ann, bob) = (register(&cairn, "ann").await, register(&cairn, "bob").await);
    let change = |person: &Registered| {
        let body = json!({ "username": "moss", "currentPassword": password(person.name) });
        person.user.put("/chat/me/username", body)
    };
    let (one, other) = tokio::join!(change(&ann).into_future(), change(&bob).into_future());
    let statuses = BTreeSet::from([one.status, other.status]);
    assert_eq!(statuses, BTreeSet::from([200, 409]));
    let names: BTreeSet<String> = cairn.table_of(&USERS).partitions().await.into_iter().collect();
    let loser = if one.status == 200 { "USERNAME#bob" } else { "USERNAME#ann" };
    let guards: Vec<&str> = names.iter().map(String::as_str).filter(|key| key.starts_with("USERNAME#")).collect();
    assert_eq!(guards, [loser, "USERNAME#moss"]);
}

async fn faults_of_a_registration_are_reported_together() {
    let cairn = platform_without_stream_readers().await;
    let send = |body| cairn.visitor().post("/chat/users", body);
    let all = ["/email", "/name", "/password", "/username"];
    send(json!({ "username": "1", "name": "\u{200b}", "email": "ann", "password": "short" })).await.faulty(&all);
    send(json!({})).await.faulty(&all);
    send(json!({ "username": 1, "name": "", "email": null, "password": "password123" })).await.faulty(&all);
    let with = |password: &str| json!({ "username": "ann.of.moss", "name": "Ann", "email": "ann@moss.example", "password": password });
    for wrong in ["nine char", &"x".repeat(129), "Password123", "Ann.Of.Moss", "ANN@moss.example"] {
        let answer = send(with(wrong)).await.faulty(&["/password"]);
        assert!(!String::from_utf8_lossy(&answer.bytes).contains(wrong), "{}", answer.told());
    }
    // Nothing is required of a password but its length: ten letters, which count after their composition.
    send(with(&"e\u{301}".repeat(10))).await.is(201);
    attempt(&cairn, "ann.of.moss", &"é".repeat(10)).await.is(201);
}

async fn changed_username_is_free_for_others_at_once() {
    let cairn = platform_without_stream_readers().await;
    let (ann, bob) = (register(&cairn, "ann").await, register(&cairn, "bob").await);
    let to = |name: &str, person: &Registered| json!({ "username": name, "currentPassword": password(person.name) });
    let changed = ann.user.put("/chat/me/username", to("Ann_2", &ann)).await.is(200);
    assert_eq!(changed.text("username"), "ann_2");
    assert_eq!(bob.user.put("/chat/me/username", to("ann", &bob)).await.is(200).text("username"), "ann");
    assert_eq!(ann.user.get("/chat/usernames/ann").await.is(200).text("id"), bob.id);
    ann.user.put("/chat/me/username", to("ann", &ann)).await.refused(409, "taken").at(&["/username"]);
    ann.user.put("/chat/me/username", to("1", &ann)).await.faulty(&["/username"]);
    ann.user.put("/chat/me/username", to("ann_2", &ann)).await.is(200);
    attempt(&cairn, &address("ann"), &password("ann")).await.is(201);
    attempt(&cairn, "ann", &password("ann")).await.refused(401, "bad-credentials");
}

async fn changed_address_is_the_new_login() {
    let cairn = platform_without_stream_readers().await;
    let (ann, _) = (register(&cairn, "ann").await, register(&cairn, "bob").await);
    let to = |email: &str| json!({ "email": email, "currentPassword": password("ann") });
    assert_eq!(ann.user.put("/chat/me/email", to("a@example.org")).await.is(200)["email"], "a@example.org");
    assert_eq!(ann.user.put("/chat/me/email", to("A@Example.org")).await.is(200)["email"], "A@Example.org");
    ann.user.put("/chat/me/email", to("BOB@example.org")).await.refused(409, "taken").at(&["/email"]);
    attempt(&cairn, "a@example.org", &password("ann")).await.is(201);
    attempt(&cairn, &address("ann"), &password("ann")).await.refused(401, "bad-credentials");
    let keys = cairn.table_of(&USERS).partitions().await;
    assert_eq!(keys.iter().filter(|key| key.starts_with("USEREMAIL#")).count(), 2, "{keys:?}");
}

async fn changed_password_ends_the_other_sessions() {
    let cairn = platform_without_stream_readers().await;
    let first = register(&cairn, "ann").await;
    let second = log_in(&cairn, "ann").await;
    let new = json!({ "password": "fern on stones", "currentPassword": password("ann") });
    second.user.put("/chat/me/password", new).await.is(204);
    refresh(&cairn, &first.refresh_token).await.refused(401, "session-ended");
    refresh(&cairn, &second.refresh_token).await.is(200);
    attempt(&cairn, "ann", &password("ann")).await.refused(401, "bad-credentials");
    attempt(&cairn, "ann", "fern on stones").await.is(201);
}

/// Sends a request to functions that stop before they delete a session.
async fn interrupted(cairn: &Cairn, authorization: Option<String>, method: Method, path: &str, body: Value) {
    let config = cairn.engines().config.clone();
    let before = Some((0, Moment::BeforeItIsSent));
    let stopper = Stopper::of(&["BatchWriteItem"], config.dynamodb.clone().unwrap(), before).await;
    let config = Config { dynamodb: Some(stopper.url.clone()), ..config };
    let app = chat::app(Engines::new(config, cairn.clock.clone())).metrics_to(|_| {});
    let mut request = http::Request::builder().method(method).uri(path).header("content-type", "application/json");
    if let Some(authorization) = authorization {
        request = request.header("authorization", authorization);
    }
    tokio::select! {
        answer = app.handle(request.body(body.to_string().into()).unwrap()) => {
            panic!("{} {:?}", answer.status(), answer.body());
        }
        () = stopper.stopped() => {}
    }
}

async fn sessions_are_refused_after_their_end_was_interrupted() {
    let cairn = platform_without_stream_readers().await;
    let admin = administrator(&cairn).await;
    let (first, second) = (register(&cairn, "ann").await, log_in(&cairn, "ann").await);
    let ticket = first.user.call(Method::POST, "/chat/live/tickets").await.is(201);
    cairn.clock.advance(Duration::from_secs(1));
    let change = json!({ "password": "fern on stones", "currentPassword": password("ann") });
    let bearer = format!("Bearer {}", second.access_token);
    interrupted(&cairn, Some(bearer), Method::PUT, "/chat/me/password", change).await;
    refresh(&cairn, &first.refresh_token).await.refused(401, "session-ended");
    let opened = Socket::open(&format!("{}?ticket={}", ticket.text("url"), ticket.text("ticket"))).await;
    assert_eq!(opened.err(), Some(401));
    for path in ["/chat/me", "/chat/me/sessions"] {
        first.user.get(path).await.refused(401, "not-signed-in");
    }
    first.user.post("/chat/live/tickets", json!({})).await.refused(401, "not-signed-in");
    // The session that has changed the password goes on.
    second.user.get("/chat/me").await.is(200);
    let next = refresh(&cairn, &second.refresh_token).await.is(200).text("refreshToken").to_owned();
    let code = admin.post(&format!("/chat/users/{}/password-resets", first.id), json!({})).await.is(201);
    let reset = json!({ "code": code["code"], "password": password("ann") });
    interrupted(&cairn, None, Method::POST, "/chat/password-resets", reset).await;
    refresh(&cairn, &next).await.refused(401, "session-ended");
    let third = log_in(&cairn, "ann").await;
    cairn.clock.advance(Duration::from_secs(1));
    let ban = format!("/chat/users/{}/ban", first.id);
    let token = format!("Bearer {}", cairn.token("ada", &["chat-admin"]).await);
    interrupted(&cairn, Some(token), Method::PUT, &ban, json!({ "reason": "Spam" })).await;
    admin.delete(&ban).await.is(204);
    refresh(&cairn, &third.refresh_token).await.refused(401, "session-ended");
    let fourth = log_in(&cairn, "ann").await;
    refresh(&cairn, &fourth.refresh_token).await.is(200);
}

async fn ended_sessions_are_deleted_after_a_crash() {
    let cairn = platform().await;
    let (first, second) = (register(&cairn, "ann").await, log_in(&cairn, "ann").await);
    cairn.clock.advance(Duration::from_secs(1));
    let change = json!({ "password": "fern on stones", "currentPassword": password("ann") });
    let bearer = format!("Bearer {}", second.access_token);
    interrupted(&cairn, Some(bearer), Method::PUT, "/chat/me/password", change).await;
    cairn.caught_up().await;
    let left = second.user.get("/chat/me/sessions").await.is(200);
    assert_eq!(left.each("id"), [&json!(second.session)], "{}", first.session);
}

async fn change_needs_the_current_password() {
    let cairn = platform_without_stream_readers().await;
    let ann = register(&cairn, "ann").await;
    let changes = [
        ("/chat/me/password", json!({ "password": "fern on stones" })),
        ("/chat/me/username", json!({ "username": "fern" })),
        ("/chat/me/email", json!({ "email": "fern@example.org" })),
    ];
    for (path, body) in &changes {
        ann.user.put(path, body.clone()).await.faulty(&["/currentPassword"]);
        let mut wrong = body.clone();
        wrong["currentPassword"] = "fern on stones".into();
        ann.user.put(path, wrong).await.refused(403, "bad-credentials");
    }
    // Guessing with a stolen access token is limited, too.
    let wrong = || ann.user.put("/chat/me/username", json!({ "username": "fern", "currentPassword": "fern" }));
    for _ in 3..10 {
        wrong().await.refused(403, "bad-credentials");
    }
    let refused = wrong().await.refused(429, "too-many-requests");
    assert!(refused.header("retry-after").parse::<u32>().is_ok_and(|seconds| seconds <= 900), "{}", refused.told());
    cairn.clock.advance(Duration::from_secs(901));
    let ann = log_in(&cairn, "ann").await;
    let right = json!({ "username": "fern", "currentPassword": password("ann") });
    ann.user.put("/chat/me/username", right).await.is(200);
}

async fn password_hash_with_other_parameters_is_renewed() {
    let cairn = platform_without_stream_readers().await;
    register(&cairn, "ann").await;
    let users = cairn.table_of(&USERS);
    let hash = || async {
        let items = users.items().await;
        let ann = items.iter().find(|item| item.contains_key("PasswordHash")).unwrap().clone();
        (ann["PasswordHash"].as_s().unwrap().clone(), ann)
    };
    let (first, mut ann) = hash().await;
    assert!(first.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{first}");
    // `moss on stones of ann` with one pass over 64 KiB.
    let weak = "$argon2id$v=19$m=64,t=1,p=1$bW9zcyBvbiBzdG9uZXM$";
    let weak = format!("{weak}{}", weak_hash(&password("ann")));
    ann.insert("PasswordHash".to_owned(), crate::harness::table::text(&weak));
    users.put(ann).await;
    let renewed = attempt(&cairn, "ann", &password("ann")).await.is(201);
    assert_eq!(password_hashes::OF_THE_RUN.of(&renewed), 2);
    assert!(hash().await.0.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
    let again = attempt(&cairn, "ann", &password("ann")).await.is(201);
    assert_eq!(password_hashes::OF_THE_RUN.of(&again), 1);

    // Of logins at once, the first renews the hash. The others take it as it is then.
    let (_, mut ann) = hash().await;
    ann.insert("PasswordHash".to_owned(), crate::harness::table::text(&weak));
    users.put(ann).await;
    let word = password("ann");
    for login in join_all((0..4).map(|_| attempt(&cairn, "ann", &word))).await {
        login.is(201);
    }
    assert!(hash().await.0.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
}

/// Returns the hash of a password by argon2id with one pass over 64 KiB.
pub fn weak_hash(password: &str) -> String {
    use base64::Engine;
    let parameters = argon2::Params::new(64, 1, 1, None).unwrap();
    let argon2 = argon2::Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, parameters);
    let mut hash = [0; 32];
    argon2.hash_password_into(password.as_bytes(), b"moss on stones", &mut hash).unwrap();
    base64::engine::general_purpose::STANDARD_NO_PAD.encode(hash)
}

async fn profile_is_updated_with_its_entity_tag() {
    let cairn = platform_without_stream_readers().await;
    let ann = register(&cairn, "ann").await;
    let before = ann.user.get("/chat/me").await.is(200);
    let patch = json!({
        "name": "Ann of the moss", "bio": "<b>Grows</b>\nslowly",
        "location": { "country": " Canada ", "city": "New  Westminster", "state": "BC" },
        "avatarURL": "https://pictures.example/ann.png",
    });
    let after = ann.user.patch("/chat/me", patch).if_match(&before.tag()).await.is(200);
    assert_eq!(after["location"], json!({ "country": "Canada", "city": "New Westminster", "state": "BC" }));
    assert_eq!((after.text("name"), after.text("bio")), ("Ann of the moss", "<b>Grows</b>\nslowly"));
    let seen = ann.user.get(&format!("/chat/users/{}", ann.id)).await.is(200);
    assert_eq!(seen["location"], after["location"]);
    ann.user.patch("/chat/me", json!({ "bio": null })).if_match(&before.tag()).await.refused(412, "stale");
    let removed = ann.user.patch("/chat/me", json!({ "bio": null, "location": null, "avatarURL": null })).await.is(200);
    assert!(removed["bio"].is_null() && removed["location"].is_null() && removed["avatarURL"].is_null());
    for (wrong, pointer) in [
        (json!({ "name": null }), "/name"),
        (json!({ "name": "\u{200b}" }), "/name"),
        (json!({ "bio": "\0" }), "/bio"),
        (json!({ "bio": " \n" }), "/bio"),
        (json!({ "bio": "x".repeat(501) }), "/bio"),
        (json!({ "avatarURL": "http://pictures.example/ann.png" }), "/avatarURL"),
        (json!({ "coverPhotoURL": "https:///ann.png" }), "/coverPhotoURL"),
        (json!({ "location": { "state": "BC" } }), "/location/country"),
        (json!({ "username": "moss" }), "/username"),
        (json!({ "role": "admin" }), "/role"),
    ] {
        ann.user.patch("/chat/me", wrong).await.faulty(&[pointer]);
    }
}

async fn administrator_sets_roles_of_others() {
    let cairn = platform_without_stream_readers().await;
    let admin = administrator(&cairn).await;
    let (ann, bob) = (register(&cairn, "ann").await, register(&cairn, "bob").await);
    let role = |id: &str| format!("/chat/users/{id}/role");
    ann.user.put(&role(&bob.id), json!({ "role": "admin" })).await.refused(403, "forbidden");
    assert_eq!(admin.put(&role(&ann.id), json!({ "role": "admin" })).await.is(200).text("role"), "admin");
    admin.put(&role("me"), json!({ "role": "user" })).await.refused(409, "own-role");
    let absent_user = role(&bob.id).replace(&bob.id[..8], "01890a5d");
    admin.put(&absent_user, json!({ "role": "admin" })).await.refused(404, "not-found");
    // The item decides at once, and not the token, which is older.
    ann.user.put(&role(&bob.id), json!({ "role": "admin" })).await.is(200);
    ann.user.put(&role(&ann.id), json!({ "role": "user" })).await.refused(409, "own-role");
    admin.put(&role(&bob.id), json!({ "role": "admin" })).await.is(200);
    admin.put(&role(&ann.id), json!({ "role": "user" })).await.is(200);
    ann.user.put(&role(&bob.id), json!({ "role": "user" })).await.refused(403, "forbidden");
    let entries = cairn.table_of(&COMMUNITIES).items().await;
    let audited =
        entries.iter().filter(|item| item.get("Action").is_some_and(|action| action.as_s().unwrap() == "setRole"));
    assert_eq!(audited.count(), 3, "a role that is set again is not audited");
}

async fn operator_makes_the_first_administrator() {
    let cairn = platform_without_stream_readers().await;
    let (ann, bob) = (register(&cairn, "ann").await, register(&cairn, "bob").await);
    let ban = format!("/chat/users/{}/ban", bob.id);
    ann.user.put(&ban, json!({ "reason": "Spam" })).await.refused(403, "forbidden");
    let made = cairn.command(&["chat", "admin", "Ann"]).await.exited(0);
    assert!(made.contains(&ann.id), "{made}");
    ann.user.put(&ban, json!({ "reason": "Spam" })).await.is(204);
    let error = cairn.command(&["chat", "admin", "cy"]).await.failed();
    assert!(error.contains("Chat has no user `cy`"), "{error}");
}

async fn ban_ends_sessions_and_stops_writing_at_once() {
    let cairn = platform_without_stream_readers().await;
    let admin = administrator(&cairn).await;
    let (ann, bob) = (register(&cairn, "ann").await, register(&cairn, "bob").await);
    let ban = format!("/chat/users/{}/ban", ann.id);
    bob.user.put(&ban, json!({ "reason": "Spam" })).await.refused(403, "forbidden");
    admin.put(&ban, json!({ "reason": "" })).await.faulty(&["/reason"]);
    admin.put(&ban, json!({ "reason": "Spam" })).await.is(204);
    ann.user.patch("/chat/me", json!({ "bio": "Spam" })).await.refused(403, "banned");
    ann.user.get("/chat/users/me").await.refused(403, "banned");
    refresh(&cairn, &ann.refresh_token).await.refused(401, "session-ended");
    // The login reports the ban only after a correct password.
    attempt(&cairn, "ann", &password("ann")).await.refused(403, "banned");
    attempt(&cairn, "ann", &password("bob")).await.refused(401, "bad-credentials");
    admin.put("/chat/users/me/ban", json!({ "reason": "Spam" })).await.refused(409, "own-role");
    admin.delete(&ban).await.is(204);
    admin.delete(&ban).await.is(204);
    log_in(&cairn, "ann").await.user.patch("/chat/me", json!({ "bio": "Moss" })).await.is(200);
}

async fn ban_with_an_end_is_over_by_itself() {
    let cairn = platform_without_stream_readers().await;
    let admin = administrator(&cairn).await;
    let ann = register(&cairn, "ann").await;
    let ban = format!("/chat/users/{}/ban", ann.id);
    let until = |seconds: i64| {
        let end = jiff::Timestamp::from_second(cairn.clock.seconds() + seconds).unwrap();
        json!({ "reason": "Spam", "until": end.to_string() })
    };
    admin.put(&ban, until(-1)).await.faulty(&["/until"]);
    admin.put(&ban, json!({ "reason": "Spam", "until": "soon" })).await.faulty(&["/until"]);
    admin.put(&ban, until(300)).await.is(204);
    ann.user.patch("/chat/me", json!({ "bio": "Spam" })).await.refused(403, "banned");
    cairn.clock.advance(Duration::from_secs(301));
    // The ban has ended the session.
    ann.user.patch("/chat/me", json!({ "bio": "Moss" })).await.refused(401, "not-signed-in");
    log_in(&cairn, "ann").await.user.patch("/chat/me", json!({ "bio": "Moss" })).await.is(200);
}

async fn banned_person_of_another_issuer_sees_no_profile() {
    let cairn = platform_without_stream_readers().await;
    let admin = administrator(&cairn).await;
    let ann = register(&cairn, "ann").await;
    let cy = cairn.person("cy", Person::new("cy")).await;
    let id = cy.get("/chat/me").await.is(200).text("id").to_owned();
    let paths = [format!("/chat/users/{}", ann.id), "/chat/usernames/ann".to_owned(), "/chat/users/me".to_owned()];
    for path in &paths {
        cy.get(path).await.is(200);
    }
    admin.put(&format!("/chat/users/{id}/ban"), json!({ "reason": "Spam" })).await.is(204);
    for path in &paths {
        cy.get(path).await.refused(403, "banned");
    }
}

async fn reset_code_is_void_once_the_password_has_changed() {
    let cairn = platform_without_stream_readers().await;
    let admin = administrator(&cairn).await;
    let ann = register(&cairn, "ann").await;
    let code = || async {
        let path = format!("/chat/users/{}/password-resets", ann.id);
        admin.post(&path, json!({})).await.is(201).text("code").to_owned()
    };
    let reset = |code: &str, password: &str| {
        cairn.visitor().post("/chat/password-resets", json!({ "code": code, "password": password }))
    };
    let (one, other) = (code().await, code().await);
    let (first, second) =
        tokio::join!(reset(&one, "fern on stones").into_future(), reset(&other, "fern on roots").into_future());
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [204, 403]);
    let present = if first.status == 204 { "fern on stones" } else { "fern on roots" };
    let late = code().await;
    let tokens = attempt(&cairn, "ann", present).await.is(201);
    let ann = cairn.user("ann", &format!("Bearer {}", tokens.text("accessToken")));
    let new = json!({ "password": "heath on stones", "currentPassword": present });
    ann.put("/chat/me/password", new).await.is(204);
    reset(&late, "moss and lichen").await.refused(403, "bad-code");
    attempt(&cairn, "ann", "heath on stones").await.is(201);
}

async fn reset_code_sets_a_password_once() {
    let cairn = platform_without_stream_readers().await;
    let admin = administrator(&cairn).await;
    let (ann, bob) = (register(&cairn, "ann").await, register(&cairn, "bob").await);
    let resets = format!("/chat/users/{}/password-resets", ann.id);
    bob.user.post(&resets, json!({})).await.refused(403, "forbidden");
    let code = admin.post(&resets, json!({})).await.is(201).text("code").to_owned();
    let audit = admin.get("/chat/audit").await.is(200);
    let entry = (&audit["items"][0]["action"], &audit["items"][0]["targetId"]);
    assert_eq!(entry, (&json!("createPasswordReset"), &json!(ann.id)));
    let reset = |code: &str, password: &str| {
        cairn.visitor().post("/chat/password-resets", json!({ "code": code, "password": password }))
    };
    reset("none", "fern on stones").await.refused(403, "bad-code");
    reset(&code, "password123").await.faulty(&["/password"]);
    reset(&code, "ANN@example.org").await.faulty(&["/password"]);
    let at_once = join_all((0..4).map(|_| reset(&code, "fern on stones").into_future())).await;
    let mut statuses: Vec<u16> = at_once.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [204, 403, 403, 403]);
    refresh(&cairn, &ann.refresh_token).await.refused(401, "session-ended");
    attempt(&cairn, "ann", "fern on stones").await.is(201);
    let late = admin.post(&resets, json!({})).await.is(201).text("code").to_owned();
    cairn.clock.advance(Duration::from_secs(3601));
    reset(&late, "heath on stones").await.refused(403, "bad-code");
    // The table has hashes of codes only.
    for item in cairn.table_of(&chat::schema::LIVE).items().await {
        assert!(!format!("{item:?}").contains(&late));
    }
}
