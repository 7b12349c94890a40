//! The ring keeps the last bytes.

use super::*;

#[test]
fn the_last_bytes_are_kept_and_the_others_counted() {
    let mut ring = Ring::new(8);
    assert_eq!(ring.text(), None);
    ring.push(b"abc");
    ring.push(b"defgh");
    assert_eq!(ring.text(), Some(("abcdefgh".to_owned(), 0)));
    ring.push(b"ij");
    assert_eq!(ring.text(), Some(("cdefghij".to_owned(), 2)));
    ring.push(b"0123456789");
    assert_eq!(ring.text(), Some(("23456789".to_owned(), 12)));
}

#[test]
fn what_is_no_text_is_made_text_and_cleaned() {
    let mut ring = Ring::new(64);
    ring.push(b"a\x1b[31m\xffb");
    assert_eq!(ring.text(), Some(("a[31m\u{fffd}b".to_owned(), 0)));
}

#[test]
fn nothing_is_kept_of_a_ring_without_room() {
    let mut ring = Ring::new(0);
    ring.push(b"abc");
    assert_eq!(ring.text(), None);
}
