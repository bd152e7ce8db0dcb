//! `POST /chat/privatechats`

use serde::Deserialize;
use table::{AccessPattern, Action, Condition, Stored, item};
use utoipa::ToSchema;
use web::{Context, Created, Either, Fault, Json, Problem, Route, Sample, Tagged, problem};

use super::{LIST, PRIVATE_CHAT, Pair, PrivateChat, PrivateChatView, load};
use crate::access::{CALLER, PRIVATE_CHATS, USERS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::group_chats::ChatMember;
use crate::keys::{PrivateChatKey, PrivateChatMemberKey, UserKey, chat_partition, pair_key};
use crate::names::{PrivateChatId, UserId};
use crate::rates::{self, COUNT, count};
use crate::schema;
use crate::users::User;

/// The private chat that two users have already.
const FIND_PAIR: AccessPattern = AccessPattern::new("findPair", &[PRIVATE_CHATS.get()]);

/// A new private chat with its pair and its members. The other user is neither banned nor deleted.
const START: AccessPattern = AccessPattern::new("startPrivateChat", &[USERS.get(), PRIVATE_CHATS.put(), USERS.check()]);

/// The person to talk to.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewPrivateChat {
    user_id: UserId,
}

pub fn route() -> Route {
    Route::post("startPrivateChat", LIST, SIGNED_IN, start)
        .summary("Create the private chat with a person, or get the one that exists")
        .patterns(&[&CALLER, &FIND_PAIR, &PRIVATE_CHAT, &COUNT, &START])
        .problems(&[problem::FORBIDDEN, BANNED, problem::CONFLICT, problem::UNPROCESSABLE, problem::TOO_MANY_REQUESTS])
        .sample(Sample::new(LIST).body(r#"{"userId":"019b76da-a800-7000-8000-000000000002"}"#))
}

async fn start(
    cx: Context,
    Json(new): Json<NewPrivateChat>,
) -> Result<Either<Created<PrivateChatView>, Tagged<PrivateChatView>>, Problem> {
    let (caller, peer) = (Caller::load(&cx).await?.id, new.user_id);
    if peer == caller {
        return Err(Problem::faults(vec![Fault::pointer("/userId", "must be another person")]));
    }
    let key = pair_key(caller, peer);
    let pair = cx.access().table(&FIND_PAIR, &schema::PRIVATE_CHATS).get_consistent(key.clone()).await?;
    if let Some(pair) = pair {
        return existing(&cx, pair.read::<Pair>()?.chat_id).await;
    }
    count(&cx, &rates::PRIVATE_CHATS, &[&caller.to_string()]).await?;
    cx.retry(|| async {
        let other = cx.access().table(&START, &schema::USERS).get_consistent(UserKey { user: peer }).await?;
        let other = reachable(&cx, other)?;
        let id = PrivateChatId::now(&cx.engines().clock);
        let chat = PrivateChat {
            id,
            name: String::new(),
            description: String::new(),
            member_ids: [caller, peer].into(),
            created_at: id.time().to_string(),
        };
        let member = |user| {
            let member = ChatMember::new(chat_partition(id.into()), user, chat.created_at.clone());
            let added_by = (user != caller).then_some(caller);
            let member = ChatMember { added_by, member_ids: chat.member_ids.clone(), ..member };
            Action::create(&schema::PRIVATE_CHATS, PrivateChatMemberKey { chat: id, user }, &member)
        };
        let actions = [
            Action::create(&schema::PRIVATE_CHATS, key.clone(), &Pair { chat_id: id })?,
            Action::create(&schema::PRIVATE_CHATS, PrivateChatKey { chat: id }, &chat)?,
            member(caller)?,
            member(peer)?,
            Action::check(&schema::USERS, UserKey { user: peer })
                .when(Condition::Absent("DeletedAt"))
                .when(same_ban(&other)),
        ];
        match cx.access().transact(&START, &actions).await {
            Ok(rev) => {
                let location = format!("{LIST}/{id}");
                Ok(Either::First(Created::new(location, rev, &chat.into())))
            }
            Err(error) => match error.failed(0).and_then(|failed| failed.item.clone()) {
                Some(pair) => existing(&cx, item::from_item::<Pair>(pair)?.chat_id).await,
                // The other user has changed since it was read.
                None if error.failed(4).is_some() => Err(Problem::lost_race()),
                None => Err(error.into()),
            },
        }
    })
    .await
}

async fn existing(
    cx: &Context,
    chat: PrivateChatId,
) -> Result<Either<Created<PrivateChatView>, Tagged<PrivateChatView>>, Problem> {
    let (chat, stored) = load(cx, chat).await?;
    Ok(Either::Second(Tagged::new(&chat.into(), stored.rev)))
}

/// Returns the user if it exists and is neither banned nor deleted, or 422.
fn reachable(cx: &Context, user: Option<Stored>) -> Result<Stored, Problem> {
    let refused = |detail: &str| Problem::unprocessable(vec![Fault::pointer("/userId", detail)]);
    let stored = user.ok_or_else(|| refused("is no user"))?;
    let user: User = stored.read()?;
    if user.deleted_at.is_some() {
        return Err(refused("is no user"));
    }
    if user.ban.is_some_and(|ban| ban.lasts(&cx.engines().clock)) {
        return Err(refused("is a banned user"));
    }
    Ok(stored)
}

/// Returns the condition that the user's ban is as it was read: none, or one that has ended.
fn same_ban(user: &Stored) -> Condition {
    match user.item.get("Ban") {
        Some(ban) => Condition::Equals("Ban", ban.clone()),
        None => Condition::Absent("Ban"),
    }
}
