//! Documents: `search_documents`, `read_document` and `list_documents` over the files in `/data`.
//!
//! `library` turns files into documents, `search` ranks them (BM25), `passages` picks the sentences to show. The tools
//! themselves are here, thin. Everything is read anew at each call: a folder of a few megabytes takes milliseconds.

mod document;
mod library;
mod passages;
mod search;
#[cfg(test)]
mod tests;

use elysia_plugin::{Object, Output, ToolError, ToolResult, object, tool};

use document::Document;
use library::Library;
use search::Index;

/// What a front end shows of a document: its own field, ours.
const MAPPING: [(&str, &str); 6] = [
    ("title", "title"),
    ("author", "author"),
    ("date", "date"),
    ("category", "category"),
    ("content", "content"),
    ("chunk_spans", "chunk_spans"),
];

/// Searches the documents: handbooks, policies, rules, recipes, guides, FAQ, product descriptions and other texts.
/// Choose it to find out what is written somewhere, to look something up, or to answer a question about rules, how
/// something is done, opening hours, refunds, allergens and other facts in texts.
///
/// Answers the best documents first, each with the sentences that fit. Use a few telling words as the query. If nothing
/// fits, try other words, or `list_documents`.
#[tool(
    title = "Search documents",
    effects = "reads",
    idempotent,
    may_end,
    status = "Searching documents…",
    examples = [
        "What is our refund policy?",
        "search the documents for oat milk",
        "When does the Station store open on Sunday?",
        "How long does cold brew have to steep?",
        "find what the handbook says about staff discount",
        "how many days of holiday do employees get",
        "Are dogs allowed?",
        "which documents mention allergens",
    ]
)]
fn search_documents(
    /// What to look for: a question or a few words.
    query: String,
    /// Only documents of this category, such as `policies` or `recipes`.
    category: Option<String>,
    /// At most so many documents.
    #[default(5)]
    #[range(1..=50)]
    limit: u32,
    out: &mut Output,
) -> Result<(), ToolError> {
    let library = Library::open(out)?;
    let documents = library.of_category(category.as_deref())?;
    let terms = search::terms(&query);
    if terms.is_empty() {
        return Err(ToolError::invalid_inputs(
            "the query has no word to search for: name the subject, such as `refund receipt`",
        ));
    }
    let index = Index::new(&documents);
    let found = index.search(&terms, usize::try_from(limit).unwrap_or(usize::MAX));
    let objects: Vec<Object> = found.iter().map(|hit| hit_object(hit.document, &terms, hit.score)).collect();
    let message = match found.first() {
        Some(best) => format!("{} of {} documents fit; best: {}", found.len(), documents.len(), best.document.title),
        None => format!("none of {} documents has any of these words: try others, or list_documents", documents.len()),
    };
    let metadata =
        object! { "query": query, "category": category, "n_searched": documents.len(), "n_found": found.len() };
    let result = ToolResult::new(objects).name("documents").payload_type("document").mapping(MAPPING);
    out.result(result.metadata(metadata).llm_message(message)).map(drop)
}

fn hit_object(document: &Document, terms: &[String], score: f64) -> Object {
    let shown = passages::shown(&document.content, terms);
    let spans: Vec<Object> =
        shown.spans.iter().map(|(start, end)| object! { "start": start, "end": end, "uuid": document.uuid }).collect();
    let mut object = document.to_object(&shown.content);
    object.insert("highlights".to_owned(), shown.highlights.into());
    object.insert("score".to_owned(), ((score * 1000.0).round() / 1000.0).into());
    object.extend(object! { "chunk_spans": spans });
    object
}

/// Reads one whole document, given its title, file name or uuid. Choose it after `search_documents` or
/// `list_documents`, when the full text is wanted.
#[tool(
    title = "Read a document",
    effects = "reads",
    idempotent,
    may_end,
    examples = [
        "read the document Refunds and returns",
        "show me the whole cleaning plan",
        "open handbook/opening-hours.md",
        "give me the full text of the staff discount page",
    ]
)]
fn read_document(
    /// Title, file name such as `handbook/refunds.md`, or uuid.
    document: String,
    out: &mut Output,
) -> Result<(), ToolError> {
    let library = Library::open(out)?;
    let found = library.find(&document)?;
    let result =
        ToolResult::new([found.to_object(&found.content)]).name("documents").payload_type("document").mapping(MAPPING);
    out.result(result.metadata(object! { "source": found.source })).map(drop)
}

/// Lists all documents with title, category, author, date and length. Choose it to see which documents, texts or files
/// there are.
#[tool(
    title = "List documents",
    effects = "reads",
    idempotent,
    may_end,
    examples = [
        "Which documents are there?",
        "list all documents",
        "show the documents about policies",
        "what can I read in the handbook",
    ]
)]
fn list_documents(
    /// Only documents of this category.
    category: Option<String>,
    /// At most so many.
    #[default(100)]
    #[range(1..=1000)]
    limit: u32,
    out: &mut Output,
) -> Result<(), ToolError> {
    let library = Library::open(out)?;
    let documents = library.of_category(category.as_deref())?;
    let listed: Vec<Object> =
        documents.iter().take(usize::try_from(limit).unwrap_or(usize::MAX)).map(|d| d.to_entry()).collect();
    let message =
        format!("{} of {} documents; categories: {}", listed.len(), documents.len(), library.categories().join(", "));
    out.result(ToolResult::new(listed).name("list").llm_message(message.chars().take(240).collect::<String>()))
        .map(drop)
}

elysia_plugin::export!(search_documents, read_document, list_documents);
