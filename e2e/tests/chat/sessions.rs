//! Sessions: logging in and its limits, tokens and their keys, refreshing, and logging out.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::schema::{IDENTITY, NOTIFICATIONS};
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde_json::{Value, json};
use table::config::SECRET_LIFETIME;
use web::issuer::{PERIOD, signing_key};
use web::token::{Claims, SigningKey};

use super::identity::platform_without_stream_readers;
use super::people::{attempt, attempt_from, log_in, password, refresh, register};
use super::stage::without_stream_readers;
use crate::harness::{Cairn, Setup, password_hashes, sized};
use crate::tests;

tests! { chat_sessions:
    access_token_verifies_against_the_published_keys,
    forged_tokens_are_refused,
    #[long] token_of_each_operation_is_verified_by_the_own_issuer,
    keys_change_without_a_deployment,
    new_secret_ends_all_sessions_within_five_minutes,
    unknown_login_and_wrong_password_are_answered_alike_after_one_hash_each,
    #[long] tenth_failure_for_a_login_from_a_network_blocks_it_there,
    #[long] fiftieth_failure_for_a_login_blocks_it_everywhere,
    login_that_is_refused_unchecked_is_no_failure_of_its_network,
    failures_with_a_username_do_not_show_whose_an_address_is,
    failures_at_once_are_all_counted,
    refresh_token_sent_by_two_at_once_gets_both_the_same,
    refresh_token_used_again_after_20_seconds_ends_the_session,
    each_refresh_token_gets_its_successor_again_for_20_seconds,
    altered_refresh_token_is_refused,
    session_ends_30_days_after_its_last_use_and_after_180_days_in_all,
    logged_out_session_cannot_be_refreshed,
    sessions_are_listed_with_the_current_one,
}

async fn access_token_verifies_against_the_published_keys() {
    let cairn = platform_without_stream_readers().await;
    let ann = register(&cairn, "ann").await;
    let published = cairn.visitor().get("/chat/.well-known/jwks.json").await.is(200);
    assert_eq!(published.header("cache-control"), "public, max-age=300");
    let keys: JwkSet = serde_json::from_value(published.body).unwrap();
    let kid = jsonwebtoken::decode_header(&ann.access_token).unwrap().kid.unwrap();
    let key = DecodingKey::from_jwk(keys.find(&kid).unwrap()).unwrap();
    let mut validation = Validation::new(Algorithm::EdDSA);
    validation.set_audience(&["cairn"]);
    let claims = jsonwebtoken::decode::<Value>(&ann.access_token, &key, &validation).unwrap().claims;
    assert_eq!(claims["iss"], format!("urn:cairn:{}chat", cairn.engines().config.prefix));
    assert_eq!((&claims["sub"], &claims["sid"]), (&json!(ann.id), &json!(ann.session)));
    assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 600);
    assert_eq!(claims["roles"], Value::Null);
    for personal in ["email", "name"] {
        assert_eq!(claims[personal], Value::Null);
    }
    cairn.clock.advance(Duration::from_secs(631));
    ann.user.get("/chat/me").await.refused(401, "not-signed-in");
}

/// Returns the claims of a token of chat, and the key that signs.
fn own(cairn: &Cairn, user: &str) -> (Claims, SigningKey) {
    let now = cairn.clock.seconds();
    let claims = Claims {
        iss: format!("urn:cairn:{}chat", cairn.engines().config.prefix),
        sub: user.to_owned(),
        aud: "cairn".to_owned(),
        iat: now,
        nbf: now,
        exp: now + 600,
        ..Claims::default()
    };
    (claims, signing_key(&cairn.secret(IDENTITY), now).unwrap())
}

async fn forged_tokens_are_refused() {
    let cairn = platform_without_stream_readers().await;
    let ann = register(&cairn, "ann").await;
    let (claims, key) = own(&cairn, &ann.id);
    // The rest of this test changes one part of this token at a time.
    assert_eq!(me_of(&cairn, &key.sign(&claims).unwrap()).await, 200);
    let mut forged = vec![
        key.sign(&Claims { iss: "urn:cairn:chat".to_owned(), ..claims.clone() }).unwrap(),
        key.sign(&Claims { aud: "https://other.example".to_owned(), ..claims.clone() }).unwrap(),
        key.sign(&Claims { exp: claims.exp - 700, ..claims.clone() }).unwrap(),
        key.sign(&Claims { nbf: claims.nbf + 60, ..claims.clone() }).unwrap(),
        SigningKey::generate().unwrap().sign(&claims).unwrap(),
    ];
    let published = cairn.visitor().get("/chat/.well-known/jwks.json").await.is(200);
    let public = &published["keys"][0];
    let (x, kid) = (public["x"].as_str().unwrap(), public["kid"].as_str().unwrap());
    let bytes = URL_SAFE_NO_PAD.decode(x).unwrap();
    for secret in [public.to_string().as_bytes(), x.as_bytes(), &bytes] {
        let header = Header { kid: Some(kid.to_owned()), ..Header::new(Algorithm::HS256) };
        forged.push(jsonwebtoken::encode(&header, &claims, &EncodingKey::from_secret(secret)).unwrap());
    }
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    for algorithm in ["none", "None", ""] {
        forged.push(format!("{}.{}.", part(json!({ "alg": algorithm, "kid": kid })), part(json!(claims))));
    }
    for token in forged {
        assert_eq!(me_of(&cairn, &token).await, 401, "{token}");
    }
}

async fn me_of(cairn: &Cairn, token: &str) -> u16 {
    cairn.user("ann", &format!("Bearer {token}")).get("/chat/me").await.status
}

/// Each function reads the secret itself, so each must be allowed to.
async fn token_of_each_operation_is_verified_by_the_own_issuer() {
    let cairn = platform_without_stream_readers().await;
    let ann = register(&cairn, "ann").await;
    let forged = cairn.user("liar", &format!("Bearer {}", ann.access_token.replacen('.', ".e", 1)));
    let app = chat::app(std::sync::Arc::clone(cairn.engines()));
    for route in app.routes() {
        let path = route.template().replace(['{', '}'], "");
        forged.call(route.method().clone(), &path).await.refused(401, "not-signed-in");
    }
    let (claims, _) = own(&cairn, &ann.id);
    let liar = SigningKey::generate().unwrap().sign(&claims).unwrap();
    let liar = cairn.user("liar", &format!("Bearer {liar}"));
    for route in app.routes() {
        let path = route.template().replace(['{', '}'], "");
        let refused = liar.call(route.method().clone(), &path).await.refused(401, "not-signed-in");
        assert_eq!(refused.text("detail"), "The token's key is not among the keys of its issuer.", "{route:?}");
    }
}

async fn keys_change_without_a_deployment() {
    let cairn = platform_without_stream_readers().await;
    register(&cairn, "ann").await;
    let ids = || async {
        let keys = cairn.visitor().get("/chat/.well-known/jwks.json").await.is(200);
        let keys = keys["keys"].as_array().unwrap().clone();
        keys.iter().map(|key| key["kid"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let signing = |token: &str| jsonwebtoken::decode_header(token).unwrap().kid.unwrap();
    // The mirror discards a record of ann's that is a day old.
    cairn.caught_up().await;
    // The middle of a period, then five minutes before its end.
    let rest = || PERIOD - cairn.clock.seconds().rem_euclid(PERIOD);
    cairn.clock.advance(Duration::from_secs(rest() as u64 + 15 * 24 * 3600));
    let old = ids().await;
    assert_eq!(old.len(), 1);
    cairn.clock.advance(Duration::from_secs(rest() as u64 - 300));
    let both = ids().await;
    assert_eq!((both.len(), &both[0]), (2, &old[0]));
    let before = log_in(&cairn, "ann").await;
    assert_eq!(signing(&before.access_token), both[0]);
    cairn.clock.advance(Duration::from_secs(400));
    let after = log_in(&cairn, "ann").await;
    assert_eq!(signing(&after.access_token), both[1]);
    // A token of the old key lives out its ten minutes.
    before.user.get("/chat/me").await.is(200);
    assert_eq!(ids().await, both);
    cairn.clock.advance(Duration::from_secs(24 * 3600));
    assert_eq!(ids().await, [both[1].clone()]);
    refresh(&cairn, &before.refresh_token).await.is(200);
}

async fn new_secret_ends_all_sessions_within_five_minutes() {
    let cairn = platform_without_stream_readers().await;
    let (ann, bob) = (register(&cairn, "ann").await, register(&cairn, "bob").await);
    cairn.put_secret(IDENTITY, "moss on other stones, by the river");
    cairn.clock.advance(SECRET_LIFETIME);
    for old in [&ann, &bob] {
        old.user.get("/chat/me").await.refused(401, "not-signed-in");
        refresh(&cairn, &old.refresh_token).await.refused(401, "session-ended");
    }
    let new = log_in(&cairn, "ann").await;
    assert_eq!(new.id, ann.id);
    refresh(&cairn, &new.refresh_token).await.is(200);
}

async fn unknown_login_and_wrong_password_are_answered_alike_after_one_hash_each() {
    let cairn = platform_without_stream_readers().await;
    register(&cairn, "ann").await;
    let person = cairn.person("cy", local::identity::Person::new("cy")).await;
    person.get("/chat/me").await.is(200);
    let wrong = attempt(&cairn, "ann", &password("bob")).await.refused(401, "bad-credentials");
    for (login, given) in [
        ("bob", password("bob")),
        ("bob@example.org", password("bob")),
        ("b", "b".to_owned()),
        // Somebody whom another issuer signs in has no password.
        ("cy", password("cy")),
        ("#%/", password("bob")),
    ] {
        let unknown = attempt(&cairn, login, &given).await;
        assert_eq!(unknown.but_for_the_request(), wrong.but_for_the_request(), "{login}");
        assert_eq!(password_hashes::OF_THE_RUN.of(&unknown), 1, "{login}");
    }
    assert_eq!(password_hashes::OF_THE_RUN.of(&wrong), 1);
}

async fn tenth_failure_for_a_login_from_a_network_blocks_it_there() {
    let cairn = platform_without_stream_readers().await;
    let ann = register(&cairn, "ann").await;
    let from = |address: &'static str, login: &'static str, given: String| {
        let cairn = &cairn;
        async move { attempt_from(cairn, address, login, &given).await }
    };
    for login in ["ann", "nobody"] {
        for number in 0..10 {
            let address = if number % 2 == 0 { "203.0.113.1" } else { "198.51.100.1, 203.0.113.200" };
            from(address, login, password("bob")).await.refused(401, "bad-credentials");
        }
        let refused = from("203.0.113.7", login, password("ann")).await.refused(429, "too-many-attempts");
        let seconds: u32 = refused.header("retry-after").parse().unwrap();
        assert!((800..=900).contains(&seconds), "{}", refused.told());
        assert_eq!(password_hashes::OF_THE_RUN.of(&refused), 0);
    }
    from("203.0.114.1", "ann", password("ann")).await.is(201);
    from("2001:db8::1", "ann", password("ann")).await.is(201);
    refresh(&cairn, &ann.refresh_token).await.is(200);
    cairn.clock.advance(Duration::from_secs(901));
    from("203.0.113.7", "ann", password("ann")).await.is(201);
}

async fn fiftieth_failure_for_a_login_blocks_it_everywhere() {
    let cairn = platform_without_stream_readers().await;
    register(&cairn, "ann").await;
    for number in 0..50 {
        let address = format!("203.0.{number}.1");
        attempt_from(&cairn, &address, "ann", &password("bob")).await.refused(401, "bad-credentials");
    }
    attempt_from(&cairn, "198.51.100.1", "ANN", &password("ann")).await.refused(429, "too-many-attempts");
    attempt_from(&cairn, "198.51.100.1", "bob", &password("bob")).await.refused(401, "bad-credentials");
}

async fn login_that_is_refused_unchecked_is_no_failure_of_its_network() {
    let limits = vec![("register", 10_000), ("logIn", 2), ("logInAnywhere", 1)];
    let cairn = Cairn::with(without_stream_readers(Setup { limits, ..Setup::of("chat") })).await;
    register(&cairn, "ann").await;
    attempt_from(&cairn, "203.0.113.1", "ann", &password("bob")).await.refused(401, "bad-credentials");
    // The period of the network begins in that of the failures anywhere, and ends after it.
    cairn.clock.advance(Duration::from_secs(600));
    for _ in 0..3 {
        let refused = attempt_from(&cairn, "198.51.100.1", "ann", &password("ann")).await;
        assert_eq!(password_hashes::OF_THE_RUN.of(&refused.refused(429, "too-many-attempts")), 0);
    }
    cairn.clock.advance(Duration::from_secs(301));
    attempt_from(&cairn, "198.51.100.1", "ann", &password("ann")).await.is(201);
}

async fn failures_with_a_username_do_not_show_whose_an_address_is() {
    let cairn = platform_without_stream_readers().await;
    for name in ["ann", "bob"] {
        register(&cairn, name).await;
    }
    for _ in 0..10 {
        attempt(&cairn, "ann", &password("bob")).await.refused(401, "bad-credentials");
    }
    for address in ["ann@example.org", "bob@example.org", "unknown@example.org"] {
        attempt(&cairn, address, "fern on stones").await.refused(401, "bad-credentials");
    }
    attempt(&cairn, "ANN", &password("ann")).await.refused(429, "too-many-attempts");
    for _ in 0..9 {
        attempt(&cairn, "Ann@Example.org", &password("bob")).await.refused(401, "bad-credentials");
    }
    attempt(&cairn, "ann@example.org", &password("ann")).await.refused(429, "too-many-attempts");
}

async fn failures_at_once_are_all_counted() {
    let cairn = platform_without_stream_readers().await;
    register(&cairn, "ann").await;
    let attempts = (0..20).map(|_| async { attempt(&cairn, "ann", &password("bob")).await.status });
    let mut statuses = futures::future::join_all(attempts).await;
    statuses.sort_unstable();
    assert_eq!(statuses, [vec![401; 10], vec![429; 10]].concat());
}

async fn refresh_token_sent_by_two_at_once_gets_both_the_same() {
    let cairn = platform_without_stream_readers().await;
    let ann = register(&cairn, "ann").await;
    let mut token = ann.refresh_token;
    for _ in 0..sized(5, 100) {
        let (one, other) = tokio::join!(refresh(&cairn, &token), refresh(&cairn, &token));
        let (one, other) = (one.is(200), other.is(200));
        assert_eq!(one["refreshToken"], other["refreshToken"]);
        assert_eq!(one["sessionId"], ann.session);
        token = one.text("refreshToken").to_owned();
        me_with(&cairn, one.text("accessToken")).await;
        me_with(&cairn, other.text("accessToken")).await;
    }
}

async fn me_with(cairn: &Cairn, token: &str) {
    assert_eq!(me_of(cairn, token).await, 200);
}

async fn refresh_token_used_again_after_20_seconds_ends_the_session() {
    let cairn = platform_without_stream_readers().await;
    let (ann, other) = (register(&cairn, "ann").await, log_in(&cairn, "ann").await);
    let newest = refresh(&cairn, &ann.refresh_token).await.is(200).text("refreshToken").to_owned();
    cairn.clock.advance(Duration::from_secs(18));
    assert_eq!(refresh(&cairn, &ann.refresh_token).await.is(200)["refreshToken"], newest);
    cairn.clock.advance(Duration::from_secs(3));
    let again = (0..3).map(|_| refresh(&cairn, &ann.refresh_token));
    for refused in futures::future::join_all(again).await {
        refused.refused(401, "session-ended");
    }
    refresh(&cairn, &newest).await.refused(401, "session-ended");
    refresh(&cairn, &other.refresh_token).await.is(200);
    let items = cairn.table_of(&NOTIFICATIONS).items().await;
    let told: Vec<_> = items.iter().filter(|item| item.contains_key("NotificationType")).collect();
    assert_eq!(told.len(), 1, "{items:?}");
    assert_eq!(told[0]["NotificationType"].as_s().unwrap(), "security");
    assert_eq!(told[0]["pk"].as_s().unwrap(), &format!("USER#{}", ann.id));
    let counter = items.iter().find(|item| item["pk"].as_s().unwrap() == &format!("UNREAD#{}", ann.id)).unwrap();
    assert_eq!(counter["Num"].as_n().unwrap(), "1");
}

async fn each_refresh_token_gets_its_successor_again_for_20_seconds() {
    let cairn = platform_without_stream_readers().await;
    let ann = register(&cairn, "ann").await;
    let next = async |token: &str| refresh(&cairn, token).await.is(200).text("refreshToken").to_owned();
    let first = next(&ann.refresh_token).await;
    cairn.clock.advance(Duration::from_secs(12));
    let second = next(&first).await;
    // The answer to the first refresh may be lost though another window has gone on.
    assert_eq!((next(&ann.refresh_token).await, next(&first).await), (first.clone(), second.clone()));
    cairn.clock.advance(Duration::from_secs(10));
    assert_eq!(next(&first).await, second);
    let third = next(&second).await;
    assert_eq!((next(&first).await, next(&second).await), (second.clone(), third.clone()));
    refresh(&cairn, &ann.refresh_token).await.refused(401, "session-ended");
    refresh(&cairn, &third).await.refused(401, "session-ended");
}

async fn altered_refresh_token_is_refused() {
    let cairn = platform_without_stream_readers().await;
    let (ann, bob) = (register(&cairn, "ann").await, register(&cairn, "bob").await);
    let parts: Vec<&str> = ann.refresh_token.split('.').collect();
    let [user, session, generation, mac] = parts[..] else { panic!("{parts:?}") };
    let bobs: Vec<&str> = bob.refresh_token.split('.').collect();
    for altered in [
        format!("{user}.{session}.1.{mac}"),
        format!("{}.{session}.{generation}.{mac}", bob.id),
        format!("{user}.{}.{generation}.{mac}", bob.session),
        format!("{user}.{session}.{generation}.{}", bobs[3]),
        format!("{user}.{session}.{generation}"),
        ann.access_token.chars().take(500).collect(),
        "none".to_owned(),
    ] {
        refresh(&cairn, &altered).await.refused(401, "session-ended");
    }
    refresh(&cairn, "").await.faulty(&["/refreshToken"]);
    refresh(&cairn, &ann.refresh_token).await.is(200);
}

async fn session_ends_30_days_after_its_last_use_and_after_180_days_in_all() {
    const DAY: u64 = 24 * 3600;
    let cairn = platform_without_stream_readers().await;
    let (ann, unused) = (register(&cairn, "ann").await, log_in(&cairn, "ann").await);
    let mut token = ann.refresh_token;
    for _ in 0..7 {
        cairn.clock.advance(Duration::from_secs(25 * DAY));
        token = refresh(&cairn, &token).await.is(200).text("refreshToken").to_owned();
    }
    refresh(&cairn, &unused.refresh_token).await.refused(401, "session-ended");
    cairn.clock.advance(Duration::from_secs(6 * DAY));
    refresh(&cairn, &token).await.refused(401, "session-ended");
}

async fn logged_out_session_cannot_be_refreshed() {
    let cairn = platform_without_stream_readers().await;
    let (one, two, three) = (register(&cairn, "ann").await, log_in(&cairn, "ann").await, log_in(&cairn, "ann").await);
    let bob = register(&cairn, "bob").await;
    one.user.delete("/chat/me/sessions/current").await.is(204);
    one.user.delete("/chat/me/sessions/current").await.refused(404, "not-found");
    bob.user.delete(&format!("/chat/me/sessions/{}", two.session)).await.refused(404, "not-found");
    bob.user.delete("/chat/me/sessions/none").await.refused(404, "not-found");
    refresh(&cairn, &one.refresh_token).await.refused(401, "session-ended");
    three.user.delete(&format!("/chat/me/sessions/{}", two.session)).await.is(204);
    refresh(&cairn, &two.refresh_token).await.refused(401, "session-ended");
    refresh(&cairn, &three.refresh_token).await.is(200);
    // An access token lives out its ten minutes.
    one.user.delete("/chat/me/sessions").await.is(204);
    refresh(&cairn, &three.refresh_token).await.refused(401, "session-ended");
    refresh(&cairn, &bob.refresh_token).await.is(200);
}

async fn sessions_are_listed_with_the_current_one() {
    let cairn = platform_without_stream_readers().await;
    let (one, two) = (register(&cairn, "ann").await, log_in(&cairn, "ann").await);
    register(&cairn, "bob").await;
    let agent = one.user.get("/chat/me/sessions").await.is(200);
    assert_eq!(agent.each("id"), [&json!(two.session), &json!(one.session)]);
    assert_eq!(agent.each("current"), [&json!(false), &json!(true)]);
    let page = two.user.get("/chat/me/sessions?limit=1").await.is(200);
    let rest = two.user.get(&format!("/chat/me/sessions?limit=1&cursor={}", page.next().unwrap())).await.is(200);
    assert_eq!((page.each("id"), rest.each("id")), (vec![&json!(two.session)], vec![&json!(one.session)]));
    assert!(rest.next().is_none());
}
