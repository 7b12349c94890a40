//! Every split, and the bounds.

use super::*;

fn whole(chunks: &[&[u8]]) -> Vec<String> {
    let (mut parser, mut events) = (SseParser::default(), Vec::new());
    for chunk in chunks {
        parser.feed(chunk, &mut events).unwrap();
    }
    parser.finish(&mut events).unwrap();
    events
}

#[test]
fn every_split_gives_the_same_events() {
    let streams = [
        "data: {\"a\":\"é😀\"}\n\ndata: b\n\n",
        "\u{FEFF}data:a\r\n: comment\r\n\r\ndata: b\r\ndata: c\r\n\r\n",
        "event: x\rid: 7\rdata: a\r\rdata: b\r\r",
        "data\n\ndatum: no\ndata: last without an end",
    ];
    let expected: [&[&str]; 4] = [&["{\"a\":\"é😀\"}", "b"], &["a", "b\nc"], &["a", "b"], &["", "last without an end"]];
    for (stream, expected) in streams.iter().zip(expected) {
        let bytes = stream.as_bytes();
        for at in 0..=bytes.len() {
            assert_eq!(whole(&[&bytes[..at], &bytes[at..]]), expected, "{stream:?} split at {at}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(whole(&single), expected);
    }
}

#[test]
fn lines_and_events_are_bounded() {
    let mut events = Vec::new();
    let mut parser = SseParser::default();
    let chunk = vec![b'x'; 64 * 1024];
    let fed: Vec<_> = (0..50 * 16).map(|_| parser.feed(&chunk, &mut events)).collect();
    assert!(fed.contains(&Err(TooLong)));
    assert!(parser.line.capacity() <= 2 * MAX_EVENT_BYTES);
    let mut parser = SseParser::default();
    let line = format!("data: {}\n", "x".repeat(1000));
    assert!((0..2000).any(|_| parser.feed(line.as_bytes(), &mut events).is_err()));
    assert!(events.is_empty());
}
