//! Reading the user's question for what the agent left out.
//!
//! A weak agent names a tool and little else; a strong one says everything. What is given always counts; what is
//! guessed is told in the result, since it names metric, column and group.

use elysia_plugin::ToolError;

use crate::column::{self, words};
use crate::filter::{Condition, Filter};
use crate::grouping::{Metric, Order, Question};
use crate::table::{Catalog, ColumnType, Table};

/// Words before the column that groups: "per store", "which product".
const GROUPING: [&str; 9] = ["per", "by", "each", "every", "which", "what", "among", "between", "across"];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Fills what is missing and loads the table.
pub(crate) fn complete(question: Question, catalog: &Catalog, prompt: &str) -> Result<(Question, Table), ToolError> {
    let spoken = words(prompt);
    let table = match question.table.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => catalog.load(&catalog.find(name)?)?,
        None => best_table(&question, catalog, &spoken)?,
    };
    let mut question = question;
    // A given metric is the sign of an agent that knows what it wants: then nothing is narrowed behind its back.
    let knows = question.metric.is_some();
    if question.field.as_deref().is_none_or(str::is_empty) {
        question.field = field(&question, &table, &spoken);
    }
    if question.metric.is_none() {
        question.metric = Some(metric(&spoken, question.field.is_some()));
        if question.order == Order::Descending && asks_for_least(&spoken) {
            question.order = Order::Ascending;
        }
    }
    if question.group_by.as_deref().is_none_or(str::is_empty) {
        question.group_by = group(&table, &spoken);
    }
    if !knows && question.filters.is_empty() {
        question.filters = filters(&table, prompt, question.group_by.as_deref());
    }
    Ok((question, table))
}

/// The table whose columns the question and the inputs name most; of equal ones the first, files before results.
fn best_table(question: &Question, catalog: &Catalog, spoken: &[String]) -> Result<Table, ToolError> {
    let inputs = [question.field.as_deref(), question.group_by.as_deref()];
    let inputs: Vec<&str> =
        inputs.into_iter().flatten().chain(question.filters.iter().map(|f| f.field.as_str())).collect();
    let score = |table: &Table| {
        let given = inputs.iter().filter(|name| column::find(name, &table.columns).is_some()).count();
        let named = table.columns.iter().filter(|name| is_spoken(name, spoken)).count();
        let itself = usize::from(words(&table.name).iter().any(|word| spoken.contains(word)));
        let sold = usize::from(
            spoken.iter().any(|word| word == "sold" || word == "sell")
                && column::find("quantity", &table.columns).is_some(),
        );
        (given.saturating_mul(4))
            .saturating_add(named)
            .saturating_add(itself.saturating_mul(2))
            .saturating_add(sold.saturating_mul(2))
    };
    let mut tables = catalog.load_all();
    let best = (0..tables.len()).rev().max_by_key(|i| tables.get(*i).map(score));
    match best {
        Some(best) => Ok(tables.swap_remove(best)),
        None => Err(ToolError::not_found(format!("no table can be read; there are {}", catalog.names().join(", ")))),
    }
}

fn is_spoken(column: &str, spoken: &[String]) -> bool {
    let column = words(column);
    !column.is_empty() && spoken.windows(column.len()).any(|window| window == column)
}

fn says(spoken: &[String], any: &[&str]) -> bool {
    spoken.iter().any(|word| any.contains(&word.as_str()))
}

fn metric(spoken: &[String], has_field: bool) -> Metric {
    let single = says(spoken, &["single", "individual", "one"]);
    if says(spoken, &["average", "mean", "typical", "averaged"]) {
        Metric::Mean
    } else if says(spoken, &["median", "middle"]) {
        Metric::Median
    } else if says(spoken, &["maximum", "max", "expensive", "priciest"])
        || (single && says(spoken, &["highest", "largest", "biggest"]))
    {
        Metric::Max
    } else if says(spoken, &["minimum", "min", "cheapest"]) || (single && says(spoken, &["lowest", "smallest"])) {
        Metric::Min
    } else if has_field {
        Metric::Sum
    } else {
        Metric::Count
    }
}

fn asks_for_least(spoken: &[String]) -> bool {
    says(spoken, &["least", "fewest", "lowest", "smallest", "worst", "bottom", "cheapest", "slowest"])
}

/// The column of numbers that is meant: named, or the usual one for the words of selling.
fn field(question: &Question, table: &Table, spoken: &[String]) -> Option<String> {
    if question.metric == Some(Metric::Count) {
        return None;
    }
    let numbers: Vec<String> = table.number_columns().into_iter().map(str::to_owned).collect();
    let named = numbers.iter().find(|column| is_spoken(column, spoken));
    let meant = |synonyms: &[&str], columns: &str| {
        if says(spoken, synonyms) { column::find(columns, &numbers) } else { None }
    };
    let found = named.map(String::as_str);
    let found = found.or_else(|| {
        meant(&["revenue", "turnover", "income", "earned", "earn", "made", "money", "worth", "much"], "amount")
    });
    let found = found.or_else(|| meant(&["expensive", "cheapest", "priciest", "cost"], "price"));
    // "How many sales" counts sales; "how many products were sold" adds quantities.
    let counts_rows = question.metric.is_none()
        && says(spoken, &["many", "number", "often"])
        && says(spoken, &["row", "sale", "order", "record", "entry", "transaction"]);
    if counts_rows {
        return found.map(str::to_owned);
    }
    let found = found.or_else(|| meant(&["sold", "sell", "bought", "unit", "piece", "popular"], "quantity"));
    let found = found.or_else(|| meant(&["sale", "best", "top", "total"], "amount"));
    let needed = matches!(question.metric, Some(metric) if metric != Metric::Count);
    let only = || {
        if needed && numbers.len() == 1 { numbers.first().map(String::as_str) } else { None }
    };
    found.or_else(only).map(str::to_owned)
}

/// The column named after a word that groups, else none.
fn group(table: &Table, spoken: &[String]) -> Option<String> {
    let texts: Vec<String> =
        table.columns.iter().filter(|c| table.column_type(c) != ColumnType::Number).cloned().collect();
    let after = |(i, word): (usize, &String)| {
        // "which of the stores", "by product category": the column stands within three words.
        let next = GROUPING.contains(&word.as_str()).then(|| spoken.iter().skip(i.saturating_add(1)).take(3))?;
        let next: Vec<String> = next.take_while(|word| !GROUPING.contains(&word.as_str())).cloned().collect();
        let exact = texts.iter().find(|column| is_spoken(column, &next)).map(String::as_str);
        exact.or_else(|| next.iter().find_map(|word| column::find(word, &texts))).map(str::to_owned)
    };
    let ranked = || {
        // "top 5 products", "the best store".
        let ranks =
            says(spoken, &["top", "best", "worst", "bottom", "most", "least", "popular", "cheapest", "ranking"]);
        let column = if ranks { texts.iter().find(|column| is_spoken(column, spoken)) } else { None };
        column.cloned()
    };
    spoken.iter().enumerate().find_map(after).or_else(ranked)
}

/// Values of text columns, months and years that the question names.
fn filters(table: &Table, prompt: &str, group_by: Option<&str>) -> Vec<Filter> {
    let padded = |text: &str| format!(" {} ", words(text).join(" "));
    let spoken = padded(prompt);
    let mut filters = Vec::new();
    for column in table.columns.iter().filter(|column| Some(column.as_str()) != group_by) {
        match table.column_type(column) {
            ColumnType::Text => {
                let texts = table.distinct_texts(column, 200).unwrap_or_default();
                let named = texts.into_iter().filter(|text| text.len() > 2 && spoken.contains(&padded(text)));
                // The longest: "Vegan Banana Bread" and not "Bread". A value that is also a word for a column is not one.
                let named =
                    named.filter(|text| column::find(text, &table.columns).is_none()).max_by_key(|text| text.len());
                filters.extend(named.map(|value| Filter {
                    field: column.clone(),
                    op: Condition::Equal,
                    value: value.to_owned(),
                }));
            }
            ColumnType::Date => {
                let value = month(&words(prompt));
                filters.extend(value.map(|part| Filter {
                    field: column.clone(),
                    op: Condition::Contains,
                    value: part,
                }));
            }
            ColumnType::Number | ColumnType::Boolean | ColumnType::Other => {}
        }
    }
    filters
}

/// "in March 2025" → `2025-03-`, "in March" → `-03-`. Only after "in", since "may" is mostly a verb.
fn month(spoken: &[String]) -> Option<String> {
    let (at, number) = spoken.windows(2).enumerate().find_map(|(i, pair)| match pair {
        [before, name] if matches!(before.as_str(), "in" | "of" | "during" | "for") => {
            MONTHS.iter().position(|month| month == name).map(|number| (i.saturating_add(2), number.saturating_add(1)))
        }
        _ => None,
    })?;
    let year = spoken.get(at).filter(|year| year.len() == 4 && year.bytes().all(|b| b.is_ascii_digit()));
    Some(format!("{}-{number:02}-", year.map(String::as_str).unwrap_or_default()))
}
