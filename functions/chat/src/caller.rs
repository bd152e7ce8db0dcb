//! The user who calls. Every operation that needs a token starts here.

use table::{Clock, Stored};
use web::{Context, Known, Problem, Who};

use crate::access::CALLER;
use crate::issuer;
use crate::keys::{PersonGuardKey, UserKey};
use crate::names::{SessionId, UserId};
use crate::schema::USERS;
use crate::users::{ADMIN, PersonGuard, Role, User};

/// The user item decides what the caller may do.
pub const SIGNED_IN: Who = Who::SignedIn;

pub const BANNED: web::Kind = web::Kind::new(403, "banned", "Banned");

/// The user who calls, neither banned nor deleted.
#[derive(Clone, Debug)]
pub struct Caller {
    pub id: UserId,
    pub user: User,
    /// The item, for its revision.
    pub stored: Stored,
    pub is_admin: bool,
    /// The session of the token, if chat has issued it.
    pub session: Option<SessionId>,
}

impl Caller {
    /// Loads the caller: 401 without a token, or with one of a session that has ended with others; 403 for a user who is
    /// banned, deleted, or not yet created.
    pub async fn load(cx: &Context) -> Result<Self, Problem> {
        let known = cx.principal().signed_in()?;
        let user = match find(cx, known).await? {
            Some(user) => user,
            None => return Err(Problem::forbidden("Chat has no user for this token yet. Send GET /chat/me first.")),
        };
        Self::of(cx, known, user).await
    }

    /// Loads a caller who is an administrator, otherwise 403.
    pub async fn admin(cx: &Context) -> Result<Self, Problem> {
        let caller = Self::load(cx).await?;
        if caller.is_admin { Ok(caller) } else { Err(Problem::forbidden("This operation needs the role admin.")) }
    }

    /// The effective role: the token of another issuer may have more than the user item.
    pub fn role(&self) -> Role {
        if self.is_admin { Role::Admin } else { Role::User }
    }

    /// Loads the user of a token.
    pub async fn of(cx: &Context, known: &Known, id: UserId) -> Result<Self, Problem> {
        let stored = cx.access().table(&CALLER, &USERS).get_consistent(UserKey { user: id }).await?;
        let stored = stored.ok_or_else(deleted)?;
        let user: User = stored.read()?;
        if let Some(problem) = banned(&user, &cx.engines().clock) {
            return Err(problem);
        }
        // The roles in a token of chat are those of the user ten minutes ago.
        let is_own = is_own(cx, known);
        let is_admin = user.role == Role::Admin || !is_own && known.has_role(ADMIN);
        let session = known.session.as_deref().filter(|_| is_own).and_then(|session| session.parse().ok());
        if session.is_some_and(|session| user.refuses(session)) {
            return Err(Problem::not_signed_in("This session has ended. Log in again."));
        }
        Ok(Self { id, user, stored, is_admin, session })
    }
}

/// Refuses the user of a token who is banned: 403. A deleted user passes, and so does a person without a user.
pub async fn not_banned(cx: &Context, known: &Known) -> Result<(), Problem> {
    let Some(user) = find(cx, known).await? else { return Ok(()) };
    let Some(stored) = cx.access().table(&CALLER, &USERS).get_consistent(UserKey { user }).await? else {
        return Ok(());
    };
    lasting_ban(&stored.read()?, &cx.engines().clock).map_or(Ok(()), Err)
}

/// Returns why a user may not act: 403 for one who is banned or deleted.
pub fn banned(user: &User, clock: &Clock) -> Option<Problem> {
    if user.deleted_at.is_some() {
        return Some(deleted());
    }
    lasting_ban(user, clock)
}

/// Returns the problem of a user who is banned at present.
fn lasting_ban(user: &User, clock: &Clock) -> Option<Problem> {
    let ban = user.ban.as_ref().filter(|ban| ban.lasts(clock))?;
    Some(BANNED.because(match &ban.until {
        Some(until) => format!("This user is banned until {until}."),
        None => "This user is banned.".to_owned(),
    }))
}

/// Returns the problem of a user who was deleted.
pub fn deleted() -> Problem {
    BANNED.because("This user was deleted.")
}

/// Returns the user of a token, if it exists. A token of chat itself names the user, and that of another issuer a person.
pub async fn find(cx: &Context, known: &Known) -> Result<Option<UserId>, Problem> {
    if is_own(cx, known) {
        return Ok(known.subject.parse().ok());
    }
    let guard = PersonGuardKey { person: known.idpid().clone() };
    let guard = cx.access().table(&CALLER, &USERS).get_consistent(guard).await?;
    Ok(guard.map(|guard| guard.read::<PersonGuard>()).transpose()?.map(|guard| guard.user_id))
}

/// Whether chat itself has issued the token.
fn is_own(cx: &Context, known: &Known) -> bool {
    cx.engines().config.own_login && known.issuer == issuer::NAME
}
