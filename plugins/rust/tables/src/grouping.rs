//! Computing a metric over groups of rows.

use elysia_plugin::{Object, ToolError, ToolInput, ToolResult, Value, object};
use records::Row;

use crate::filter::{self, Filter, text};
use crate::shortened;
use crate::table::Table;

/// What is computed.
#[derive(ToolInput, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Metric {
    /// How many rows.
    Count,
    /// The total.
    Sum,
    /// The average.
    Mean,
    /// The middle value.
    Median,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

impl Metric {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Metric::Count => "count",
            Metric::Sum => "sum",
            Metric::Mean => "mean",
            Metric::Median => "median",
            Metric::Min => "min",
            Metric::Max => "max",
        }
    }

    /// The metric of some numbers; `None` of no numbers, except for counts and sums.
    fn of(self, mut numbers: Vec<f64>) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "no table has 2^53 rows")]
        let n = numbers.len() as f64;
        match self {
            Metric::Count => Some(n),
            Metric::Sum => Some(numbers.iter().sum()),
            Metric::Mean => (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / n),
            Metric::Min => numbers.into_iter().reduce(f64::min),
            Metric::Max => numbers.into_iter().reduce(f64::max),
            Metric::Median => {
                numbers.sort_by(f64::total_cmp);
                let upper = numbers.len() / 2;
                let lower = numbers.len().saturating_sub(1) / 2;
                Some(f64::midpoint(*numbers.get(lower)?, *numbers.get(upper)?))
            }
        }
    }
}

/// How groups are ordered.
#[derive(ToolInput, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// The largest value first.
    #[input(name = "desc")]
    Descending,
    /// The smallest value first.
    #[input(name = "asc")]
    Ascending,
    /// By the group: names by alphabet, dates from old to new.
    Group,
}

/// What is asked of a table. Complete once `infer` has been over it.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) table: Option<String>,
    pub(crate) metric: Option<Metric>,
    pub(crate) field: Option<String>,
    pub(crate) group_by: Option<String>,
    pub(crate) filters: Vec<Filter>,
    pub(crate) order: Order,
    pub(crate) limit: usize,
}

/// The value of one group.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Group {
    /// One value per column of `group_by`.
    pub(crate) key: Vec<Value>,
    pub(crate) value: Option<f64>,
    pub(crate) n_rows: usize,
}

/// All groups, and how they came about.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) metric: Metric,
    pub(crate) field: Option<String>,
    pub(crate) group_by: Vec<String>,
    pub(crate) groups: Vec<Group>,
    filters: Vec<Filter>,
    n_rows: usize,
    n_groups: usize,
}

pub(crate) fn run(question: &Question, table: &Table) -> Result<Answer, ToolError> {
    let group_by = group_columns(question, table)?;
    let metric = question.metric.unwrap_or(if question.field.is_some() { Metric::Sum } else { Metric::Count });
    let field = number_field(metric, question.field.as_deref(), table)?;
    let rows = filter::matching(table, &question.filters)?;
    let n_rows = rows.len();
    let mut groups = Vec::new();
    for (key, rows) in grouped(&rows, &group_by) {
        let numbers = match &field {
            Some(field) => rows.iter().filter_map(|row| row.get(field.as_str())?.as_f64()).collect(),
            // Counting: one per row.
            None => vec![1.0; rows.len()],
        };
        groups.push(Group { key, value: metric.of(numbers), n_rows: rows.len() });
    }
    let n_groups = groups.len();
    sort(&mut groups, question.order);
    groups.truncate(question.limit);
    Ok(Answer { metric, field, group_by, groups, filters: question.filters.clone(), n_rows, n_groups })
}

fn group_columns(question: &Question, table: &Table) -> Result<Vec<String>, ToolError> {
    let names = question.group_by.as_deref().unwrap_or_default();
    if let Ok(whole) = table.column(names) {
        return Ok(vec![whole.to_owned()]);
    }
    let names = names.split(',').map(str::trim).filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("none"));
    names.map(|name| table.column(name).map(str::to_owned)).collect()
}

/// The column to compute over; none when counting rows.
fn number_field(metric: Metric, field: Option<&str>, table: &Table) -> Result<Option<String>, ToolError> {
    if metric == Metric::Count {
        return Ok(None);
    }
    let numbers = table.number_columns();
    let wanted = |why: &str| {
        let there = if numbers.is_empty() { "none".to_owned() } else { numbers.join(", ") };
        ToolError::invalid_inputs(format!(
            "{why}: columns of numbers in `{}` are {there}; `count` needs none",
            table.name
        ))
    };
    let Some(field) = field.filter(|field| !field.is_empty()) else {
        return Err(wanted(&format!("`{}` needs a field", metric.name())));
    };
    let column = table.column(field)?;
    if table.is_number(column) {
        Ok(Some(column.to_owned()))
    } else {
        Err(wanted(&format!("`{column}` has no numbers")))
    }
}

/// Rows by the values of the columns, in the order the groups first appear. A list in a cell puts the row in each of
/// its groups.
fn grouped<'a>(rows: &[&'a Row], columns: &[String]) -> Vec<(Vec<Value>, Vec<&'a Row>)> {
    let mut groups: Vec<(Vec<Value>, Vec<&Row>)> = Vec::new();
    let mut index = std::collections::HashMap::new();
    for row in rows {
        for key in keys(row, columns) {
            let id = Value::Array(key.clone()).to_string();
            let at = *index.entry(id).or_insert(groups.len());
            match groups.get_mut(at) {
                Some((_, rows)) => rows.push(row),
                None => groups.push((key, vec![row])),
            }
        }
    }
    if columns.is_empty() && groups.is_empty() {
        groups.push((Vec::new(), Vec::new()));
    }
    groups
}

fn keys(row: &Row, columns: &[String]) -> Vec<Vec<Value>> {
    let mut keys = vec![Vec::new()];
    for column in columns {
        let values = match row.get(column) {
            Some(Value::Array(items)) if !items.is_empty() => items.clone(),
            // An empty list is in no group, which is a group too: rows must not get lost.
            Some(Value::Array(_)) | None => vec![Value::Null],
            Some(value) => vec![value.clone()],
        };
        let longer = |key: &Vec<Value>| {
            let key = key.clone();
            values.iter().map(move |value| [key.as_slice(), std::slice::from_ref(value)].concat()).collect::<Vec<_>>()
        };
        keys = keys.iter().flat_map(longer).collect();
    }
    keys
}

fn sort(groups: &mut [Group], order: Order) {
    let names = |group: &Group| group.key.iter().map(text).collect::<Vec<_>>();
    let by_key =
        |a: &Group, b: &Group| match (a.key.first().and_then(Value::as_f64), b.key.first().and_then(Value::as_f64)) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => names(a).cmp(&names(b)),
        };
    let value = |group: &Group, missing: f64| group.value.unwrap_or(missing);
    groups.sort_by(|a, b| match order {
        // Groups without a value stand last either way; equal ones by name, so that an answer is the same each time.
        Order::Descending => value(b, f64::MIN).total_cmp(&value(a, f64::MIN)).then_with(|| by_key(a, b)),
        Order::Ascending => value(a, f64::MAX).total_cmp(&value(b, f64::MAX)).then_with(|| by_key(a, b)),
        Order::Group => by_key(a, b),
    });
}

/// A number without the noise of its binary form; whole ones without a fraction.
pub(crate) fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53
    let rounded = if value.abs() < 1e9 { (value * 1e6).round() / 1e6 } else { value };
    #[expect(clippy::cast_possible_truncation, reason = "whole and at most 2^53")]
    if rounded.fract() == 0.0 && rounded.abs() <= EXACT { Value::from(rounded as i64) } else { Value::from(rounded) }
}

impl Answer {
    /// Name of the computed column.
    pub(crate) fn value_name(&self) -> String {
        self.field.as_ref().map_or_else(|| "count".to_owned(), |field| format!("{}_{field}", self.metric.name()))
    }

    /// `sum of amount by store where category = tea`.
    pub(crate) fn describe(&self) -> String {
        let mut text = match &self.field {
            Some(field) => format!("{} of {field}", self.metric.name()),
            None => "number of rows".to_owned(),
        };
        if !self.group_by.is_empty() {
            text.push_str(&format!(" by {}", self.group_by.join(" and ")));
        }
        if !self.filters.is_empty() {
            let filters: Vec<String> = self.filters.iter().map(Filter::describe).collect();
            text.push_str(&format!(" where {}", filters.join(" and ")));
        }
        text
    }

    pub(crate) fn into_result(self, table: &str) -> ToolResult {
        let value_name = self.value_name();
        let row = |group: &Group| {
            let mut row: Object = self.group_by.iter().cloned().zip(group.key.iter().cloned()).collect();
            row.insert(value_name.clone(), group.value.map_or(Value::Null, number));
            if self.field.is_some() {
                row.insert("rows".to_owned(), group.n_rows.into());
            }
            row
        };
        let rows: Vec<Object> = self.groups.iter().map(row).collect();
        let first = rows.first().map(|row| format!("; first: {}", Value::Object(row.clone()))).unwrap_or_default();
        let cut = if self.n_groups > rows.len() {
            format!(" ({} of {} groups)", rows.len(), self.n_groups)
        } else {
            String::new()
        };
        let message = format!("{} over {} rows of {table}{cut}{first}", self.describe(), self.n_rows);
        let filters: Vec<String> = self.filters.iter().map(Filter::describe).collect();
        let metadata = object! {
            "table": table, "metric": self.metric.name(), "field": self.field, "group_by": self.group_by,
            "filters": filters, "n_rows": self.n_rows, "n_groups": self.n_groups, "description": self.describe(),
        };
        ToolResult::new(rows).name(table).metadata(metadata).llm_message(shortened(&message))
    }
}
