//! dynoxide: DynamoDB's protocol over SQLite, in this process.
//!
//! It serves one request at a time. For each page of a scan or query without a `Limit` it reads all remaining items,
//! and then cuts the page at 1 MB. So [`Dynoxide::endpoint`] is for callers that set a `Limit`, as the platform does,
//! and [`Dynoxide::front`] for all others. The former also lets every web page read and write the tables, without an
//! option against that, so its port is not printed.
//!
//! For ten minutes it keeps the response of each transaction, as DynamoDB does for requests that are sent again. So its
//! memory grows with the writes of the last ten minutes: an import into tracker of 120 rows a second takes about 130 MB.

mod arrivals;
mod front;

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use dynoxide::Database;
use rusqlite::Connection;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};

use crate::error::StartError;
use arrivals::Arrivals;
use front::Front;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A running database on a port of 127.0.0.1.
pub struct Dynoxide {
    /// The endpoint for callers that limit their scans and queries.
    pub endpoint: String,
    /// The endpoint for all other callers, which limits every scan and query.
    pub front: String,
    fronting: Front,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    database: Database,
    arrivals: Arc<Arrivals>,
    /// The file, or the URI of a database in memory.
    name: String,
    /// Absent for a database in memory.
    file: Option<PathBuf>,
}

impl Dynoxide {
    /// Opens or creates the database in `file`, or creates one in memory.
    pub async fn start(file: Option<&Path>) -> Result<Self, StartError> {
        let name = match file {
            Some(file) => file.display().to_string(),
            // The name lets another connection create indexes.
            None => format!("file:cairn-{}?mode=memory&cache=shared", uuid::Uuid::now_v7()),
        };
        let database = open(&name)?;
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| failed(&error))?;
        listener.set_nonblocking(true).map_err(|error| failed(&error))?;
        let address = listener.local_addr().map_err(|error| failed(&error))?;
        let (stop, stopped) = oneshot::channel();
        let served = database.clone();
        let arrivals = Arc::<Arrivals>::default();
        // Connections to a database in memory lock each other's tables while they read.
        let commits = file.map(Connection::open).transpose().map_err(|error| failed(&error))?;
        let noticed = Arc::clone(&arrivals);
        // SQLite's calls block, so they run in a thread of their own.
        let thread = std::thread::Builder::new()
            .name("dynoxide".to_owned())
            .spawn(move || serve(listener, served, stopped, &noticed, commits))
            .map_err(|error| failed(&error))?;
        let endpoint = format!("http://{address}");
        let fronting = Front::start(endpoint.clone()).await.map_err(|error| failed(&error))?;
        let (front, file) = (fronting.url(), file.map(Path::to_path_buf));
        Ok(Self { endpoint, front, fronting, stop: Some(stop), thread: Some(thread), database, arrivals, name, file })
    }

    /// Creates an index for parallel scans of a table, if it is missing. Without it each page of a segment sorts the
    /// whole table.
    pub async fn index_scans(&self, table: &str) -> Result<(), BoxError> {
        let (name, table) = (self.name.clone(), table.to_owned());
        Ok(tokio::task::spawn_blocking(move || index_scans(&name, &table)).await??)
    }

    /// Returns the number of the last record of a table's stream, which changes within some hundredths of a second after
    /// records arrive. None for a database in memory.
    pub fn arrivals(&self, table: &str) -> Option<watch::Receiver<Option<i64>>> {
        self.file.as_ref().map(|_| self.arrivals.of_table(table))
    }

    /// Deletes expired items, as DynamoDB does by itself. Returns their number.
    pub async fn sweep_expired(&self) -> Result<usize, dynoxide::DynoxideError> {
        let database = self.database.clone();
        tokio::task::spawn_blocking(move || database.sweep_ttl())
            .await
            .map_err(|error| dynoxide::DynoxideError::InternalServerError(error.to_string()))?
    }

    /// Deletes the records of a table's stream before this sequence number, as DynamoDB does after a day. SQLite reuses
    /// their space in the file. Returns their number.
    pub async fn trim(&self, table: &str, before: u128) -> Result<usize, BoxError> {
        let stored = before.checked_sub(SEQUENCE_OFFSET).and_then(|stored| i64::try_from(stored).ok());
        let (Some(file), Some(before)) = (self.file.clone(), stored) else { return Ok(0) };
        let table = table.to_owned();
        Ok(tokio::task::spawn_blocking(move || trim(&file, &table, before)).await??)
    }

    /// Finishes requests in progress and closes the file.
    pub async fn stop(mut self) {
        self.fronting.stop().await;
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

fn serve(
    listener: std::net::TcpListener,
    database: Database,
    stopped: oneshot::Receiver<()>,
    arrivals: &Arrivals,
    commits: Option<Connection>,
) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return tracing::error!(%error, "creating a runtime for dynoxide failed"),
    };
    runtime.block_on(async {
        let listener = match TcpListener::from_std(listener) {
            Ok(listener) => listener,
            Err(error) => return tracing::error!(%error, "creating a listener for dynoxide failed"),
        };
        let stopped = async {
            let _ = stopped.await;
        };
        let follow = async {
            match commits {
                Some(commits) => arrivals.follow(commits).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            served = dynoxide::server::serve_with_shutdown(listener, database, stopped) => {
                if let Err(error) = served {
                    tracing::error!(%error, "dynoxide failed");
                }
            }
            () = follow => {}
        }
    });
}

fn open(file: &str) -> Result<Database, StartError> {
    let corrupt = |error: &dyn std::fmt::Display| {
        StartError::new(
            format!("Opening the database `{file}` failed: {error}"),
            "If the file is damaged, `cairn local reset` starts over with an empty one",
        )
    };
    let database = Database::new(file).map_err(|error| corrupt(&error))?;
    index_streams(file).map_err(|error| corrupt(&error))?;
    Ok(database)
}

/// Creates the index of streams. Without it each write and each read scans all records of a stream.
fn index_streams(file: &str) -> rusqlite::Result<()> {
    Connection::open(file)?.execute_batch(
        "CREATE INDEX IF NOT EXISTS cairn_stream_position
         ON _stream_records (table_name, CAST(sequence_number AS INTEGER))",
    )
}

/// Creates an index in the order in which a segment is scanned.
fn index_scans(file: &str, table: &str) -> rusqlite::Result<()> {
    let quoted = table.replace('"', "\"\"");
    Connection::open(file)?.execute_batch(&format!(
        "CREATE INDEX IF NOT EXISTS \"cairn_scan_{quoted}\" ON \"{quoted}\" (hash_prefix, pk, sk)"
    ))
}

/// dynoxide adds this to stored sequence numbers in its answers, so that they have as many digits as DynamoDB's.
const SEQUENCE_OFFSET: u128 = 100_000_000_000_000_000_000;

/// The number of records in one delete. Other writes wait for it.
const TRIM_BATCH: usize = 1000;

fn trim(file: &Path, table: &str, before: i64) -> rusqlite::Result<usize> {
    let connection = Connection::open(file)?;
    let mut all = 0;
    loop {
        let trimmed = connection.execute(
            "DELETE FROM _stream_records WHERE rowid IN (
                 SELECT rowid FROM _stream_records
                 WHERE table_name = ?1 AND CAST(sequence_number AS INTEGER) < ?2 LIMIT ?3)",
            (table, before, TRIM_BATCH),
        )?;
        all += trimmed;
        if trimmed < TRIM_BATCH {
            return Ok(all);
        }
    }
}

fn failed(error: &dyn std::fmt::Display) -> StartError {
    StartError::new(
        format!("Starting the local DynamoDB failed: {error}"),
        "Check the machine's memory and network settings",
    )
}
