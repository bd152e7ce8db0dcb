//! Who calls: without a token, with a good one, with one that is not.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use web::token::{Claims, SigningKey};

use crate::harness::Cairn;
use crate::tests;

tests! { identity:
    caller_is_anonymous_invalid_or_known,
    token_with_a_wrong_claim_returns_401,
    expired_token_returns_401,
    writes_need_the_administrator_role,
    writes_record_their_person,
    public_and_unknown_routes_need_no_token,
}

const ZONES: &str = "/parks/geozones/bcparks_1";

fn lakes() -> Value {
    json!({ "displayName": "Lakes", "location": [1, 2] })
}

async fn caller_is_anonymous_invalid_or_known() {
    let cairn = Cairn::with_strathcona().await;
    cairn.visitor().get("/parks/collections").await.is(200);
    let anonymous = cairn.visitor().post(ZONES, lakes()).await.refused(401, "not-signed-in");
    assert!(anonymous.header("www-authenticate").starts_with("Bearer"), "{}", anonymous.told());
    let stranger = cairn.user("stranger", &format!("Bearer {}", cairn.token("eve", &["archive-admin"]).await));
    stranger.post(ZONES, lakes()).await.refused(403, "forbidden");
    stranger.get("/parks/collections").await.is(200);
    // A token that is sent must be right, also where none is needed.
    for wrong in ["Bearer x", "Bearer", "Basic YTpi", "Bearer a.b.c", "nonsense", ""] {
        let liar = cairn.user("liar", wrong);
        for path in ["/parks/collections", "/parks/health", "/parks/openapi.json", "/parks/search?q=a"] {
            liar.get(path).await.refused(401, "not-signed-in");
        }
        liar.post(ZONES, lakes()).await.refused(401, "not-signed-in");
    }
    cairn.administrator().await.post(ZONES, lakes()).await.is(201);
}

async fn token_with_a_wrong_claim_returns_401() {
    let cairn = Cairn::with_strathcona().await;
    let token = cairn.token("ada", &["parks-admin"]).await;
    let [head, claims, signature] = token.split('.').collect::<Vec<_>>()[..] else { panic!("{token}") };
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let with = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims[name] = value;
        part(&claims)
    };
    let mut forged: Vec<(&str, String)> = vec![
        ("alg none", format!("{}.{}.", part(&json!({ "alg": "none", "typ": "JWT" })), part(&claims))),
        ("alg none, signed", format!("{}.{}.{signature}", part(&json!({ "alg": "none" })), part(&claims))),
        ("another algorithm", format!("{}.{}.{signature}", part(&json!({ "alg": "HS256" })), part(&claims))),
        ("another subject", format!("{head}.{}.{signature}", with("sub", json!("eve")))),
        ("more roles", format!("{head}.{}.{signature}", with("roles", json!(["platform-admin"])))),
        ("no signature", format!("{head}.{}", part(&claims))),
        ("empty signature", format!("{head}.{}.", part(&claims))),
        ("a part too many", format!("{token}.{signature}")),
        ("cut short", token[..token.len() - 1].to_owned()),
    ];
    // Signed with another key, in the name of our issuer.
    let stranger = SigningKey::generate().unwrap();
    let own = Claims {
        iss: claims["iss"].as_str().unwrap().to_owned(),
        sub: "ada".to_owned(),
        aud: claims["aud"].as_str().unwrap().to_owned(),
        exp: claims["exp"].as_i64().unwrap(),
        roles: vec!["parks-admin".to_owned()],
        ..Claims::default()
    };
    forged.push(("another's key", stranger.sign(&own).unwrap()));
    for (name, token) in forged {
        let liar = cairn.user("liar", &format!("Bearer {token}"));
        let refused = liar.post(ZONES, lakes()).await.refused(401, "not-signed-in");
        assert!(!refused.told().contains(signature), "{name}");
        liar.get("/parks/collections").await.refused(401, "not-signed-in");
    }
    // Signed by our issuer, but not for us, not now, not by whom we trust.
    let now = cairn.clock.seconds();
    for (name, claims) in [
        ("another audience", Claims { aud: "elsewhere".to_owned(), ..own.clone() }),
        ("another issuer", Claims { iss: "https://elsewhere.test".to_owned(), ..own.clone() }),
        ("expired", Claims { exp: now - 60, ..own.clone() }),
        ("not yet valid", Claims { nbf: now + 60, ..own.clone() }),
        ("without subject", Claims { sub: String::new(), ..own.clone() }),
    ] {
        let token = cairn.sign(&claims);
        let refused = cairn.user(name, &format!("Bearer {token}")).get("/parks/collections").await;
        refused.refused(401, "not-signed-in");
    }
    let token = cairn.sign(&own);
    cairn.user("ada", &format!("bearer {token}")).post(ZONES, lakes()).await.is(201);
}

async fn expired_token_returns_401() {
    let cairn = Cairn::with_strathcona().await;
    let admin = cairn.administrator().await;
    admin.post(ZONES, lakes()).await.is(201);
    cairn.clock.advance(Duration::from_secs(31 * 24 * 3600));
    admin.post(ZONES, lakes()).await.refused(401, "not-signed-in");
    admin.get("/parks/collections").await.refused(401, "not-signed-in");
    cairn.administrator().await.post(ZONES, lakes()).await.is(201);
}

async fn writes_need_the_administrator_role() {
    let cairn = Cairn::with_strathcona().await;
    cairn.administrator().await.post(ZONES, lakes()).await.is(201);
    let one = format!("{ZONES}/1");
    let stranger = cairn.user("stranger", &format!("Bearer {}", cairn.token("eve", &["parks-editor"]).await));
    for (user, status, slug) in [(cairn.visitor(), 401, "not-signed-in"), (stranger, 403, "forbidden")] {
        user.post("/parks/collections", json!({})).await.refused(status, slug);
        user.post(ZONES, json!({})).await.refused(status, slug);
        user.post("/parks/facilities/bcparks_1", json!({})).await.refused(status, slug);
        user.patch(&one, json!({})).await.refused(status, slug);
        user.delete(&one).await.refused(status, slug);
        user.post(&format!("{one}/restore"), json!({})).await.refused(status, slug);
        user.put(&format!("{one}/geometry/boundary"), json!({})).await.refused(status, slug);
        user.delete(&format!("{one}/geometry/boundary")).await.refused(status, slug);
        user.post("/parks/geometries/uploads", json!({})).await.refused(status, slug);
        user.get("/parks/geometries/uploads/x").await.refused(status, slug);
        // Nothing is told of what is there before it is known who asks.
        user.patch(&format!("{ZONES}/99"), json!({})).await.refused(status, slug);
    }
}

async fn writes_record_their_person() {
    let cairn = Cairn::with_strathcona().await;
    let ada = cairn.administrator().await;
    let token = cairn.token("bob/the#second", &["parks-admin"]).await;
    let bob = cairn.user("bob", &format!("Bearer {token}"));
    let made = ada.post(ZONES, lakes()).await.is(201);
    let changed = bob.patch(made.header("location"), json!({ "description": "x" })).await.is(200);
    assert_eq!((changed.text("createdBy"), changed.text("updatedBy")), ("local:ada", "local:bob~2Fthe~23second"));
    assert_eq!(changed["createdAt"], made["createdAt"]);
    assert!(changed.text("updatedAt") > made.text("updatedAt"));
    bob.delete(made.header("location")).await.is(204);
    let deleted = ada.get(made.header("location")).await.is(200);
    assert_eq!(deleted["deletedBy"], "local:bob~2Fthe~23second");
    let time = deleted.text("deletedAt");
    assert!(time.len() == 27 && time.ends_with('Z') && time.as_bytes()[19] == b'.', "{time}");
}

async fn public_and_unknown_routes_need_no_token() {
    let cairn = Cairn::start().await;
    let visitor = cairn.visitor();
    assert_eq!(visitor.get("/parks/health").await.is(200).body, json!({ "status": "ok" }));
    let description = visitor.get("/parks/openapi.json").await.is(200);
    assert_eq!(description["openapi"], "3.1.0");
    for path in ["/parks", "/parks/nothing", "/nothing", "/parks/collections/a/b", "/parks/imports"] {
        let answer = visitor.get(path).await.is(404);
        assert_eq!(answer.body, json!({ "message": "Not Found" }), "{path}");
    }
    let answer = visitor.delete("/parks/collections").await.is(404);
    assert_eq!(answer.body, json!({ "message": "Not Found" }));
    // A browser asks before it calls.
    let preflight = visitor
        .call(reqwest::Method::OPTIONS, "/parks/collections")
        .header("origin", "https://map.example")
        .header("access-control-request-method", "POST")
        .await
        .is(204);
    assert_eq!(preflight.header("access-control-allow-origin"), "*");
    let seen = visitor.get("/parks/collections").header("origin", "https://map.example").await.is(200);
    assert_eq!(seen.header("access-control-allow-origin"), "*");
    assert!(seen.header("access-control-expose-headers").contains("ETag"), "{}", seen.told());
}
