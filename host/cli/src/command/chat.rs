//! `chat`: question after question in one session.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};
use std::path::PathBuf;

use elysia_host::{Host, QueryOptions, Session};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};

use super::{Context, choice};
use crate::args::{Chat, EventFormat};
use crate::complaint::Complaint;
use crate::interrupt::Interrupt;
use crate::printer::reason;
use crate::settings::{Flags, Need};
use crate::view::{Kind, View};

const HISTORY: &str = "chat-history.txt";
const HELP: &str = "\
/tree   show the decision tree
/quit   leave; so does Ctrl-D
/help   this
Ctrl-C stops the running question";

pub(super) async fn run(context: &Context<'_>, args: Chat) -> Result<u8, Complaint> {
    let flags = Flags { model: args.talk.model.clone(), forget: args.talk.no_save, ..context.flags() };
    let settings = context.settings(&flags, Need::Model)?;
    let mut interrupt = Interrupt::watch()?;
    let host = context.open(&settings, &mut interrupt).await?;
    let session = interrupt.or(host.session(choice(&args.talk))).await?;
    let limit = settings.longest_query();
    let mut lines = Lines::open(settings.host.state_dir.join(HISTORY), limit)?;
    if let Lines::Terminal { .. } = lines {
        context.printer.say(&format!("session {}; /help lists what else can be typed", session.id()));
    }
    let mut talk = Conversation { context, host, session, interrupt, timeout: args.timeout.map(|span| span.0) };
    let mut view = View::new(context.printer, EventFormat::Text, Kind::Question);
    let mut last = 0;
    loop {
        // Reading blocks this thread alone; nothing else of the chat goes on meanwhile.
        let line = match tokio::task::block_in_place(|| lines.next()) {
            Line::End => break,
            Line::Nothing => continue,
            Line::Unreadable(why) => {
                context.printer.complain(&Complaint::usage(why));
                last = crate::complaint::USAGE;
                continue;
            }
            Line::Text(line) => line,
        };
        match line.trim() {
            "" => (),
            "/quit" | "/exit" => break,
            "/help" => context.printer.line(HELP)?,
            "/tree" => context.printer.line(talk.host.tree().render().trim_end())?,
            word if word.starts_with('/') && !word.contains(char::is_whitespace) => {
                context
                    .printer
                    .complain(&Complaint::usage(format!("`{word}` is not a command of the chat")).hint("/help"));
            }
            query => last = talk.ask(query, &mut view).await?,
        }
    }
    lines.keep_history();
    Ok(last)
}

struct Conversation<'a> {
    context: &'a Context<'a>,
    host: Host,
    session: Session,
    interrupt: Interrupt,
    timeout: Option<std::time::Duration>,
}

impl Conversation<'_> {
    /// Asks one question. What is wrong with one question does not end the chat.
    async fn ask(&mut self, query: &str, view: &mut View<'_>) -> Result<u8, Complaint> {
        let options = QueryOptions { timeout: self.timeout, can_approve: self.context.printer.can_ask() };
        match self.session.ask(query, options).await {
            Ok(handle) => view.follow(handle, &mut self.interrupt).await,
            Err(error) => {
                let complaint = Complaint::from(error);
                self.context.printer.complain(&complaint);
                Ok(complaint.exit)
            }
        }
    }
}

/// What came from the user.
enum Line {
    Text(String),
    /// An interrupted line.
    Nothing,
    /// Not text, or too long.
    Unreadable(String),
    End,
}

/// Where lines come from.
enum Lines {
    /// A terminal, with editing.
    Terminal { editor: Box<Editor<(), FileHistory>>, history: PathBuf },
    /// A file or pipe; lines of more than `limit` bytes are refused.
    Plain { limit: u64 },
}

impl Lines {
    fn open(history: PathBuf, limit: u64) -> Result<Self, Complaint> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Ok(Self::Plain { limit });
        }
        let failed = |e: ReadlineError| Complaint::failed(format!("the terminal cannot be used: {e}"));
        let config = Config::builder().auto_add_history(true).build();
        let mut editor = Editor::<(), FileHistory>::with_config(config).map_err(failed)?;
        // The first chat has no history yet.
        let _ = editor.load_history(&history);
        Ok(Self::Terminal { editor: Box::new(editor), history })
    }

    fn next(&mut self) -> Line {
        match self {
            Self::Plain { limit } => plain(*limit),
            Self::Terminal { editor, .. } => match editor.readline("> ") {
                Ok(line) => Line::Text(line),
                Err(ReadlineError::Interrupted) => Line::Nothing,
                Err(ReadlineError::Eof) => Line::End,
                Err(e) => {
                    tracing::warn!("the terminal cannot be read: {e}");
                    Line::End
                }
            },
        }
    }

    /// Keeps the typed lines for the next chat; a state folder that cannot be written only costs that.
    fn keep_history(&mut self) {
        if let Self::Terminal { editor, history } = self {
            let folder = history.parent().map(std::fs::create_dir_all);
            if let Err(e) = folder.transpose().map_err(ReadlineError::from).and_then(|_| editor.save_history(history)) {
                tracing::warn!("the history of the chat is not kept: {e}");
            }
        }
    }
}

fn plain(limit: u64) -> Line {
    let mut bytes = Vec::new();
    let mut stdin = io::stdin().lock();
    match stdin.by_ref().take(limit.saturating_add(2)).read_until(b'\n', &mut bytes) {
        Ok(0) => return Line::End,
        Ok(_) => (),
        Err(e) => return Line::Unreadable(format!("standard input cannot be read: {}", reason(&e))),
    }
    if bytes.last() != Some(&b'\n') && bytes.len() as u64 > limit {
        if let Err(e) = skip_line(&mut stdin) {
            tracing::warn!("standard input cannot be read: {e}");
        }
        return Line::Unreadable(format!("a line is over the limit `query` of {limit} bytes; it is not asked"));
    }
    match String::from_utf8(bytes) {
        Ok(line) if !line.contains('\0') => Line::Text(line),
        _ => Line::Unreadable("a line of standard input is not UTF-8 text; it is not asked".to_owned()),
    }
}

/// Reads to the end of the line without keeping it.
fn skip_line(stdin: &mut io::StdinLock<'_>) -> io::Result<()> {
    loop {
        let buffer = stdin.fill_buf()?;
        let (used, done) = match buffer.iter().position(|b| *b == b'\n') {
            Some(at) => (at + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        stdin.consume(used);
        if done {
            return Ok(());
        }
    }
}
