//! All documents of the data folder.

use std::collections::BTreeSet;
use std::path::Path;

use elysia_plugin::{Output, ToolError};
use records::{DataFile, csv_rows, data_files, jsonl_rows};

use crate::document::Document;
use crate::search;

#[cfg(not(test))]
const DATA: &str = "/data";
#[cfg(test)]
const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data");

/// All files together; what is past it is left out, with a warning.
const TOTAL_LIMIT: u64 = 16 << 20;

/// The documents there are, by source.
#[derive(Debug)]
pub(crate) struct Library {
    documents: Vec<Document>,
}

impl Library {
    /// Reads the folder. A file that cannot be read is a warning, no folder at all an error.
    pub(crate) fn open(out: &mut Output) -> Result<Library, ToolError> {
        let files = data_files(Path::new(DATA), &["md", "markdown", "txt", "csv", "jsonl", "ndjson"]).map_err(|error| {
            ToolError::denied(format!(
                "this plugin cannot read its data folder `/data` ({error}): the operator grants one with `elysia-host plugin grant documents`"
            ))
        })?;
        let (mut documents, mut left) = (Vec::new(), TOTAL_LIMIT);
        for file in files {
            let size = std::fs::metadata(&file.path).map_or(0, |metadata| metadata.len());
            match left.checked_sub(size) {
                Some(rest) => left = rest,
                None => {
                    out.warning(format!(
                        "{} was left out: this tool reads {} MiB at most",
                        file.name,
                        TOTAL_LIMIT >> 20
                    ));
                    continue;
                }
            }
            match read(&file) {
                Ok(more) => documents.extend(more),
                Err(error) => out.warning(format!("{} was left out: {error}", file.name)),
            }
        }
        if documents.is_empty() {
            return Err(ToolError::not_found("the data folder has no documents: Markdown, text, CSV or JSON Lines"));
        }
        Ok(Library { documents })
    }

    /// Documents of a category; all of them without one.
    pub(crate) fn of_category(&self, category: Option<&str>) -> Result<Vec<&Document>, ToolError> {
        let wanted = category.map(str::trim).filter(|category| !category.is_empty());
        let Some(wanted) = wanted else {
            return Ok(self.documents.iter().collect());
        };
        let key = search::terms(wanted);
        let is_it =
            |document: &&Document| document.category.as_ref().is_some_and(|category| search::terms(category) == key);
        let found: Vec<&Document> = self.documents.iter().filter(is_it).collect();
        if found.is_empty() {
            let there = self.categories().join(", ");
            return Err(ToolError::invalid_inputs(format!(
                "there is no category `{wanted}`: use one of {there}, or none"
            )));
        }
        Ok(found)
    }

    pub(crate) fn categories(&self) -> Vec<&str> {
        let categories: BTreeSet<&str> =
            self.documents.iter().filter_map(|document| document.category.as_deref()).collect();
        categories.into_iter().collect()
    }

    /// The document with this uuid, source or title; a title may be incomplete if only one fits.
    pub(crate) fn find(&self, wanted: &str) -> Result<&Document, ToolError> {
        let wanted = wanted.trim();
        let is_it = |document: &&Document| {
            let file = document.source.rsplit('/').next().unwrap_or_default();
            let names = [document.uuid.as_str(), &document.source, file, &document.title];
            names.iter().any(|name| name.eq_ignore_ascii_case(wanted))
        };
        if let Some(found) = self.documents.iter().find(is_it) {
            return Ok(found);
        }
        let terms = search::terms(wanted);
        let fits = |document: &&Document| {
            let title = search::terms(&format!("{} {}", document.title, document.source));
            !terms.is_empty() && terms.iter().all(|term| title.contains(term))
        };
        let fitting: Vec<&Document> = self.documents.iter().filter(fits).collect();
        match fitting.as_slice() {
            [only] => Ok(only),
            [] => Err(ToolError::not_found(format!(
                "there is no document `{wanted}`: find one with search_documents, then give its title or uuid"
            ))),
            several => {
                let titles: Vec<&str> = several.iter().take(10).map(|document| document.title.as_str()).collect();
                Err(ToolError::invalid_inputs(format!(
                    "`{wanted}` may be one of {}: give the whole title",
                    titles.join(", ")
                )))
            }
        }
    }
}

fn read(file: &DataFile) -> Result<Vec<Document>, ToolError> {
    let text = std::fs::read_to_string(&file.path)?;
    let rows = match file.extension.as_str() {
        "csv" => csv_rows(&text),
        "jsonl" | "ndjson" => jsonl_rows(&text)?,
        // The read-me of a folder is about the folder.
        _ if file.stem().eq_ignore_ascii_case("readme") => return Ok(Vec::new()),
        _ => return Ok(vec![Document::from_markdown(&file.name, &text)]),
    };
    let numbered = rows.iter().zip(1_usize..);
    let documents: Vec<Document> =
        numbered.filter_map(|(row, number)| Document::from_row(&file.name, number, row)).collect();
    Ok(if documents.is_empty() && !rows.is_empty() { vec![Document::from_table(&file.name, &rows)] } else { documents })
}
