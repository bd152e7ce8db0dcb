//! Changes of requests to join group chats.

use table::{EntityKey, Error};
use web::Record;

use super::Effect;
use crate::keys::{RequestOfChatKey, RequestOfUserKey};
use crate::notifications::NotificationType;
use crate::notifications::write::NewNotification;
use crate::requests::{ChatRequest, RequestStatus};

/// Of the two rows of a request, that of the chat tells its creation and that of the user its settlement.
pub fn effects(record: &Record) -> Result<Vec<Effect>, Error> {
    let (old, new) = (record.read_old::<ChatRequest>(), record.read_new::<ChatRequest>());
    if let Some(RequestOfChatKey { chat, request, .. }) = RequestOfChatKey::parse(&record.key) {
        let (None, Some(new)) = (old?, new?) else { return Ok(Vec::new()) };
        let target = format!("/chat/groupchats/{chat}/requests/{request}");
        return Ok(vec![Effect::NotifyModerators { chat, target, actor: new.user_id }]);
    }
    if let Some(RequestOfUserKey { user, request, .. }) = RequestOfUserKey::parse(&record.key) {
        let (Some(old), Some(new)) = (old?, new?) else { return Ok(Vec::new()) };
        let (notification_type, target) = match new.status {
            _ if new.status == old.status => return Ok(Vec::new()),
            RequestStatus::Approved => (NotificationType::RequestApproved, format!("/chat/groupchats/{}", new.chat_id)),
            RequestStatus::Denied => (NotificationType::RequestDenied, format!("/chat/me/requests/{request}")),
            RequestStatus::Pending | RequestStatus::Withdrawn => return Ok(Vec::new()),
        };
        return Ok(vec![Effect::Notify(NewNotification { user, notification_type, target, actor: new.settled_by })]);
    }
    Ok(Vec::new())
}
