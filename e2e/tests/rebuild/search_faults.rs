//! Search fails at each step of a rebuild, while people write. The rebuild ends right, or an operator follows what the
//! documentation says. Afterwards search shows exactly the items of the table.

use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ::mirror::{AUDIT, Fault, Generations, Goal, Phase, Progress, Rebuild, last_audits};
use ::shelf::schema::SYSTEM;
use futures::future::{Either, select};
use local::process::Process;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{Mutex, Notify};
use tokio::time::{sleep, timeout};

use super::{Raised, Stage, book, phases};
use crate::harness::proxy::Proxy;
use crate::harness::relay::HTTP;
use crate::harness::{engines, eventually, sized, temporary};
use crate::tests;

tests! { rebuild_faults:
    #[long] search_that_stops_during_a_rebuild_loses_nothing,
    #[long] full_disk_during_a_rebuild_loses_nothing,
    #[long] full_disk_is_freed_by_cancel_and_by_finish,
    #[long] new_index_deleted_during_a_rebuild_is_cancelled_and_filled_again,
    #[long] old_index_deleted_during_a_rebuild_is_replaced,
}

/// The block of an index that OpenSearch sets when the disk is full. It allows reads and deletes of whole indexes.
const FULL: &str = "read_only_allow_delete";
/// The block of writes.
const BLOCKED: &str = "write";

/// A fault of search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// The process is killed, and is started again at once.
    Killed,
    /// The process is stopped, and stays away for longer than a command waits.
    Away,
    /// The disk is full: OpenSearch reads and deletes, and refuses every write.
    Full,
    /// Writes are blocked, which AWS does when space or memory is low: OpenSearch answers 403 to every write.
    Blocked,
    /// The new index is deleted by hand.
    NewDeleted,
    /// The index that serves when the rebuild begins is deleted by hand.
    OldDeleted,
}

/// The moment of a rebuild at which the fault begins. Search receives no request between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// The new index is about to be created.
    Creating,
    /// Both indexes are written, and the rebuild waits.
    Published,
    /// A page of the table was written.
    Filling,
    /// Every page was written.
    Refreshing,
    /// The audit begins.
    Filled,
    /// The audit has read the table, and is about to read the new index.
    Auditing,
    /// The audit has ended.
    Audited,
    /// The readers' alias is about to be moved.
    Swapping,
    /// The new index serves, and the old one is kept.
    Serving,
    /// The old index is not written any more.
    Released,
    /// The old index is about to be deleted.
    Deleting,
}

impl Moment {
    const ALL: [Self; 11] = [
        Self::Creating,
        Self::Published,
        Self::Filling,
        Self::Refreshing,
        Self::Filled,
        Self::Auditing,
        Self::Audited,
        Self::Swapping,
        Self::Serving,
        Self::Released,
        Self::Deleting,
    ];

    /// Returns the goal of the command that comes to this moment.
    const fn goal(self) -> Goal {
        match self {
            Self::Released | Self::Deleting => Goal::Finish,
            _ => Goal::Serve,
        }
    }

    /// Returns the request of search that marks this moment, by its method and path, if one does.
    fn request(self, alias: &str) -> Option<String> {
        match self {
            Self::Creating => Some(format!("PUT /{alias}-000002")),
            Self::Refreshing => Some(format!("POST /{alias}-000002/_refresh")),
            Self::Auditing => Some(format!("POST /{alias}-000002-write/_search")),
            Self::Swapping | Self::Deleting => Some("POST /_aliases".to_owned()),
            _ => None,
        }
    }

    /// Whether this moment is after the step.
    fn is_after(self, step: &Progress) -> bool {
        match self {
            Self::Published => *step == Progress::Published,
            Self::Filling => matches!(step, Progress::Scanned { .. }),
            Self::Filled => *step == Progress::Filled,
            Self::Audited => *step == Progress::Audited,
            Self::Serving => *step == Progress::Serving,
            Self::Released => *step == Progress::Released,
            Self::Creating | Self::Refreshing | Self::Auditing | Self::Swapping | Self::Deleting => false,
        }
    }

    /// Whether the alias of readers names the new index.
    fn is_swapped(self) -> bool {
        matches!(self, Self::Serving | Self::Released | Self::Deleting)
    }
}

/// A search engine behind a proxy.
struct Search {
    proxy: Arc<Proxy>,
    url: Mutex<String>,
    /// The process, unless it is the one that all tests share, and its folder.
    own: Mutex<Option<Process>>,
    folder: TempDir,
}

impl Search {
    async fn shared() -> Self {
        let url = engines::search().await;
        Self::behind(None, url, temporary::folder()).await
    }

    async fn own() -> Self {
        let folder = temporary::folder();
        let (process, url) = engines::own_search(folder.path()).await;
        Self::behind(Some(process), url, folder).await
    }

    async fn behind(own: Option<Process>, url: String, folder: TempDir) -> Self {
        let proxy = Arc::new(Proxy::before(url.clone()).await);
        Self { proxy, url: Mutex::new(url), own: Mutex::new(own), folder }
    }

    /// Kills the process, which writes nothing more, as after a power cut.
    async fn kill(&self) {
        drop(self.own.lock().await.take());
        let url = self.url.lock().await.clone();
        eventually("the engine is killed", async || HTTP.get(&url).send().await.is_err()).await;
    }

    async fn stop(&self) {
        if let Some(process) = self.own.lock().await.take() {
            process.stop().await;
        }
    }

    /// Starts the engine again on its data.
    async fn start(&self) {
        let folder: &Path = self.folder.path();
        let (process, url) = engines::own_search(folder).await;
        *self.own.lock().await = Some(process);
        *self.url.lock().await = url.clone();
        self.proxy.move_to(url);
    }

    /// Sends a request that bypasses the proxy.
    async fn request(&self, method: Method, path: &str, body: &Value) {
        let call = HTTP.request(method, format!("{}{path}", self.url.lock().await));
        let call = call.header("content-type", "application/json").body(body.to_string());
        let answer = call.send().await.unwrap();
        assert!(answer.status().is_success(), "{path}: {}", answer.text().await.unwrap());
    }

    /// Sets a block of the platform's indexes, or removes it.
    async fn set_block(&self, alias: &str, block: &str, is_set: bool) {
        let block = json!({ format!("index.blocks.{block}"): is_set.then_some(true) });
        self.request(Method::PUT, &format!("/{alias}-*/_settings"), &block).await;
    }
}

impl Trouble {
    async fn begin(self, search: &Search, alias: &str) {
        match self {
            Self::Killed => search.kill().await,
            Self::Away => search.stop().await,
            Self::Full => search.set_block(alias, FULL, true).await,
            Self::Blocked => search.set_block(alias, BLOCKED, true).await,
            Self::NewDeleted => search.request(Method::DELETE, &format!("/{alias}-000002"), &Value::Null).await,
            Self::OldDeleted => search.request(Method::DELETE, &format!("/{alias}-000001"), &Value::Null).await,
        }
    }

    async fn end(self, search: &Search, alias: &str) {
        match self {
            Self::Killed | Self::Away => search.start().await,
            Self::Full => search.set_block(alias, FULL, false).await,
            Self::Blocked => search.set_block(alias, BLOCKED, false).await,
            Self::NewDeleted | Self::OldDeleted => {}
        }
    }

    /// How long the fault lasts while the command is carried out.
    fn duration(self) -> Duration {
        match self {
            Self::Killed => Duration::ZERO,
            // An audit retries for 6 s before its step is tried again.
            Self::Away | Self::Full | Self::Blocked => Duration::from_secs(sized(2, 9)),
            // A page is retried for 15 s.
            Self::NewDeleted | Self::OldDeleted => Duration::from_secs(40),
        }
    }
}

/// The result of a command that met a fault.
type Outcome = Result<Generations, Fault>;

/// A rebuild that meets a fault.
struct Case<'s> {
    search: &'s Search,
    stage: Stage,
    trouble: Trouble,
    moment: Moment,
}

impl Case<'_> {
    /// Carries out the command that comes to the moment of the fault, and ends the fault.
    async fn meet(&self) -> Outcome {
        let Self { search, stage, trouble, moment } = self;
        let (proxy, alias) = (&search.proxy, &stage.alias);
        let met = Arc::new(Notify::new());
        let request = moment.request(alias);
        if let Some(request) = request.clone() {
            proxy.close_at(move |sent| sent == request);
        }
        let step = {
            let (proxy, met, moment, passed) = (Arc::clone(proxy), Arc::clone(&met), *moment, AtomicBool::new(false));
            Box::new(move |step| {
                if moment.is_after(&step) && !passed.swap(true, Ordering::SeqCst) {
                    proxy.close();
                    met.notify_one();
                }
            })
        };
        let order = Stage::order(moment.goal());
        let command = ::mirror::rebuild::<Raised>(Arc::clone(stage.cairn.engines()), order, step);
        let met = async {
            match request {
                Some(_) => proxy.holds().await,
                None => timeout(Duration::from_secs(60), met.notified()).await.unwrap(),
            }
            trouble.begin(search, alias).await;
            proxy.open();
            if *trouble == Trouble::Killed {
                trouble.end(search, alias).await;
            }
        };
        let lasting = async {
            met.await;
            sleep(trouble.duration()).await;
        };
        let ended = match select(command, pin!(lasting)).await {
            Either::Left((ended, lasting)) => {
                // A command may have ended before the engine was back.
                if matches!(trouble, Trouble::Killed) || matches!(moment, Moment::Serving) {
                    lasting.await;
                }
                Either::Left(ended)
            }
            Either::Right(((), command)) => Either::Right(command),
        };
        if !matches!(trouble, Trouble::Killed) {
            trouble.end(search, alias).await;
        }
        match ended {
            Either::Left(ended) => ended,
            // It goes on once the fault has ended.
            Either::Right(command) => timeout(Duration::from_secs(60), command).await.unwrap(),
        }
    }

    /// Asserts that a command fails only for a reason that does not pass, and says what is wrong.
    fn check(&self, outcome: &Outcome) {
        let Self { trouble, moment, .. } = self;
        let case = format!("{trouble:?} at {moment:?}: {outcome:?}");
        let Err(fault) = outcome else { return };
        let said = fault.to_string();
        let expected = match trouble {
            Trouble::Killed | Trouble::Away | Trouble::Full => panic!("the command tries again: {case}"),
            // An audit cannot repair the documents of writes that the mirror has not handled.
            Trouble::Blocked if said.contains("does not serve") => return,
            Trouble::Blocked => "blocked by: [FORBIDDEN/8/index write (api)]",
            Trouble::NewDeleted if moment.goal() == Goal::Serve => {
                "shelf-000002 was deleted: cancel the rebuild and start it again"
            }
            Trouble::NewDeleted | Trouble::OldDeleted => "no such index",
        };
        assert!(said.contains(expected), "{case}");
        // The old index is in the way only if it was there when the step began.
        assert!(*trouble != Trouble::OldDeleted || matches!(moment, Moment::Swapping | Moment::Deleting), "{case}");
    }

    /// Does what the documentation says after this outcome, until only a new index is there, which serves.
    async fn recover(&self, outcome: Outcome) -> Generations {
        let Self { stage, trouble, moment, .. } = self;
        match (trouble, moment) {
            // The old index is not written any more, and the new one is lost: another one replaces it.
            (Trouble::NewDeleted, Moment::Released | Moment::Deleting) => {
                stage.carry_out(Rebuild { replaces: true, ..Stage::order(Goal::Serve) }).await;
            }
            (Trouble::NewDeleted, _) => {
                if *moment == Moment::Serving {
                    stage.carry_out(Stage::order(Goal::RollBack)).await;
                }
                let state = stage.carry_out(Stage::order(Goal::Cancel)).await;
                assert_eq!(phases(&state), [(1, "serving")]);
                stage.carry_out(Stage::order(Goal::Serve)).await;
            }
            // The same command is given again.
            _ if outcome.is_err() => {
                stage.carry_out(Stage::order(moment.goal())).await;
            }
            _ => {}
        }
        stage.carry_out(Stage::order(Goal::Finish)).await
    }

    /// Writes until the rebuild has ended. Returns the number of writes.
    async fn write(&self, ended: &AtomicBool) -> usize {
        let mut writes = 0;
        while !ended.load(Ordering::SeqCst) {
            writes += self.stage.write().await;
            sleep(Duration::from_millis(20)).await;
        }
        writes
    }

    /// Searches until the rebuild has ended, if readers are to notice nothing of the fault.
    async fn read(&self, ended: &AtomicBool) {
        let reads = match self.trouble {
            Trouble::Full | Trouble::Blocked => true,
            Trouble::NewDeleted => !self.moment.is_swapped(),
            Trouble::Killed | Trouble::Away | Trouble::OldDeleted => false,
        };
        while reads && !ended.load(Ordering::SeqCst) {
            let found = self.stage.reader.get("/shelf/books?q=keeper&limit=100").await.is(200);
            assert_eq!(found.each("title").len(), 100);
            sleep(Duration::from_millis(100)).await;
        }
    }

    async fn run(&self) {
        let ended = AtomicBool::new(false);
        let rebuilt = async {
            if self.moment.goal() == Goal::Finish {
                self.stage.carry_out(Stage::order(Goal::Serve)).await;
            }
            let outcome = self.meet().await;
            self.check(&outcome);
            let state = self.recover(outcome).await;
            ended.store(true, Ordering::SeqCst);
            state
        };
        let (state, writes, ()) = tokio::join!(rebuilt, self.write(&ended), self.read(&ended));
        assert!(writes > 60, "{writes}");
        let serving = state.of(Phase::Serving).unwrap();
        assert_eq!((state.written.len(), state.dropping.len(), serving.mapping), (1, 0, 2));
        self.stage.shows_the_table(true).await;
        // No other index is left.
        for number in 1..5 {
            let is_serving = serving.index == format!("{}-{number:06}", self.stage.alias);
            assert_eq!(self.stage.exists(number).await, is_serving, "{number}");
        }
        let cairn = &self.stage.cairn;
        cairn.event("shelf", AUDIT, &json!({ "now": true, "waitSeconds": 0 })).await.unwrap();
        for (_, result) in last_audits(&SYSTEM, cairn.engines()).await.unwrap() {
            assert_eq!((result.differences(), result.left()), (0, 0), "{result:?}");
        }
    }
}

/// Rebuilds an index for each moment.
async fn each(search: impl Future<Output = Search>, trouble: Trouble, moments: &[Moment]) {
    if moments.is_empty() {
        return;
    }
    let search = search.await;
    for moment in moments {
        let stage = Stage::on(Some(search.proxy.url.clone())).await;
        Case { search: &search, stage, trouble, moment: *moment }.run().await;
    }
}

async fn search_that_stops_during_a_rebuild_loses_nothing() {
    let killed = each(Search::own(), Trouble::Killed, sized(&[Moment::Refreshing], &Moment::ALL));
    let away = each(Search::own(), Trouble::Away, sized(&[], &Moment::ALL));
    tokio::join!(killed, away);
}

async fn full_disk_during_a_rebuild_loses_nothing() {
    let full = each(Search::shared(), Trouble::Full, sized(&[Moment::Filling], &Moment::ALL));
    let blocked = each(Search::shared(), Trouble::Blocked, sized(&[], &Moment::ALL));
    tokio::join!(full, blocked);
}

/// Two indexes need twice the disk.
async fn full_disk_is_freed_by_cancel_and_by_finish() {
    let (search, stage) = (Search::shared().await, Stage::on(None).await);
    stage.stop_at(Stage::order(Goal::Serve), Progress::Published).await;

    search.set_block(&stage.alias, FULL, true).await;
    stage.carry_out(Stage::order(Goal::Cancel)).await;
    assert!(!stage.exists(2).await);
    search.set_block(&stage.alias, FULL, false).await;
    stage.shows_the_table(false).await;

    stage.carry_out(Stage::order(Goal::Serve)).await;
    search.set_block(&stage.alias, FULL, true).await;
    let state = stage.carry_out(Stage::order(Goal::Finish)).await;
    assert_eq!((phases(&state), state.dropping.len()), (vec![(3, "serving")], 0));
    assert!(!stage.exists(1).await);
    search.set_block(&stage.alias, FULL, false).await;
    stage.table().put(book("After the disk was full")).await;
    stage.shows_the_table(true).await;
}

async fn new_index_deleted_during_a_rebuild_is_cancelled_and_filled_again() {
    let [_, after_it_exists @ ..] = &Moment::ALL;
    each(Search::shared(), Trouble::NewDeleted, sized(&[Moment::Auditing], after_it_exists)).await;
}

async fn old_index_deleted_during_a_rebuild_is_replaced() {
    each(Search::shared(), Trouble::OldDeleted, sized(&[Moment::Filling], &Moment::ALL)).await;
}
