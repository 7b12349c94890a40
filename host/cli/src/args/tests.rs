//! Which command a line means.

use super::{Command, Stop, parse};

fn command(words: &[&str]) -> Command {
    let argv = std::iter::once("elysia-host").chain(words.iter().copied()).map(Into::into).collect();
    match parse(argv) {
        Ok(parsed) => parsed.cli.command,
        Err(Stop::Show(text) | Stop::Usage(text)) => panic!("{text}"),
        Err(Stop::Complain(complaint)) => panic!("{}", complaint.message),
    }
}

fn query(words: &[&str]) -> String {
    match command(words) {
        Command::Ask(ask) => ask.query,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_first_word_that_is_no_command_is_the_query() {
    assert_eq!(query(&["What is 7*6?"]), "What is 7*6?");
    assert_eq!(query(&["--model", "local", "-v", "hello"]), "hello");
    assert_eq!(query(&["hello", "--model=local"]), "hello");
    assert_eq!(query(&["--", "tree"]), "tree");
    assert_eq!(query(&["ask", "serve"]), "serve");
    assert_eq!(query(&["--", "-5 plus 3"]), "-5 plus 3");
    assert_eq!(query(&["-"]), "-");
}

#[test]
fn options_before_a_command_belong_to_it() {
    assert!(matches!(command(&["--plugins", "p", "tree"]), Command::Tree(_)));
    assert_eq!(query(&["--model", "local", "ask", "q"]), "q");
}

#[test]
fn commands_of_later_versions_are_not_queries() {
    for words in [&["serve"][..], &["plugin", "new", "x"], &["session", "replay"], &["serve", "--port", "1"]] {
        let argv = std::iter::once("elysia-host").chain(words.iter().copied()).map(Into::into).collect();
        let Err(Stop::Complain(complaint)) = parse(argv) else { panic!("{words:?}") };
        assert_eq!(complaint.exit, 2);
        assert!(complaint.message.contains("not in this version yet"));
    }
}

#[test]
fn the_structure_is_sound() {
    use clap::CommandFactory as _;
    super::Cli::command().debug_assert();
}
