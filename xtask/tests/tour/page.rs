//! The commands of a page with their output.

/// A command and the output below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub command: String,
    pub output: String,
}

/// Returns the steps in the `console` blocks.
pub fn steps_of(page: &str) -> Vec<Step> {
    page.split("\n```console\n").skip(1).flat_map(|block| steps(block.split("\n```").next().unwrap())).collect()
}

fn steps(block: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut continued = false;
    for line in block.lines() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step { command: command.to_owned(), output: String::new() }),
            (None, Some(step)) if continued => step.command.push_str(line),
            (None, Some(step)) => {
                step.output.push_str(line);
                step.output.push('\n');
            }
            (None, None) => panic!("no command stands before `{line}`"),
        }
        let step = steps.last_mut().unwrap();
        continued = step.output.is_empty() && step.command.ends_with('\\');
        if continued {
            step.command.pop();
        }
    }
    steps
}

#[test]
fn commands_and_output_are_separated() {
    let page = "# x\n\n```console\n$ a \\\n  b\nout\nmore\n$ c\n```\ntext\n```console\n$ d\n```\n\n## Next\n";
    let step = |command: &str, output: &str| Step { command: command.to_owned(), output: output.to_owned() };
    assert_eq!(steps_of(page), [step("a   b", "out\nmore\n"), step("c", ""), step("d", "")]);
}
