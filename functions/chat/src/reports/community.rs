//! The community whose moderators settle a report.

use table::AccessPattern;
use web::{Context, Problem};

use crate::access::COMMUNITIES;
use crate::communities::Community;
use crate::keys::CommunityKey;
use crate::names::CommunityId;
use crate::schema;

/// The community of a report.
pub(super) const COMMUNITY: AccessPattern = AccessPattern::new("communityOfReport", &[COMMUNITIES.get()]);

/// Finds a community, unless it is being deleted.
pub(super) async fn find_community(cx: &Context, community: CommunityId) -> Result<Option<Community>, Problem> {
    let stored = cx.access().table(&COMMUNITY, &schema::COMMUNITIES).get_consistent(CommunityKey { community }).await?;
    let community = stored.map(|stored| stored.read::<Community>()).transpose()?;
    Ok(community.filter(|community| community.deleting_at.is_none()))
}
