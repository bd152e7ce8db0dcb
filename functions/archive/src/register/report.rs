//! The report of a run as CSV: the columns line, column, code and text.

use super::problem::Problem;

/// Appends the header of a report.
pub fn start(file: &mut Vec<u8>) {
    sheet::write(["line", "column", "code", "text"], file);
}

/// Appends a problem to a report. A spreadsheet does not evaluate any of its cells.
pub fn append(problem: &Problem, file: &mut Vec<u8>) {
    let line = problem.line.to_string();
    let column = problem.column.as_ref().map(ToString::to_string).unwrap_or_default();
    let cells = [line.as_str(), column.as_str(), problem.code.name(), problem.text.as_str()].map(sheet::guarded);
    sheet::write(cells.iter().map(AsRef::as_ref), file);
}

/// Returns the report of these problems.
pub fn write<'a>(problems: impl IntoIterator<Item = &'a Problem>) -> Vec<u8> {
    let mut file = Vec::new();
    start(&mut file);
    problems.into_iter().for_each(|problem| append(problem, &mut file));
    file
}

#[cfg(test)]
mod tests {
    use super::super::problem::{Code, Column};
    use super::*;

    #[test]
    fn report_has_a_line_for_each_problem() {
        let problems = [
            Problem::new(Code::CellTooLong, 5, Some(Column::new(6, Some("Birth, \"place\""))), "two\nlines"),
            Problem::new(Code::NoRows, 1, None, ""),
        ];
        let report = String::from_utf8(write(&problems)).unwrap();
        let lines = "5,\"G Birth, \"\"place\"\"\",cell-too-long,\"two\nlines\"\r\n1,,no-rows,\r\n";
        assert_eq!(report, format!("line,column,code,text\r\n{lines}"));
    }

    #[test]
    fn cell_that_a_spreadsheet_would_evaluate_is_escaped() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"] {
            let report = write([&Problem::new(Code::PlaceNotFound, 2, None, text)]);
            let report = csv::Reader::from_reader(report.as_slice()).into_records().next().unwrap().unwrap();
            assert_eq!(&report[3], format!("'{text}"));
        }
    }
}
