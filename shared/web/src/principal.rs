//! Who makes a request.

use http::{HeaderMap, header};
use table::{Clock, Idpid};

use crate::trust::{Refused, Trust, Unavailable};
use crate::{Problem, problem};

/// The caller of a request, in one of three states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Principal {
    /// No token was sent.
    Anonymous,
    /// What was sent is no valid token; why, in words that may be answered. Handlers never see this state.
    Invalid(&'static str),
    Known(Box<Known>),
}

/// A caller whose token is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The issuer's configured name.
    pub issuer: String,
    /// The token's `sub`.
    pub subject: String,
    pub roles: Vec<String>,
    pub scopes: Vec<String>,
    pub name: Option<String>,
    /// The email address, only where the issuer has verified it.
    pub address: Option<String>,
    idpid: Idpid,
}

impl Known {
    /// `None` if the subject is empty or too long to stand in a key.
    pub(crate) fn new(issuer: &str, subject: String) -> Option<Self> {
        let idpid = Idpid::new(issuer, &subject)?;
        Some(Self {
            issuer: issuer.to_owned(),
            subject,
            roles: Vec::new(),
            scopes: Vec::new(),
            name: None,
            address: None,
            idpid,
        })
    }

    pub fn has_role(&self, role: &str) -> bool {
        self.roles.iter().any(|own| own == role)
    }

    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|own| own == scope)
    }

    /// The person in a key.
    pub fn idpid(&self) -> &Idpid {
        &self.idpid
    }
}

impl Principal {
    /// Reads and verifies the bearer token of a request, as of this clock. A problem is one of ours: the token may be
    /// valid.
    pub(crate) async fn of(headers: &HeaderMap, trust: &Trust, clock: &Clock) -> Result<Self, Problem> {
        let mut values = headers.get_all(header::AUTHORIZATION).iter();
        let token = match (values.next(), values.next()) {
            (None, _) => return Ok(Self::Anonymous),
            (Some(_), Some(_)) => return Ok(Self::Invalid("There are several Authorization headers.")),
            (Some(value), None) => value.to_str().ok().and_then(|text| text.split_once(' ')),
        };
        let Some((_, token)) = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")) else {
            return Ok(Self::Invalid("The Authorization header is not `Bearer` and a token."));
        };
        match trust.verify(token.trim(), clock).await {
            Ok(known) => Ok(Self::Known(Box::new(known))),
            Err(Refused::Invalid(reason)) => Ok(Self::Invalid(reason)),
            Err(Refused::Unknown(Unavailable { cause, retry_after })) => Err(problem::UNAVAILABLE
                .because("The keys of the token's issuer cannot be had now; try again shortly.")
                .retry_after(retry_after)
                .caused_by(cause)),
        }
    }

    pub fn known(&self) -> Option<&Known> {
        match self {
            Self::Known(known) => Some(known),
            Self::Anonymous | Self::Invalid(_) => None,
        }
    }

    pub fn has_role(&self, role: &str) -> bool {
        self.known().is_some_and(|known| known.has_role(role))
    }

    /// The caller, or 401.
    pub fn signed_in(&self) -> Result<&Known, Problem> {
        match self {
            Self::Known(known) => Ok(known),
            Self::Anonymous => Err(Problem::not_signed_in("Send a bearer token in the Authorization header.")),
            Self::Invalid(reason) => {
                Err(Problem::not_signed_in(*reason).header(header::WWW_AUTHENTICATE, "Bearer error=\"invalid_token\""))
            }
        }
    }

    /// What tells callers apart in cursors and idempotency keys: the `{idpid}`, or nothing for all who are anonymous.
    pub fn text(&self) -> &str {
        self.known().map_or("", |known| known.idpid().as_str())
    }
}
