//! Agencies once more, on the engines of a running platform, and a DynamoDB that does with its calls what a test wants.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use local::gateway::Gateway;
use local::identity::{Identity, Person};
use serde_json::json;
use table::{Clock, Config, Engines};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use web::App;

use super::stage::Stage;
use crate::harness::relay::pass_on;
use crate::harness::server::Server;
use crate::harness::{User, temporary};

/// The system with a gateway and an issuer of its own; gone when dropped.
pub struct Detour {
    pub app: Arc<App>,
    url: String,
    identity: Identity,
    holds: u32,
    calls: Arc<Calls>,
    _dynamodb: Server,
    _gateway: Gateway,
}

/// What becomes of a call.
pub enum Fate {
    Passes,
    /// DynamoDB does not see it before it is let go on.
    Held,
    /// So much later.
    Late(Duration),
    /// DynamoDB will never do it.
    Refused,
}

struct Calls {
    target: String,
    /// Those that are counted.
    operations: &'static [&'static str],
    fate: Box<dyn Fn(usize) -> Fate + Send + Sync>,
    count: AtomicUsize,
    held: Semaphore,
    let_go: Semaphore,
}

impl Detour {
    /// Of each call of these operations the number, counted from 0, says what becomes of it; all others pass.
    pub async fn of(
        stage: &Stage,
        operations: &'static [&'static str],
        fate: impl Fn(usize) -> Fate + Send + Sync + 'static,
    ) -> Self {
        Self::leasing(stage, stage.cairn.engines().config.lease, operations, fate).await
    }

    /// As [`Detour::of`], with this lease of jobs.
    pub async fn leasing(
        stage: &Stage,
        lease: Duration,
        operations: &'static [&'static str],
        fate: impl Fn(usize) -> Fate + Send + Sync + 'static,
    ) -> Self {
        let config = Config { lease, ..stage.cairn.engines().config.clone() };
        Self::start(config, stage.cairn.clock.clone(), operations, fate).await
    }

    /// A host with a clock of its own. All its calls pass.
    pub async fn with_clock(stage: &Stage, clock: Clock) -> Self {
        Self::start(stage.cairn.engines().config.clone(), clock, &[], |_| Fate::Passes).await
    }

    async fn start(
        config: Config,
        clock: Clock,
        operations: &'static [&'static str],
        fate: impl Fn(usize) -> Fate + Send + Sync + 'static,
    ) -> Self {
        let calls = Arc::new(Calls {
            target: config.dynamodb.clone().unwrap(),
            operations,
            fate: Box::new(fate),
            count: AtomicUsize::new(0),
            held: Semaphore::new(0),
            let_go: Semaphore::new(0),
        });
        let called = Arc::clone(&calls);
        let dynamodb = Server::start(move |request| answer(Arc::clone(&called), request)).await;
        let folder = temporary::folder();
        let identity = Identity::open(folder.path()).unwrap();
        let config = Config { dynamodb: Some(dynamodb.url.clone()), issuers: vec![identity.issuer("idp")], ..config };
        let app = ::agencies::app(Engines::new(config, clock)).metrics_to(|_| {});
        let app = Arc::new(app);
        let served = Arc::clone(&app);
        let handle = move |request| {
            let app = Arc::clone(&served);
            async move { app.handle(request).await }
        };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let gateway = Gateway::start(listener, handle).unwrap();
        let url = format!("http://{}", gateway.address());
        Self { app, url, identity, holds: 0, calls, _dynamodb: dynamodb, _gateway: gateway }
    }

    /// The calls with these numbers are held.
    pub async fn holding(stage: &Stage, operations: &'static [&'static str], numbers: Range<usize>) -> Self {
        let holds = numbers.len() as u32;
        let fate = move |number: usize| if numbers.contains(&number) { Fate::Held } else { Fate::Passes };
        Self { holds, ..Self::of(stage, operations, fate).await }
    }

    pub fn user(&self, name: &'static str, person: Person<'_>) -> User {
        let token = self.identity.token_of(&person, &self.app.engines().clock).unwrap();
        User::outside(&self.url, name, Some(format!("Bearer {token}")))
    }

    /// Does this once all the calls are held that are to be, and then lets them go on.
    pub async fn once_held<T>(&self, other: impl IntoFuture<Output = T>) -> T {
        self.held().await;
        let done = other.await;
        self.let_go();
        done
    }

    /// Waits until all the calls are held that are to be.
    pub async fn held(&self) {
        let held = timeout(Duration::from_secs(30), self.calls.held.acquire_many(self.holds)).await;
        held.expect("it never comes to these calls").unwrap().forget();
    }

    /// Lets the held calls go on.
    pub fn let_go(&self) {
        self.calls.let_go.add_permits(self.holds as usize);
    }
}

async fn answer(calls: Arc<Calls>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, reqwest::Error> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let operation = parts.headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let counts = operation.rsplit('.').next().is_some_and(|name| calls.operations.contains(&name));
    let fate = if counts { (calls.fate)(calls.count.fetch_add(1, Ordering::SeqCst)) } else { Fate::Passes };
    match fate {
        Fate::Passes => {}
        Fate::Held => {
            calls.held.add_permits(1);
            calls.let_go.acquire().await.unwrap().forget();
        }
        Fate::Late(by) => sleep(by).await,
        Fate::Refused => return Ok(refusal()),
    }
    let url = format!("{}{}", calls.target, parts.uri.path());
    pass_on(url, parts, body).await
}

/// What DynamoDB answers where a policy allows nothing: nobody asks again.
fn refusal() -> Response<Full<Bytes>> {
    let code = "com.amazonaws.dynamodb.v20120810#AccessDeniedException";
    let body = json!({ "__type": code, "Message": "refused on purpose" });
    let response = Response::builder().status(400).header("content-type", "application/x-amz-json-1.0");
    response.body(Full::new(body.to_string().into())).unwrap()
}
