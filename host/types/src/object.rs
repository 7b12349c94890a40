//! One object of the environment: a JSON map whose key order is kept.

use serde_json::{Map, Value};

/// A JSON map with its keys in the order given.
pub type Object = Map<String, Value>;

/// The key under which the host writes each object's reference.
pub const REF_ID_KEY: &str = "_REF_ID";

/// Bytes of `value` as compact JSON, without writing it out.
pub fn object_size(object: &Object) -> usize {
    let mut counter = Counter(0);
    // Writing to a counter cannot fail and a map of JSON values always serializes.
    let _ = serde_json::to_writer(&mut counter, object);
    counter.0
}

struct Counter(usize);

impl std::io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
