//! Which callers a route admits.

use std::fmt;

use crate::{Principal, Problem};

/// The callers that a route admits. Every route names one; no route is public by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Any caller, and all get the same response.
    Public,
    /// Any caller; a caller with this role gets a fuller view.
    Views { fuller: &'static str },
    /// Any caller with a valid token. The handler authorizes the caller by stored items.
    SignedIn,
    /// Callers with this role.
    Role(&'static str),
    /// Callers with one of these roles.
    AnyRole(&'static [&'static str]),
}

impl Who {
    /// Refuses an invalid token, and a caller that the route does not admit. Authorization beyond that is the handler's.
    pub(crate) fn admit(self, principal: &Principal) -> Result<(), Problem> {
        let roles: &[&str] = match (self, principal) {
            (Self::Public | Self::Views { .. }, Principal::Anonymous | Principal::Known(_)) => return Ok(()),
            (Self::Public | Self::Views { .. } | Self::SignedIn, _) => &[],
            (Self::Role(role), _) => &[role],
            (Self::AnyRole(roles), _) => roles,
        };
        let known = principal.signed_in()?;
        if roles.is_empty() || roles.iter().any(|role| known.has_role(role)) {
            Ok(())
        } else {
            Err(Problem::forbidden(format!("The caller needs the role {}.", roles.join(" or "))))
        }
    }

    /// Returns whether the route admits callers without a token.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Public | Self::Views { .. })
    }

    /// Returns whether the route requires a role, and so refuses some callers with a valid token.
    pub(crate) fn is_by_role(self) -> bool {
        matches!(self, Self::Role(_) | Self::AnyRole(_))
    }
}

/// The words of the route table in the docs.
impl fmt::Display for Who {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Public => formatter.write_str("anyone"),
            Self::Views { fuller } => write!(formatter, "anyone; `{fuller}` sees more"),
            Self::SignedIn => formatter.write_str("signed in"),
            Self::Role(role) => write!(formatter, "`{role}`"),
            Self::AnyRole(roles) => write!(formatter, "`{}`", roles.join("`, `")),
        }
    }
}
