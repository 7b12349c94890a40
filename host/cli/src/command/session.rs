//! `session`: list, show, export, import, trim, delete.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use elysia_host::{Host, HostError, SessionDocument, SessionRecord};
use elysia_types::{Role, SessionId, SizeInBytes, clean, clean_line};

use super::Context;
use crate::args::{DataFormat, Session, SessionExport, SessionImport, SessionList, SessionShow, SessionTrim};
use crate::complaint::{Complaint, USAGE};
use crate::printer::{Printer, reason};
use crate::settings::Need;
use crate::table;

/// Largest document that is read.
const LONGEST: u64 = 1024 * 1024 * 1024;

pub(super) async fn run(context: &Context<'_>, command: Session) -> Result<u8, Complaint> {
    let settings = context.settings(&context.flags(), Need::Store)?;
    let host = Host::open(settings.host).await?;
    match command {
        Session::List(args) => list(context.printer, &host, &args).await?,
        Session::Show(args) => show(context.printer, &host, &args).await?,
        Session::Export(args) => export(context.printer, &host, &args).await?,
        Session::Import(args) => import(context.printer, &host, &args).await?,
        Session::Trim(args) => trim(context.printer, &host, &args).await?,
        Session::Delete(args) => {
            if !host.store().await?.delete(&args.id).await? {
                return Err(HostError::UnknownSession(args.id).into());
            }
            context.printer.note(&format!("session {} is deleted", args.id));
        }
    }
    Ok(0)
}

async fn list(printer: &Printer, host: &Host, args: &SessionList) -> Result<(), Complaint> {
    let sessions = host.store().await?.list().await?;
    if args.output == DataFormat::Json {
        return printer.json(&sessions);
    }
    if sessions.is_empty() {
        printer.note("there are no sessions yet");
        return Ok(());
    }
    let rows: Vec<Vec<String>> = sessions
        .iter()
        .map(|session| {
            vec![
                session.id.to_string(),
                minute(&session.updated_at),
                session.n_queries.to_string(),
                session.last_status.map(|status| status.to_string()).unwrap_or_default(),
                session.title.as_deref().map(clean_line).unwrap_or_default(),
            ]
        })
        .collect();
    printer.line(&table::list(&["SESSION", "USED", "QUERIES", "LAST", "FIRST QUERY"], &rows, printer.width()))
}

/// A time stamp down to the minute, in UTC.
fn minute(stamp: &str) -> String {
    match stamp.get(..16) {
        Some(minute) => format!("{}Z", minute.replace('T', " ")),
        None => stamp.to_owned(),
    }
}

async fn show(printer: &Printer, host: &Host, args: &SessionShow) -> Result<(), Complaint> {
    if args.output == DataFormat::Json {
        return printer.json(&document(host, &args.id).await?);
    }
    let record = host.store().await?.load(&args.id).await?;
    let record = record.ok_or_else(|| HostError::UnknownSession(args.id.clone()))?;
    describe(printer, &record)
}

fn describe(printer: &Printer, record: &SessionRecord) -> Result<(), Complaint> {
    printer.heading(&format!("session {}", record.id))?;
    printer.line(&format!("created {}, used {}", minute(&record.created_at), minute(&record.updated_at)))?;
    for message in &record.messages {
        let who = match message.role {
            Role::User => "you",
            Role::Assistant => "agent",
        };
        printer.line("")?;
        printer.heading(&format!("{who}:"))?;
        printer.line(&clean(&message.text))?;
    }
    let places: Vec<Vec<String>> = record
        .locations
        .iter()
        .map(|place| {
            let here = |entry: &&elysia_types::StoredEntry| entry.tool == place.tool && entry.name == place.name;
            let entries = record.entries.iter().filter(here).count();
            let objects: usize = record.entries.iter().filter(here).map(|entry| entry.objects.len()).sum();
            vec![place.tool.to_string(), clean_line(place.name.as_str()), entries.to_string(), objects.to_string()]
        })
        .collect();
    if !places.is_empty() {
        printer.line("")?;
        printer.heading("environment:")?;
        printer.line(&table::list(&["TOOL", "NAME", "ENTRIES", "OBJECTS"], &places, printer.width()))?;
    }
    let unfinished = record.queries.iter().filter(|query| query.status.as_str() != "completed");
    for query in unfinished {
        printer.line(&format!("query {} is {}", query.id, query.status))?;
    }
    Ok(())
}

async fn document(host: &Host, id: &SessionId) -> Result<SessionDocument, Complaint> {
    let document = host.store().await?.export(id).await?;
    document.ok_or_else(|| HostError::UnknownSession(id.clone()).into())
}

async fn export(printer: &Printer, host: &Host, args: &SessionExport) -> Result<(), Complaint> {
    let text = document(host, &args.id).await?.to_text();
    match args.file.as_deref() {
        None => printer.text(&text),
        Some(path) if path == Path::new("-") => printer.text(&text),
        Some(path) => {
            let shown = clean_line(&path.display().to_string());
            replace(path, text.as_bytes()).map_err(|e| {
                Complaint::failed(format!("`{shown}` cannot be written: {}", reason(&e)))
                    .hint("name another file, or none to write to standard output")
            })?;
            printer.note(&format!("session {} is written to {shown}", args.id));
            Ok(())
        }
    }
}

/// Writes a file whole or not at all; readable by the user alone, for conversations are private.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.exists() && !path.is_file() {
        // A pipe or a device cannot be replaced, only written to.
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let fresh = path.with_file_name(name);
    let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&fresh, path)
    });
    if written.is_err() {
        // What is half written is of no use; when it cannot be removed the error already says why.
        let _ = std::fs::remove_file(&fresh);
    }
    written
}

async fn import(printer: &Printer, host: &Host, args: &SessionImport) -> Result<(), Complaint> {
    let shown = clean_line(&args.file.display().to_string());
    let unreadable = |why: &str| {
        Complaint::usage(format!("`{shown}` cannot be read: {why}"))
            .hint("name a file written by `elysia-host session export`")
    };
    let mut bytes = Vec::new();
    let source: io::Result<Box<dyn io::Read>> = if args.file == Path::new("-") {
        Ok(Box::new(io::stdin()))
    } else {
        std::fs::File::open(&args.file).map(|file| Box::new(file) as Box<dyn io::Read>)
    };
    source.and_then(|source| source.take(LONGEST + 1).read_to_end(&mut bytes)).map_err(|e| unreadable(&reason(&e)))?;
    if bytes.len() as u64 > LONGEST {
        return Err(unreadable(&format!("it is over {}", SizeInBytes(LONGEST))));
    }
    let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8 text"))?;
    let given = SessionDocument::parse(&text).map_err(|e| Complaint { exit: USAGE, ..e.into() })?;
    let wanted = given.id.clone();
    let id = host.store().await?.import(given).await?;
    if id != wanted {
        printer.note(&format!("there is a session {wanted} already; this one has a new id"));
    }
    printer.line(id.as_str())
}

async fn trim(printer: &Printer, host: &Host, args: &SessionTrim) -> Result<(), Complaint> {
    let done = host.trim_session(&args.id, args.keep).await?;
    let entries = |n: usize| {
        if n == 1 { "1 entry".to_owned() } else { format!("{n} entries") }
    };
    printer.line(&format!(
        "dropped {}; {} with {} left",
        entries(done.dropped),
        entries(done.left),
        SizeInBytes(done.bytes)
    ))
}
