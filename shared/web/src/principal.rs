//! The caller of a request.

use http::header;
use table::Idpid;

use crate::Problem;

/// The caller of a request, in one of three states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Principal {
    /// The request has no token.
    Anonymous,
    /// The token is not valid, with the reason that the client is given. Handlers never see this state.
    Invalid(&'static str),
    /// The token is valid.
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
    /// The email address, if the issuer has verified it.
    pub address: Option<String>,
    /// The id of the session in which the token was issued (`sid`).
    pub session: Option<String>,
    idpid: Idpid,
}

impl Known {
    /// Returns `None` if the subject is empty or too long for a key.
    pub(crate) fn new(issuer: &str, subject: String) -> Option<Self> {
        let idpid = Idpid::new(issuer, &subject)?;
        Some(Self {
            issuer: issuer.to_owned(),
            subject,
            roles: Vec::new(),
            scopes: Vec::new(),
            name: None,
            address: None,
            session: None,
            idpid,
        })
    }

    pub fn has_role(&self, role: &str) -> bool {
        self.roles.iter().any(|own| own == role)
    }

    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|own| own == scope)
    }

    /// Returns the person's id, as keys contain it.
    pub fn idpid(&self) -> &Idpid {
        &self.idpid
    }
}

impl Principal {
    pub fn known(&self) -> Option<&Known> {
        match self {
            Self::Known(known) => Some(known),
            Self::Anonymous | Self::Invalid(_) => None,
        }
    }

    pub fn has_role(&self, role: &str) -> bool {
        self.known().is_some_and(|known| known.has_role(role))
    }

    /// Returns the known caller, or 401.
    pub fn signed_in(&self) -> Result<&Known, Problem> {
        match self {
            Self::Known(known) => Ok(known),
            Self::Anonymous => {
                Err(Problem::not_signed_in("The request has no bearer token. Send one in the Authorization header."))
            }
            Self::Invalid(reason) => {
                Err(Problem::not_signed_in(*reason).header(header::WWW_AUTHENTICATE, "Bearer error=\"invalid_token\""))
            }
        }
    }

    /// Returns the caller's part of cursors and idempotency keys: the `{idpid}`, or an empty text if anonymous.
    pub fn text(&self) -> &str {
        self.known().map_or("", |known| known.idpid().as_str())
    }
}
