//! Random requests of the principals who see the items of a stage.

use reqwest::Method;

use super::stage::Stage;
use crate::generated;
use crate::harness::{User, recorder, sized};

/// Asserts that no request is answered 5xx or contrary to the API description.
pub async fn requests_to_each_operation(stage: &Stage) {
    recorder::OF_THE_RUN.at_random(stage.cairn.engines());
    let insiders = stage.principals.iter().filter(|(name, _)| !stage.parts.outsiders.contains(name));
    let insiders: Vec<User> = insiders.map(|(_, user)| user.clone()).collect();
    let existing = |method: &Method, template: &str| {
        let mut operations = stage.operations.iter();
        let operation = operations.find(|operation| operation.method == *method && operation.template == template)?;
        Some(stage.own(operation))
    };
    let restore = async || drop(stage.restore().await);
    generated::requests_to_each_operation(&stage.cairn, stage.system, &insiders, sized(6, 100), existing, restore)
        .await;
}
