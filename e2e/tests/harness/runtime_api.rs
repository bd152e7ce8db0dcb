//! A function of a system as Lambda runs it: the system's program, and a Runtime API that gives it invocations.

use std::convert::Infallible;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use serde_json::Value;
use tokio::process::{Child, Command};
use tokio::sync::{Mutex, mpsc};

use super::process::program;
use super::server::Server;

/// The function; killed when dropped.
pub struct Function {
    process: Child,
    /// Where it asks for invocations: `127.0.0.1:1234`.
    pub runtime_api: String,
    give: mpsc::UnboundedSender<Invocation>,
    asked: mpsc::UnboundedReceiver<()>,
    said: mpsc::UnboundedReceiver<Value>,
    _server: Server,
}

struct Invocation {
    payload: Value,
    trace: String,
}

/// Longer than anything takes that the tests wait for.
const PATIENCE: Duration = Duration::from_secs(30);

impl Function {
    /// Starts the program of this system with this handler and these variables, and nothing of this process's own.
    pub async fn start(system: &'static str, handler: &str, environment: &[(&str, &str)]) -> Self {
        let (give, waiting) = mpsc::unbounded_channel();
        let (ask, asked) = mpsc::unbounded_channel();
        let (say, said) = mpsc::unbounded_channel();
        let waiting = Arc::new(Mutex::new(waiting));
        let server =
            Server::start(move |request| answer(request, Arc::clone(&waiting), ask.clone(), say.clone())).await;
        let runtime_api = server.url.trim_start_matches("http://").to_owned();
        let mut command = Command::new(program(system).await);
        command.env_clear().envs(environment.iter().copied());
        command.env("AWS_LAMBDA_RUNTIME_API", &runtime_api).env("_HANDLER", handler);
        command.env("AWS_LAMBDA_FUNCTION_NAME", handler).env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256");
        command.env("AWS_LAMBDA_FUNCTION_VERSION", "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        Self { process: command.spawn().unwrap(), runtime_api, give, asked, said, _server: server }
    }

    /// Waits until it has started and asks for its first invocation.
    pub async fn ready(&mut self) {
        tokio::time::timeout(PATIENCE, self.asked.recv()).await.expect("it never asks for an invocation").unwrap();
    }

    pub fn id(&self) -> u32 {
        self.process.id().unwrap()
    }

    /// What it says of an invocation of this trace.
    pub async fn invoke(&mut self, payload: Value, trace: &str) -> Value {
        self.give.send(Invocation { payload, trace: trace.to_owned() }).ok().unwrap();
        tokio::time::timeout(PATIENCE, self.said.recv()).await.expect("it says nothing of its invocation").unwrap()
    }

    /// Ends it; what it has written to its standard output and error.
    pub async fn end(mut self) -> (String, String) {
        self.process.start_kill().unwrap();
        self.output().await.1
    }

    /// Waits until it has ended of itself: whether that was well, and what it has written.
    pub async fn ended(self) -> (bool, (String, String)) {
        tokio::time::timeout(PATIENCE, self.output()).await.expect("it does not end")
    }

    async fn output(self) -> (bool, (String, String)) {
        let output = self.process.wait_with_output().await.unwrap();
        let [said, complained] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (output.status.success(), (said, complained))
    }
}

async fn answer(
    request: Request<Incoming>,
    waiting: Arc<Mutex<mpsc::UnboundedReceiver<Invocation>>>,
    ask: mpsc::UnboundedSender<()>,
    say: mpsc::UnboundedSender<Value>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    if !request.uri().path().ends_with("/invocation/next") {
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let _ = say.send(serde_json::from_slice(&body).unwrap());
        return Ok(Response::builder().status(202).body(Full::default()).unwrap());
    }
    let _ = ask.send(());
    let Some(invocation) = waiting.lock().await.recv().await else { return std::future::pending().await };
    let deadline = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + PATIENCE;
    let response = Response::builder()
        .header("lambda-runtime-aws-request-id", "8476a536-e9f4-11e8-9739-2dfe598c3fcd")
        .header("lambda-runtime-deadline-ms", deadline.as_millis().to_string())
        .header("lambda-runtime-trace-id", invocation.trace)
        .header("lambda-runtime-invoked-function-arn", "arn:aws:lambda:ca-central-1:1:function:f");
    Ok(response.body(Full::new(invocation.payload.to_string().into())).unwrap())
}
