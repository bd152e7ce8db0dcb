//! What the caller may do. Every operation that is not public starts here.

use web::{Context, Problem, Who};

use crate::item::{Post, User};
use crate::names::{Role, UserId};
use crate::person;

/// The token role of administrators. Those of editors and volunteers are `archive-editor` and `archive-volunteer`.
pub const ADMINISTRATOR: &str = "archive-administrator";

/// The user item and the roles of the token decide.
pub const SIGNED_IN: Who = Who::SignedIn;

/// The caller of an operation, with the higher of the token's role and the user item's.
#[derive(Clone, Debug)]
pub struct Caller {
    pub role: Role,
    sort_key: String,
    user: Option<User>,
}

impl Caller {
    /// Loads the caller: 401 without a token, 403 for a disabled user.
    pub async fn load(cx: &Context) -> Result<Self, Problem> {
        let known = cx.principal().signed_in()?;
        let sort_key = person::sort_key(cx, known)?;
        let user = person::find(cx, &sort_key).await?;
        if user.as_ref().is_some_and(|user| !user.enabled) {
            return Err(Problem::forbidden("An administrator has disabled this user."));
        }
        let stored = user.as_ref().map_or(Role::None, |user| user.role);
        Ok(Self { role: role_of_token(|role| known.has_role(role)).max(stored), sort_key, user })
    }

    /// Loads a caller who has at least this role, otherwise 403.
    pub async fn with_role(cx: &Context, role: Role) -> Result<Self, Problem> {
        let caller = Self::load(cx).await?;
        caller.require(role)?;
        Ok(caller)
    }

    /// 403 unless the caller has at least this role.
    pub fn require(&self, role: Role) -> Result<(), Problem> {
        if self.role >= role {
            Ok(())
        } else {
            Err(Problem::forbidden(format!("This operation needs the role {}.", name_of(role))))
        }
    }

    /// 403 unless the post is the caller's own or the caller is an editor.
    pub fn require_own(&self, post: &Post) -> Result<(), Problem> {
        if self.is(post.owner_id) { Ok(()) } else { self.require(Role::Editor) }
    }

    /// Whether the caller is this user.
    pub fn is(&self, user: UserId) -> bool {
        self.user.as_ref().is_some_and(|own| own.id == user)
    }

    /// Returns the caller's user, which is created at first sight.
    pub async fn into_user(self, cx: &Context) -> Result<User, Problem> {
        match self.user {
            Some(user) => Ok(user),
            None => person::create(cx, &self.sort_key).await,
        }
    }
}

/// Returns the highest role of a token.
fn role_of_token(has: impl Fn(&str) -> bool) -> Role {
    [Role::Administrator, Role::Editor, Role::Volunteer]
        .into_iter()
        .find(|role| has(&format!("archive-{}", name_of(*role))))
        .unwrap_or_default()
}

const fn name_of(role: Role) -> &'static str {
    match role {
        Role::None => "none",
        Role::Volunteer => "volunteer",
        Role::Editor => "editor",
        Role::Administrator => "administrator",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn highest_role_of_a_token_counts() {
        let of = |roles: &[&str]| role_of_token(|role| roles.contains(&role));
        assert_eq!(of(&[]), Role::None);
        assert_eq!(of(&["volunteer", "platform-admin"]), Role::None);
        assert_eq!(of(&["archive-volunteer"]), Role::Volunteer);
        assert_eq!(of(&["archive-volunteer", "archive-administrator"]), Role::Administrator);
    }
}
