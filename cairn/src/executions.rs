//! Executions of the state machine that rebuilds a system's index on AWS.

use aws_config::{BehaviorVersion, Region};
use aws_sdk_sfn::Client;
use aws_sdk_sfn::error::DisplayErrorContext;
use aws_sdk_sfn::types::ExecutionStatus;
use serde_json::Value;
use table::Config;

use crate::failure::Failure;

/// The executions of a system's state machine.
#[derive(Debug)]
pub struct Executions {
    client: Client,
    /// The ARN of the state machine.
    machine: String,
}

impl Executions {
    /// Returns those of a deployment.
    pub async fn of(system: &str, deployment: &Config) -> Result<Self, Failure> {
        let machine = machine_arn(system, deployment).ok_or_else(|| {
            Failure::new("CAIRN_BUCKET_SUFFIX is not `-ACCOUNT-REGION`: set it as docs/deploying.md says.")
        })?;
        let region = Region::new(deployment.region.clone());
        let config = aws_config::defaults(BehaviorVersion::latest()).region(region).load().await;
        Ok(Self { client: Client::new(&config), machine })
    }

    /// Returns the ARN of the execution that runs.
    pub async fn running(&self) -> Result<Option<String>, Failure> {
        let running = self.client.list_executions().state_machine_arn(&self.machine);
        let running = running.status_filter(ExecutionStatus::Running).max_results(1).send().await;
        let running = running.map_err(|error| self.failure(DisplayErrorContext(error)))?;
        Ok(running.executions.into_iter().next().map(|execution| execution.execution_arn))
    }

    /// Returns the ARN of the execution that runs, or starts one with this input.
    pub async fn running_or_new(&self, input: &Value) -> Result<String, Failure> {
        if let Some(execution) = self.running().await? {
            return Ok(execution);
        }
        let started = self.client.start_execution().state_machine_arn(&self.machine).input(input.to_string());
        let started = started.send().await.map_err(|error| self.failure(DisplayErrorContext(error)))?;
        Ok(started.execution_arn)
    }

    /// Returns whether an execution has succeeded. It is an error if the execution has failed or was stopped.
    pub async fn has_ended(&self, execution: &str) -> Result<bool, Failure> {
        let described = self.client.describe_execution().execution_arn(execution).send().await;
        let described = described.map_err(|error| self.failure(DisplayErrorContext(error)))?;
        match described.status {
            ExecutionStatus::Running | ExecutionStatus::PendingRedrive => Ok(false),
            ExecutionStatus::Succeeded => Ok(true),
            status => {
                let reason = reason(described.error.as_deref(), described.cause.as_deref());
                Err(Failure::new(format!("The execution {execution} is {status}: {reason}")))
            }
        }
    }

    fn failure(&self, error: impl std::fmt::Display) -> Failure {
        Failure::new(format!("Step Functions did not answer for {}: {error}", self.machine))
    }
}

/// Returns the ARN of a system's state machine. The account is in the suffix of the buckets' names.
fn machine_arn(system: &str, deployment: &Config) -> Option<String> {
    let Config { prefix, region, bucket_suffix, .. } = deployment;
    let account = bucket_suffix.strip_prefix('-')?.strip_suffix(region.as_str())?.strip_suffix('-')?;
    let partition = match region.split_once('-')?.0 {
        "cn" => "aws-cn",
        "us" if region.starts_with("us-gov-") => "aws-us-gov",
        _ => "aws",
    };
    let machine = mirror::REBUILD_MACHINE;
    Some(format!("arn:{partition}:states:{region}:{account}:stateMachine:{prefix}{system}-{machine}"))
}

/// Returns why an execution failed. The cause of a function that failed is JSON.
fn reason(error: Option<&str>, cause: Option<&str>) -> String {
    let message = cause.and_then(|cause| serde_json::from_str::<Value>(cause).ok());
    let message = message.as_ref().and_then(|cause| cause.get("errorMessage")).and_then(Value::as_str);
    match (error, message.or(cause)) {
        (_, Some(cause)) => cause.to_owned(),
        (Some(error), None) => error.to_owned(),
        (None, None) => "no reason is known".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_machine_is_that_of_the_account_and_the_region() {
        let of = |region: &str, suffix: &str| {
            let bucket_suffix = suffix.to_owned();
            machine_arn("parks", &Config { prefix: "test-".to_owned(), bucket_suffix, ..Config::new(region, "") })
        };
        for (region, suffix, expected) in [
            ("ca-central-1", "-123456789012-ca-central-1", Some("aws:states:ca-central-1")),
            ("us-gov-west-1", "-123456789012-us-gov-west-1", Some("aws-us-gov:states:us-gov-west-1")),
            ("cn-north-1", "-123456789012-cn-north-1", Some("aws-cn:states:cn-north-1")),
            ("ca-central-1", "-123456789012-eu-central-1", None),
            ("ca-central-1", "", None),
        ] {
            let expected = expected.map(|part| format!("arn:{part}:123456789012:stateMachine:test-parks-rebuildIndex"));
            assert_eq!(of(region, suffix), expected, "{region} {suffix}");
        }
    }

    #[test]
    fn reason_is_the_message_of_the_function() {
        let thrown = r#"{"errorType":"Failed","errorMessage":"search: 503"}"#;
        assert_eq!(reason(Some("Failed"), Some(thrown)), "search: 503");
        assert_eq!(reason(Some("Refused"), Some("mirror: it is kept")), "mirror: it is kept");
        assert_eq!(reason(Some("States.Timeout"), None), "States.Timeout");
    }
}
