//! Measures how soon the messages of a group chat reach its connected members, beside a bare WebSocket broadcast.
//!
//! ```sh
//! cargo run --profile bench -p cairn -- local --port 8090 --state /tmp/cairn-bench &
//! cargo run --profile bench -p bench --example chat_load -- http://127.0.0.1:8090 /tmp/cairn-bench 1000 200 30
//! ```
//!
//! The arguments are the URL and the state folder of a running platform, the number of members, the messages a second,
//! and the seconds. Each member opens a socket. Members take turns in sending. After half of the time a third of the
//! clients lose their connections at once. Within two seconds they continue on others after their last numbers. The run
//! fails unless each member gets each message exactly once, without a hole in the numbers.
//!
//! A delay is the time from the response to a message's sender until its event arrives at a member. Then a bare server in
//! a process of its own broadcasts the frames that one member has received to as many sockets, at the same pace.

mod broadcast;
mod delays;
mod member;
mod platform;

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::sleep_until;

use delays::print_delays;
use member::{Member, Received};
use platform::{GroupChat, Platform};

pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// How long the last delivery may take after the last message.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The followers of a feed whom each event reaches at once. The others get what is new once a second.
const FIRST: usize = 500;

/// The sockets that are opened at once.
const OPENING: usize = 16;

/// The argument of the process that serves the broadcast.
const SERVE_BROADCAST: &str = "serve-broadcast";

/// The messages of a run.
#[derive(Clone, Copy)]
struct Load {
    members: usize,
    /// Messages a second.
    rate: u32,
    seconds: u32,
}

impl Load {
    fn messages(self) -> u32 {
        self.rate * self.seconds
    }
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [url, state, members, rate, seconds] = arguments.as_slice() else {
        if arguments == [SERVE_BROADCAST] {
            return broadcast::serve().await;
        }
        return Err(
            "the arguments must be a URL, a state folder, and numbers of members, messages a second and seconds".into(),
        );
    };
    let load = Load { members: members.parse()?, rate: rate.parse()?, seconds: seconds.parse()? };
    let platform = Arc::new(Platform::new(url, Path::new(state))?);
    let began = Instant::now();
    let chat = Arc::new(platform.group_chat(load.members).await?);
    println!("{} members have joined after {:.1} s", load.members, began.elapsed().as_secs_f64());
    let frames = of_chat(&platform, &chat, load).await?;
    broadcast::measure(load.members, &frames).await
}

/// Sends the messages, and prints their delays. Returns the frames of a member who gets each event at once.
async fn of_chat(platform: &Arc<Platform>, chat: &Arc<GroupChat>, load: Load) -> Outcome<Vec<(Duration, String)>> {
    let (cut, is_cut) = watch::channel(false);
    let opening = Arc::new(Semaphore::new(OPENING));
    let began = Instant::now();
    let open = (0..load.members).map(|number| {
        let (platform, chat, opening) = (Arc::clone(platform), Arc::clone(chat), Arc::clone(&opening));
        // The first member is not cut, since it keeps its frames.
        let cut = (number % 3 == 1).then(|| is_cut.clone());
        async move {
            let _permit = opening.acquire().await?;
            Member::open(platform, chat, number, cut).await
        }
    });
    let members = try_join_all(open).await?;
    println!("{} sockets are open after {:.1} s", members.len(), began.elapsed().as_secs_f64());

    let start = Instant::now();
    let (total, end) = (load.messages(), start + Duration::from_secs(load.seconds.into()) + TIMEOUT);
    let mut receiving = JoinSet::new();
    for member in members {
        receiving.spawn(member.receive(total, end));
    }
    let cutting = tokio::spawn(async move {
        sleep_until((start + Duration::from_secs(load.seconds.into()) / 2).into()).await;
        cut.send_replace(true);
    });
    let sent = send(platform, chat, load, start).await?;
    cutting.await?;
    let mut received: Vec<Received> = receiving.join_all().await.into_iter().collect::<Outcome<_>>()?;
    received.sort_by_key(|received| received.number);

    let answered: Vec<Instant> = sent.iter().map(|sent| sent.answered).collect();
    let seconds = answered.iter().max().map_or(0.0, |last| (*last - start).as_secs_f64());
    println!("{total} messages were answered within {seconds:.1} s, {:.0} a second", f64::from(total) / seconds);
    print_delays("from the request to its response", sent.iter().map(|sent| sent.answered - sent.began));
    let delays = |which: &dyn Fn(&Received) -> bool| {
        let mut delays = Vec::new();
        for received in received.iter().filter(|received| which(received)) {
            let pairs = answered.iter().zip(&received.arrivals);
            delays.extend(pairs.map(|(answered, arrival)| arrival.saturating_duration_since(*answered)));
        }
        delays
    };
    print_delays("chat, all members", delays(&|_| true).into_iter());
    print_delays("chat, the first 500 who were not cut", delays(&|one| one.number < FIRST && !one.was_cut).into_iter());
    print_delays("chat, the others who were not cut", delays(&|one| one.number >= FIRST && !one.was_cut).into_iter());
    print_delays("chat, those who were cut", delays(&|one| one.was_cut).into_iter());
    let sum = |count: fn(&Received) -> usize| received.iter().map(count).sum::<usize>();
    println!("frames: {}, repeated keys: {}", sum(|one| one.frames), sum(|one| one.repeated));
    println!("reconnects: {}, replays: {}", sum(|one| usize::from(one.was_cut)), sum(|one| one.replays));
    let first = received.into_iter().next().ok_or("there is no member")?;
    Ok(first.kept.into_iter().map(|(at, text)| (at.saturating_duration_since(start), text)).collect())
}

/// The times of a message's request and of its response.
struct Sent {
    began: Instant,
    answered: Instant,
}

/// Sends the messages at their rate, each with its number as its content.
async fn send(platform: &Arc<Platform>, chat: &Arc<GroupChat>, load: Load, start: Instant) -> Outcome<Vec<Sent>> {
    let mut sending = JoinSet::new();
    for number in 0..load.messages() {
        sleep_until((start + Duration::from_secs(number.into()) / load.rate).into()).await;
        let (platform, chat) = (Arc::clone(platform), Arc::clone(chat));
        sending.spawn(async move {
            let began = Instant::now();
            platform.send(&chat, number).await?;
            Outcome::Ok((number, Sent { began, answered: Instant::now() }))
        });
    }
    let mut sent = sending.join_all().await.into_iter().collect::<Outcome<Vec<_>>>()?;
    sent.sort_by_key(|(number, _)| *number);
    Ok(sent.into_iter().map(|(_, sent)| sent).collect())
}
