//! Finding and loading tables: files in the data folder, and results of earlier tools.

use std::collections::BTreeSet;
use std::path::Path;

use elysia_plugin::{Object, Output, ToolError, Value, environment};
use records::{DataFile, Row, csv_rows, data_files, jsonl_rows};

use crate::column;

#[cfg(not(test))]
const DATA: &str = "/data";
#[cfg(test)]
const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data");

/// Larger files would not fit into a plugin's memory once they are read.
const FILE_LIMIT: u64 = 8 << 20;

/// Rows with the same columns.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// "file" or "result".
    pub(crate) source: &'static str,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ColumnType {
    Number,
    Date,
    Boolean,
    Text,
    Other,
}

impl Table {
    pub(crate) fn new(name: &str, source: &'static str, rows: Vec<Row>) -> Table {
        let mut columns: Vec<String> = Vec::new();
        for row in &rows {
            for key in row.keys().filter(|key| *key != "_REF_ID") {
                if !columns.contains(key) {
                    columns.push(key.clone());
                }
            }
        }
        Table { name: name.to_owned(), source, columns, rows }
    }

    pub(crate) fn values<'a>(&'a self, column: &'a str) -> impl Iterator<Item = &'a Value> {
        self.rows.iter().filter_map(move |row| row.get(column)).filter(|value| !value.is_null())
    }

    /// What most values of a column are.
    pub(crate) fn column_type(&self, column: &str) -> ColumnType {
        let mut types = self.values(column).map(type_of);
        let first = types.next().unwrap_or(ColumnType::Text);
        if types.all(|other| other == first) { first } else { ColumnType::Text }
    }

    pub(crate) fn is_number(&self, column: &str) -> bool {
        self.column_type(column) == ColumnType::Number
    }

    pub(crate) fn number_columns(&self) -> Vec<&str> {
        self.columns.iter().map(String::as_str).filter(|column| self.is_number(column)).collect()
    }

    /// The different texts of a column, if they are few.
    pub(crate) fn distinct_texts<'a>(&'a self, column: &'a str, most: usize) -> Option<Vec<&'a str>> {
        let mut texts = BTreeSet::new();
        for value in self.values(column) {
            texts.insert(value.as_str()?);
            if texts.len() > most {
                return None;
            }
        }
        Some(texts.into_iter().collect())
    }

    /// `store (text: Harbour, Old Town)`.
    pub(crate) fn describe(&self, column: &str) -> String {
        let name = match self.column_type(column) {
            ColumnType::Number => "number",
            ColumnType::Date => "date",
            ColumnType::Boolean => "true or false",
            ColumnType::Other => "list or object",
            ColumnType::Text => match self.distinct_texts(column, 8).filter(|texts| texts.len() < self.rows.len()) {
                Some(texts) if !texts.is_empty() => return format!("{column} (text: {})", texts.join(", ")),
                _ => "text",
            },
        };
        format!("{column} ({name})")
    }

    /// The column a name means.
    pub(crate) fn column(&self, name: &str) -> Result<&str, ToolError> {
        column::find(name, &self.columns).ok_or_else(|| {
            ToolError::invalid_inputs(format!(
                "table `{}` has no column `{name}`: use one of {}",
                self.name,
                self.columns.join(", ")
            ))
        })
    }
}

fn type_of(value: &Value) -> ColumnType {
    match value {
        Value::Number(_) => ColumnType::Number,
        Value::Bool(_) => ColumnType::Boolean,
        Value::String(text) if is_date(text) => ColumnType::Date,
        Value::String(_) | Value::Null => ColumnType::Text,
        Value::Array(_) | Value::Object(_) => ColumnType::Other,
    }
}

/// `2025-03-01`, with or without a time after it.
pub(crate) fn is_date(text: &str) -> bool {
    let shape = |(i, c): (usize, char)| if i == 4 || i == 7 { c == '-' } else { c.is_ascii_digit() };
    text.chars().take(10).count() == 10 && text.chars().take(10).enumerate().all(shape)
}

/// The tables there are. Only names are known at first; contents are read when asked for.
pub(crate) struct Catalog {
    files: Vec<DataFile>,
    results: Vec<environment::Location>,
}

impl Catalog {
    /// Looks for files and results. Without files granted, results alone may do; that is said in a warning.
    pub(crate) fn open(out: &mut Output) -> Result<Catalog, ToolError> {
        let results: Vec<_> =
            environment::locations().into_iter().filter(|l| l.entries > 0 && !is_ours(&l.tool)).collect();
        let files = match data_files(Path::new(DATA), &["csv", "jsonl", "ndjson"]) {
            Ok(files) => files,
            Err(error) if results.is_empty() => return Err(not_granted(&error)),
            Err(error) => {
                out.warning(not_granted(&error).feedback);
                Vec::new()
            }
        };
        if files.is_empty() && results.is_empty() {
            return Err(ToolError::not_found(
                "there are no tables: the data folder has no CSV or JSONL file, and no tool has yielded a result yet",
            ));
        }
        Ok(Catalog { files, results })
    }

    /// Names of all tables: of files without their extension, of results as `tool/name`.
    pub(crate) fn names(&self) -> Vec<String> {
        let files = self.files.iter().map(|file| file.stem().to_owned());
        files.chain(self.results.iter().map(|l| format!("{}/{}", l.tool, l.name))).collect()
    }

    /// The table that a name means: any case, singular or plural, with or without extension; a result by its tool alone.
    pub(crate) fn find(&self, wanted: &str) -> Result<String, ToolError> {
        let names = self.names();
        let bare = wanted.rsplit_once('.').map_or(wanted, |(stem, _)| stem);
        let by_tool = || {
            names.iter().find(|name| name.split_once('/').is_some_and(|(tool, _)| tool == wanted)).map(String::as_str)
        };
        let found = column::find(wanted, &names).or_else(|| column::find(bare, &names)).or_else(by_tool);
        found.map(str::to_owned).ok_or_else(|| {
            ToolError::invalid_inputs(format!("there is no table `{wanted}`: use one of {}", names.join(", ")))
        })
    }

    pub(crate) fn load(&self, name: &str) -> Result<Table, ToolError> {
        if let Some(file) = self.files.iter().find(|file| file.stem() == name) {
            return load_file(file).map(|rows| Table::new(name, "file", rows));
        }
        let (tool, result) = name.split_once('/').unwrap_or((name, "default"));
        let entry = environment::latest::<Object>(tool, result)?;
        let entry = entry.ok_or_else(|| ToolError::not_found(format!("there is no result `{name}`")))?;
        Ok(Table::new(name, "result", entry.objects))
    }

    /// All tables that can be read.
    pub(crate) fn load_all(&self) -> Vec<Table> {
        self.names().iter().filter_map(|name| self.load(name).ok()).collect()
    }
}

/// Our own lists and charts are no data.
fn is_ours(tool: &str) -> bool {
    matches!(tool, "list_tables" | "chart")
}

fn not_granted(error: &std::io::Error) -> ToolError {
    ToolError::denied(format!(
        "this plugin cannot read its data folder `/data` ({error}): the operator grants one with `elysia-host plugin grant tables`"
    ))
}

fn load_file(file: &DataFile) -> Result<Vec<Row>, ToolError> {
    let in_file = |error: ToolError| error.during(&file.name);
    let size = std::fs::metadata(&file.path).map_err(|error| in_file(error.into()))?.len();
    if size > FILE_LIMIT {
        return Err(ToolError::failed(format!(
            "{}: {size} bytes, more than the {FILE_LIMIT} this tool reads",
            file.name
        )));
    }
    let text = std::fs::read_to_string(&file.path).map_err(|error| in_file(error.into()))?;
    match file.extension.as_str() {
        "csv" => Ok(csv_rows(&text)),
        _ => jsonl_rows(&text).map_err(|error| in_file(ToolError::failed(error))),
    }
}
