//! What the caller may do in an agency. Every operation on an agency starts here.

use table::{Condition, Idpid, Stored, item};
use web::{Context, EntityTag, Kind, Known, Problem, Who};

use crate::access::AUTHORIZATION;
use crate::item::{Agency, Member};
use crate::keys::{agency_key, member_key};
use crate::names::{AgencyId, Role, Status};
use crate::schema::AGENCIES;

/// The token role that may see and do everything.
pub const PLATFORM_ADMIN: &str = "platform-admin";

pub const PLATFORM_ADMINS: Who = Who::Role(PLATFORM_ADMIN);

/// The stored membership decides.
pub const SIGNED_IN: Who = Who::SignedIn;

pub const AGENCY_INACTIVE: Kind = Kind::new(409, "agency-inactive", "The agency is not active");

/// An agency that the caller may see, with the caller's own membership.
#[derive(Debug)]
pub struct AgencyAccess {
    pub stored: Stored,
    pub agency: Agency,
    /// None if the membership is suspended.
    pub member: Option<Member>,
    pub is_platform_admin: bool,
    pub me: Idpid,
}

impl AgencyAccess {
    /// Loads an agency for its active members and for platform administrators. 404 for other callers, for an absent
    /// agency and for one that is being deleted.
    pub async fn load(cx: &Context, agency: &AgencyId) -> Result<Self, Problem> {
        let access = Self::load_also_deleted(cx, agency).await?;
        if access.agency.is_being_deleted() { Err(Problem::not_found()) } else { Ok(access) }
    }

    /// [`Self::load`] that also loads an agency that is being deleted.
    pub async fn load_also_deleted(cx: &Context, agency: &AgencyId) -> Result<Self, Problem> {
        let caller = cx.principal().signed_in()?;
        let keys = [agency_key(agency), member_key(agency, caller.idpid())];
        let mut found = cx.access().table(&AUTHORIZATION, &AGENCIES).batch_get_consistent(&keys).await?.into_iter();
        let stored = found.next().flatten().ok_or_else(Problem::not_found)?;
        let member = found.next().flatten().map(|stored| stored.read::<Member>()).transpose()?;
        let member = member.filter(|member| !member.is_suspended());
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
    pub fn is_admin(&self) -> bool {
        self.is_platform_admin || self.role() == Some(Role::Admin)
    }

    /// 403 unless the caller administers the platform.
    pub fn require_platform_admin(&self) -> Result<(), Problem> {
        if self.is_platform_admin {
            Ok(())
        } else {
            Err(Problem::forbidden(format!("This operation needs the role {PLATFORM_ADMIN}.")))
        }
    }

    /// 403 unless the caller administers the agency or the platform.
    pub fn require_admin(&self) -> Result<(), Problem> {
        if self.is_admin() {
            Ok(())
        } else {
            Err(Problem::forbidden("This operation is for administrators of the agency."))
        }
    }

    /// Requires an administrator, and an active agency unless the caller is a platform administrator.
    pub fn require_active_admin(&self) -> Result<(), Problem> {
        self.require_admin()?;
        self.require_active()
    }

    /// 409 for the agency's own administrators while the agency is not active. A request that is repeated gets its
    /// first response before this is checked.
    pub fn require_active(&self) -> Result<(), Problem> {
        if self.is_platform_admin || self.agency.status == Status::Active { Ok(()) } else { Err(inactive()) }
    }

    /// The statuses of the agency in which the caller may change it. None means all.
    pub fn required_statuses(&self) -> Option<&'static [Status]> {
        (!self.is_platform_admin).then_some(&[Status::Active])
    }

    /// The condition on the agency or its gate that a change by the caller needs.
    pub fn active_condition(&self) -> Option<Condition> {
        (!self.is_platform_admin).then(|| Condition::Equals("status", item::text(Status::Active.as_str())))
    }

    pub fn tag(&self) -> EntityTag {
        self.stored.rev.into()
    }
}

pub fn inactive() -> Problem {
    AGENCY_INACTIVE.because("A platform administrator can activate it.")
}

pub fn is_platform_admin(caller: &Known) -> bool {
    caller.has_role(PLATFORM_ADMIN)
}
