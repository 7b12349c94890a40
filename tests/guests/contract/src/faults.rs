//! Tools that end badly, each in one way.

use std::hint::black_box;
use std::time::Duration;

use elysia_plugin::{Output, ToolError, ToolErrorKind, ToolInput, Value, json, object, tool};

/// The kinds of tool errors.
#[derive(ToolInput)]
pub(crate) enum Kind {
    InvalidInputs,
    NotFound,
    Unavailable,
    RateLimited,
    Denied,
    Failed,
}

/// Fails with the kind and the feedback given.
#[tool]
pub(crate) fn fail(
    kind: Kind,
    #[default("try something else")] feedback: String,
    /// Yield a text and an object before.
    #[default(false)]
    yield_first: bool,
    out: &mut Output,
) -> Result<(), ToolError> {
    if yield_first {
        out.text("before the failure");
        out.object(object! { "kept": true });
    }
    let kind = match kind {
        Kind::InvalidInputs => ToolErrorKind::InvalidInputs,
        Kind::NotFound => ToolErrorKind::NotFound,
        Kind::Unavailable => ToolErrorKind::Unavailable,
        Kind::RateLimited => ToolErrorKind::RateLimited,
        Kind::Denied => ToolErrorKind::Denied,
        Kind::Failed => ToolErrorKind::Failed,
    };
    Err(ToolError { kind, feedback })
}

/// Traps after yielding a text and an object.
#[tool]
#[expect(clippy::panic, reason = "the trap is what this tool is for")]
pub(crate) fn trap(out: &mut Output) {
    out.text("before the trap");
    out.object(object! { "kept": true });
    panic!("trap on purpose");
}

/// Exits the process, as no plugin should.
#[tool]
pub(crate) fn exit(#[default(0)] code: i32) {
    std::process::exit(code);
}

/// Computes until it is stopped.
#[tool]
pub(crate) fn spin() {
    let mut n = 0_u64;
    loop {
        n = black_box(n.wrapping_add(1));
    }
}

/// Waits.
#[tool]
pub(crate) fn sleep(milliseconds: u32) -> &'static str {
    std::thread::sleep(Duration::from_millis(milliseconds.into()));
    "slept"
}

/// Takes memory and touches it.
#[tool]
pub(crate) fn allocate(mebibytes: u16) -> String {
    let bytes = black_box(vec![1_u8; usize::from(mebibytes) << 20]);
    format!("took {} MiB", bytes.len() >> 20)
}

/// Yields so many texts of one character.
#[tool]
pub(crate) fn many(count: u32, out: &mut Output) {
    for _ in 0..count {
        out.text("x");
    }
}

/// Yields an object that is nested so deep.
#[tool]
pub(crate) fn deep(levels: u16, out: &mut Output) {
    let mut value = json!(1);
    for _ in 1..levels {
        value = Value::Array(vec![value]);
    }
    out.object(object! { "deep": value });
}
