//! Conditions on rows.

use std::cmp::Ordering;

use elysia_plugin::{ToolError, ToolInput, Value};
use records::Row;

use crate::table::{Table, is_date};

/// How a value is compared.
#[derive(ToolInput, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Condition {
    /// Equal; of texts in any case.
    #[input(name = "=")]
    Equal,
    #[input(name = "!=")]
    NotEqual,
    #[input(name = ">")]
    Greater,
    #[input(name = ">=")]
    AtLeast,
    #[input(name = "<")]
    Less,
    #[input(name = "<=")]
    AtMost,
    /// The text has this part.
    Contains,
}

/// One condition.
#[derive(ToolInput, Clone, Debug)]
pub(crate) struct Filter {
    /// A column.
    pub(crate) field: String,
    /// How to compare.
    #[default(Condition::Equal)]
    pub(crate) op: Condition,
    /// With what, written as text.
    pub(crate) value: String,
}

impl Filter {
    /// `store = Harbour`.
    pub(crate) fn describe(&self) -> String {
        format!("{} {} {}", self.field, self.op.to_json().as_str().unwrap_or_default(), self.value)
    }
}

/// The flat condition and the list as one list.
pub(crate) fn collect(
    field: Option<String>,
    op: Condition,
    value: Option<String>,
    more: Option<Vec<Filter>>,
) -> Result<Vec<Filter>, ToolError> {
    let mut filters = match (field.filter(|field| !field.is_empty()), value) {
        (Some(field), Some(value)) => vec![Filter { field, op, value }],
        (Some(field), None) => {
            return Err(ToolError::invalid_inputs(format!(
                "where_field is `{field}` but where_value is missing: give both or neither"
            )));
        }
        (None, _) => Vec::new(),
    };
    filters.extend(more.unwrap_or_default());
    Ok(filters)
}

/// The rows that meet all conditions.
pub(crate) fn matching<'a>(table: &'a Table, filters: &[Filter]) -> Result<Vec<&'a Row>, ToolError> {
    let mut rows: Vec<&Row> = table.rows.iter().collect();
    for filter in filters {
        let column = table.column(&filter.field)?;
        rows.retain(|row| row.get(column).is_some_and(|value| meets(value, filter)));
        if rows.is_empty() {
            return Err(nothing_left(table, column, filter));
        }
    }
    Ok(rows)
}

/// A value that is spelled differently is the most likely reason, so the values there are go along.
fn nothing_left(table: &Table, column: &str, filter: &Filter) -> ToolError {
    let values = match table.distinct_texts(column, 30) {
        Some(texts) if !texts.is_empty() => format!(": `{column}` has {}", texts.join(", ")),
        _ => String::new(),
    };
    ToolError::not_found(format!("no rows of `{}` have {}{values}", table.name, filter.describe()))
}

fn meets(value: &Value, filter: &Filter) -> bool {
    if filter.op == Condition::Contains {
        return text(value).to_lowercase().contains(&filter.value.to_lowercase());
    }
    if let Value::Array(items) = value {
        let has = items.iter().any(|item| compare(item, &filter.value) == Some(Ordering::Equal));
        return has == (filter.op == Condition::Equal);
    }
    let ordering = compare(value, &filter.value);
    match filter.op {
        Condition::Equal => ordering == Some(Ordering::Equal),
        Condition::NotEqual => ordering != Some(Ordering::Equal),
        Condition::Greater => ordering == Some(Ordering::Greater),
        Condition::AtLeast => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
        Condition::Less => ordering == Some(Ordering::Less),
        Condition::AtMost => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
        Condition::Contains => false,
    }
}

/// How a value stands to a text. Numbers compare as numbers; a date is equal to the month or year it lies in.
fn compare(value: &Value, wanted: &str) -> Option<Ordering> {
    let wanted = wanted.trim();
    match value {
        Value::Number(number) => number.as_f64()?.partial_cmp(&wanted.replace('_', "").parse().ok()?),
        Value::Bool(flag) => {
            let wanted = match wanted.to_lowercase().as_str() {
                "true" | "yes" | "1" => true,
                "false" | "no" | "0" => false,
                _ => return None,
            };
            Some(flag.cmp(&wanted))
        }
        Value::String(text) if is_date(text) && wanted.starts_with(|c: char| c.is_ascii_digit()) => {
            let prefix: String = text.chars().take(wanted.chars().count()).collect();
            Some(prefix.as_str().cmp(wanted))
        }
        Value::String(text) => Some(text.to_lowercase().cmp(&wanted.to_lowercase())),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A value as text, without quotes.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
