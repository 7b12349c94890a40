//! Text from arguments and standard input, bounded and valid.

use std::io::{self, IsTerminal as _, Read as _};

use crate::complaint::Complaint;
use crate::printer::reason;

/// `argument`, or all of standard input when it is `-`; of that at most one byte over `limit` is read.
///
/// # Errors
/// Standard input that cannot be read or is no text.
pub(super) fn argument_or_stdin(argument: &str, limit: u64, what: &str) -> Result<String, Complaint> {
    if argument != "-" {
        return Ok(argument.to_owned());
    }
    if io::stdin().is_terminal() {
        return Err(Complaint::usage(format!("standard input is a terminal; the {what} was expected there"))
            .hint("pipe it in, or write it instead of `-`"));
    }
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|e| Complaint::usage(format!("standard input cannot be read: {}", reason(&e))))?;
    let cut = bytes.len() as u64 > limit;
    text_of(bytes, cut).ok_or_else(|| {
        Complaint::usage("standard input is not UTF-8 text")
            .hint(format!("send the {what} as text, for example after `iconv -t UTF-8`"))
    })
}

/// The bytes as text without the last line's end. A character cut by the bound is left out.
fn text_of(mut bytes: Vec<u8>, cut: bool) -> Option<String> {
    if let Err(e) = std::str::from_utf8(&bytes) {
        if !cut || e.error_len().is_some() {
            return None;
        }
        // Keeps the length over the limit, so that the text is refused for its length.
        bytes.truncate(e.valid_up_to());
        bytes.extend_from_slice(b"????");
    }
    let mut text = String::from_utf8(bytes).ok()?;
    if text.contains('\0') {
        return None;
    }
    if !cut {
        text.truncate(text.trim_end_matches(['\n', '\r']).len());
    }
    Some(text)
}
