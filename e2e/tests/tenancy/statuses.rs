//! The status of each operation for each principal equals the expected one.

use std::fmt::Write;

use super::expectations::Expectations;
use super::stage::Stage;

pub async fn as_stated(stage: &Stage) {
    let expectations = Expectations::read();
    let (mut wrong, mut told) = (Vec::new(), String::new());
    for operation in &stage.operations {
        let path = stage.own(operation);
        let mut statuses = Vec::new();
        for (name, user) in &stage.principals {
            let answer = operation.call(user, &path).await;
            statuses.push(answer.status);
            if operation.only_reads() {
                continue;
            }
            let changed = stage.restore().await;
            let may = answer.status < 400;
            assert!(may || changed.is_empty(), "{name} was refused and changed {changed:?}: {}", answer.told());
        }
        let row: Vec<String> = statuses.iter().map(u16::to_string).collect();
        let _ = writeln!(told, "| `{}` | {} |", operation.name, row.join(" | "));
        match expectations.of(stage.system, operation.name) {
            None => wrong.push(format!("{}: nothing is stated", operation.name)),
            Some(stated) if stated != statuses => {
                wrong.push(format!("{}: stated {stated:?}, answered {statuses:?}", operation.name));
            }
            Some(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{}\nThe answers as rows:\n{told}", wrong.join("\n"));
}
