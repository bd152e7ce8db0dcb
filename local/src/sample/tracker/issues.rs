//! The made-up attributes and issues of a project, the same in every load.

use serde_json::{Value, json};

use super::Project;

/// The attributes with their types of values.
const ATTRIBUTES: [(&str, Of); 30] = [
    ("Severity", Of::Choice(&["Critical", "High", "Medium", "Low"])),
    ("Due", Of::Date(400)),
    ("Owner", Of::Text(&["Inspection", "Steelwork", "Paint", "Traffic", "Design office"])),
    ("Estimate", Of::Decimal),
    ("Parts", Of::Int(40)),
    ("Notes", Of::Text(&["Seen on the last round", "Wait for dry weather", "Needs a lane closed", "As last year"])),
    ("Reported", Of::Moment),
    ("Cause", Of::Choice(&["Corrosion", "Wear", "Impact", "Unknown"])),
    ("Span", Of::Int(12)),
    ("Side", Of::Choice(&["North", "South"])),
    ("Height above water", Of::Decimal),
    ("Last inspected", Of::Date(700)),
    ("Inspector", Of::Text(&["First team", "Second team", "Night shift"])),
    ("Photographs", Of::Int(25)),
    ("Closed lanes", Of::Int(4)),
    ("Contractor", Of::Text(&["Coastal Works", "Hill and Sons", "Own crew"])),
    ("Contract", Of::Choice(&["Framework", "Single", "None"])),
    ("Budget", Of::Decimal),
    ("Spent", Of::Decimal),
    ("Ordered", Of::Date(300)),
    ("Delivered", Of::Date(200)),
    ("Started", Of::Moment),
    ("Hours", Of::Int(160)),
    ("Crew", Of::Int(12)),
    ("Weather", Of::Choice(&["Any", "Dry", "Dry and calm"])),
    ("Access", Of::Text(&["Rope", "Boat", "Platform", "Deck"])),
    ("Drawing", Of::Text(&["A-101", "A-102", "B-7", "C-33"])),
    ("Revision", Of::Int(9)),
    ("Approved", Of::Date(100)),
    ("Remarks", Of::Text(&["None", "See the report", "Repeat in spring"])),
];

const PARTS: [&str; 12] =
    ["Girder", "Bolt", "Railing", "Bearing", "Cable", "Lamp", "Drain", "Joint", "Deck plate", "Ladder", "Pier", "Sign"];
const FINDINGS: [&str; 10] = [
    "is rusty",
    "is loose",
    "is cracked",
    "is missing",
    "is worn",
    "leaks",
    "is bent",
    "is blocked",
    "rattles",
    "flakes",
];

/// The values of an attribute.
#[derive(Clone, Copy)]
enum Of {
    Text(&'static [&'static str]),
    Choice(&'static [&'static str]),
    /// A whole number below this.
    Int(usize),
    Decimal,
    /// One of this number of days.
    Date(usize),
    Moment,
}

/// Returns the requests that create the first `count` attributes.
pub fn attributes(count: usize) -> impl Iterator<Item = Value> {
    ATTRIBUTES.iter().take(count).map(|(name, of)| match of {
        Of::Choice(labels) => {
            let options: Vec<Value> = labels.iter().map(|label| json!({ "label": label })).collect();
            json!({ "name": name, "type": "choice", "options": options })
        }
        Of::Text(_) => json!({ "name": name, "type": "text" }),
        Of::Int(_) => json!({ "name": name, "type": "int" }),
        Of::Decimal => json!({ "name": name, "type": "decimal" }),
        Of::Date(_) => json!({ "name": name, "type": "date" }),
        Of::Moment => json!({ "name": name, "type": "dateTime" }),
    })
}

/// Returns the issues of a project as a CSV file.
pub fn file(project: &Project) -> Vec<u8> {
    let columns = || ATTRIBUTES.iter().take(project.attributes);
    let mut file = Vec::new();
    sheet::write(["Name", "State"].into_iter().chain(columns().map(|(name, _)| *name)), &mut file);
    for issue in 0..project.issues {
        let part = pick(&PARTS, issue);
        let name = format!("{part} {} {}", issue / PARTS.len() + 1, pick(&FINDINGS, issue * 7 + issue / 11));
        let state = if issue % 5 == 3 { "closed" } else { "open" };
        let cells = columns().enumerate().map(|(column, (_, of))| cell(*of, issue, column));
        let cells: Vec<String> = [name, state.to_owned()].into_iter().chain(cells).collect();
        sheet::write(cells.iter().map(String::as_str), &mut file);
    }
    file
}

/// Returns a value. About every fourth cell is empty.
fn cell(of: Of, issue: usize, column: usize) -> String {
    let number = issue * 31 + column * 17 + issue / 7 * column;
    if number % 4 == 1 {
        return String::new();
    }
    match of {
        Of::Text(texts) | Of::Choice(texts) => pick(texts, number).to_owned(),
        Of::Int(below) => (number % below).to_string(),
        Of::Decimal => format!("{}.{:02}", number as i64 % 900 - 100, number % 89),
        Of::Date(days) => day(number % days),
        Of::Moment => format!("{}T{:02}:{:02}:00Z", day(number % 500), number % 24, number % 60),
    }
}

/// Returns a day from 2024 on.
fn day(number: usize) -> String {
    let (month, day) = (number / 28, number % 28 + 1);
    format!("{}-{:02}-{day:02}", 2024 + month / 12, month % 12 + 1)
}

fn pick(texts: &'static [&'static str], number: usize) -> &'static str {
    texts.get(number % texts.len().max(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_has_a_record_for_each_issue() {
        let file = file(&Project { name: "Any", attributes: 30, issues: 50 });
        let lines: Vec<&str> = std::str::from_utf8(&file).unwrap().split_terminator("\r\n").collect();
        assert_eq!(lines.len(), 51);
        let cells = |line: &str| sheet::Format::default().cells(line.as_bytes(), 50).unwrap().len();
        assert!(lines.iter().all(|line| cells(line) == 32));
        assert_eq!(attributes(30).count(), 30);
    }
}
