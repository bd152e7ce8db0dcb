//! The shell commands of docs/cargo-lambda.md.

use crate::failure::Failure;

/// The system in the guide's commands, which is replaced by others.
pub const SYSTEM: &str = "parks";

/// The values for `…` after the name of a variable.
pub type Values = Vec<(&'static str, String)>;

/// A block of commands, with all values filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    lines: Vec<String>,
}

impl Block {
    /// Returns the first block with a line that begins with this text.
    pub fn of(guide: &str, begins: &str, values: &Values) -> Result<Self, Failure> {
        let blocks = guide.split("\n```sh\n").skip(1).filter_map(|rest| rest.split("\n```").next());
        let block = blocks.into_iter().find(|block| block.lines().any(|line| line.starts_with(begins)));
        let block =
            block.ok_or_else(|| Failure::new(format!("docs/cargo-lambda.md has no block with a line `{begins}…`")))?;
        let lines = block.lines().map(|line| filled(line, values)).collect();
        let block = Self { lines };
        match block.lines.iter().find(|line| line.contains('…')) {
            Some(line) => {
                Err(Failure::new(format!("there is no value for `…` in the line `{line}` of docs/cargo-lambda.md")))
            }
            None => Ok(block),
        }
    }

    /// Returns the only line that begins with this text.
    pub fn line(&self, begins: &str) -> Result<&str, Failure> {
        let mut lines = self.lines.iter().filter(|line| line.starts_with(begins));
        match (lines.next(), lines.next()) {
            (Some(line), None) => Ok(line),
            _ => Err(Failure::new(format!(
                "a block in docs/cargo-lambda.md must have exactly one line that begins with `{begins}`"
            ))),
        }
    }

    /// Returns the script of a line, after the lines that set variables.
    pub fn script(&self, line: &str) -> String {
        let exports = self.lines.iter().filter(|line| line.starts_with("export "));
        exports.map(String::as_str).chain([line]).collect::<Vec<_>>().join("\n")
    }
}

fn filled(line: &str, values: &Values) -> String {
    values.iter().fold(line.to_owned(), |line, (name, value)| {
        let given = format!("{name}='{value}'");
        line.replace(&format!("{name}='…'"), &given).replace(&format!("{name}=…"), &given)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUIDE: &str = "# x\n\n```sh\nls\n```\n\n```sh\nexport A=… B='…' C=any\ngo watch --now\ngo call\n```\n";

    #[test]
    fn block_is_found_by_a_line_and_filled_in() {
        let values = vec![("A", "1".to_owned()), ("B", "[2]".to_owned())];
        let block = Block::of(GUIDE, "go watch", &values).unwrap();
        assert_eq!(block.line("go call").unwrap(), "go call");
        assert_eq!(block.script("go call"), "export A='1' B='[2]' C=any\ngo call");
        assert!(block.line("go").is_err() && block.line("ls").is_err());
    }

    #[test]
    fn block_without_a_value_is_an_error() {
        let unfilled = Block::of(GUIDE, "go watch", &vec![("A", "1".to_owned())]).unwrap_err().to_string();
        assert!(unfilled.contains("B='…'"), "{unfilled}");
        assert!(Block::of(GUIDE, "go away", &Vec::new()).unwrap_err().to_string().contains("go away"));
    }
}
