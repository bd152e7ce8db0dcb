//! `POST /chat/live/tickets`

use serde::Serialize;
use table::{AccessPattern, Action};
use utoipa::ToSchema;
use web::{Context, Created, Problem, Route, Sample, problem};

use super::tickets::{self, TICKET_SECONDS, Ticket};
use crate::access::{CALLER, LIVE as ON_LIVE};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::names::Millisecond;
use crate::rates;
use crate::schema::LIVE;

/// A ticket for one connection.
const CREATE_TICKET: AccessPattern = AccessPattern::new("createTicket", &[ON_LIVE.put()]);

const PATH: &str = "/chat/live/tickets";

/// A ticket and the URL of the socket, which it opens once.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Ticket)]
pub struct TicketView {
    ticket: String,
    /// The URL of the socket. The client adds the ticket as the parameter `ticket`.
    url: String,
    expires_at: String,
}

pub fn route() -> Route {
    Route::post("createTicket", PATH, SIGNED_IN, create)
        .summary("Create a ticket, which opens the socket once within a minute")
        .patterns(&[&CALLER, &rates::COUNT, &CREATE_TICKET])
        .problems(&[BANNED, problem::TOO_MANY_REQUESTS])
        .sample(Sample::new(PATH))
}

async fn create(cx: Context) -> Result<Created<TicketView>, Problem> {
    let caller = Caller::load(&cx).await?;
    rates::count(&cx, &rates::TICKETS, &[&caller.id.to_string()]).await?;
    let url = cx.engines().config.socket_url.clone().ok_or_else(|| Problem::internal("CAIRN_SOCKET_URL is not set"))?;
    let ticket = tickets::random().map_err(Problem::internal)?;
    let expires = cx.engines().clock.seconds() + TICKET_SECONDS;
    let stored = Ticket { user_id: caller.id, session_id: caller.session, expires };
    let key = tickets::key(&ticket).map_err(Problem::internal)?;
    let rev = cx.access().write(&CREATE_TICKET, Action::create(&LIVE, key, &stored)?).await?;
    let expires_at = Millisecond::at(expires * 1000).map(|time| time.to_string()).unwrap_or_default();
    Ok(Created::new(PATH, rev, &TicketView { ticket, url, expires_at }))
}
