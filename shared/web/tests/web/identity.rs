//! Who calls: tokens that are valid, tokens that are not, and what each may do.

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

/// The status, and why a token is refused.
async fn refused(zoo: &Zoo, claims: &Claims) -> (u16, String) {
    let response = get(zoo, &format!("Bearer {}", zoo.key.sign(claims).unwrap())).await;
    let detail = json(&response)["detail"].as_str().unwrap_or_default().to_owned();
    (response.status().as_u16(), detail)
}

#[tokio::test]
async fn everyone_has_their_view() {
    let zoo = Zoo::open();
    let name = |response: &Response<Bytes>| json(response)["items"][0]["name"].clone();
    assert_eq!(name(&zoo.get("/zoo/animals/aviary?limit=1").await), "Polly");
    assert_eq!(name(&get(&zoo, &format!("bearer {}", zoo.keeper())).await), "Polly (bites)");
}

#[tokio::test]
async fn a_token_sent_to_a_public_route_must_be_valid() {
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
async fn claims_are_checked() {
    let zoo = Zoo::open();
    let good = zoo.claims(&[]);
    assert_eq!(refused(&zoo, &good).await.0, 200);
    let now = zoo.clock.seconds();
    let cases = [
        (Claims { iss: "https://other.test".into(), ..good.clone() }, "The token's issuer is not trusted here."),
        (Claims { aud: "https://other.test".into(), ..good.clone() }, "The token is meant for another audience."),
        (Claims { exp: now - 60, ..good.clone() }, "The token has expired."),
        (Claims { nbf: now + 60, ..good.clone() }, "The token is not valid yet."),
        (Claims { sub: String::new(), ..good.clone() }, "The token's subject is empty or too long to stand in a key."),
        (Claims { sub: "#".repeat(70), ..good.clone() }, "The token's subject is empty or too long to stand in a key."),
    ];
    for (claims, expected) in cases {
        assert_eq!(refused(&zoo, &claims).await, (401, expected.to_owned()));
    }
    let within_leeway = Claims { exp: now - 10, nbf: now + 10, ..good };
    assert_eq!(refused(&zoo, &within_leeway).await.0, 200);
}

#[tokio::test]
async fn a_system_names_the_issuers_that_it_trusts() {
    let mut zoo = Zoo::open();
    let token = format!("Bearer {}", zoo.keeper());
    zoo.app = zoo.app.trusting(&["local"]);
    assert_eq!(get(&zoo, &token).await.status(), 200);
    zoo.app = zoo.app.trusting(&["another"]);
    assert_eq!(json(&get(&zoo, &token).await)["detail"], "The token's issuer is not trusted here.");
}

#[tokio::test]
async fn time_is_the_engines_clock() {
    let zoo = Zoo::open();
    let token = format!("Bearer {}", zoo.keeper());
    assert_eq!(get(&zoo, &token).await.status(), 200);
    zoo.clock.advance(Duration::from_secs(3600));
    assert_eq!(get(&zoo, &token).await.status(), 401);
}

#[tokio::test]
async fn the_algorithm_is_the_keys_and_never_the_tokens() {
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
async fn another_key_or_a_changed_claim_is_refused() {
    let zoo = Zoo::open();
    let claims = zoo.claims(&["zoo-keeper"]);
    let foreign = SigningKey::generate().unwrap().sign(&claims).unwrap();
    let response = get(&zoo, &format!("Bearer {foreign}")).await;
    assert_eq!(json(&response)["detail"], "The token's key is not one of its issuer's.");

    let own = zoo.keeper();
    let richer = zoo.key.sign(&Claims { roles: vec!["zoo-owner".into()], ..claims }).unwrap();
    let parts: Vec<&str> = own.split('.').collect();
    let body = richer.split('.').nth(1).unwrap();
    let spliced = format!("Bearer {}.{body}.{}", parts[0], parts[2]);
    let response = get(&zoo, &spliced).await;
    assert_eq!(json(&response)["detail"], "The token's signature is wrong.");
}

#[tokio::test]
async fn roles_open_routes() {
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
fn a_key_comes_back_from_where_it_was_kept() {
    let key = SigningKey::generate().unwrap();
    let kept = SigningKey::from_pkcs8(key.to_pkcs8().to_vec()).unwrap();
    assert_eq!(key.jwks(), kept.jwks());
    assert!(SigningKey::from_pkcs8(vec![1, 2, 3]).is_err());
    let shown = format!("{key:?}");
    assert!(shown.starts_with("SigningKey(") && shown.len() < 60, "{shown}");
}
