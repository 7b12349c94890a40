//! `cases/environment/*.txt`: operations on an environment → references, and what it holds as JSON.
//!
//! Operations, one a line: `add TOOL NAME [{…}] [rank=N] [limit=N]` · `trim keep=N [bytes=N]` · `store` (to rows and
//! back) · `object REF` · `view` (from here on `seen` shows what stood then) · `seen TOOL NAME` · `ranked`.

use std::path::Path;

use elysia_types::{Environment, EnvironmentView, Object, SharedEnvironment};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;

/// All trials of this folder.
pub fn trials() -> Vec<Trial> {
    cases::per_file("environment", "txt", run)
}

fn run(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let head = text.split_once("\n---\n").map_or(text.as_str(), |(head, _)| head);
    let mut bench = Bench { environment: SharedEnvironment::default(), view: None, out: String::new() };
    for line in head.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')) {
        bench.does(line).map_err(|e| format!("`{line}`: {e}"))?;
    }
    let whole = bench.environment.read(|e| {
        let counts = format!("{} entries, {} objects, {} bytes", e.n_entries(), e.n_objects(), e.bytes());
        format!("{counts}\n{:#}", e.to_json())
    });
    bench.say(&whole);
    cases::compare_tail(path, "---", &bench.out)
}

struct Bench {
    environment: SharedEnvironment,
    view: Option<EnvironmentView>,
    out: String,
}

impl Bench {
    fn say(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn does(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |key: &str| words.iter().find_map(|w| w.strip_prefix(key)?.parse::<u64>().ok());
        let line = match words.as_slice() {
            ["add", tool, name, ..] => {
                self.add(tool, name, line, number("rank=").unwrap_or(0), number("limit=").unwrap_or(u64::MAX))?
            }
            ["trim", ..] => {
                let keep = usize::try_from(number("keep=").unwrap_or(0)).map_err(|e| e.to_string())?;
                let gone = self.environment.write(|e| e.trim(keep, number("bytes=").unwrap_or(u64::MAX)));
                format!("trimmed {gone}")
            }
            ["store"] => {
                let (locations, entries) = self.environment.read(|e| e.stored_since(0));
                let text = json!([locations, entries]).to_string();
                let (locations, entries) = serde_json::from_str(&text).map_err(|e| e.to_string())?;
                let before = self.environment.read(Environment::to_json);
                self.environment = SharedEnvironment::new(Environment::restore(locations, entries));
                let same = self.environment.read(Environment::to_json) == before;
                format!("stored and restored, {}", if same { "the same" } else { "changed" })
            }
            ["object", reference] => {
                let found = self.environment.read(|e| e.object(reference).cloned());
                found.map_or("no such object".to_owned(), |o| Value::Object(o).to_string())
            }
            ["view"] => {
                self.view = Some(self.environment.view(None));
                return Ok(());
            }
            ["seen", tool, name] => {
                let view = self.view.as_ref().ok_or("`view` first")?;
                view.latest(tool, name).map_or("nothing seen".to_owned(), |(_, objects)| json!(objects).to_string())
            }
            ["ranked"] => self.environment.read(|e| {
                let all = e.ranked().into_iter().map(|(tool, name, entry)| format!("{tool}/{name}@{}", entry.rank()));
                all.collect::<Vec<_>>().join(" ")
            }),
            _ => return Err("unknown operation".to_owned()),
        };
        self.say(&line);
        Ok(())
    }

    fn add(&mut self, tool: &str, name: &str, line: &str, rank: u64, limit: u64) -> Result<String, String> {
        let json = line.find('[').zip(line.rfind(']')).ok_or("a list of objects")?;
        let objects: Vec<Object> = serde_json::from_str(&line[json.0..=json.1]).map_err(|e| e.to_string())?;
        let tool = tool.parse().map_err(|e| format!("{e}"))?;
        let name = name.parse().map_err(|e| format!("{e}"))?;
        let added = self.environment.write(|e| e.add(&tool, &name, Object::new(), objects, rank, limit));
        Ok(match added {
            Ok(added) => format!("{:?}", added.refs),
            Err(full) => full.to_string(),
        })
    }
}
