//! Where the caller stands in an agency: what every route under an agency decides by.

use table::{Backoff, Condition, Idpid, Stored, item};
use web::{EntityTag, Kind, Known, Problem, Request};

use crate::access::STANDING;
use crate::item::{Agency, Member, Stamp};
use crate::keys::{agency_key, member_key};
use crate::names::{AgencyId, Role, Status};
use crate::schema::AGENCIES;

/// The role in tokens that sees and may do everything.
pub const PLATFORM_ADMIN: &str = "platform-admin";

pub const AGENCY_INACTIVE: Kind = Kind::new(409, "agency-inactive", "The agency is not active");

/// An agency that the caller may see, with the caller's own membership.
#[derive(Debug)]
pub struct Standing {
    pub stored: Stored,
    pub agency: Agency,
    pub member: Option<Member>,
    pub is_platform_admin: bool,
    pub me: Idpid,
}

impl Standing {
    /// The caller's in this agency. 404 for whoever has none, as for an agency that is not there or is being deleted.
    pub async fn of(request: &Request, agency: &AgencyId) -> Result<Self, Problem> {
        let standing = Self::also_deleted(request, agency).await?;
        if standing.agency.is_being_deleted() { Err(Problem::not_found()) } else { Ok(standing) }
    }

    /// The same, where a deletion that has begun is no reason to see nothing.
    pub async fn also_deleted(request: &Request, agency: &AgencyId) -> Result<Self, Problem> {
        let caller = request.principal().signed_in()?;
        let keys = [agency_key(agency), member_key(agency, caller.idpid())];
        let mut found = request.access().table(&STANDING, &AGENCIES).batch_get_consistent(&keys).await?.into_iter();
        let stored = found.next().flatten().ok_or_else(Problem::not_found)?;
        let member = found.next().flatten().map(|stored| stored.read::<Member>()).transpose()?;
        let is_platform_admin = is_platform_admin(caller);
        if member.is_none() && !is_platform_admin {
            return Err(Problem::not_found());
        }
        Ok(Self { agency: stored.read()?, stored, member, is_platform_admin, me: caller.idpid().clone() })
    }

    pub fn role(&self) -> Option<Role> {
        self.member.as_ref().map(|member| member.role)
    }

    /// Whether the caller administers the agency or the platform.
    pub fn administers(&self) -> bool {
        self.is_platform_admin || self.role() == Some(Role::Admin)
    }

    /// 403 for members: this is for platform administrators.
    pub fn preside(&self) -> Result<(), Problem> {
        if self.is_platform_admin {
            Ok(())
        } else {
            Err(Problem::forbidden(format!("This needs the role {PLATFORM_ADMIN}.")))
        }
    }

    /// 403 for members that are no administrators.
    pub fn administer(&self) -> Result<(), Problem> {
        if self.administers() { Ok(()) } else { Err(Problem::forbidden("This is for administrators of the agency.")) }
    }

    /// The same, and 409 for the agency's own administrators while it is not active.
    pub fn change(&self) -> Result<(), Problem> {
        self.administer()?;
        if self.is_platform_admin || self.agency.status == Status::Active { Ok(()) } else { Err(inactive()) }
    }

    /// The statuses of an agency in which the caller may change it; none where all will do.
    pub fn allowed(&self) -> Option<&'static [Status]> {
        (!self.is_platform_admin).then_some(&[Status::Active])
    }

    /// What must hold of the agency or its gate while the caller's change is made.
    pub fn while_active(&self) -> Option<Condition> {
        (!self.is_platform_admin).then(|| Condition::Equals("status", item::text(Status::Active.as_str())))
    }

    pub fn tag(&self) -> EntityTag {
        tag(&self.stored)
    }
}

/// An item's revision; an item from before revisions has an entity tag all the same.
pub fn tag(stored: &Stored) -> EntityTag {
    stored.rev.into()
}

pub fn inactive() -> Problem {
    AGENCY_INACTIVE.because("A platform administrator activates it.")
}

/// What was read has changed before it was written: it is read and decided on again, unless the client has said what it
/// must be.
pub async fn again(request: &Request, backoff: &mut Backoff) -> Result<(), Problem> {
    if !request.if_match().is_absent() {
        Err(Problem::stale())
    } else if backoff.wait().await {
        Ok(())
    } else {
        Err(Problem::conflict())
    }
}

pub fn is_platform_admin(caller: &Known) -> bool {
    caller.has_role(PLATFORM_ADMIN)
}

/// The present and the caller.
pub fn stamp(request: &Request) -> Result<Stamp, Problem> {
    let by = request.principal().signed_in()?.idpid().to_string();
    Ok(Stamp { at: now(request), by })
}

/// The present as items have it.
pub fn now(request: &Request) -> String {
    table::clock::rfc3339(request.engines().clock.now())
}
