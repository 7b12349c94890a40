//! How often one value may have to be checked: references make a small schema a large program.
//!
//! A schema is walked as its references unfold. What unfolds to more than [`MAX_STEPS`] places is refused. A definition
//! may come back to itself, as trees do, but only once for each place in the value, and never without stepping into it.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

/// Places that a schema may unfold to.
pub(super) const MAX_STEPS: u64 = 20_000;

/// Keywords whose schemas apply to the very same value.
const IN_PLACE: [&str; 8] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];

/// Whether checking a value takes time that is linear in its size, with a sane factor.
pub(super) fn is_bearable(root: &Value) -> bool {
    let mut walk = Walk { root, known: HashMap::new() };
    walk.unfold(root, &mut Vec::new()).is_some()
}

struct Walk<'a> {
    root: &'a Value,
    /// Unfolded size by target of a reference, once it is known.
    known: HashMap<&'a str, Unfolded>,
}

/// What a schema unfolds to.
#[derive(Clone, Default)]
struct Unfolded {
    steps: u64,
    /// Where definitions that are still being unfolded come back: their name, and the path into the value.
    returns: HashSet<(String, String)>,
}

impl<'a> Walk<'a> {
    /// `None` when it is too much. `open` holds the references that are being followed.
    fn unfold(&mut self, schema: &'a Value, open: &mut Vec<&'a str>) -> Option<Unfolded> {
        let mut all = Unfolded { steps: 1, returns: HashSet::new() };
        let Some(map) = schema.as_object() else { return Some(all) };
        for (key, child) in map {
            match key.as_str() {
                "$ref" | "$dynamicRef" => {
                    let followed = self.follow(child.as_str()?, open)?;
                    all.add(followed, "")?;
                }
                key if IN_PLACE.contains(&key) => {
                    for part in parts(child) {
                        let part = self.unfold(part, open)?;
                        all.add(part, "")?;
                    }
                }
                "properties" | "patternProperties" => {
                    for (name, part) in child.as_object().into_iter().flatten() {
                        let part = self.unfold(part, open)?;
                        all.add(part, &format!("/{name}"))?;
                    }
                }
                "$defs" | "definitions" => {}
                _ if child.is_object() || child.is_array() => {
                    for part in parts(child) {
                        let part = self.unfold(part, open)?;
                        all.add(part, &format!("/{key}"))?;
                    }
                }
                _ => {}
            }
        }
        Some(all)
    }

    fn follow(&mut self, target: &'a str, open: &mut Vec<&'a str>) -> Option<Unfolded> {
        if open.contains(&target) {
            return Some(Unfolded { steps: 1, returns: HashSet::from([(target.to_owned(), String::new())]) });
        }
        if let Some(known) = self.known.get(target) {
            return Some(known.clone());
        }
        // A target that is not there is an error that the validator reports.
        let Some(schema) = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)) else {
            return Some(Unfolded { steps: 1, returns: HashSet::new() });
        };
        open.push(target);
        let mut unfolded = self.unfold(schema, open);
        open.pop();
        if let Some(unfolded) = &mut unfolded {
            // Back at the same value without a step into it: it would never end.
            if unfolded.returns.contains(&(target.to_owned(), String::new())) {
                return None;
            }
            unfolded.returns.retain(|(name, _)| name != target);
            if unfolded.returns.is_empty() {
                self.known.insert(target, unfolded.clone());
            }
        }
        unfolded
    }
}

impl Unfolded {
    /// Adds a part that applies at `step` below. `None` when it is too much, or comes back twice at one place.
    fn add(&mut self, part: Self, step: &str) -> Option<()> {
        self.steps = self.steps.saturating_add(part.steps);
        for (name, path) in part.returns {
            if !self.returns.insert((name, format!("{step}{path}"))) {
                return None;
            }
        }
        (self.steps <= MAX_STEPS).then_some(())
    }
}

/// The schemas below a keyword: itself, the members of a list, or the values of a map of schemas.
fn parts(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        other => vec![other],
    }
}
