//! `GET /chat/.well-known/jwks.json`

use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use web::issuer::jwks;
use web::{Answer, Context, Problem, Route, Sample, Who, problem};

use crate::issuer::{READ_IDENTITY, require_own_login};
use crate::schema::IDENTITY;

const JWKS: &str = "/chat/.well-known/jwks.json";

/// The seconds for which clients may cache the keys. It is much shorter than the day between the publication of a key and
/// its first signature.
const MAX_AGE: u32 = 300;

/// A JWK set (RFC 7517).
#[derive(Serialize, ToSchema)]
#[schema(as = KeySet)]
struct KeySet {
    keys: Vec<PublicKey>,
}

/// An Ed25519 key (RFC 8037).
#[derive(Serialize, ToSchema)]
struct PublicKey {
    kty: String,
    crv: String,
    x: String,
    kid: String,
    alg: String,
    #[serde(rename = "use")]
    purpose: String,
}

pub fn route() -> Route {
    Route::get("getJwks", JWKS, Who::Public, get)
        .summary("Get the public keys of the tokens that chat issues; 404 without own logins")
        .patterns(&[&READ_IDENTITY])
        .answers::<KeySet>(200)
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new(JWKS))
}

async fn get(cx: Context) -> Result<Answer, Problem> {
    require_own_login(&cx.engines().config)?;
    let secret = cx.access().secret(&READ_IDENTITY, IDENTITY).await?;
    let keys = jwks(&secret, cx.engines().clock.seconds()).map_err(Problem::internal)?;
    Ok(Answer::bytes(StatusCode::OK, "application/json", keys).public_for(MAX_AGE))
}
