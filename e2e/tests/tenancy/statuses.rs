//! The status of each operation for each principal equals the expected one.

use std::fmt::Write;

use super::Part;
use super::expectations::Expectations;
use super::operations::Operation;
use super::stage::Stage;

pub async fn as_stated(stage: &Stage, part: Part) {
    let expectations = Expectations::read();
    let (mut wrong, mut told) = (Vec::new(), String::new());
    for operation in part.of(stage) {
        let path = stage.own(operation);
        let (mut statuses, mut refused) = (Vec::new(), Vec::new());
        let stated = expectations.of(stage.system, &operation.row);
        for (place, (name, user)) in stage.principals.iter().enumerate() {
            // One look at the tables is enough for the refusals before it.
            if stated.is_none_or(|stated| stated[place] < 400) {
                unchanged(stage, operation, std::mem::take(&mut refused)).await;
            }
            let answer = operation.call(user, &path).await;
            statuses.push(answer.status);
            if operation.only_reads() {
                continue;
            }
            if answer.status < 400 {
                stage.restore_after(operation).await;
            } else {
                refused.push(*name);
            }
        }
        unchanged(stage, operation, refused).await;
        let row: Vec<String> = statuses.iter().map(u16::to_string).collect();
        let _ = writeln!(told, "| {} | {} |", quoted(&operation.row), row.join(" | "));
        match stated {
            None => wrong.push(format!("{}: nothing is stated", operation.row)),
            Some(stated) if stated != statuses => {
                wrong.push(format!("{}: stated {stated:?}, answered {statuses:?}", operation.row));
            }
            Some(_) => {}
        }
    }
    assert_eq!(
        stage.restore().await,
        Vec::<String>::new(),
        "an operation has changed a table that it does not declare"
    );
    assert!(wrong.is_empty(), "{}\nThe answers as rows:\n{told}", wrong.join("\n"));
}

/// Asserts that the refused requests of these principals have changed nothing.
async fn unchanged(stage: &Stage, operation: &Operation, refused: Vec<&str>) {
    if !refused.is_empty() {
        let changed = stage.restore_after(operation).await;
        assert!(changed.is_empty(), "{} was refused to {refused:?} and changed {changed:?}", operation.name);
    }
}

/// Returns the name of a row as `e2e/tenancy.md` has it.
fn quoted(row: &str) -> String {
    let (name, rest) = row.split_at(row.find(' ').unwrap_or(row.len()));
    format!("`{name}`{rest}")
}
