//! The ports of production: OpenSearch, DynamoDB, S3 and the machine's clock.

mod failures;
mod items;
mod objects;
mod search;
mod state;
mod time;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use table::schema::System;
use table::{Engines, no_answer};
use tokio::time::Instant;

use crate::documents::Shapes;
use crate::ports::{Fault, Ports};

pub use failures::ObjectFailures;
pub use items::DynamoItems;
pub use objects::ObjectQuarantine;
#[cfg(test)]
pub(crate) use search::Hits;
pub use search::OpenSearchIndex;
pub(crate) use search::{AliasedIndex, SearchResponse};
pub use state::DynamoState;
pub(crate) use state::read_generations;
pub use time::MachineTime;

/// The ports of one run of the mirror in production.
#[derive(Debug)]
pub struct Production<'e, S> {
    index: OpenSearchIndex<'e>,
    items: DynamoItems<'e>,
    state: DynamoState<'e>,
    quarantine: ObjectQuarantine<'e>,
    shapes: &'e S,
    time: MachineTime<'e>,
}

impl<'e, S: Shapes> Production<'e, S> {
    /// Creates the ports of a run. Without a deadline, a run has no time limit.
    pub fn new(
        engines: &'e Engines,
        system: &'static System,
        shapes: &'e S,
        deadline: Option<Instant>,
    ) -> Result<Self, Fault> {
        Ok(Self {
            index: OpenSearchIndex::new(engines)?,
            items: DynamoItems::new(engines),
            state: DynamoState::new(engines, system),
            quarantine: ObjectQuarantine::new(engines, system),
            shapes,
            time: MachineTime::new(&engines.clock, deadline),
        })
    }
}

impl<'e, S: Shapes> Ports for Production<'e, S> {
    type Index = OpenSearchIndex<'e>;
    type Items = DynamoItems<'e>;
    type State = DynamoState<'e>;
    type Quarantine = ObjectQuarantine<'e>;
    type Shapes = S;
    type Time = MachineTime<'e>;

    fn index(&self) -> &Self::Index {
        &self.index
    }

    fn items(&self) -> &Self::Items {
        &self.items
    }

    fn state(&self) -> &Self::State {
        &self.state
    }

    fn quarantine(&self) -> &Self::Quarantine {
        &self.quarantine
    }

    fn shapes(&self) -> &Self::Shapes {
        self.shapes
    }

    fn time(&self) -> &Self::Time {
        &self.time
    }
}

/// Returns whether the condition of a write held.
fn condition_held<T, E, R>(engine: &'static str, answer: Result<T, SdkError<E, R>>) -> Result<bool, Fault>
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
    R: std::fmt::Debug + 'static,
{
    match answer {
        Ok(_) => Ok(true),
        Err(error) if error.code() == Some("ConditionalCheckFailedException") => Ok(false),
        Err(error) => Err(fault(engine, &error)),
    }
}

/// Converts an error of an AWS client. Every error except a refusal may be temporary.
fn fault<E, R>(engine: &'static str, error: &SdkError<E, R>) -> Fault
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
    R: std::fmt::Debug + 'static,
{
    const REFUSALS: [&str; 6] = [
        "AccessDenied",
        "AccessDeniedException",
        "NoSuchBucket",
        "ResourceNotFoundException",
        "UnrecognizedClientException",
        "ValidationException",
    ];
    let reason = no_answer::describe(error);
    match error.code() {
        Some(code) if REFUSALS.contains(&code) => Fault::lasting(engine, reason),
        _ => Fault::passing(engine, reason),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use table::{Clock, Config, Key};

    use super::*;
    use crate::documents::NoShapes;
    use crate::ports::{Failures as _, Index as _, Items as _, Quarantine as _, State as _};
    use crate::simulation::toy::{TOY, TREES};

    /// Returns the address of a port that refuses connections.
    fn refusing() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    }

    #[tokio::test]
    async fn fault_of_each_engine_that_is_down_names_the_cause() {
        let config = Config {
            dynamodb: Some(refusing()),
            s3: Some(refusing()),
            credentials: Some(("local".to_owned(), "local".to_owned())),
            ..Config::new("ca-central-1", &refusing())
        };
        let engines = Engines::new(config, Clock::system());
        let ports = Production::new(&engines, &TOY, &NoShapes, None).unwrap();
        let key = Key::new("a", "b".to_owned());
        let failures = ObjectFailures::new(&engines, &TOY);
        let (search, items, state, kept, listed) = tokio::join!(
            ports.index().refresh("toy-000001"),
            ports.items().read(&TREES, &key),
            ports.state().generations(),
            ports.quarantine().keep("a", String::new()),
            failures.list(None, 1),
        );
        let faults =
            [search.unwrap_err(), items.unwrap_err(), state.unwrap_err(), kept.unwrap_err(), listed.unwrap_err()];
        for fault in faults {
            assert_eq!(fault.reason, "it does not respond (connection refused)", "{}", fault.engine);
            assert!(fault.passing);
        }
    }
}
