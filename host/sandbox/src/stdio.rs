//! Standard output and error of a guest: a bounded ring that the operator may read, and nobody else.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use elysia_types::clean;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// The last bytes a guest wrote to standard output and error.
#[derive(Debug)]
pub(crate) struct Ring {
    capacity: usize,
    bytes: VecDeque<u8>,
    dropped: u64,
}

impl Ring {
    pub(crate) fn new(capacity: u64) -> Self {
        Self { capacity: usize::try_from(capacity).unwrap_or(usize::MAX), bytes: VecDeque::new(), dropped: 0 }
    }

    fn push(&mut self, written: &[u8]) {
        let keep = written.len().min(self.capacity);
        let tail = written.get(written.len() - keep..).unwrap_or_default();
        let excess = (self.bytes.len() + keep).saturating_sub(self.capacity);
        self.bytes.drain(..excess.min(self.bytes.len()));
        self.bytes.extend(tail);
        self.dropped += (written.len() - keep + excess) as u64;
    }

    /// What is left of it, cleaned, and how many bytes came before that; none when the guest wrote nothing.
    pub(crate) fn text(&mut self) -> Option<(String, u64)> {
        let bytes = self.bytes.make_contiguous();
        if bytes.is_empty() {
            return None;
        }
        Some((clean(&String::from_utf8_lossy(bytes)).into_owned(), self.dropped))
    }
}

/// A standard stream that ends in a [`Ring`].
#[derive(Clone)]
pub(crate) struct RingWriter(Arc<Mutex<Ring>>);

impl RingWriter {
    pub(crate) fn new(ring: &Arc<Mutex<Ring>>) -> Self {
        Self(Arc::clone(ring))
    }

    fn push(&self, written: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(written);
    }
}

impl IsTerminal for RingWriter {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for RingWriter {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
    // Of WASI 0.3 only, which is not linked.
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }
}

#[async_trait::async_trait]
impl Pollable for RingWriter {
    async fn ready(&mut self) {}
}

#[async_trait::async_trait]
impl OutputStream for RingWriter {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.push(&bytes);
        Ok(())
    }
    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }
    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(64 * 1024)
    }
}

#[cfg(test)]
mod tests;
