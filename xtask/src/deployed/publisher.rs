//! An issuer of tokens that publishes its keys on loopback, as identity providers do.

use bytes::Bytes;
use http::Response;
use local::gateway::Gateway;
use table::config::{Issuer, Keys};
use tokio::net::TcpListener;

use crate::failure::{Doing, Failure};

/// A server of an issuer's key set.
#[derive(Debug)]
pub struct Publisher {
    /// The issuer, with the URL of its keys.
    pub issuer: Issuer,
    _gateway: Gateway,
}

impl Publisher {
    pub async fn start(issuer: Issuer) -> Result<Self, Failure> {
        let Keys::Set(keys) = issuer.keys else { return Err(Failure::new("the issuer has no keys to publish")) };
        let listener = TcpListener::bind("127.0.0.1:0").await.doing("listening on a port")?;
        let keys = Bytes::from(keys);
        let gateway = Gateway::start(listener, move |_| std::future::ready(Response::new(keys.clone())));
        let gateway = gateway.doing("the issuer's keys")?;
        let keys = Keys::At(format!("http://{}/jwks.json", gateway.address()));
        Ok(Self { issuer: Issuer { keys, ..issuer }, _gateway: gateway })
    }
}
