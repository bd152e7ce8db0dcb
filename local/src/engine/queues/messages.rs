//! The messages of all queues in an SQLite file, with the semantics of standard queues: a received message is hidden for
//! a time and received again unless it was deleted, and goes to the dead letters after a number of receives ("Amazon SQS
//! visibility timeout" and "Using dead-letter queues in Amazon SQS", Amazon SQS Developer Guide).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, params};
use table::Clock;
use tokio::sync::watch;

/// The settings of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long a received message is hidden, unless the receiver says otherwise.
    pub visibility_timeout: Duration,
    /// How long a message is kept after its sending.
    pub retention: Duration,
    pub dead_letters: Option<DeadLetters>,
}

/// Where messages go that were received too often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetters {
    /// The name of another queue.
    pub queue: String,
    pub max_receives: u32,
}

/// A received message. Times are microseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub id: String,
    pub body: String,
    pub sent: i64,
    pub receives: u32,
    pub first_received: i64,
}

/// The number of messages of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub visible: u64,
    pub hidden: u64,
}

/// The queues of a platform.
#[derive(Debug)]
pub struct Messages {
    connection: Mutex<Connection>,
    queues: Mutex<BTreeMap<String, Settings>>,
    clock: Clock,
    /// Counts the calls that may have made a message visible.
    changes: watch::Sender<u64>,
}

/// Why an operation on a queue failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("the queue `{0}` does not exist")]
    NoSuchQueue(String),
    #[error("reading or writing the messages failed: {0}")]
    Store(#[from] rusqlite::Error),
    #[error("the thread that reads or writes the messages ended early: {0}")]
    Dropped(#[from] tokio::task::JoinError),
}

/// How long a message is kept if its queue does not say otherwise: four days, as in SQS.
pub const RETENTION: Duration = Duration::from_hours(4 * 24);

const TABLES: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS messages (
        id TEXT PRIMARY KEY,
        queue TEXT NOT NULL,
        body TEXT NOT NULL,
        sent INTEGER NOT NULL,
        visible INTEGER NOT NULL,
        receives INTEGER NOT NULL DEFAULT 0,
        first_received INTEGER
    );
    CREATE INDEX IF NOT EXISTS messages_by_visibility ON messages (queue, visible);";

impl Messages {
    /// Opens or creates the file. Queues are added by [`Messages::create`].
    pub fn open(file: &Path, clock: Clock) -> rusqlite::Result<Self> {
        let connection = Connection::open(file)?;
        connection.execute_batch(TABLES)?;
        Ok(Self { connection: Mutex::new(connection), queues: Mutex::default(), clock, changes: watch::Sender::new(0) })
    }

    /// Creates a queue, or changes the settings of one.
    pub fn create(&self, queue: &str, settings: Settings) {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner).insert(queue.to_owned(), settings);
    }

    /// Returns the names of all queues.
    pub fn names(&self) -> Vec<String> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    pub fn settings(&self, queue: &str) -> Result<Settings, Failure> {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.get(queue).cloned().ok_or_else(|| Failure::NoSuchQueue(queue.to_owned()))
    }

    /// Subscribes to calls that may have made a message visible.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Sends a message, which is visible after the delay. Returns its id.
    pub async fn send(self: &Arc<Self>, queue: &str, body: String, delay: Duration) -> Result<String, Failure> {
        self.settings(queue)?;
        let (id, queue, now) = (uuid::Uuid::now_v7().to_string(), queue.to_owned(), self.clock.micros());
        let message = (id.clone(), queue, body, now, after(now, delay));
        let insert = "INSERT INTO messages (id, queue, body, sent, visible) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.with(move |connection| connection.execute(insert, message)).await?;
        self.changes.send_modify(|changes| *changes += 1);
        Ok(id)
    }

    /// Receives up to `max` visible messages, and hides them for `hidden` or for the queue's visibility timeout. Messages
    /// that were received too often go to the dead letters instead.
    pub async fn receive(
        self: &Arc<Self>,
        queue: &str,
        max: u32,
        hidden: Option<Duration>,
    ) -> Result<Vec<Message>, Failure> {
        let Settings { visibility_timeout, retention, dead_letters } = self.settings(queue)?;
        let (name, now) = (queue.to_owned(), self.clock.micros());
        let until = after(now, hidden.unwrap_or(visibility_timeout));
        let expired = now.saturating_sub(micros(retention));
        let (received, dead) = self
            .with(move |connection| {
                let transaction = connection.transaction()?;
                delete_expired(&transaction, &name, expired)?;
                let dead = match dead_letters {
                    Some(DeadLetters { queue, max_receives }) => transaction.execute(
                        "UPDATE messages SET queue = ?1, visible = ?2
                         WHERE queue = ?3 AND visible <= ?2 AND receives >= ?4",
                        params![queue, now, name, max_receives],
                    )?,
                    None => 0,
                };
                let mut update = transaction.prepare_cached(
                    "UPDATE messages
                     SET visible = ?1, receives = receives + 1, first_received = COALESCE(first_received, ?2)
                     WHERE id IN (SELECT id FROM messages WHERE queue = ?3 AND visible <= ?2 ORDER BY visible LIMIT ?4)
                     RETURNING id, body, sent, receives, first_received",
                )?;
                let rows = update.query_map(params![until, now, name, max], |row| {
                    Ok(Message {
                        id: row.get(0)?,
                        body: row.get(1)?,
                        sent: row.get(2)?,
                        receives: row.get(3)?,
                        first_received: row.get(4)?,
                    })
                })?;
                let received = rows.collect::<rusqlite::Result<Vec<_>>>()?;
                drop(update);
                transaction.commit()?;
                Ok((received, dead))
            })
            .await?;
        if dead > 0 {
            tracing::error!(queue, messages = dead, "messages went to the dead letters");
        }
        Ok(received)
    }

    /// Deletes a message. An older receipt than that of the last receive changes nothing, nor does an unknown one.
    pub async fn delete(self: &Arc<Self>, queue: &str, receipt: &str) -> Result<(), Failure> {
        self.settings(queue)?;
        let Some((id, receives)) = parse_receipt(receipt) else { return Ok(()) };
        let queue = queue.to_owned();
        let delete = "DELETE FROM messages WHERE id = ?1 AND receives = ?2 AND queue = ?3";
        self.with(move |connection| connection.execute(delete, params![id, receives, queue])).await?;
        Ok(())
    }

    /// Hides a received message for this time from now.
    pub async fn hide(self: &Arc<Self>, queue: &str, receipt: &str, time: Duration) -> Result<(), Failure> {
        self.settings(queue)?;
        let Some((id, receives)) = parse_receipt(receipt) else { return Ok(()) };
        let (queue, until) = (queue.to_owned(), after(self.clock.micros(), time));
        let update = "UPDATE messages SET visible = ?1 WHERE id = ?2 AND receives = ?3 AND queue = ?4";
        self.with(move |connection| connection.execute(update, params![until, id, receives, queue])).await?;
        self.changes.send_modify(|changes| *changes += 1);
        Ok(())
    }

    /// Counts the messages of a queue. Deletes the expired ones first, since a queue of dead letters may have no
    /// receiver.
    pub async fn count(self: &Arc<Self>, queue: &str) -> Result<Count, Failure> {
        let Settings { retention, .. } = self.settings(queue)?;
        let (queue, now) = (queue.to_owned(), self.clock.micros());
        let expired = now.saturating_sub(micros(retention));
        let count =
            "SELECT COALESCE(SUM(visible <= ?1), 0), COALESCE(SUM(visible > ?1), 0) FROM messages WHERE queue = ?2";
        let read = |row: &rusqlite::Row<'_>| Ok(Count { visible: row.get(0)?, hidden: row.get(1)? });
        self.with(move |connection| {
            delete_expired(connection, &queue, expired)?;
            connection.query_row(count, params![now, queue], read)
        })
        .await
    }

    /// Works on the file in a thread in which it may block.
    async fn with<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let own = Arc::clone(self);
        let blocking = move || work(&mut own.connection.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(tokio::task::spawn_blocking(blocking).await??)
    }
}

/// Deletes the messages of a queue that were sent before this time.
fn delete_expired(connection: &Connection, queue: &str, before: i64) -> rusqlite::Result<usize> {
    connection.execute("DELETE FROM messages WHERE queue = ?1 AND sent < ?2", params![queue, before])
}

impl Message {
    /// The receipt handle of this receive.
    pub fn receipt(&self) -> String {
        format!("{}#{}", self.id, self.receives)
    }
}

fn parse_receipt(receipt: &str) -> Option<(String, u32)> {
    let (id, receives) = receipt.split_once('#')?;
    Some((id.to_owned(), receives.parse().ok()?))
}

fn after(now: i64, time: Duration) -> i64 {
    now.saturating_add(micros(time))
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HIDDEN: Duration = Duration::from_secs(60);

    fn open(file: &Path, clock: &Clock) -> Arc<Messages> {
        let messages = Messages::open(file, clock.clone()).unwrap();
        let dead_letters = Some(DeadLetters { queue: "dead".to_owned(), max_receives: 2 });
        let settings = Settings { visibility_timeout: HIDDEN, retention: RETENTION, dead_letters };
        messages.create("toys", settings.clone());
        messages.create("dead", Settings { dead_letters: None, ..settings });
        Arc::new(messages)
    }

    async fn one(messages: &Arc<Messages>, queue: &str) -> Option<Message> {
        messages.receive(queue, 1, None).await.unwrap().pop()
    }

    #[tokio::test]
    async fn received_message_is_hidden_until_its_timeout_and_gone_when_deleted() {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
        let messages = open(&folder.path().join("queues"), &clock);
        let id = messages.send("toys", "kite".to_owned(), Duration::ZERO).await.unwrap();
        let first = one(&messages, "toys").await.unwrap();
        assert_eq!((&first.id, first.body.as_str(), first.receives), (&id, "kite", 1));
        assert_eq!(one(&messages, "toys").await, None);
        assert_eq!(messages.count("toys").await.unwrap(), Count { visible: 0, hidden: 1 });

        clock.advance(HIDDEN);
        let second = one(&messages, "toys").await.unwrap();
        assert_eq!((&second.id, second.receives, second.first_received), (&id, 2, first.first_received));
        messages.delete("toys", &first.receipt()).await.unwrap();
        assert_eq!(messages.count("toys").await.unwrap().hidden, 1, "an old receipt deletes nothing");
        messages.delete("toys", &second.receipt()).await.unwrap();
        messages.delete("toys", &second.receipt()).await.unwrap();
        assert_eq!(messages.count("toys").await.unwrap(), Count::default());
    }

    #[tokio::test]
    async fn message_that_was_received_too_often_goes_to_the_dead_letters() {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
        let messages = open(&folder.path().join("queues"), &clock);
        let id = messages.send("toys", "kite".to_owned(), Duration::ZERO).await.unwrap();
        for receives in 1..=2 {
            assert_eq!(one(&messages, "toys").await.unwrap().receives, receives);
            clock.advance(HIDDEN);
        }
        assert_eq!(one(&messages, "toys").await, None);
        assert_eq!(one(&messages, "dead").await.unwrap().id, id);
    }

    #[tokio::test]
    async fn messages_outlive_the_process_and_expire_after_their_retention() {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
        let file = folder.path().join("queues");
        let messages = open(&file, &clock);
        messages.send("toys", "kite".to_owned(), Duration::ZERO).await.unwrap();
        drop(messages);
        let messages = open(&file, &clock);
        let kite = one(&messages, "toys").await.unwrap();
        messages.hide("toys", &kite.receipt(), Duration::ZERO).await.unwrap();
        assert_eq!(messages.count("toys").await.unwrap().visible, 1);
        clock.advance(RETENTION + Duration::from_secs(1));
        assert_eq!(one(&messages, "toys").await, None);
        assert_eq!(messages.count("toys").await.unwrap(), Count::default());
    }

    #[tokio::test]
    async fn dead_letter_that_is_never_received_expires_after_its_retention() {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
        let messages = open(&folder.path().join("queues"), &clock);
        messages.send("dead", "kite".to_owned(), Duration::ZERO).await.unwrap();
        clock.advance(RETENTION - Duration::from_secs(1));
        assert_eq!(messages.count("dead").await.unwrap().visible, 1);
        clock.advance(Duration::from_secs(2));
        assert_eq!(messages.count("dead").await.unwrap(), Count::default());
    }

    #[tokio::test]
    async fn delayed_message_is_visible_after_its_delay_and_an_unknown_queue_is_refused() {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
        let messages = open(&folder.path().join("queues"), &clock);
        messages.send("toys", "kite".to_owned(), HIDDEN).await.unwrap();
        assert_eq!(one(&messages, "toys").await, None);
        clock.advance(HIDDEN);
        assert!(one(&messages, "toys").await.is_some());
        let refused = messages.send("balls", "red".to_owned(), Duration::ZERO).await;
        assert!(matches!(refused, Err(Failure::NoSuchQueue(_))));
    }
}
