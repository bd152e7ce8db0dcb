//! Tokens of common identity providers, with the issuers that docs/identity-providers.md shows.

use bytes::Bytes;
use http::Request;
use serde_json::{Value, json};
use table::Clock;
use table::config::{Issuer, Keys};
use web::token::SigningKey;

use crate::zoo::{Zoo, json as body};

const GUIDE: &str = include_str!("../../../../docs/identity-providers.md");

/// Returns a zoo that trusts the provider as the guide shows it, with its own keys. Every role of the provider is a
/// keeper's.
fn zoo(provider: &str) -> Zoo {
    let (_, section) = GUIDE.split_once(&format!("\n## {provider}\n")).unwrap();
    let (_, block) = section.split_once("```json\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let [issuer]: [Issuer; 1] = serde_json::from_str(block).unwrap();
    let key = SigningKey::generate().unwrap();
    let keys = Keys::Set(key.jwks());
    let roles = issuer.role_names.unwrap().into_keys();
    let role_names = Some(roles.map(|role| (role, vec!["zoo-keeper".to_owned()])).collect());
    Zoo::trusting(Issuer { keys, role_names, ..issuer }, key, Clock::system())
}

/// Sends a token with these claims. Returns the status, and the name that the caller sees or the reason of the refusal.
async fn send(zoo: &Zoo, claims: &Value) -> (u16, Value) {
    let mut claims = claims.clone();
    let now = zoo.clock.seconds();
    claims["iat"] = now.into();
    claims["exp"] = (now + 3600).into();
    let token = zoo.key.sign(&claims).unwrap();
    let request = Request::get("/zoo/animals/aviary?limit=1").header("authorization", format!("Bearer {token}"));
    let response = zoo.send(request.body(Bytes::new()).unwrap()).await;
    let answer = body(&response);
    let seen = if response.status() == 200 { &answer["items"][0]["name"] } else { &answer["detail"] };
    (response.status().as_u16(), seen.clone())
}

/// Asserts that the provider's roles are honoured, other roles ignored, and tokens for another audience refused.
async fn assert_accepted(provider: &str, token: Value, roles: &str, audience: &str) {
    let zoo = zoo(provider);
    assert_eq!(send(&zoo, &token).await, (200, "Polly (bites)".into()), "{provider}");
    let mut other = token.clone();
    *other.pointer_mut(roles).unwrap() = json!(["visitor", "zoo-keeper"]);
    assert_eq!(send(&zoo, &other).await, (200, "Polly".into()), "{provider}: an unknown role");
    *other.pointer_mut(roles).unwrap() = json!("staff");
    let (status, detail) = send(&zoo, &other).await;
    let wrong = "The token's claim of roles has a wrong type; it must be an array of strings.";
    assert_eq!((status, detail), (401, wrong.into()), "{provider}");
    let mut other = token;
    *other.pointer_mut(audience).unwrap() = json!("another");
    assert_eq!(send(&zoo, &other).await, (401, "The token is for another audience.".into()), "{provider}");
}

#[tokio::test]
async fn token_of_cognito_is_accepted() {
    let token = json!({
        "sub": "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee",
        "cognito:groups": ["staff"],
        "iss": "https://cognito-idp.ca-central-1.amazonaws.com/ca-central-1_Example",
        "client_id": "1example23456789",
        "origin_jti": "o",
        "event_id": "e",
        "token_use": "access",
        "scope": "aws.cognito.signin.user.admin",
        "auth_time": 1_790_000_000,
        "jti": "j",
        "username": "ranger",
    });
    assert_accepted("Amazon Cognito", token.clone(), "/cognito:groups", "/client_id").await;
    // An ID token identifies the user to the client and has the client in `aud`.
    let mut id = token;
    id["aud"] = id["client_id"].take();
    let (status, _) = send(&zoo("Amazon Cognito"), &id).await;
    assert_eq!(status, 401);
}

#[tokio::test]
async fn token_of_entra_is_accepted() {
    let token = json!({
        "aud": "00000000-0000-4000-8000-000000000002",
        "iss": "https://login.microsoftonline.com/00000000-0000-4000-8000-000000000001/v2.0",
        "azp": "00000000-0000-4000-8000-000000000003",
        "name": "A ranger",
        "oid": "00000000-0000-4000-8000-000000000004",
        "preferred_username": "ranger@corp.example",
        "roles": ["Rangers"],
        "scp": "access_as_user",
        "sub": "AbC-123_x",
        "tid": "00000000-0000-4000-8000-000000000001",
        "ver": "2.0",
    });
    assert_accepted("Microsoft Entra ID", token, "/roles", "/aud").await;
}

#[tokio::test]
async fn token_of_keycloak_is_accepted() {
    let token = json!({
        "jti": "j",
        "iss": "https://login.example/realms/main",
        "aud": ["cairn", "account"],
        "sub": "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee",
        "typ": "Bearer",
        "azp": "web",
        "realm_access": { "roles": ["offline_access", "ranger"] },
        "resource_access": { "account": { "roles": ["view-profile"] } },
        "scope": "openid email profile",
        "email_verified": true,
        "name": "A ranger",
        "preferred_username": "ranger",
        "email": "ranger@corp.example",
    });
    assert_accepted("Keycloak", token, "/realm_access/roles", "/aud").await;
}

#[tokio::test]
async fn token_of_auth0_is_accepted() {
    let token = json!({
        "https://cairn.example/roles": ["editor"],
        "iss": "https://example.eu.auth0.com/",
        "sub": "auth0|0123456789abcdef",
        "aud": ["https://cairn.example", "https://example.eu.auth0.com/userinfo"],
        "azp": "client",
        "scope": "openid profile",
    });
    assert_accepted("Auth0", token, "/https:~1~1cairn.example~1roles", "/aud").await;
}
