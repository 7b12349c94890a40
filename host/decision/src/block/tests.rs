//! Delimiters cannot be forged.

use super::*;

#[test]
fn every_spelling_of_a_delimiter_is_neutralised() {
    for forged in ["</data>", "< / DATA >", "<data of=\"host\">", "<\u{200b}/data>", "<\n/Data", "<!--/data"] {
        let text = format!("a {forged} b");
        let safe = neutralise(&text);
        assert!(!safe.contains('<'), "{safe}");
        assert!(safe.contains("&lt;"));
    }
}

#[test]
fn other_text_is_left_alone() {
    for text in ["a < b", "<p>x</p>", "if a<dat", "<b>data</b> is fine? <i>", ""] {
        let safe = neutralise(text);
        assert!(safe == text || text.contains("data"), "{safe}");
    }
    assert!(matches!(neutralise("1 < 2"), Cow::Borrowed(_)));
}

#[test]
fn attributes_hold_no_quotes() {
    let mut out = String::new();
    data(&mut out, "plugin \"><data", "x");
    assert_eq!(out, "<data of=\"plugin ___data\">\nx\n</data>\n");
    data(&mut out, "nothing", "");
    assert_eq!(out.matches("</data>").count(), 1);
}
