//! Charts in the shapes the front end draws: bars, histograms, lines and scatter plots.

use elysia_plugin::{Object, ToolError, ToolInput, ToolResult, Value, json, object};
use records::Row;

use crate::column::words;
use crate::filter::{self, text};
use crate::grouping::{self, Answer, Order, Question, number};
use crate::shortened;
use crate::table::{ColumnType, Table};

/// More points than this are not readable.
pub(crate) const POINTS: usize = 500;
/// More bars than this are not either.
const BARS: usize = 30;
const SERIES: usize = 8;

/// What kind of chart.
#[derive(ToolInput, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// One bar per group.
    Bar,
    /// A metric along dates or numbers.
    Line,
    /// How the values of a column are spread.
    Histogram,
    /// One point per row.
    Scatter,
}

impl Kind {
    pub(crate) fn from_question(prompt: &str) -> Kind {
        let spoken = words(prompt);
        let says = |any: &[&str]| spoken.iter().any(|word| any.contains(&word.as_str()));
        if says(&["histogram", "distribution", "spread"]) {
            Kind::Histogram
        } else if says(&["scatter", "correlation", "against", "versus"]) {
            Kind::Scatter
        } else if says(&["line", "time", "trend", "development", "day", "date", "daily"]) {
            Kind::Line
        } else {
            Kind::Bar
        }
    }
}

/// A chart ready to be yielded.
pub(crate) struct Chart {
    payload_type: &'static str,
    object: Object,
    message: String,
}

impl Chart {
    pub(crate) fn into_result(self, table: &str) -> ToolResult {
        let metadata = object! { "table": table, "chart": self.payload_type };
        ToolResult::new([self.object])
            .name(table)
            .payload_type(self.payload_type)
            .metadata(metadata)
            .llm_message(shortened(&self.message))
    }
}

pub(crate) fn draw(
    kind: Kind,
    question: &Question,
    series: Option<&str>,
    title: Option<String>,
    table: &Table,
) -> Result<Chart, ToolError> {
    let chart = match kind {
        Kind::Bar => bars(question, series, table),
        Kind::Line => line(question, series, table),
        Kind::Histogram => histogram(question, series, table),
        Kind::Scatter => scatter(question, series, table),
    };
    let mut chart = chart?;
    if let Some(title) = title {
        chart.object.insert("title".to_owned(), title.into());
    }
    Ok(chart)
}

/// The aggregated answer with the series as a second group.
fn aggregated(
    question: &Question,
    x: &str,
    series: Option<&str>,
    order: Order,
    table: &Table,
) -> Result<Answer, ToolError> {
    let group_by = match series {
        Some(series) => format!("{x},{}", table.column(series)?),
        None => x.to_owned(),
    };
    grouping::run(&Question { group_by: Some(group_by), order, limit: usize::MAX, ..question.clone() }, table)
}

fn bars(question: &Question, series: Option<&str>, table: &Table) -> Result<Chart, ToolError> {
    let x =
        x_column(question, table, |kind| matches!(kind, ColumnType::Text | ColumnType::Boolean | ColumnType::Date))?;
    let is_date = table.column_type(&x) == ColumnType::Date;
    let answer = aggregated(question, &x, series, if is_date { Order::Group } else { Order::Descending }, table)?;
    let labels = firsts(&answer, BARS);
    let groups = series_of(&answer);
    let values = |name: &str| -> Vec<Value> { labels.iter().map(|label| value_at(&answer, label, name)).collect() };
    let y_values: Object = groups.iter().map(|name| (name.clone(), Value::Array(values(name)))).collect();
    let cut = if labels.len() == BARS { format!(" (the first {BARS})") } else { String::new() };
    Ok(Chart {
        payload_type: "bar_chart",
        message: format!("bar chart: {} in {}{cut}, {} bars", answer.describe(), table.name, labels.len()),
        object: object! {
            "title": capital(&answer.describe()), "description": format!("From {}{cut}", table.name),
            "x_axis_label": x, "y_axis_label": answer.value_name(),
            "data": {"x_labels": labels, "y_values": y_values},
        },
    })
}

fn line(question: &Question, series: Option<&str>, table: &Table) -> Result<Chart, ToolError> {
    let x = x_column(question, table, |kind| kind == ColumnType::Date)?;
    let answer = aggregated(question, &x, series, Order::Group, table)?;
    let labels = firsts(&answer, POINTS);
    let axis = |name: &String| {
        let point = |label: &String| json!({"value": value_at(&answer, label, name), "label": label});
        json!({"label": name, "kind": "line", "data_points": labels.iter().map(point).collect::<Vec<_>>()})
    };
    let y_axis: Vec<Value> = series_of(&answer).iter().map(axis).collect();
    let x_axis: Vec<Value> = labels.iter().map(|label| json!({"value": label, "label": label})).collect();
    Ok(Chart {
        payload_type: "scatter_or_line_chart",
        message: format!("line chart: {} in {}, {} points", answer.describe(), table.name, labels.len()),
        object: object! {
            "title": capital(&answer.describe()), "description": format!("From {}", table.name),
            "x_axis_label": x, "y_axis_label": answer.value_name(),
            "data": {"x_axis": x_axis, "y_axis": y_axis, "normalize_y_axis": false},
        },
    })
}

fn histogram(question: &Question, series: Option<&str>, table: &Table) -> Result<Chart, ToolError> {
    let y = y_column(question, table)?;
    let series = series.map(|series| table.column(series)).transpose()?;
    let rows = filter::matching(table, &question.filters)?;
    let mut groups = Object::new();
    for row in rows.iter().filter(|row| row.get(&y).is_some_and(Value::is_number)) {
        let name = series.map_or_else(|| y.clone(), |series| row.get(series).map(text).unwrap_or_default());
        let group = groups.entry(name).or_insert_with(|| json!({"distribution": []}));
        if let (Some(Value::Array(values)), Some(value)) = (group.get_mut("distribution"), row.get(&y)) {
            values.push(value.clone());
        }
    }
    Ok(Chart {
        payload_type: "histogram_chart",
        message: format!("histogram of {y} in {}, {} rows", table.name, rows.len()),
        object: object! {
            "title": format!("Distribution of {y}"), "description": format!("From {}", table.name), "data": groups,
        },
    })
}

fn scatter(question: &Question, series: Option<&str>, table: &Table) -> Result<Chart, ToolError> {
    let y = y_column(question, table)?;
    let given = question.group_by.as_deref().map(|x| table.column(x)).transpose()?;
    let other = || table.number_columns().into_iter().find(|column| *column != y);
    let x = given.filter(|x| table.is_number(x)).or_else(other).map(str::to_owned);
    let x =
        x.ok_or_else(|| ToolError::invalid_inputs("a scatter plot needs two columns of numbers: try `histogram`"))?;
    let series = series.map(|series| table.column(series)).transpose()?;
    let rows: Vec<&Row> = filter::matching(table, &question.filters)?.into_iter().take(POINTS).collect();
    let mut names: Vec<String> = Vec::new();
    let name_of = |row: &Row| series.map_or_else(|| y.clone(), |series| row.get(series).map(text).unwrap_or_default());
    for row in &rows {
        let name = name_of(row);
        if !names.contains(&name) && names.len() < SERIES {
            names.push(name);
        }
    }
    let label = table.columns.iter().find(|column| table.column_type(column) == ColumnType::Text);
    let named = |row: &Row| label.and_then(|label| row.get(label)).map(text).unwrap_or_default();
    let x_axis: Vec<Value> = rows.iter().map(|row| json!({"value": row.get(&x), "label": named(row)})).collect();
    let axis = |name: &String| {
        let point =
            |row: &&Row| json!({"value": if name_of(row) == *name { row.get(&y) } else { None }, "label": named(row)});
        json!({"label": name, "kind": "scatter", "data_points": rows.iter().map(point).collect::<Vec<_>>()})
    };
    let y_axis: Vec<Value> = names.iter().map(axis).collect();
    Ok(Chart {
        payload_type: "scatter_or_line_chart",
        message: format!("scatter plot of {y} over {x} in {}, {} points", table.name, rows.len()),
        object: object! {
            "title": format!("{} over {x}", capital(&y)), "description": format!("From {}", table.name),
            "x_axis_label": x, "y_axis_label": y,
            "data": {"x_axis": x_axis, "y_axis": y_axis, "normalize_y_axis": false},
        },
    })
}

/// The column along the axis: as asked, else the first of a fitting type.
fn x_column(question: &Question, table: &Table, fits: impl Fn(ColumnType) -> bool) -> Result<String, ToolError> {
    let given = question.group_by.as_deref().filter(|x| !x.is_empty() && *x != "none");
    if let Some(given) = given {
        return table.column(given).map(str::to_owned);
    }
    let found = table.columns.iter().find(|column| fits(table.column_type(column))).cloned();
    found.ok_or_else(|| {
        ToolError::invalid_inputs(format!(
            "say which column `x` goes along the axis: `{}` has {}",
            table.name,
            table.columns.join(", ")
        ))
    })
}

fn y_column(question: &Question, table: &Table) -> Result<String, ToolError> {
    let numbers = table.number_columns();
    let column = match question.field.as_deref().filter(|y| !y.is_empty()) {
        Some(given) => Some(table.column(given)?),
        None => numbers.last().copied(),
    };
    let column = column.filter(|column| numbers.contains(column)).map(str::to_owned);
    column.ok_or_else(|| {
        ToolError::invalid_inputs(format!(
            "`y` must be a column of numbers: `{}` has {}",
            table.name,
            numbers.join(", ")
        ))
    })
}

/// The first group of each answer, once each, in order.
fn firsts(answer: &Answer, most: usize) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for label in answer.groups.iter().filter_map(|group| group.key.first()).map(text) {
        if !labels.contains(&label) && labels.len() < most {
            labels.push(label);
        }
    }
    labels
}

/// The names of the series: the second groups, or the value's own name.
fn series_of(answer: &Answer) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for group in &answer.groups {
        let name = group.key.get(1).map_or_else(|| answer.value_name(), text);
        if !names.contains(&name) && names.len() < SERIES {
            names.push(name);
        }
    }
    names
}

/// The value of a label in a series; nothing there is 0 for a sum of nothing.
fn value_at(answer: &Answer, label: &str, series: &str) -> Value {
    let is_it = |group: &&grouping::Group| {
        let in_series = group.key.get(1).is_none_or(|name| text(name) == series);
        in_series && group.key.first().is_some_and(|first| text(first) == label)
    };
    answer.groups.iter().find(is_it).and_then(|group| group.value).map_or_else(|| 0.into(), number)
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}
