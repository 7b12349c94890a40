//! JSON Lines: one object a line.

use serde_json::Value;

use crate::Row;

/// Reads all rows; blank lines are skipped.
///
/// # Errors
/// Says which line is no JSON object.
pub fn jsonl_rows(text: &str) -> Result<Vec<Row>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let row = |(i, line): (usize, &str)| match serde_json::from_str(line) {
        Ok(Value::Object(row)) => Ok(row),
        Ok(_) => Err(format!("line {}: not a JSON object", i.saturating_add(1))),
        Err(error) => Err(format!("line {}: {error}", i.saturating_add(1))),
    };
    lines.map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_is_wrong_is_named() {
        assert_eq!(jsonl_rows("{\"a\":1}\n\n{\"a\":2}\n").map(|rows| rows.len()), Ok(2));
        assert_eq!(jsonl_rows("{\"a\":1}\n[2]\n"), Err("line 2: not a JSON object".to_owned()));
        assert!(jsonl_rows("{").is_err_and(|error| error.starts_with("line 1: ")));
    }
}
