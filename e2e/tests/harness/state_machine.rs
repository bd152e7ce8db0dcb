//! Executions of a state machine of Step Functions, with the states that the definitions here use.

use std::pin::Pin;
use std::time::Duration;

use futures::future::try_join_all;
use serde_json::{Value, json};
use table::schema::{EventSource, System};
use tokio::time::sleep;

/// The state machine of a system.
pub struct StateMachine {
    definition: Value,
    /// How long an execution waits, whatever the state says.
    wait: Duration,
}

/// The pause before a call is repeated.
const PAUSE: Duration = Duration::from_millis(20);

type Executing<'a> = Pin<Box<dyn Future<Output = Result<Value, String>> + 'a>>;

impl StateMachine {
    pub fn of(system: &System, wait: Duration) -> Self {
        let definition = system.sources.iter().find_map(|source| match source {
            EventSource::StateMachine { definition, .. } => Some(serde_json::from_str(definition).unwrap()),
            _ => None,
        });
        Self { definition: definition.expect("the system has a state machine"), wait }
    }

    /// Executes it with this input. `call` invokes the function. Returns the output, or the cause of a failure.
    pub async fn execute(
        &self,
        input: Value,
        call: impl AsyncFn(Value) -> Result<Value, String>,
    ) -> Result<Value, String> {
        self.run(&self.definition, input, &call).await
    }

    fn run<'a, F>(&'a self, list: &'a Value, input: Value, call: &'a F) -> Executing<'a>
    where
        F: AsyncFn(Value) -> Result<Value, String>,
    {
        Box::pin(async move {
            let (mut name, mut data) = (&list["StartAt"], input);
            loop {
                let state = &list["States"][name.as_str().unwrap()];
                name = &state["Next"];
                match state["Type"].as_str().unwrap() {
                    "Pass" if state["Result"].is_null() => data = filled_in(&state["Parameters"], &data),
                    "Pass" => data = state["Result"].clone(),
                    "Task" => data = repeated(&state["Retry"][0], &data, call).await?,
                    "Choice" => {
                        let choices = state["Choices"].as_array().unwrap();
                        let fits = |choice: &&Value| at(&choice["Variable"], &data) == choice["StringEquals"];
                        name = choices.iter().find(fits).map_or(&state["Default"], |choice| &choice["Next"]);
                    }
                    "Wait" => {
                        assert!(at(&state["SecondsPath"], &data).as_u64().unwrap() > 60);
                        sleep(self.wait).await;
                    }
                    "Map" => {
                        let items = at(&state["ItemsPath"], &data);
                        let items = items.as_array().unwrap().iter();
                        let runs = items.map(|item| self.run(&state["ItemProcessor"], item.clone(), call));
                        let results = try_join_all(runs).await?;
                        let member = state["ResultPath"].as_str().unwrap().strip_prefix("$.").unwrap();
                        data[member] = json!(results);
                    }
                    "Succeed" => return Ok(data),
                    "Fail" => return Err(at(&state["CausePath"], &data).as_str().unwrap().to_owned()),
                    other => panic!("the states here are not of the type {other}"),
                }
                if state["End"] == true {
                    return Ok(data);
                }
            }
        })
    }
}

/// Invokes the function until it succeeds, or has failed too often.
async fn repeated(
    retry: &Value,
    input: &Value,
    call: &impl AsyncFn(Value) -> Result<Value, String>,
) -> Result<Value, String> {
    let mut left = retry["MaxAttempts"].as_u64().unwrap();
    loop {
        match call(input.clone()).await {
            Err(_) if left > 0 => left -= 1,
            ended => return ended,
        }
        sleep(PAUSE).await;
    }
}

/// Returns the value at a path, `$` or `$.member`.
fn at(path: &Value, data: &Value) -> Value {
    match path.as_str().unwrap().strip_prefix("$.") {
        Some(member) => data[member].clone(),
        None => data.clone(),
    }
}

/// Returns the parameters, in which a member whose name ends in `.$` has a path.
fn filled_in(parameters: &Value, data: &Value) -> Value {
    let members = parameters.as_object().unwrap().iter();
    let members = members.map(|(name, value)| match name.strip_suffix(".$") {
        Some(name) => (name.to_owned(), at(value, data)),
        None => (name.clone(), value.clone()),
    });
    Value::Object(members.collect())
}
