//! Rehearsals: the sample events of all operations of a system, over HTTP or by invoking a function, in an order in
//! which each succeeds.

pub mod agencies;
mod answer;
pub mod archive;
pub mod chat;
pub mod here;
pub mod parks;
pub mod tracker;
mod upload;

use std::time::Duration;

use local::Platform;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use web::operation::{self, TOKEN};
use web::{App, Route};

use crate::events;
use crate::failure::{Doing, Failure};
use crate::lambda::invoke::Invoke;

pub use upload::put_file;

/// A step of a rehearsal.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Sends the sample event of an operation.
    Sample(&'static str),
    /// Sends the sample event of an operation. In later samples the last text is replaced by the value at this pointer of
    /// the response.
    Names(&'static str, &'static str, &'static str),
    /// Sends the sample event of an operation until the response is the expected one, since search is a moment behind.
    Until(&'static str),
    /// Sends later requests with the access token that was learned in the place of this text.
    As(&'static str),
    /// Sends later requests as the caller with all permissions again.
    AsFirst,
    /// Sends a request that later steps need: method, path and body.
    Request(&'static str, &'static str, &'static str),
    /// Uploads a file that later steps need: the path that creates its link, and the file.
    Upload(&'static str, &'static str),
    /// Reads a path until the value at this pointer of the response is the expected one, since jobs are a moment behind.
    Wait(&'static str, &'static str, &'static str),
    /// Sends the sample events of all operations that no other step names, in the order of the routes.
    Others,
}

/// The response to a sample event.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The operation, or the handler of another event.
    pub operation: &'static str,
    /// The status, if the event is a request.
    pub status: Option<u16>,
    /// The expected status.
    pub expected: Option<u16>,
    pub body: String,
}

/// The verified address of the caller.
pub const ADDRESS: &str = "dee@example.org";

/// The timeout of search.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The timeout of a job, which a schedule may continue a minute later, more than once.
pub const JOB_TIMEOUT: Duration = Duration::from_secs(300);

/// The pause between two looks at search or at a job.
const PAUSE: Duration = Duration::from_millis(200);

/// A deployment of a system, and the token of a caller with all permissions.
#[derive(Debug)]
pub struct Stage<'a> {
    pub app: &'a App,
    pub client: &'a Client,
    /// The scheme and host.
    pub url: &'a str,
    /// Invokes a function with the sample events. Without it they are requests to `url`, as the others are.
    pub invoke: Option<&'a Invoke<'a>>,
    pub token: &'a str,
    /// The local platform, if the deployment is one. It knows when search is up to date.
    pub platform: Option<&'a Platform>,
}

impl Stage<'_> {
    /// Runs the steps. Returns the responses to the sample events in order.
    pub async fn rehearse(&self, steps: &[Step]) -> Result<Vec<Answered>, Failure> {
        if !steps.iter().any(|step| matches!(step, Step::Others)) {
            let system = self.app.system().name;
            return Err(Failure::new(format!("the rehearsal of {system} lacks a step for all other operations")));
        }
        let mut answers = Vec::new();
        let mut names = Names::default();
        let mut token = self.token.to_owned();
        for step in steps {
            let caller = Stage { token: &token, ..*self };
            match *step {
                Step::Sample(operation) => answers.push(caller.sample_with(operation, &names).await?),
                Step::Names(operation, pointer, text) => {
                    let answered = caller.sample_with(operation, &names).await?;
                    names.learn(&answered, pointer, text)?;
                    // Of several responses to an operation only the last one is kept.
                    answers.retain(|known| known.operation != operation);
                    answers.push(answered);
                }
                Step::Until(operation) => answers.push(caller.until(operation, &names).await?),
                Step::As(text) => token = names.replace_in(text),
                Step::AsFirst => token = self.token.to_owned(),
                Step::Request(method, path, body) => {
                    caller.request(method, path, body, &names).await?;
                }
                Step::Upload(path, file) => caller.upload(path, file, &names).await?,
                Step::Wait(path, pointer, expected) => caller.wait(path, (pointer, expected), &names).await?,
                Step::Others => {
                    for operation in self.others(steps) {
                        answers.push(caller.sample_with(operation, &names).await?);
                    }
                }
            }
        }
        Ok(answers)
    }

    /// Returns the operations without a step of their own.
    fn others(&self, steps: &[Step]) -> Vec<&'static str> {
        let taken = |name: &str| {
            steps.iter().any(|step| matches!(step, Step::Sample(known) | Step::Names(known, ..) | Step::Until(known) if *known == name))
        };
        self.app.routes().map(Route::name).filter(|name| !taken(name)).collect()
    }

    /// Sends the sample event of an operation.
    pub async fn sample(&self, operation: &'static str) -> Result<Answered, Failure> {
        self.sample_with(operation, &Names::default()).await
    }

    async fn sample_with(&self, operation: &'static str, names: &Names) -> Result<Answered, Failure> {
        let unknown = || Failure::new(format!("there is no operation {operation}"));
        let route = self.app.routes().find(|route| route.name() == operation).ok_or_else(unknown)?;
        let (status, body) = match self.invoke {
            Some(invoke) => {
                let event = events::read(crate::root(), self.app.system().name, operation)?;
                let event = event.replace(&format!("Bearer {TOKEN}"), &format!("Bearer {}", self.token));
                invoke.request(&names.replace_in(&event)).await.doing(operation)?
            }
            None => self.requested(route, names).await.doing(operation)?,
        };
        let (status, expected) = (Some(status), Some(operation::sample_status(route)));
        Ok(Answered { operation, status, expected, body })
    }

    /// Sends the sample event of a route as a request.
    async fn requested(&self, route: &Route, names: &Names) -> Result<(u16, String), reqwest::Error> {
        let event = operation::sample_event(route);
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let query = text("/rawQueryString");
        let target =
            names.replace_in(&format!("{}{}{query}", text("/rawPath"), if query.is_empty() { "" } else { "?" }));
        let url = format!("{}{target}", self.url);
        let mut request = self.client.request(route.method().clone(), url);
        for (name, value) in event.get("headers").and_then(Value::as_object).into_iter().flatten() {
            if name != "host" {
                request = request.header(name, value.as_str().unwrap_or_default().replace(TOKEN, self.token));
            }
        }
        if let Some(body) = event.get("body").and_then(Value::as_str) {
            request = request.body(names.replace_in(body));
        }
        let answer = request.send().await?;
        Ok((answer.status().as_u16(), answer.text().await?))
    }

    async fn until(&self, operation: &'static str, names: &Names) -> Result<Answered, Failure> {
        if let Some(platform) = self.platform {
            platform.caught_up().await;
            let config = &platform.engines.config;
            let readers = config.search_name(self.app.system().name);
            let refresh = self.client.post(format!("{}/{readers}/_refresh", config.search)).send();
            refresh.await.doing("refreshing the index")?;
        }
        let until = Instant::now() + TIMEOUT;
        loop {
            let answered = self.sample_with(operation, names).await?;
            let settled = match self.platform {
                Some(_) => answered.is_expected() && !answered.body.starts_with("{\"items\":[]"),
                None => answered.fault(crate::root(), self.app.system().name).is_none(),
            };
            if settled || Instant::now() > until {
                return Ok(answered);
            }
            sleep(PAUSE).await;
        }
    }

    /// Sends a request, and returns the body of its response.
    async fn request(&self, method: &str, path: &str, body: &str, names: &Names) -> Result<String, Failure> {
        let method = Method::from_bytes(method.as_bytes()).doing(method)?;
        let mut request =
            self.client.request(method, format!("{}{}", self.url, names.replace_in(path))).bearer_auth(self.token);
        if !body.is_empty() {
            request = request.header("content-type", "application/json").body(names.replace_in(body));
        }
        let answer = request.send().await.doing(path)?;
        let status = answer.status();
        let body = answer.text().await.doing(path)?;
        if status.is_success() { Ok(body) } else { Err(Failure::new(format!("{path} answered {status}: {body}"))) }
    }

    async fn upload(&self, path: &str, file: &str, names: &Names) -> Result<(), Failure> {
        let link = self.request("POST", path, &json!({ "bytes": file.len() }).to_string(), names).await?;
        put_file(&serde_json::from_str(&link).doing(path)?, file.to_owned()).await
    }

    async fn wait(&self, path: &str, (pointer, expected): (&str, &str), names: &Names) -> Result<(), Failure> {
        let until = Instant::now() + JOB_TIMEOUT;
        loop {
            let request = self.client.get(format!("{}{}", self.url, names.replace_in(path))).bearer_auth(self.token);
            let answer: Value = request.send().await.doing(path)?.json().await.doing(path)?;
            let found =
                answer.pointer(pointer).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            if found.as_deref() == Some(expected) {
                return Ok(());
            }
            if Instant::now() > until {
                return Err(Failure::new(format!("{path} did not have {expected} at {pointer} in time: {answer}")));
            }
            sleep(PAUSE).await;
        }
    }
}

/// Names in samples with their actual values.
#[derive(Debug, Default)]
struct Names(Vec<(&'static str, String)>);

impl Names {
    fn learn(&mut self, answered: &Answered, pointer: &str, text: &'static str) -> Result<(), Failure> {
        let body: Value = serde_json::from_str(&answered.body).doing(answered.operation)?;
        let Some(name) = body.pointer(pointer).and_then(Value::as_str) else {
            return Err(Failure::new(format!("{} has no text at {pointer}: {body}", answered.operation)));
        };
        self.0.retain(|(known, _)| *known != text);
        self.0.push((text, name.to_owned()));
        Ok(())
    }

    fn replace_in(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (sample, name)| text.replace(sample, name))
    }
}

impl Answered {
    /// Returns the response to an event that is not a request.
    pub fn event(handler: &'static str, body: String) -> Self {
        Self { operation: handler, status: None, expected: None, body }
    }

    pub fn is_expected(&self) -> bool {
        self.status == self.expected
    }
}
