//! dynoxide: DynamoDB's protocol over SQLite, in this process.

use std::net::Ipv4Addr;
use std::path::Path;
use std::thread::JoinHandle;

use dynoxide::Database;
use rusqlite::Connection;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::error::StartError;

/// A running database on a port of 127.0.0.1.
pub struct Dynoxide {
    pub endpoint: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    database: Database,
}

impl Dynoxide {
    /// Opens or creates the database in `file`, or makes one in memory that is gone with it.
    pub async fn start(file: Option<&Path>) -> Result<Self, StartError> {
        let database = match file {
            Some(file) => open(&file.display().to_string())?,
            // A name of its own, through which the index is made as in a file.
            None => open(&format!("file:cairn-{}?mode=memory&cache=shared", uuid::Uuid::now_v7()))?,
        };
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| failed(&error))?;
        listener.set_nonblocking(true).map_err(|error| failed(&error))?;
        let address = listener.local_addr().map_err(|error| failed(&error))?;
        let (stop, stopped) = oneshot::channel();
        let served = database.clone();
        // SQLite's calls block, so they get a thread of their own and never hold up the gateway.
        let thread = std::thread::Builder::new()
            .name("dynoxide".to_owned())
            .spawn(move || serve(listener, served, stopped))
            .map_err(|error| failed(&error))?;
        Ok(Self { endpoint: format!("http://{address}"), stop: Some(stop), thread: Some(thread), database })
    }

    /// Deletes the items whose time to live has passed, as DynamoDB does by itself. Returns how many.
    pub async fn sweep_expired(&self) -> Result<usize, dynoxide::DynoxideError> {
        let database = self.database.clone();
        tokio::task::spawn_blocking(move || database.sweep_ttl())
            .await
            .map_err(|error| dynoxide::DynoxideError::InternalServerError(error.to_string()))?
    }

    /// Finishes what is under way and closes the file.
    pub async fn stop(mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }
}

impl std::fmt::Debug for Dynoxide {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Dynoxide").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

fn serve(listener: std::net::TcpListener, database: Database, stopped: oneshot::Receiver<()>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return tracing::error!(%error, "dynoxide got no runtime"),
    };
    runtime.block_on(async {
        let listener = match TcpListener::from_std(listener) {
            Ok(listener) => listener,
            Err(error) => return tracing::error!(%error, "dynoxide got no listener"),
        };
        let stopped = async {
            let _ = stopped.await;
        };
        if let Err(error) = dynoxide::server::serve_with_shutdown(listener, database, stopped).await {
            tracing::error!(%error, "dynoxide ended");
        }
    });
}

fn open(file: &str) -> Result<Database, StartError> {
    let corrupt = |error: &dyn std::fmt::Display| {
        StartError::new(
            format!("The database `{file}` cannot be opened: {error}"),
            "If the file is damaged, `cairn local reset` starts over with an empty one",
        )
    };
    let database = Database::new(file).map_err(|error| corrupt(&error))?;
    index_streams(file).map_err(|error| corrupt(&error))?;
    Ok(database)
}

/// Without this index each write and each read of a stream looks through all of its records.
fn index_streams(file: &str) -> rusqlite::Result<()> {
    Connection::open(file)?.execute_batch(
        "CREATE INDEX IF NOT EXISTS cairn_stream_position
         ON _stream_records (table_name, CAST(sequence_number AS INTEGER))",
    )
}

fn failed(error: &dyn std::fmt::Display) -> StartError {
    StartError::new(
        format!("The local DynamoDB did not start: {error}"),
        "Check the machine's memory and network settings",
    )
}
