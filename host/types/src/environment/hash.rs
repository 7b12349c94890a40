//! Equality of objects by hash: canonical in key order, so that comparing costs nothing that is stored.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::object::Object;

/// First 128 bits of SHA-256 over the canonical form of an object.
pub(super) type ObjectHash = [u8; 16];

/// Equal for objects that differ in key order alone. The caller takes `_REF_ID` out first.
pub(super) fn hash_object(object: &Object) -> ObjectHash {
    let mut hasher = Sha256::new();
    hash_map(object, &mut hasher);
    let digest = hasher.finalize();
    let mut hash = ObjectHash::default();
    for (slot, byte) in hash.iter_mut().zip(digest.iter()) {
        *slot = *byte;
    }
    hash
}

fn hash_map(map: &Object, hasher: &mut Sha256) {
    let mut pairs: Vec<_> = map.iter().collect();
    pairs.sort_by_key(|(key, _)| *key);
    hasher.update(b"{");
    for (key, value) in pairs {
        hash_text(key, hasher);
        hash_value(value, hasher);
    }
    hasher.update(b"}");
}

// Each kind has a tag and texts carry their length, so that no two different values feed the same bytes.
fn hash_value(value: &Value, hasher: &mut Sha256) {
    match value {
        Value::Null => hasher.update(b"n"),
        Value::Bool(true) => hasher.update(b"t"),
        Value::Bool(false) => hasher.update(b"f"),
        Value::Number(n) => {
            hasher.update(b"#");
            hash_text(&n.to_string(), hasher);
        }
        Value::String(s) => hash_text(s, hasher),
        Value::Array(items) => {
            hasher.update(b"[");
            items.iter().for_each(|item| hash_value(item, hasher));
            hasher.update(b"]");
        }
        Value::Object(map) => hash_map(map, hasher),
    }
}

fn hash_text(text: &str, hasher: &mut Sha256) {
    hasher.update(b"s");
    hasher.update((text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}
