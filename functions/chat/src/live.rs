//! Live connections: tickets, subscriptions, feeds, and what is pushed to them.

mod connect;
mod connections;
pub mod create_ticket;
mod disconnect;
mod effects;
pub mod end;
mod event;
mod fan_out;
pub mod feed;
mod feeds;
mod frame;
pub mod list_online;
mod presence;
mod receive;
mod replay;
mod rest;
mod stream;
mod subscribe;
mod tickets;
mod unsubscribe;

use web::EventHandler;

/// The handlers of the socket and of the streams' records.
pub fn handlers() -> [EventHandler; 5] {
    [connect::handler(), disconnect::handler(), receive::handler(), stream::handler(), rest::handler()]
}
