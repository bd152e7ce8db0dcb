//! The worker of the job that removes what belongs to a deleted user. Each part can be repeated. All parts are gone
//! through a second time, a while later: then requests that were under way when the user was deleted have ended, and
//! indexes show what they wrote.

use ::jobs::{Counts, Start, Step, Then, Worker};
use table::{Access, Action, Changes, EntityKey, Key, Position, item};
use web::Problem;

use super::{Part, Progress};
use crate::access::DELETE_USER;
use crate::communities::CommunityMember;
use crate::communities::departure::mark;
use crate::exports::REMOVE_EXPORT;
use crate::jobs::{ChatJobs, Lease};
use crate::keys::{
    CommunityKey, CommunityMemberKey, ExportKey, FeedHeadKey, GroupChatCountKey, MembershipCountKey, RequestGuardKey,
    RequestOfChatKey, UnreadCountKey, user_partition,
};
use crate::live::feed::Feed;
use crate::names::{CommunityId, Millisecond, UserId};
use crate::pictures::REMOVE_PICTURES;
use crate::requests::ChatRequest;
use crate::schema::{self, COMMUNITY_MEMBERS_INDEX, PRIVATE_CHAT_MEMBERS_INDEX};
use crate::sessions::end::end_all;
use crate::{exports, pictures};

/// Rows that one step removes.
const PAGE: u32 = 90;

/// Communities that one step leaves. Each has four actions, of the 98 that a step may have.
const LEAVINGS: u32 = 20;

/// The seconds after which all parts are gone through again: longer than a request, or the storing of a picture, may last.
const AGAIN: u64 = 90;

/// The seconds between two looks whether the communities are left, and those after which the job fails if it cannot leave
/// any other.
const WAIT: u64 = 5;
const MAX_WAIT: i64 = 3600;

/// Works on the deletion of a user.
#[derive(Debug)]
pub struct DeleteUser;

/// The outcome of a step of a part.
enum Done {
    /// The part has nothing left, once these actions are committed.
    All(Vec<Action>),
    /// The part has more, after this position of its list.
    Some(Vec<Action>, Option<Position>),
    /// Jobs by which the user leaves communities do the rest.
    Waits(Vec<Action>),
    /// The deletions of communities do the rest, however long they take.
    WaitsForDeletions,
}

impl Worker<ChatJobs> for DeleteUser {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let mut progress: Progress = lease.job.checkpoint()?;
        let removal = Removal { access, lease, user: lease.group };
        let done = match progress.part {
            Part::Sessions => removal.sessions().await?,
            Part::Files => removal.files(&mut progress).await?,
            Part::Communities => removal.communities().await?,
            Part::PrivateChats => removal.private_chats(progress.after.take()).await?,
            Part::Requests => removal.requests().await?,
            Part::Notifications => removal.notifications().await?,
            Part::Feed => removal.feed().await?,
            Part::Counters => removal.counters().await?,
        };
        let (actions, then) = match done {
            Done::Some(actions, after) => {
                progress.after = after;
                (actions, Then::Continue)
            }
            Done::Waits(actions) => {
                let now = access.engines().clock.seconds();
                if !actions.is_empty() || progress.waits_until == 0 {
                    progress.waits_until = now + MAX_WAIT;
                } else if progress.waits_until <= now {
                    return Ok(Step::fail(&lease.job, "the user could not leave all communities"));
                }
                (actions, Then::Wait(WAIT))
            }
            Done::WaitsForDeletions => (Vec::new(), Then::Wait(WAIT)),
            Done::All(actions) => (actions, progress.finish_part()),
        };
        Step::new(actions, &progress, Counts::default(), then)
    }
}

/// The removal of what belongs to a user.
struct Removal<'a> {
    access: &'a Access,
    lease: &'a Lease,
    user: UserId,
}

impl Removal<'_> {
    async fn sessions(&self) -> Result<Done, Problem> {
        end_all(self.access, self.user).await?;
        Ok(Done::All(Vec::new()))
    }

    /// Removes pictures and exports from the bucket, before the rows that list them. A picture may be stored meanwhile, so
    /// the pictures are kept for the second time.
    async fn files(&self, progress: &mut Progress) -> Result<Done, Problem> {
        for picture in &progress.pictures {
            pictures::remove(self.access, &REMOVE_PICTURES, *picture).await?;
        }
        let live = self.access.table(&DELETE_USER, &schema::LIVE);
        let mut keys = Vec::new();
        let rows = |prefix| live.query(user_partition(self.user)).begins_with(prefix).consistent();
        let listed = rows("PICTURE#").page(PAGE).await?.items;
        let known = progress.pictures.len();
        for picture in &listed {
            let id = pictures::picture_of_user(picture)?.filter(|id| !progress.pictures.contains(id));
            progress.pictures.extend(id);
        }
        if progress.pictures.len() > known {
            return Ok(Done::Some(Vec::new(), None));
        }
        for picture in listed {
            pictures::remove_upload(self.access, &picture).await?;
            keys.push(picture.key);
        }
        for export in rows("EXPORT#").page(PAGE).await?.items {
            if let Some(ExportKey { job, .. }) = ExportKey::parse(&export.key) {
                exports::remove(self.access, &REMOVE_EXPORT, job).await?;
            }
            keys.push(export.key);
        }
        live.batch_delete(&keys).await?;
        Ok(if keys.is_empty() { Done::All(Vec::new()) } else { Done::Some(Vec::new(), None) })
    }

    /// Leaves communities. One that is being deleted removes its members itself, after its group chats.
    async fn communities(&self) -> Result<Done, Problem> {
        let communities = self.access.table(&DELETE_USER, &schema::COMMUNITIES);
        let page = communities.query(user_partition(self.user)).index(COMMUNITY_MEMBERS_INDEX).page(LEAVINGS).await?;
        if page.items.is_empty() {
            return Ok(Done::All(Vec::new()));
        }
        let keys: Vec<Key> = page.items.into_iter().map(|stored| stored.key).collect();
        let mut members = Vec::new();
        for stored in communities.batch_get_consistent(&keys).await?.into_iter().flatten() {
            if let Some(CommunityMemberKey { community, .. }) = CommunityMemberKey::parse(&stored.key) {
                members.push((community, stored.read::<CommunityMember>()?));
            }
        }
        let keys: Vec<Key> =
            members.iter().map(|(community, _)| CommunityKey { community: *community }.key()).collect();
        let found = communities.batch_get_consistent(&keys).await?;
        let stay = members.iter().zip(found).filter_map(|(member, community)| {
            let is_deleted = community.is_none_or(|community| community.item.contains_key("DeletingAt"));
            (!is_deleted).then_some(member)
        });
        let stay: Vec<&(CommunityId, CommunityMember)> = stay.collect();
        if stay.is_empty() && !members.is_empty() {
            return Ok(Done::WaitsForDeletions);
        }
        let mut actions = Vec::new();
        for (community, member) in stay {
            if member.leaving_at.is_none() {
                let by = self.lease.job.created_by.clone();
                actions.extend(mark(self.access, (*community, self.user), by, Start::After(0))?.1);
            }
        }
        Ok(Done::Waits(actions))
    }

    /// Marks the user as gone in private chats. No member leaves them, since the other member keeps the messages.
    async fn private_chats(&self, after: Option<Position>) -> Result<Done, Problem> {
        let chats = self.access.table(&DELETE_USER, &schema::PRIVATE_CHATS);
        let own = chats.query(user_partition(self.user)).index(PRIVATE_CHAT_MEMBERS_INDEX).after(after);
        let page = own.page(PAGE).await?;
        let keys: Vec<Key> = page.items.into_iter().map(|stored| stored.key).collect();
        let now = item::text(Millisecond::now(&self.access.engines().clock).to_string());
        let mut actions = Vec::new();
        for member in chats.batch_get_consistent(&keys).await?.into_iter().flatten() {
            if !member.item.contains_key("GoneAt") {
                let gone = Changes::new().set("GoneAt", now.clone());
                actions.push(Action::update(&schema::PRIVATE_CHATS, member.key, gone));
            }
        }
        Ok(match page.next {
            Some(next) => Done::Some(actions, Some(next)),
            None => Done::All(actions),
        })
    }

    /// Deletes the requests, that of each chat before that of the user, which lists them.
    async fn requests(&self) -> Result<Done, Problem> {
        let requests = self.access.table(&DELETE_USER, &schema::CHAT_REQUESTS);
        let page = requests.query(user_partition(self.user)).consistent().page(PAGE).await?;
        let mut of_chats = Vec::new();
        for stored in &page.items {
            let request: ChatRequest = stored.read()?;
            let (time, chat) = (request.id.time(), request.chat_id);
            of_chats.push(RequestOfChatKey { chat, time, request: request.id }.key());
            of_chats.push(RequestGuardKey { chat, user: self.user }.key());
        }
        requests.batch_delete(&of_chats).await?;
        let keys: Vec<Key> = page.items.into_iter().map(|stored| stored.key).collect();
        requests.batch_delete(&keys).await?;
        Ok(if page.next.is_none() { Done::All(Vec::new()) } else { Done::Some(Vec::new(), None) })
    }

    async fn notifications(&self) -> Result<Done, Problem> {
        let notifications = self.access.table(&DELETE_USER, &schema::NOTIFICATIONS);
        let page = notifications.query(user_partition(self.user)).consistent().page(PAGE).await?;
        let keys: Vec<Key> = page.items.into_iter().map(|stored| stored.key).collect();
        notifications.batch_delete(&keys).await?;
        if page.next.is_some() {
            return Ok(Done::Some(Vec::new(), None));
        }
        notifications.batch_delete(&[UnreadCountKey { user: self.user }.key()]).await?;
        Ok(Done::All(Vec::new()))
    }

    /// Deletes the feed of the user, whom nobody follows any more.
    async fn feed(&self) -> Result<Done, Problem> {
        let (live, feed) = (self.access.table(&DELETE_USER, &schema::LIVE), Feed::User(self.user));
        let page = live.query(format!("FEED#{feed}")).consistent().page(PAGE).await?;
        let keys: Vec<Key> = page.items.into_iter().map(|stored| stored.key).collect();
        live.batch_delete(&keys).await?;
        if page.next.is_some() {
            return Ok(Done::Some(Vec::new(), None));
        }
        live.batch_delete(&[FeedHeadKey { feed }.key()]).await?;
        Ok(Done::All(Vec::new()))
    }

    async fn counters(&self) -> Result<Done, Problem> {
        let user = self.user;
        let communities = self.access.table(&DELETE_USER, &schema::COMMUNITIES);
        communities.batch_delete(&[MembershipCountKey { user }.key()]).await?;
        let chats = self.access.table(&DELETE_USER, &schema::GROUP_CHATS);
        chats.batch_delete(&[GroupChatCountKey { user }.key()]).await?;
        Ok(Done::All(Vec::new()))
    }
}

impl Progress {
    /// Moves on after a part is done.
    fn finish_part(&mut self) -> Then {
        let next = match self.part {
            Part::Sessions => Part::Files,
            Part::Files => Part::PrivateChats,
            Part::PrivateChats => Part::Requests,
            Part::Requests => Part::Notifications,
            Part::Notifications => Part::Communities,
            Part::Communities => Part::Feed,
            Part::Feed => Part::Counters,
            Part::Counters if self.again => return Then::Succeed,
            Part::Counters => {
                (self.part, self.again) = (Part::Sessions, true);
                return Then::Wait(AGAIN);
            }
        };
        self.part = next;
        Then::Continue
    }
}
