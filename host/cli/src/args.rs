//! The command line: its structure, whose comments are the help text, and the rule that a bare query means `ask`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use elysia_host::nearest;
use elysia_types::{SessionId, SpanOfTime};

use crate::complaint::Complaint;

/// Ask a question; a decision agent picks sandboxed plugins to answer it
#[derive(Debug, Parser)]
#[command(
    name = "elysia-host",
    version,
    override_usage = "elysia-host [OPTIONS] \"QUERY\"\n       elysia-host COMMAND …",
    after_help = "\
Examples:
  elysia-host \"Which store sold most?\"        ask; the same as `elysia-host ask …`
  elysia-host --model local \"add 7 and 5\"     nothing leaves this machine
  echo \"add 7 and 5\" | elysia-host -          the question from standard input
  elysia-host plugin list                     what is in ./plugins
  elysia-host help ask                        all options of a question",
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command understands.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Common {
    /// Folder of plugins; may be given several times [default: ./plugins]
    #[arg(long, value_name = "DIR", global = true, help_heading = "Options for every command")]
    pub(crate) plugins: Vec<PathBuf>,
    /// Read this configuration and no other [default: ./elysia.toml, then the user's]
    #[arg(long, value_name = "FILE", global = true, help_heading = "Options for every command")]
    pub(crate) config: Option<PathBuf>,
    /// Keep sessions in this SQLite file [default: in the user's data folder]
    #[arg(long, value_name = "PATH", global = true, help_heading = "Options for every command")]
    pub(crate) store: Option<String>,
    /// Say nothing but the answer and errors
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Options for every command")]
    pub(crate) quiet: bool,
    /// Say more; twice for debugging, which shows texts of plugins
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Options for every command")]
    pub(crate) verbose: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Ask(Ask),
    Chat(Chat),
    #[command(subcommand)]
    Plugin(Plugin),
    #[command(subcommand)]
    Session(Session),
    Tree(Tree),
    Trust(Trust),
    Doctor(Doctor),
    Completions(Completions),
}

/// Answer one question
///
/// The answer goes to standard output as it comes; status, warnings and the model taken go to standard error.
/// Exit codes: 0 answered, 1 failed, 2 wrong usage or configuration, 3 refused by policy, 4 impossible,
/// 130 interrupted. Ctrl-C stops the query and saves what there is; a second one exits at once.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  elysia-host ask \"Which store sold most?\"
  elysia-host ask --continue \"And which least?\"
  elysia-host ask --output json \"add 7 and 5\" | jq .response")]
pub(crate) struct Ask {
    /// The question; `-` reads it from standard input
    pub(crate) query: String,
    #[command(flatten)]
    pub(crate) talk: Talk,
    /// How the answer is written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) output: EventFormat,
    /// Answer with what there is after this time, e.g. 30s
    #[arg(long, value_name = "TIME", value_parser = timeout)]
    pub(crate) timeout: Option<SpanOfTime>,
}

/// Ask question after question in one session
///
/// On a terminal with line editing and a history; otherwise one question per line of standard input. Ctrl-C stops
/// the running question; `/help` lists what else can be typed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  elysia-host chat
  elysia-host chat --continue
  printf 'add 7 and 5\\nadd 1 to it\\n' | elysia-host chat")]
pub(crate) struct Chat {
    #[command(flatten)]
    pub(crate) talk: Talk,
    /// Answer each question with what there is after this time, e.g. 30s
    #[arg(long, value_name = "TIME", value_parser = timeout)]
    pub(crate) timeout: Option<SpanOfTime>,
}

/// With which model, in which session.
#[derive(Debug, Default, Args)]
pub(crate) struct Talk {
    /// Who decides: local, openai:NAME, ollama:NAME or scripted:FILE
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub(crate) model: Option<String>,
    /// Go on in this session
    #[arg(long, value_name = "ID", conflicts_with_all = ["continue", "no_save"])]
    pub(crate) session: Option<SessionId>,
    /// Go on in the last session
    #[arg(long, conflicts_with = "no_save")]
    pub(crate) r#continue: bool,
    /// Keep nothing of this conversation
    #[arg(long)]
    pub(crate) no_save: bool,
}

/// See, check and call plugins
#[derive(Debug, Subcommand)]
pub(crate) enum Plugin {
    List(PluginList),
    Inspect(PluginInspect),
    Check(PluginCheck),
    Call(PluginCall),
}

/// List the plugins, their state and their tools
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  elysia-host plugin list
  elysia-host plugin list --plugins ./more --output json")]
pub(crate) struct PluginList {
    /// How the list is written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) output: DataFormat,
}

/// Show a plugin's world, imports, wishes, policy, tools and schemas
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  elysia-host plugin inspect calculate
  elysia-host plugin inspect ./build/calculate.wasm --output json")]
pub(crate) struct PluginInspect {
    /// Name of a plugin in the plugins folder, or a file
    #[arg(value_name = "NAME|FILE")]
    pub(crate) plugin: PathBuf,
    /// How it is written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) output: DataFormat,
}

/// Check a plugin or a folder of them; exit 1 on any problem
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  elysia-host plugin check ./build/calculate.wasm
  elysia-host plugin check ./plugins")]
pub(crate) struct PluginCheck {
    /// A component, a plugin's folder, or a folder of plugins
    #[arg(value_name = "FILE|DIR")]
    pub(crate) path: PathBuf,
}

/// Run one tool without a model
///
/// Exit codes: 0 the tool ended well, 1 it failed, 2 wrong usage or configuration, 3 denied or quarantined.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  elysia-host plugin call calculate '{\"expression\": \"7*6\"}'
  elysia-host plugin call calculate - < inputs.json
  elysia-host plugin call count --session 0199a6c0 '{}'")]
pub(crate) struct PluginCall {
    /// The tool
    pub(crate) tool: String,
    /// Its inputs, a JSON object; `-` reads them from standard input
    #[arg(default_value = "{}")]
    pub(crate) inputs: String,
    /// Share this session's environment
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<SessionId>,
    /// How the outcome is written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) output: EventFormat,
}

/// Look after kept conversations
#[derive(Debug, Subcommand)]
pub(crate) enum Session {
    List(SessionList),
    Show(SessionShow),
    Export(SessionExport),
    Import(SessionImport),
    Trim(SessionTrim),
    Delete(SessionDelete),
}

/// List the sessions, newest first
#[derive(Debug, Args)]
pub(crate) struct SessionList {
    /// How the list is written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) output: DataFormat,
}

/// Show a session's conversation and what its environment holds
#[derive(Debug, Args)]
pub(crate) struct SessionShow {
    /// The session
    pub(crate) id: SessionId,
    /// How it is written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) output: DataFormat,
}

/// Write a session as one JSON document, without secrets
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  elysia-host session export 0199a6c0 talk.json
  elysia-host session export 0199a6c0 | jq .")]
pub(crate) struct SessionExport {
    /// The session
    pub(crate) id: SessionId,
    /// Where to; an existing file is replaced [default: standard output]
    pub(crate) file: Option<PathBuf>,
}

/// Read a session from a JSON document and print its id
#[derive(Debug, Args)]
pub(crate) struct SessionImport {
    /// What `session export` wrote; `-` reads standard input
    pub(crate) file: PathBuf,
}

/// Drop the oldest results from a session's environment
#[derive(Debug, Args)]
pub(crate) struct SessionTrim {
    /// The session
    pub(crate) id: SessionId,
    /// How many of the newest entries stay [default: until half the limit is free]
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<usize>,
}

/// Delete a session with all it holds
#[derive(Debug, Args)]
pub(crate) struct SessionDelete {
    /// The session
    pub(crate) id: SessionId,
}

/// Show the decision tree: branches and the tools on them
#[derive(Debug, Args)]
pub(crate) struct Tree {
    /// How it is written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) output: DataFormat,
}

/// Let the elysia.toml of a folder take full effect, until it changes
///
/// An elysia.toml found in the current folder may set neither grants nor addresses, secrets and the store: it may
/// have come with a download. This command shows those settings and pins the file's content.
#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// The folder
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
}

/// Check configuration, folders, plugins, store and model; exit 1 on a problem
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Who decides: local, openai:NAME, ollama:NAME or scripted:FILE
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub(crate) model: Option<String>,
}

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  elysia-host completions bash > ~/.local/share/bash-completion/completions/elysia-host")]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// How a query's events are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventFormat {
    /// Speech as it comes, results as tables or documents
    #[default]
    Text,
    /// One JSON object at the end
    Json,
    /// Each event as one line of JSON, as it comes
    Jsonl,
}

/// How data is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataFormat {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

fn timeout(text: &str) -> Result<SpanOfTime, String> {
    let span = SpanOfTime::parse(text)?;
    if span.0.is_zero() {
        return Err("a timeout is longer than nothing; write for example \"30s\"".to_owned());
    }
    Ok(span)
}

/// A command line that can be carried out.
pub(crate) struct Parsed {
    pub(crate) cli: Cli,
    /// Something the user may have meant otherwise.
    pub(crate) note: Option<String>,
}

/// A command line that cannot.
pub(crate) enum Stop {
    /// Help or the version, for standard output.
    Show(String),
    /// How the command is used, for standard error.
    Usage(String),
    /// A complaint of ours.
    Complain(Complaint),
}

/// Words that are commands of later versions: a query of that one word would surprise.
const LATER: [&str; 6] = ["serve", "mcp", "audit", "feedback", "model", "selftest"];
const LATER_BELOW: [(&str, &[&str]); 2] =
    [("plugin", &["new", "build", "test", "add", "remove", "grant", "trust"]), ("session", &["replay"])];

/// Parses the command line. A first word that is no command is the query of `ask`; options before a command go to it.
///
/// # Errors
/// What to show instead of running a command.
pub(crate) fn parse(argv: Vec<OsString>) -> Result<Parsed, Stop> {
    let command = Cli::command();
    let (argv, note) = arranged(argv, &command)?;
    let matches = command.try_get_matches_from(argv).map_err(|e| stop(&e))?;
    let cli = Cli::from_arg_matches(&matches).map_err(|e| stop(&e))?;
    Ok(Parsed { cli, note })
}

fn stop(error: &clap::Error) -> Stop {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Stop::Show(text),
        ErrorKind::InvalidUtf8 => Stop::Complain(
            Complaint::usage("an argument is not valid UTF-8")
                .hint("pass the text through standard input after `iconv -t UTF-8`, with `-` as the query"),
        ),
        _ => Stop::Usage(in_our_words(&text)),
    }
}

/// The parser's text with its tips and its pointer to the help as `hint:` lines.
fn in_our_words(text: &str) -> String {
    let mut out = String::new();
    for line in text.trim_end().lines() {
        if let Some(tip) = line.trim_start().strip_prefix("tip: ") {
            out.push_str("hint: ");
            out.push_str(tip);
        } else if line.starts_with("For more information, try") {
            out.push_str("hint: `--help` shows what can be written");
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
    if out.contains("unexpected argument") && out.contains("elysia-host ask") {
        out.push_str("hint: a question of several words needs quotes: elysia-host \"Which store sold most?\"\n");
    }
    out
}

fn arranged(mut argv: Vec<OsString>, command: &clap::Command) -> Result<(Vec<OsString>, Option<String>), Stop> {
    let Some((at, verbatim)) = first_word(&argv, command) else {
        let informs = |word: &OsString| ["-h", "--help", "-V", "--version"].iter().any(|w| word == w);
        if argv.len() > 1 && !argv.iter().any(informs) {
            argv.insert(1, "ask".into());
        }
        return Ok((argv, None));
    };
    let word = argv.get(at).and_then(|w| w.to_str()).unwrap_or_default().to_owned();
    let known = |name: &str| name == "help" || command.get_subcommands().any(|c| c.get_name() == name);
    if !verbatim && known(&word) {
        let name = argv.remove(at);
        argv.insert(1, name);
        later_below(&word, argv.get(2..).unwrap_or_default())?;
        return Ok((argv, None));
    }
    if !verbatim && LATER.contains(&word.as_str()) {
        return Err(later(&word, &format!("to ask about the word, write `elysia-host ask {word}`")));
    }
    argv.insert(1, "ask".into());
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let note = nearest(&word, &names)
        .filter(|_| !verbatim)
        .map(|near| format!("`{word}` is taken as a question; for the command write `elysia-host {near}`"));
    Ok((argv, note))
}

/// Where the first word that is no option stands, and whether it follows `--`.
fn first_word(argv: &[OsString], command: &clap::Command) -> Option<(usize, bool)> {
    let ask = command.find_subcommand("ask");
    let takes_value = |name: &str| {
        command
            .get_arguments()
            .chain(ask.iter().flat_map(|ask| ask.get_arguments()))
            .any(|arg| arg.get_long() == Some(name) && arg.get_action().takes_values())
    };
    let mut at = 1;
    while let Some(word) = argv.get(at) {
        let Some(word) = word.to_str() else {
            return Some((at, false));
        };
        match word.strip_prefix("--") {
            Some("") => return (at + 1 < argv.len()).then_some((at + 1, true)),
            Some(name) => at += 1 + usize::from(takes_value(name)),
            None if word.starts_with('-') && word.len() > 1 => at += 1,
            None => return Some((at, false)),
        }
    }
    None
}

fn later_below(word: &str, rest: &[OsString]) -> Result<(), Stop> {
    let Some((_, verbs)) = LATER_BELOW.iter().find(|(noun, _)| *noun == word) else {
        return Ok(());
    };
    match rest.iter().filter_map(|w| w.to_str()).find(|w| !w.starts_with('-')) {
        Some(verb) if verbs.contains(&verb) => {
            Err(later(&format!("{word} {verb}"), &format!("`elysia-host {word} --help` lists what there is")))
        }
        _ => Ok(()),
    }
}

fn later(what: &str, hint: &str) -> Stop {
    Stop::Complain(Complaint::usage(format!("the command `{what}` is not in this version yet")).hint(hint))
}

#[cfg(test)]
mod tests;
