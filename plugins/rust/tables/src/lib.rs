//! Tables: `aggregate`, `list_tables` and `chart` over the files in `/data` and over earlier results.
//!
//! `table` finds and loads, `column` understands names, `infer` reads the question for what the agent left out,
//! `grouping` and `drawing` compute. The tools themselves are here, thin.

mod column;
mod drawing;
mod filter;
mod grouping;
mod infer;
mod table;
#[cfg(test)]
mod tests;

use elysia_plugin::{Object, Output, ToolError, ToolResult, Value, conversation, object, tool};

use filter::{Condition, Filter};
use grouping::{Metric, Order, Question};
use table::{Catalog, Table};

/// Counts rows or computes the sum, total, average (mean), median, minimum or maximum of a column of a table, for all
/// rows or grouped by another column. Choose it for questions about sales, revenue, amounts, quantities, prices and
/// other numbers: how many, how much, which one has the most or the least, top and bottom rankings, totals per group.
///
/// Answers one row per group, largest first: `{group, metric_field, rows}`. Everything but the question's own words can
/// be left out: a missing table, metric, column or group is taken from the user's question. Use `list_tables` to see
/// tables and columns.
#[tool(
    title = "Aggregate a table",
    effects = "reads",
    idempotent,
    may_end,
    status = "Aggregating…",
    examples = [
        "Which store sold the most?",
        "What is the total revenue per store?",
        "How many sales were there by category?",
        "What is the average price of the products in each category?",
        "top 5 products by quantity sold",
        "Which product sold the least?",
        "How much did the Station store sell in total?",
        "What was the highest amount of a single sale?",
        "the median amount of all sales",
    ]
)]
fn aggregate(
    /// Which table: the name of a file, such as `sales`, or an earlier result as `tool/name`. Left out: the table whose
    /// columns fit best.
    table: Option<String>,
    /// What to compute; `count` counts rows, the others need a column of numbers. Left out: taken from the question.
    metric: Option<Metric>,
    /// The column of numbers to compute over, such as `amount`, `quantity` or `price`. Left out: taken from the
    /// question.
    field: Option<String>,
    /// The column whose values make the groups, such as `store`, `product` or `category`; several with commas between
    /// them. Left out: taken from the question. `none`: one value over all rows.
    group_by: Option<String>,
    /// Only rows where this column…
    where_field: Option<String>,
    /// …compares like this…
    #[default(Condition::Equal)]
    where_op: Condition,
    /// …to this value, written as text. Dates are compared as `2025-03-01` or `2025-03`.
    where_value: Option<String>,
    /// More conditions; rows must meet all of them.
    filters: Option<Vec<Filter>>,
    /// How the groups are ordered.
    #[default(Order::Descending)]
    sort: Order,
    /// At most so many groups.
    #[default(20)]
    #[range(1..=500)]
    limit: u32,
    out: &mut Output,
) -> Result<(), ToolError> {
    let catalog = Catalog::open(out)?;
    let question = Question {
        table,
        metric,
        field,
        group_by,
        filters: filter::collect(where_field, where_op, where_value, filters)?,
        order: sort,
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
    };
    let (question, table) = infer::complete(question, &catalog, &conversation::prompt())?;
    let answer = grouping::run(&question, &table)?;
    out.result(answer.into_result(&table.name)).map(drop)
}

/// Lists the tables that can be aggregated or drawn: files and earlier results, with their columns, types, values and
/// number of rows. Choose it to see what data there is before asking about it.
#[tool(
    title = "List tables",
    effects = "reads",
    idempotent,
    may_end,
    examples = [
        "Which tables are there?",
        "What data do you have?",
        "list the tables and their columns",
        "what columns does the sales table have",
        "show me the available data files",
    ]
)]
fn list_tables(out: &mut Output) -> Result<(), ToolError> {
    let catalog = Catalog::open(out)?;
    let mut rows = Vec::new();
    for name in catalog.names() {
        match catalog.load(&name) {
            Ok(table) => rows.push(table_row(&table)),
            Err(error) => out.warning(format!("{name}: {error}")),
        }
    }
    let names: Vec<String> = catalog.names();
    out.result(ToolResult::new(rows).name("tables").llm_message(shortened(&format!("tables: {}", names.join(", ")))))
        .map(drop)
}

fn table_row(table: &Table) -> Object {
    let columns: Vec<Value> = table.columns.iter().map(|column| Value::from(table.describe(column))).collect();
    object! { "table": table.name, "source": table.source, "rows": table.rows.len(), "columns": columns }
}

/// Draws a chart of a table: bars or a line of a metric per group, a histogram of a column of numbers, or a scatter
/// plot of two columns of numbers. Choose it when a chart, plot, graph, diagram or visualisation is wanted.
#[tool(
    title = "Draw a chart",
    effects = "reads",
    idempotent,
    may_end,
    status = "Drawing…",
    examples = [
        "Draw a bar chart of the revenue per store",
        "plot the sales over time as a line",
        "show a histogram of the amounts",
        "visualise quantity by category",
        "make a scatter plot of price and cost",
        "graph the number of sales by date",
    ]
)]
fn chart(
    /// What kind of chart. Left out: taken from the question, else bars.
    kind: Option<drawing::Kind>,
    /// Which table: the name of a file or an earlier result as `tool/name`. Left out: the one whose columns fit best.
    table: Option<String>,
    /// The column along the horizontal axis: the groups of bars, the dates of a line, numbers for a scatter plot.
    x: Option<String>,
    /// The column of numbers to draw; left out: rows are counted.
    y: Option<String>,
    /// How the numbers of a group become one; not used by histograms and scatter plots. Left out: taken from the
    /// question, else `sum`.
    metric: Option<Metric>,
    /// A column whose values become series of their own.
    series: Option<String>,
    /// Only rows where this column…
    where_field: Option<String>,
    /// …compares like this…
    #[default(Condition::Equal)]
    where_op: Condition,
    /// …to this value, written as text.
    where_value: Option<String>,
    /// Above the chart.
    title: Option<String>,
    out: &mut Output,
) -> Result<(), ToolError> {
    let catalog = Catalog::open(out)?;
    let prompt = conversation::prompt();
    let question = Question {
        table,
        metric,
        field: y,
        group_by: x,
        filters: filter::collect(where_field, where_op, where_value, None)?,
        order: Order::Group,
        limit: drawing::POINTS,
    };
    let (question, table) = infer::complete(question, &catalog, &prompt)?;
    let kind = kind.unwrap_or_else(|| drawing::Kind::from_question(&prompt));
    let chart = drawing::draw(kind, &question, series.as_deref(), title, &table)?;
    out.result(chart.into_result(&table.name)).map(drop)
}

/// As much as the agent is told about a result, cut at a character.
fn shortened(text: &str) -> String {
    const LIMIT: usize = 480;
    let end = text.char_indices().map(|(i, c)| i.saturating_add(c.len_utf8())).take_while(|end| *end <= LIMIT).last();
    text.get(..end.unwrap_or(0)).unwrap_or_default().to_owned()
}

elysia_plugin::export!(aggregate, list_tables, chart);
