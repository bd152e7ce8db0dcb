//! Authorization in communities.

use table::{AccessPattern, EntityKey, Stored};
use web::{Context, Problem};

use super::{Community, CommunityMember};
use crate::access::COMMUNITIES;
use crate::caller::Caller;
use crate::keys::{CommunityKey, CommunityMemberKey};
use crate::names::{CommunityId, UserId};
use crate::schema;

/// A community and the caller's membership.
pub const LOAD_COMMUNITY: AccessPattern = AccessPattern::new("loadCommunity", &[COMMUNITIES.batch_get()]);

/// A community with the caller's own membership.
#[derive(Debug)]
pub struct CommunityAccess {
    pub caller: Caller,
    pub stored: Stored,
    pub community: Community,
    /// Also that of a member who is leaving.
    pub member: Option<CommunityMember>,
}

impl CommunityAccess {
    /// Loads a community. 404 for an absent one and for one that is being deleted.
    pub async fn load(cx: &Context, community: CommunityId) -> Result<Self, Problem> {
        let access = Self::load_also_deleted(cx, community).await?;
        if access.community.deleting_at.is_some() { Err(Problem::not_found()) } else { Ok(access) }
    }

    /// [`Self::load`] that also loads a community that is being deleted.
    pub async fn load_also_deleted(cx: &Context, community: CommunityId) -> Result<Self, Problem> {
        let caller = Caller::load(cx).await?;
        let keys = [CommunityKey { community }.key(), CommunityMemberKey { community, user: caller.id }.key()];
        let found = cx.access().table(&LOAD_COMMUNITY, &schema::COMMUNITIES).batch_get_consistent(&keys).await?;
        let mut found = found.into_iter();
        let stored = found.next().flatten().ok_or_else(Problem::not_found)?;
        let member = found.next().flatten().map(|stored| stored.read()).transpose()?;
        Ok(Self { caller, community: stored.read()?, stored, member })
    }

    pub fn me(&self) -> UserId {
        self.caller.id
    }

    /// 403 unless the caller is a member who is not leaving.
    pub fn require_member(&self) -> Result<(), Problem> {
        if self.member.as_ref().is_some_and(|member| member.leaving_at.is_none()) {
            Ok(())
        } else {
            Err(Problem::forbidden("This operation is for members of the community. Join it first."))
        }
    }

    /// 403 unless the caller moderates the community and is not leaving it.
    pub fn require_moderator(&self) -> Result<(), Problem> {
        self.require_member()?;
        if self.community.is_moderated_by(self.me()) {
            Ok(())
        } else {
            Err(Problem::forbidden("This operation is for moderators of the community."))
        }
    }

    /// 403 unless the caller is the founder of the community.
    pub fn require_founder(&self) -> Result<(), Problem> {
        if self.community.founder == self.me() {
            Ok(())
        } else {
            Err(Problem::forbidden("This operation is for the founder of the community."))
        }
    }
}
