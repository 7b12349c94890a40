//! CSV (RFC 4180) with a header line. Cells that are plainly numbers become numbers, empty ones null.

use serde_json::{Number, Value};

use crate::Row;

/// Reads all rows. Quoted cells may hold commas, quotes and line breaks; the separator is `,`, `;` or a tab,
/// whichever the header has most of. Missing cells are null, surplus ones are dropped.
///
/// ```
/// let rows = records::csv_rows("name,price\n\"Tea, green\",2.90\n");
/// assert_eq!(rows[0]["name"], "Tea, green");
/// assert_eq!(rows[0]["price"], 2.9);
/// ```
pub fn csv_rows(text: &str) -> Vec<Row> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let header = text.lines().next().unwrap_or_default();
    let count = |separator: char| header.matches(separator).count();
    let separator = [';', '\t'].into_iter().filter(|s| count(*s) > count(',')).max_by_key(|s| count(*s)).unwrap_or(',');
    let mut lines = cells(text, separator).into_iter();
    let columns: Vec<String> =
        lines.next().unwrap_or_default().into_iter().map(|(name, _)| name.trim().to_owned()).collect();
    let row = |cells: Vec<(String, bool)>| {
        let mut cells = cells.into_iter();
        columns
            .iter()
            .map(|column| (column.clone(), cells.next().map_or(Value::Null, |(text, quoted)| value(text, quoted))))
            .collect()
    };
    lines.map(row).collect()
}

/// The cells of each line that is not blank, and whether they were quoted.
fn cells(text: &str, separator: char) -> Vec<Vec<(String, bool)>> {
    let (mut lines, mut line, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut in_quotes) = (false, false);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if in_quotes && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' if in_quotes => in_quotes = false,
            '"' if cell.is_empty() => (quoted, in_quotes) = (true, true),
            '\r' if !in_quotes && characters.peek() == Some(&'\n') => {}
            '\n' if !in_quotes => {
                line.push((std::mem::take(&mut cell), std::mem::take(&mut quoted)));
                lines.push(std::mem::take(&mut line));
            }
            c if c == separator && !in_quotes => line.push((std::mem::take(&mut cell), std::mem::take(&mut quoted))),
            c => cell.push(c),
        }
    }
    if !cell.is_empty() || !line.is_empty() {
        line.push((cell, quoted));
        lines.push(line);
    }
    lines.retain(|line| line.iter().any(|(cell, quoted)| *quoted || !cell.trim().is_empty()));
    lines
}

fn value(text: String, quoted: bool) -> Value {
    if quoted {
        return Value::String(text);
    }
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Value::Null;
    }
    // `007` and `+49…` are names that look like numbers: they would lose characters.
    let digits = trimmed.strip_prefix('-').unwrap_or(trimmed);
    let leading_zero = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    let plain = !leading_zero
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
        && digits.starts_with(|c: char| c.is_ascii_digit());
    let number = || trimmed.parse::<i64>().ok().map(Number::from).or_else(|| Number::from_f64(trimmed.parse().ok()?));
    match plain.then(number).flatten() {
        Some(number) => Value::Number(number),
        None => Value::String(trimmed.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn quotes_hold_separators_quotes_and_line_breaks() {
        let rows = csv_rows("a,b\r\n\"x, \"\"y\"\"\nz\",\"1\"\r\n");
        assert_eq!(rows[0]["a"], "x, \"y\"\nz");
        assert_eq!(rows[0]["b"], "1");
    }

    #[test]
    fn numbers_are_numbers_and_codes_are_not() {
        let rows = csv_rows("a,b,c,d,e\n-1.50,007,0.5,,12:30\n");
        assert_eq!(json!(rows[0]), json!({"a": -1.5, "b": "007", "c": 0.5, "d": null, "e": "12:30"}));
    }

    #[test]
    fn other_separators_and_short_lines_are_understood() {
        assert_eq!(json!(csv_rows("a;b\n1;2\n\n3\n")), json!([{"a": 1, "b": 2}, {"a": 3, "b": null}]));
        assert!(csv_rows("").is_empty());
    }
}
