//! Server-sent events, read byte by byte: all line endings, any split, bounded lines.

/// Longest line and longest event in bytes. A provider's event holds a few tokens, or one tool's inputs.
pub(crate) const MAX_EVENT_BYTES: usize = 1024 * 1024;

/// A line or an event was longer than [`MAX_EVENT_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// The parser. Feed it chunks as they come; `data` of complete events comes out. Event names, ids and retry fields are
/// read over: no chat endpoint needs them.
#[derive(Debug, Default)]
pub(crate) struct SseParser {
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    after_cr: bool,
    begun: bool,
}

impl SseParser {
    /// Reads `chunk` and appends the data of each event it completes to `events`.
    ///
    /// # Errors
    /// [`TooLong`]; the stream is of no use from then on.
    pub(crate) fn feed(&mut self, chunk: &[u8], events: &mut Vec<String>) -> Result<(), TooLong> {
        for &byte in chunk {
            let lf_of_crlf = std::mem::take(&mut self.after_cr) && byte == b'\n';
            match byte {
                b'\n' if lf_of_crlf => {}
                b'\n' => self.end_line(events)?,
                b'\r' => {
                    self.after_cr = true;
                    self.end_line(events)?;
                }
                _ if self.line.len() >= MAX_EVENT_BYTES => return Err(TooLong),
                _ => self.line.push(byte),
            }
        }
        Ok(())
    }

    /// The stream is over. An event that lacks only its closing blank line counts: several servers leave it out.
    pub(crate) fn finish(mut self, events: &mut Vec<String>) -> Result<(), TooLong> {
        self.end_line(events)?;
        self.end_line(events)
    }

    fn end_line(&mut self, events: &mut Vec<String>) -> Result<(), TooLong> {
        let line = std::mem::take(&mut self.line);
        let first = !std::mem::replace(&mut self.begun, true);
        let line = if first { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line) } else { &line };
        if line.is_empty() {
            if let Some(data) = self.data.take() {
                events.push(String::from_utf8_lossy(&data).into_owned());
            }
            return Ok(());
        }
        let value = match line.strip_prefix(b"data") {
            Some([]) => &[][..],
            Some([b':', b' ', value @ ..] | [b':', value @ ..]) => value,
            _ => return Ok(()),
        };
        match &mut self.data {
            None => self.data = Some(value.to_vec()),
            Some(data) if data.len() + value.len() >= MAX_EVENT_BYTES => return Err(TooLong),
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
