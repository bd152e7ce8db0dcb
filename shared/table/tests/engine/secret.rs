//! Secrets: read once, read again, and kept while Secrets Manager fails.

use std::time::Duration;

use table::access::OnSecret;
use table::config::SECRET_LIFETIME;
use table::{Access, AccessPattern, Call, Clock, Config, Engines, Error, Secret, Trace};

use crate::canned::{answering, answering_in_turn};
use crate::shop::{calls, engines};

static SIGN: AccessPattern = AccessPattern::new("sign", &[OnSecret("shop-signing").read()]);
static GRANTED: &[&AccessPattern] = &[&SIGN];

fn reaching(endpoint: &str) -> Access {
    let config = Config { secretsmanager: Some(endpoint.to_owned()), ..engines("http://127.0.0.1:1").config.clone() };
    Access::new(Engines::new(config, Clock::system()), GRANTED)
}

#[tokio::test]
async fn secret_is_read_once_by_all_requests_and_again_after_its_lifetime() {
    let (endpoint, mut requests) = answering(200, r#"{"Name": "test-shop-signing", "SecretString": "hush"}"#).await;
    let access = reaching(&endpoint);
    let trace = Trace::new(&Clock::system());
    let read = trace.clone().scope(async { access.secret(&SIGN, "shop-signing").await.unwrap() }).await;
    assert_eq!(*read, Secret::new("hush"));
    let request = requests.recv().await.unwrap();
    assert!(request.contains("x-amz-target: secretsmanager.GetSecretValue"), "{request}");
    assert!(request.contains(trace.as_str()) && request.contains(r#""SecretId":"test-shop-signing""#), "{request}");

    let again = Access::new(access.engines().clone(), GRANTED);
    assert_eq!(again.secret(&SIGN, "shop-signing").await.unwrap(), read);
    assert!(requests.try_recv().is_err(), "the second read sent a request");
    access.engines().clock.advance(SECRET_LIFETIME);
    assert_eq!(again.secret(&SIGN, "shop-signing").await.unwrap(), read);
    assert!(requests.try_recv().is_ok());
    let performed = &again.performed()[0];
    assert_eq!((performed.call, performed.times), (Call::Secret { secret: "shop-signing" }, 2));
}

#[tokio::test]
async fn new_value_takes_effect_after_the_lifetime() {
    let values = [(200, r#"{"SecretString": "hush"}"#), (200, r#"{"SecretString": "hush again"}"#)];
    let (endpoint, _requests) = answering_in_turn(&values).await;
    let access = reaching(&endpoint);
    let clock = &access.engines().clock;
    let old = access.secret(&SIGN, "shop-signing").await.unwrap();
    clock.advance(SECRET_LIFETIME - Duration::from_secs(2));
    assert_eq!(access.secret(&SIGN, "shop-signing").await.unwrap(), old);
    clock.advance(Duration::from_secs(2));
    assert_eq!(*access.secret(&SIGN, "shop-signing").await.unwrap(), Secret::new("hush again"));
}

#[tokio::test]
async fn secret_that_cannot_be_read_again_stays_in_use() {
    let (endpoint, requests) = answering(200, r#"{"SecretString": "hush"}"#).await;
    drop(requests);
    let access = reaching(&endpoint);
    let read = access.secret(&SIGN, "shop-signing").await.unwrap();
    for _ in 0..2 {
        access.engines().clock.advance(SECRET_LIFETIME + Duration::from_secs(1));
        assert_eq!(access.secret(&SIGN, "shop-signing").await.unwrap(), read);
    }
}

#[tokio::test]
async fn secret_that_does_not_exist_or_has_no_text_is_an_engine_error() {
    let missing = r#"{"__type": "ResourceNotFoundException", "Message": "none"}"#;
    for (status, body) in [(400, missing), (200, r#"{"SecretBinary": "aGk="}"#), (200, r#"{"SecretString": ""}"#)] {
        let (endpoint, _requests) = answering(status, body).await;
        let read = reaching(&endpoint).secret(&SIGN, "shop-signing").await;
        assert!(matches!(read, Err(Error::Engine { engine: "Secrets Manager", .. })), "{body}: {read:?}");
    }
}

#[tokio::test]
async fn undeclared_secret_is_not_read() {
    let access = reaching("http://127.0.0.1:1");
    let read = access.secret(&SIGN, "shop-sealing").await;
    assert!(matches!(read, Err(Error::Undeclared(_))), "{read:?}");
    assert_eq!(calls(&access), 0);
}
