//! Who may call a route.

use std::fmt;

use crate::{Principal, Problem};

/// Who may call a route. "Public" is said, never assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Anyone, and everyone gets the same.
    Public,
    /// Anyone; who has this role gets a fuller view.
    Views { fuller: &'static str },
    /// Whoever is signed in; the handler decides by what is stored.
    SignedIn,
    /// Who has this role.
    Role(&'static str),
    /// Who has one of these roles.
    AnyRole(&'static [&'static str]),
}

impl Who {
    /// Refuses who may not call the route at all, and whatever is sent as a token and is none. What is theirs to see
    /// and to change, the handler decides.
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
            Err(Problem::forbidden(format!("This needs the role {}.", roles.join(" or "))))
        }
    }

    /// Whether anyone may call the route, also without a token.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Public | Self::Views { .. })
    }

    /// Whether a role decides, so that some who are signed in are refused.
    pub(crate) fn is_by_role(self) -> bool {
        matches!(self, Self::Role(_) | Self::AnyRole(_))
    }
}

/// In words, for the table of routes in the docs.
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
