//! What survives cleaning and what does not.

use super::*;

#[test]
fn ordinary_text_is_borrowed() {
    for text in ["plain", "مرحبا", "שלום", "👩‍👩‍👧 🇫🇷", "a\n\tb", "🏴󠁧󠁢󠁥󠁮󠁧󠁿 "]
    {
        assert_eq!(clean(text), text);
    }
}

#[test]
fn controls_overrides_and_stray_tags_go() {
    assert_eq!(clean("a\u{1b}[31mb\r\u{7}\u{9b}c"), "a[31mbc");
    assert_eq!(clean("x\u{202e}y\u{2066}z\u{2069}"), "xyz");
    assert_eq!(clean("hi\u{E0041}\u{E0042}"), "hi");
    assert_eq!(clean("\u{1F3F4}\u{E0041}\u{E0042}"), "\u{1F3F4}");
}

#[test]
fn truncation_respects_characters() {
    assert_eq!(truncate("añb", 2), "a");
    assert_eq!(truncate("añb", 3), "añ");
}
