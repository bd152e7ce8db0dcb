//! Every operation of a system, by its sample event, over HTTP or by invoking a function: in an order in which each
//! finds what it needs.

pub mod agencies;
mod answer;
pub mod here;
pub mod parks;
pub mod tracker;

use std::time::Duration;

use local::Platform;
use reqwest::{Client, Method};
use serde_json::Value;
use tokio::time::{Instant, sleep};
use web::operation::{self, TOKEN};
use web::{App, Route};

use crate::events;
use crate::failure::{Doing, Failure};
use crate::lambda::invoke::Invoke;

/// What a rehearsal does next.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// The sample event of an operation.
    Sample(&'static str),
    /// The same; what is at this pointer of its answer is from now on what samples call by the text after it.
    Names(&'static str, &'static str, &'static str),
    /// The same, until it is answered as it is kept: search is a moment behind.
    Until(&'static str),
    /// A request that the next steps need: method, path and body.
    Request(&'static str, &'static str, &'static str),
}

/// What was answered to a sample event.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The operation, or the handler of an event that is no request.
    pub operation: &'static str,
    /// None of such an event.
    pub status: Option<u16>,
    /// What the sample says.
    pub expected: Option<u16>,
    pub body: String,
}

/// The verified address of whoever rehearses.
pub const ADDRESS: &str = "dee@example.org";

/// How long search may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A deployment of a system, and somebody who may do everything in it.
#[derive(Debug)]
pub struct Stage<'a> {
    pub app: &'a App,
    pub client: &'a Client,
    /// Scheme and host.
    pub url: &'a str,
    /// What takes the sample events to a function; without it they are requests to `url`, as all else is.
    pub invoke: Option<&'a Invoke<'a>>,
    pub token: &'a str,
    /// The platform, where it is one that can tell when search has everything.
    pub platform: Option<&'a Platform>,
}

impl Stage<'_> {
    /// Takes all steps, which leave out no operation; what was answered to each sample event, in their order.
    pub async fn rehearse(&self, steps: &[Step]) -> Result<Vec<Answered>, Failure> {
        let forgotten = self.forgotten(steps);
        if !forgotten.is_empty() {
            let system = self.app.system().name;
            return Err(Failure::new(format!("the rehearsal of {system} leaves out {}", forgotten.join(", "))));
        }
        let mut answers = Vec::new();
        let mut names = Names::default();
        for step in steps {
            match *step {
                Step::Sample(operation) => answers.push(self.sample_with(operation, &names).await?),
                Step::Names(operation, pointer, text) => {
                    let answered = self.sample_with(operation, &names).await?;
                    names.learn(&answered, pointer, text);
                    // Of what is made several times, the last one's answer is kept.
                    answers.retain(|known| known.operation != operation);
                    answers.push(answered);
                }
                Step::Until(operation) => answers.push(self.until(operation, &names).await?),
                Step::Request(method, path, body) => self.request(method, path, body, &names).await?,
            }
        }
        Ok(answers)
    }

    /// The operations that the steps leave out.
    fn forgotten(&self, steps: &[Step]) -> Vec<&'static str> {
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
                let event = events::kept(crate::root(), self.app.system().name, operation)?;
                let event = event.replace(&format!("Bearer {TOKEN}"), &format!("Bearer {}", self.token));
                invoke.request(&names.given(&event)).await.doing(operation)?
            }
            None => self.requested(route, names).await.doing(operation)?,
        };
        let (status, expected) = (Some(status), Some(operation::sample_status(route)));
        Ok(Answered { operation, status, expected, body })
    }

    /// What is answered to the sample event of a route as a request.
    async fn requested(&self, route: &Route, names: &Names) -> Result<(u16, String), reqwest::Error> {
        let event = operation::sample_event(route);
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let query = text("/rawQueryString");
        let target = names.given(&format!("{}{}{query}", text("/rawPath"), if query.is_empty() { "" } else { "?" }));
        let url = format!("{}{target}", self.url);
        let mut request = self.client.request(route.method().clone(), url);
        for (name, value) in event.get("headers").and_then(Value::as_object).into_iter().flatten() {
            if name != "host" {
                request = request.header(name, value.as_str().unwrap_or_default().replace(TOKEN, self.token));
            }
        }
        if let Some(body) = event.get("body").and_then(Value::as_str) {
            request = request.body(names.given(body));
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
            refresh.await.doing("a refresh")?;
        }
        let until = Instant::now() + PATIENCE;
        loop {
            let answered = self.sample_with(operation, names).await?;
            let settled = match self.platform {
                Some(_) => answered.is_expected() && !answered.body.starts_with("{\"items\":[]"),
                None => answered.fault(crate::root(), self.app.system().name).is_none(),
            };
            if settled || Instant::now() > until {
                return Ok(answered);
            }
            sleep(Duration::from_millis(200)).await;
        }
    }

    async fn request(&self, method: &str, path: &str, body: &'static str, names: &Names) -> Result<(), Failure> {
        let method = Method::from_bytes(method.as_bytes()).doing(method)?;
        let mut request =
            self.client.request(method, format!("{}{}", self.url, names.given(path))).bearer_auth(self.token);
        if !body.is_empty() {
            request = request.header("content-type", "application/json").body(names.given(body));
        }
        let answer = request.send().await.doing(path)?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        Err(Failure::new(format!("{path} answered {status}: {}", answer.text().await.unwrap_or_default())))
    }
}

/// What samples call by a name of theirs, and how it is called where they are sent.
#[derive(Debug, Default)]
struct Names(Vec<(&'static str, String)>);

impl Names {
    fn learn(&mut self, answered: &Answered, pointer: &str, text: &'static str) {
        let body: Value = serde_json::from_str(&answered.body).unwrap_or_default();
        self.0.extend(body.pointer(pointer).and_then(Value::as_str).map(|name| (text, name.to_owned())));
    }

    fn given(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (sample, name)| text.replace(sample, name))
    }
}

impl Answered {
    /// Of an event that is no request.
    pub fn event(handler: &'static str, body: String) -> Self {
        Self { operation: handler, status: None, expected: None, body }
    }

    pub fn is_expected(&self) -> bool {
        self.status == self.expected
    }
}
