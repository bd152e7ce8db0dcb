//! Callers: valid and invalid tokens, and the routes that they open.

use std::time::Duration;

use crate::zoo::{Zoo, json};
use bytes::Bytes;
use http::{Request, Response};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};
use web::token::{Claims, SigningKey};

async fn get(zoo: &Zoo, authorization: &str) -> Response<Bytes> {
    let request = Request::get("/zoo/animals/aviary?limit=1").header("authorization", authorization);
    zoo.send(request.body(Bytes::new()).unwrap()).await
}

/// Returns the status, and the reason why a token is refused.
async fn refused(zoo: &Zoo, claims: &Claims) -> (u16, String) {
    let response = get(zoo, &format!("Bearer {}", zoo.key.sign(claims).unwrap())).await;
    let detail = json(&response)["detail"].as_str().unwrap_or_default().to_owned();
    (response.status().as_u16(), detail)
}

#[tokio::test]
async fn caller_with_role_gets_the_fuller_view() {
    let zoo = Zoo::open();
    let name = |response: &Response<Bytes>| json(response)["items"][0]["name"].clone();
    assert_eq!(name(&zoo.get("/zoo/animals/aviary?limit=1").await), "Polly");
    assert_eq!(name(&get(&zoo, &format!("bearer {}", zoo.keeper())).await), "Polly (bites)");
}

#[tokio::test]
async fn invalid_token_on_public_route_returns_401() {
    let zoo = Zoo::open();
    for wrong in ["Bearer", "Basic eDp5", "Bearer a.b.c", "Bearer ", "Bearer é"] {
        let response = get(&zoo, wrong).await;
        assert_eq!(response.status(), 401, "{wrong}");
        assert_eq!(response.headers()["www-authenticate"], "Bearer error=\"invalid_token\"");
        assert_eq!(json(&response)["type"], "urn:cairn:problem:not-signed-in");
    }
    let request = Request::get("/zoo/health").header("authorization", "Bearer x").header("authorization", "Bearer y");
    assert_eq!(zoo.send(request.body(Bytes::new()).unwrap()).await.status(), 401);
}

#[tokio::test]
async fn token_with_invalid_claim_returns_401_with_the_reason() {
    let zoo = Zoo::open();
    let good = zoo.claims(&[]);
    assert_eq!(refused(&zoo, &good).await.0, 200);
    let now = zoo.clock.seconds();
    let cases = [
        (Claims { iss: "https://other.test".into(), ..good.clone() }, "The token's issuer is not trusted."),
        (Claims { aud: "https://other.test".into(), ..good.clone() }, "The token is for another audience."),
        (Claims { exp: now - 60, ..good.clone() }, "The token has expired."),
        (Claims { nbf: now + 60, ..good.clone() }, "The token is not valid yet."),
        (Claims { sub: String::new(), ..good.clone() }, "The token's subject is empty or too long."),
        (Claims { sub: "#".repeat(70), ..good.clone() }, "The token's subject is empty or too long."),
    ];
    for (claims, expected) in cases {
        assert_eq!(refused(&zoo, &claims).await, (401, expected.to_owned()));
    }
    let within_leeway = Claims { exp: now - 10, nbf: now + 10, ..good };
    assert_eq!(refused(&zoo, &within_leeway).await.0, 200);
}

#[tokio::test]
async fn token_of_issuer_that_the_system_does_not_trust_is_refused() {
    let mut zoo = Zoo::open();
    let token = format!("Bearer {}", zoo.keeper());
    zoo.app = zoo.app.trusting(&["local"]);
    assert_eq!(get(&zoo, &token).await.status(), 200);
    zoo.app = zoo.app.trusting(&["another"]);
    assert_eq!(json(&get(&zoo, &token).await)["detail"], "The token's issuer is not trusted.");
}

#[tokio::test]
async fn token_expires_by_the_clock_of_the_engines() {
    let zoo = Zoo::open();
    let token = format!("Bearer {}", zoo.keeper());
    assert_eq!(get(&zoo, &token).await.status(), 200);
    zoo.clock.advance(Duration::from_secs(3600));
    assert_eq!(get(&zoo, &token).await.status(), 401);
}

#[tokio::test]
async fn token_with_forged_algorithm_is_refused() {
    let zoo = Zoo::open();
    let claims = zoo.claims(&["zoo-keeper"]);
    let kid = serde_json::from_str::<Value>(&zoo.key.jwks()).unwrap()["keys"][0]["kid"].as_str().unwrap().to_owned();
    let header = Header { kid: Some(kid), ..Header::new(Algorithm::HS256) };
    let public = zoo.key.jwks();
    let forged = jsonwebtoken::encode(&header, &claims, &EncodingKey::from_secret(public.as_bytes())).unwrap();
    assert_eq!(get(&zoo, &format!("Bearer {forged}")).await.status(), 401);

    let unsigned = forged.rsplit_once('.').unwrap().0.to_owned() + ".";
    assert_eq!(get(&zoo, &format!("Bearer {unsigned}")).await.status(), 401);
}

#[tokio::test]
async fn token_with_foreign_key_or_changed_claims_is_refused() {
    let zoo = Zoo::open();
    let claims = zoo.claims(&["zoo-keeper"]);
    let foreign = SigningKey::generate().unwrap().sign(&claims).unwrap();
    let response = get(&zoo, &format!("Bearer {foreign}")).await;
    assert_eq!(json(&response)["detail"], "The token's key is not among the keys of its issuer.");

    let own = zoo.keeper();
    let richer = zoo.key.sign(&Claims { roles: vec!["zoo-owner".into()], ..claims }).unwrap();
    let parts: Vec<&str> = own.split('.').collect();
    let body = richer.split('.').nth(1).unwrap();
    let spliced = format!("Bearer {}.{body}.{}", parts[0], parts[2]);
    let response = get(&zoo, &spliced).await;
    assert_eq!(json(&response)["detail"], "The token's signature is invalid.");
}

#[tokio::test]
async fn route_with_role_refuses_callers_without_it() {
    let zoo = Zoo::open();
    let create = async |token: Option<String>| {
        let mut request = Request::post("/zoo/animals/aviary").header("content-type", "application/json");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let response = zoo.send(request.body(Bytes::from(r#"{"name": "Polly", "diet": "meat"}"#)).unwrap()).await;
        (response.status().as_u16(), json(&response)["type"].clone())
    };
    assert_eq!(create(None).await, (401, json!("urn:cairn:problem:not-signed-in")));
    let visitor = zoo.key.sign(&zoo.claims(&["zoo-visitor", "platform-admin"])).unwrap();
    assert_eq!(create(Some(visitor)).await, (403, json!("urn:cairn:problem:forbidden")));
    assert_eq!(create(Some(zoo.keeper())).await.0, 201);
}

#[test]
fn signing_key_survives_a_round_trip_through_pkcs8() {
    let key = SigningKey::generate().unwrap();
    let kept = SigningKey::from_pkcs8(key.to_pkcs8().to_vec()).unwrap();
    assert_eq!(key.jwks(), kept.jwks());
    assert!(SigningKey::from_pkcs8(vec![1, 2, 3]).is_err());
    let shown = format!("{key:?}");
    assert!(shown.starts_with("SigningKey(") && shown.len() < 60, "{shown}");
}
