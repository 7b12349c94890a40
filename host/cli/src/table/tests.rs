//! Tables fit, cut visibly and stay clean.

use elysia_types::Object;
use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use super::{cut, documents, objects};

fn object(value: serde_json::Value) -> Object {
    value.as_object().unwrap().clone()
}

#[test]
fn cuts_at_columns_not_characters() {
    assert_eq!(cut("short", 5), "short");
    assert_eq!(cut("longer", 5), "long…");
    assert_eq!(cut("日本語です", 5), "日本…");
}

#[test]
fn a_table_fits_its_width() {
    let rows: Vec<Object> = (0..3)
        .map(|i| object(json!({"n": i, "text": "word ".repeat(60), "other": "x".repeat(90), "_REF_ID": "r"})))
        .collect();
    for width in [20, 30, 40, 80, 200] {
        let text = objects(&rows, width, 100);
        assert!(text.lines().all(|line| line.width() <= width), "{width}\n{text}");
        assert!(!text.contains("_REF_ID"));
    }
}

#[test]
fn cells_cannot_steer_a_terminal() {
    let text = objects(&[object(json!({"a\u{1b}[2J": "b\u{1b}]0;x\u{7}\nc\u{202e}d", "deep": ["\u{9b}31m"]}))], 80, 10);
    assert!(text.chars().all(|c| !c.is_control() || c == '\n'), "{text:?}");
    assert!(!text.contains('\u{202e}'));
}

#[test]
fn what_is_left_out_is_counted() {
    let rows: Vec<Object> = (0..5).map(|i| object(json!({"n": i}))).collect();
    assert!(objects(&rows, 80, 2).ends_with("… 3 more; `--output json` shows all"));
}

#[test]
fn documents_show_title_snippet_and_reference() {
    let rows = [object(json!({"headline": "Red shoes", "content": "A long text", "_REF_ID": "search_default_0_0"}))];
    let mapping = object(json!({"title": "headline"}));
    assert_eq!(documents(&rows, Some(&mapping), 80, 10), "Red shoes\n  A long text\n  [search_default_0_0]");
}
