//! Reading CSV and JSON Lines into rows, and finding such files in a folder. Shared by `tables` and `documents`; not a
//! plugin by itself.

mod csv;
mod folder;
mod jsonl;

pub use csv::csv_rows;
pub use folder::{DataFile, data_files};
pub use jsonl::jsonl_rows;

/// One row: column to value, in the order of the file.
pub type Row = serde_json::Map<String, serde_json::Value>;
