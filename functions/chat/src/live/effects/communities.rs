//! Changes of communities, their members and their reports.

use serde::Deserialize;
use table::{EntityKey, Error};
use web::Record;

use super::chats::made_moderator;
use super::{Effect, append};
use crate::communities::Community;
use crate::keys::{CommunityKey, CommunityMemberKey, CommunityReportKey, PlatformReportKey};
use crate::live::event::{Event, MembershipState};
use crate::live::feed::Feed;
use crate::names::UserId;
use crate::notifications::NotificationType;
use crate::notifications::write::NewNotification;
use crate::pictures::dropped;
use crate::reports::ReportStatus;

pub fn effects(record: &Record) -> Result<Vec<Effect>, Error> {
    if let Some(CommunityMemberKey { community, user }) = CommunityMemberKey::parse(&record.key) {
        let state = match (&record.old, &record.new) {
            (None, Some(_)) => MembershipState::Joined,
            (Some(_), None) => MembershipState::Left,
            _ => return Ok(Vec::new()),
        };
        let event = Event::Membership { chat: None, community: Some(community), user_id: user, state };
        return Ok(append([Feed::User(user)], &event));
    }
    if let Some(CommunityKey { community }) = CommunityKey::parse(&record.key) {
        let (Some(old), Some(new)) = (record.read_old::<Community>()?, record.read_new::<Community>()?) else {
            return Ok(Vec::new());
        };
        let promoted = new.moderators.difference(&old.moderators).copied().filter(|user| old.founder != *user);
        let target = format!("/chat/communities/{community}");
        let made = promoted.map(|user| made_moderator(user, target.clone(), new.founder));
        let (had, has) = ([&old.avatar_url, &old.cover_photo_url], [&new.avatar_url, &new.cover_photo_url]);
        return Ok(made.chain(dropped(had, &has).into_iter().map(Effect::RemovePicture)).collect());
    }
    settled_report(record)
}

/// The part of a report that its notification needs.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Report {
    reporter_id: UserId,
}

/// A settled report gets another key.
fn settled_report(record: &Record) -> Result<Vec<Effect>, Error> {
    let of_community = || CommunityReportKey::parse(&record.key).map(|key| (key.status, key.report));
    let of_platform = || PlatformReportKey::parse(&record.key).map(|key| (key.status, key.report));
    let Some((status, report)) = of_community().or_else(of_platform) else { return Ok(Vec::new()) };
    let (None, Some(Report { reporter_id })) = (&record.old, record.read_new()?) else { return Ok(Vec::new()) };
    if status == ReportStatus::Open {
        return Ok(Vec::new());
    }
    Ok(vec![Effect::Notify(NewNotification {
        user: reporter_id,
        notification_type: NotificationType::ReportSettled,
        target: format!("/chat/reports/{report}"),
        actor: None,
    })])
}
