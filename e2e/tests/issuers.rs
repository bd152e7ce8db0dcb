//! Tokens of an external issuer, whose keys are fetched by URL.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures::future::join_all;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};
use web::token::Claims;

use crate::harness::issuer::{KeyPair, Published, TestIssuer};
use crate::harness::{Cairn, Front};
use crate::tests;

tests! { issuers:
    keys_are_fetched_at_the_first_token,
    unknown_key_ids_fetch_at_most_once_a_minute,
    hundred_requests_with_a_new_key_fetch_it_once,
    key_rotation_fails_no_request,
    #[long] three_key_rotations_fail_no_request,
    #[long] unreachable_key_set_returns_503,
    cached_keys_outlive_an_outage_of_the_issuer,
    withdrawn_key_is_refused_within_an_hour,
    forged_tokens_are_refused,
    clock_skew_of_30_seconds_is_tolerated,
    token_is_accepted_within_30_seconds_of_its_expiry,
}

const COLLECTIONS: &str = "/parks/collections";
const ZONES: &str = "/parks/geozones/bcparks_1";

/// Starts a platform that trusts these issuers in addition to its own.
async fn trusting(issuers: &[&TestIssuer]) -> Front {
    let cairn = Cairn::with_strathcona().await;
    let mut config = cairn.engines().config.clone();
    config.issuers.extend(issuers.iter().map(|issuer| issuer.trusted()));
    Front::of(cairn, config).await
}

fn lakes() -> Value {
    json!({ "displayName": "Lakes", "location": [1, 2] })
}

async fn keys_are_fetched_at_the_first_token() {
    let keys = [KeyPair::rs256("r"), KeyPair::es256("e", 1), KeyPair::eddsa("d")];
    let issuer = TestIssuer::publishing("office", &keys.each_ref()).await;
    let front = trusting(&[&issuer]).await;
    front.visitor().get(COLLECTIONS).await.is(200);
    let own = front.cairn.token("ada", &["parks-admin"]).await;
    front.user("own", &own).post(ZONES, lakes()).await.is(201);
    assert_eq!(issuer.fetched(), 0, "nobody has shown a token of this issuer");
    for key in &keys {
        let admin = front.user("administrator", &issuer.token(key, &front.cairn.clock));
        admin.post(ZONES, lakes()).await.is(201);
        let visitor = Claims { roles: Vec::new(), ..issuer.claims(&front.cairn.clock) };
        let visitor = front.user("visitor of the office", &key.sign(&visitor));
        visitor.post(ZONES, lakes()).await.refused(403, "forbidden");
    }
    assert_eq!(issuer.fetched(), 1);
}

async fn unknown_key_ids_fetch_at_most_once_a_minute() {
    let (known, unknown) = (KeyPair::eddsa("known"), KeyPair::eddsa("unknown"));
    let issuer = TestIssuer::publishing("office", &[&known]).await;
    let front = trusting(&[&issuer]).await;
    let clock = &front.cairn.clock;
    for minute in 1..=2 {
        for id in ["unknown", "another", "unknown"] {
            let liar = front.user("liar", &unknown.sign_as(id, &issuer.claims(clock)));
            let refused = liar.get(COLLECTIONS).await.refused(401, "not-signed-in");
            assert_eq!(refused["detail"], "The token's key is not among the keys of its issuer.");
        }
        assert_eq!(issuer.fetched(), minute);
        front.user("ada", &issuer.token(&known, clock)).get(COLLECTIONS).await.is(200);
        clock.advance(Duration::from_secs(61));
    }
    assert_eq!(issuer.fetched(), 2);
}

async fn hundred_requests_with_a_new_key_fetch_it_once() {
    let (first, new, unknown) = (KeyPair::eddsa("first"), KeyPair::es256("new", 2), KeyPair::es256("unknown", 3));
    let issuer = TestIssuer::publishing("office", &[&first]).await;
    let front = trusting(&[&issuer]).await;
    let clock = &front.cairn.clock;
    front.user("ada", &issuer.token(&first, clock)).get(COLLECTIONS).await.is(200);
    issuer.publish(Published::of(&[&first, &new]));
    for (key, status) in [(&new, 200), (&unknown, 401)] {
        let (fetched, begun) = (issuer.fetched(), front.begun());
        issuer.hold(true);
        let user = front.user("ada", &issuer.token(key, clock));
        let calls = join_all((0..100).map(|_| async { user.get(COLLECTIONS).await.is(status) }));
        let release = async {
            let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
            while front.begun() < begun + 100 {
                assert!(tokio::time::Instant::now() < deadline, "the requests do not come");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            issuer.hold(false);
        };
        tokio::join!(calls, release);
        assert_eq!(issuer.fetched(), fetched + 1, "{}", key.id);
    }
}

async fn key_rotation_fails_no_request() {
    let (old, new) = (KeyPair::es256("old", 4), KeyPair::rs256("new"));
    let issuer = TestIssuer::publishing("office", &[&old]).await;
    let front = trusting(&[&issuer]).await;
    let clock = &front.cairn.clock;
    let before = front.user("before", &issuer.token(&old, clock));
    let after = front.user("after", &issuer.token(&new, clock));
    before.get(COLLECTIONS).await.is(200);
    let running = join_all((0..40).map(|number| {
        let (before, after, issuer) = (&before, &after, &issuer);
        let keys = [&old, &new];
        async move {
            if number == 20 {
                issuer.publish(Published::of(&keys));
                after.get(COLLECTIONS).await.is(200);
            }
            before.get(COLLECTIONS).await.is(200);
        }
    }));
    running.await;
    after.post(ZONES, lakes()).await.is(201);
    before.post(ZONES, lakes()).await.is(201);
    assert_eq!(issuer.fetched(), 2);
}

/// Rotates keys as issuers do: a new key is published in addition to the old one, signs from then on, and the old one
/// is withdrawn.
async fn three_key_rotations_fail_no_request() {
    let keys = [1, 2, 3, 4].map(|number| KeyPair::es256(["1", "2", "3", "4"][number - 1], number as u8));
    let issuer = TestIssuer::publishing("office", &[&keys[0]]).await;
    let front = trusting(&[&issuer]).await;
    let clock = &front.cairn.clock;
    // The signing key, the number of answered requests of each client, and whether that is enough.
    let (signs, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let answered: [AtomicUsize; 8] = Default::default();
    let client = |number: usize| {
        let (front, issuer, keys, signs, over) = (&front, &issuer, &keys, &signs, &over);
        let (late, answered) = (number % 2, &answered[number]);
        async move {
            while !over.load(Ordering::SeqCst) {
                // Half of the clients use a token that was signed by the preceding key.
                let key = &keys[signs.load(Ordering::SeqCst).saturating_sub(late)];
                front.user("ada", &issuer.token(key, clock)).get(COLLECTIONS).await.is(200);
                answered.fetch_add(1, Ordering::SeqCst);
            }
        }
    };
    // After five requests of each client no request with the token of an earlier key is pending.
    let more = async || {
        let counts = || answered.each_ref().map(|count| count.load(Ordering::SeqCst));
        let (before, end) = (counts(), tokio::time::Instant::now() + Duration::from_secs(60));
        while counts().iter().zip(before).any(|(now, before)| *now < before + 5) {
            assert!(tokio::time::Instant::now() < end, "the requests do not come");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let rotation = async {
        more().await;
        for new in 1..keys.len() {
            issuer.publish(Published::of(&[&keys[new - 1], &keys[new]]));
            more().await;
            // Unknown keys are requested once a minute.
            clock.advance(Duration::from_secs(61));
            signs.store(new, Ordering::SeqCst);
            more().await;
            issuer.publish(Published::of(&[&keys[new]]));
            more().await;
        }
        over.store(true, Ordering::SeqCst);
    };
    tokio::join!(join_all((0..8).map(client)), rotation);
    assert_eq!(issuer.fetched(), keys.len(), "once for each key");
}

async fn unreachable_key_set_returns_503() {
    let key = KeyPair::eddsa("k");
    let cases = [
        ("failing", Published::Status(500)),
        ("gone", Published::Status(404)),
        ("elsewhere", Published::Status(302)),
        ("html", Published::Text("<html>".to_owned())),
        ("odd", Published::Text(r#"{"keys": {}}"#.to_owned())),
        ("empty", Published::Keys(Vec::new())),
        ("large", Published::Text(json!({ "keys": [key.public()], "x": "x".repeat(300_000) }).to_string())),
        ("silent", Published::Nothing),
    ];
    let published = [&key];
    let issuers = join_all(cases.iter().map(|(name, _)| TestIssuer::publishing(name, &published))).await;
    let front = trusting(&issuers.iter().collect::<Vec<_>>()).await;
    for (issuer, (name, published)) in issuers.iter().zip(cases) {
        issuer.publish(published);
        let token = issuer.token(&key, &front.cairn.clock);
        let user = front.user(name, &token);
        let began = Instant::now();
        for call in [user.get(COLLECTIONS), user.post(ZONES, lakes())] {
            let refused = call.may_fail().await.refused(503, "unavailable");
            assert!((1..=5).contains(&refused.header("retry-after").parse().unwrap()), "{}", refused.told());
            assert!(!refused.told().contains("127.0.0.1") && !refused.told().contains(&token), "{}", refused.told());
        }
        // Failures are repeated after five seconds.
        let periods = 1 + began.elapsed().as_secs() / 5;
        assert!((1..=periods).contains(&(issuer.fetched() as u64)), "{name}: {}", issuer.fetched());
        // Tokens that cannot be valid are refused without the keys.
        let expired = Claims { exp: 1, ..issuer.claims(&front.cairn.clock) };
        front.user(name, &key.sign(&expired)).get(COLLECTIONS).await.refused(401, "not-signed-in");
        front.visitor().get(COLLECTIONS).await.is(200);
        issuer.publish(Published::of(&[&key]));
    }
    front.cairn.clock.advance(Duration::from_secs(5));
    for issuer in &issuers {
        front.user("ada", &issuer.token(&key, &front.cairn.clock)).post(ZONES, lakes()).await.is(201);
    }
}

async fn cached_keys_outlive_an_outage_of_the_issuer() {
    let (known, new) = (KeyPair::es256("known", 5), KeyPair::eddsa("new"));
    let issuer = TestIssuer::publishing("office", &[&known]).await;
    let front = trusting(&[&issuer]).await;
    let clock = &front.cairn.clock;
    let known_works = async || {
        front.user("ada", &issuer.token(&known, clock)).post(ZONES, lakes()).await.is(201);
    };
    known_works().await;
    issuer.publish(Published::Status(500));
    for _ in 0..3 {
        let user = front.user("new", &issuer.token(&new, clock));
        let refused = user.get(COLLECTIONS).may_fail().await.refused(503, "unavailable");
        assert!((50..=60).contains(&refused.header("retry-after").parse().unwrap()), "{}", refused.told());
        known_works().await;
    }
    assert_eq!(issuer.fetched(), 2);
    // This also holds if the keys are old.
    clock.advance(Duration::from_secs(2 * 3600));
    known_works().await;
    known_works().await;
    assert_eq!(issuer.fetched(), 3);
    issuer.publish(Published::of(&[&known, &new]));
    clock.advance(Duration::from_secs(61));
    front.user("new", &issuer.token(&new, clock)).get(COLLECTIONS).await.is(200);
}

async fn withdrawn_key_is_refused_within_an_hour() {
    let (stolen, good) = (KeyPair::es256("stolen", 6), KeyPair::es256("good", 7));
    let issuer = TestIssuer::publishing("office", &[&stolen, &good]).await;
    let front = trusting(&[&issuer]).await;
    let clock = &front.cairn.clock;
    front.user("thief", &issuer.token(&stolen, clock)).post(ZONES, lakes()).await.is(201);
    issuer.publish(Published::of(&[&good]));
    clock.advance(Duration::from_secs(3601));
    front.user("thief", &issuer.token(&stolen, clock)).post(ZONES, lakes()).await.refused(401, "not-signed-in");
    front.user("ada", &issuer.token(&good, clock)).post(ZONES, lakes()).await.is(201);
    assert_eq!(issuer.fetched(), 2);
}

async fn forged_tokens_are_refused() {
    let (rsa, ec, ed) = (KeyPair::rs256("r"), KeyPair::es256("e", 8), KeyPair::eddsa("d"));
    let issuer = TestIssuer::publishing("office", &[&rsa, &ec, &ed]).await;
    let front = trusting(&[&issuer]).await;
    let claims = issuer.claims(&front.cairn.clock);
    front.user("ada", &rsa.sign(&claims)).post(ZONES, lakes()).await.is(201);
    let mut forged = Vec::new();
    // Key confusion: the public key is used as the secret of a hash.
    for key in [&rsa, &ec, &ed] {
        let public = key.public();
        let modulus = public["n"].as_str().or(public["x"].as_str()).unwrap().to_owned();
        let bytes = URL_SAFE_NO_PAD.decode(&modulus).unwrap();
        let secrets = [public.to_string().into_bytes(), modulus.into_bytes(), bytes];
        for (secret, algorithm) in
            secrets.iter().flat_map(|secret| [(secret, Algorithm::HS256), (secret, Algorithm::HS512)])
        {
            let header = Header { kid: Some(key.id.to_owned()), ..Header::new(algorithm) };
            forged.push(jsonwebtoken::encode(&header, &claims, &EncodingKey::from_secret(secret)).unwrap());
        }
    }
    // The token has no signature.
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    for algorithm in ["none", "None", "NONE", ""] {
        let header = part(&json!({ "alg": algorithm, "kid": "r" }));
        forged.push(format!("{header}.{}.", part(&json!(claims))));
    }
    // The signature is valid, but of another key than the named one, or of another algorithm.
    let others = [(&rsa, "e"), (&rsa, "d"), (&ec, "r"), (&ec, "d"), (&ed, "r"), (&ed, "e")];
    forged.extend(others.map(|(key, id)| key.sign_as(id, &claims)));
    forged.push(KeyPair::es256("e", 9).sign(&claims));
    // The signature is valid, and the header has a critical extension.
    let (kid, crit) = (Some("e".to_owned()), Some(vec!["exp".to_owned()]));
    forged.push(ec.sign_under(&Header { kid, crit, ..Header::new(Algorithm::ES256) }, &claims));
    // The token contains its own key.
    let stranger = KeyPair::es256("e", 9);
    let signed = stranger.sign(&claims);
    let (_, rest) = signed.split_once('.').unwrap();
    forged.push(format!("{}.{rest}", part(&json!({ "alg": "ES256", "kid": "e", "jwk": stranger.public() }))));
    for token in forged {
        let liar = front.user("liar", &token);
        liar.post(ZONES, lakes()).await.refused(401, "not-signed-in");
        liar.get(COLLECTIONS).await.refused(401, "not-signed-in");
    }
    assert_eq!(issuer.fetched(), 1);
}

async fn token_is_accepted_within_30_seconds_of_its_expiry() {
    let key = KeyPair::eddsa("k");
    let issuer = TestIssuer::publishing("office", &[&key]).await;
    let front = trusting(&[&issuer]).await;
    let clock = &front.cairn.clock;
    let claims = issuer.claims(clock);
    let ada = front.user("ada", &key.sign(&claims));
    ada.get(COLLECTIONS).await.is(200);
    clock.advance(Duration::from_secs((claims.exp - clock.seconds()) as u64 + 20));
    assert!(clock.seconds() > claims.exp);
    ada.get(COLLECTIONS).await.is(200);
    ada.post(ZONES, lakes()).await.is(201);
    clock.advance(Duration::from_secs(11));
    ada.get(COLLECTIONS).await.refused(401, "not-signed-in");
    ada.post(ZONES, lakes()).await.refused(401, "not-signed-in");
    // A token is not valid long before its `nbf`.
    let soon = |seconds: i64| Claims { nbf: clock.seconds() + seconds, exp: clock.seconds() + 600, ..claims.clone() };
    let early = front.user("ada", &key.sign(&soon(60)));
    early.get(COLLECTIONS).await.refused(401, "not-signed-in");
    clock.advance(Duration::from_secs(35));
    early.get(COLLECTIONS).await.is(200);
}

async fn clock_skew_of_30_seconds_is_tolerated() {
    let key = KeyPair::eddsa("k");
    let issuer = TestIssuer::publishing("office", &[&key]).await;
    let front = trusting(&[&issuer]).await;
    let claims = issuer.claims(&front.cairn.clock);
    let now = front.cairn.clock.seconds();
    for (seconds, status) in [(10, 200), (90, 401)] {
        for claims in [Claims { exp: now - seconds, ..claims.clone() }, Claims { nbf: now + seconds, ..claims.clone() }]
        {
            front.user("ada", &key.sign(&claims)).get(COLLECTIONS).await.is(status);
        }
    }
}
