//! `cargo xtask eval`: how well the `local` agent decides, measured on the Berkeley Function-Calling Leaderboard sets.
//!
//! The thresholds are the ones shipped. They, and every rule of the extractor, were tuned while looking at items with an
//! even index only; the odd ones are what counts. Scoring follows BFCL's own `simple_function_checker`.
//!
//! ```text
//! cargo xtask eval [--data DIR] [--assert] [--show SET]
//! ```
//! `--show` prints the wrong answers of one set, even items only: looking at the odd ones would spoil them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use elysia_decision::lexical::{self, Candidate, Choice, Thresholds};
use serde_json::{Map, Value};

const DEFAULT_DATA: &str = "tests/data/bfcl";
/// Sets with a right answer, in the order reported; whichever exist are measured.
const SOLVABLE: [&str; 4] = ["multiple", "simple_python", "live_multiple", "live_simple"];
/// Sets without one: the right choice is none.
const UNSOLVABLE: [&str; 2] = ["irrelevance", "live_irrelevance"];

/// Runs the measurement and prints the table.
///
/// # Errors
/// Data that cannot be read, and with `--assert` a missed target.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let options = Options::parse(args)?;
    let mut table = Table::default();
    for set in SOLVABLE {
        if let Some(items) = load(&options.data, set)? {
            measure_solvable(set, &items, &mut table, options.show.as_deref() == Some(set))?;
        }
    }
    for set in UNSOLVABLE {
        if let Some(items) = load(&options.data, set)? {
            measure_unsolvable(set, &items, &mut table, options.show.as_deref() == Some(set))?;
        }
    }
    if table.rows.is_empty() {
        return Err(format!("no data sets in `{}`", options.data.display()));
    }
    say(&table.render())?;
    if options.assert { table.check() } else { Ok(()) }
}

struct Options {
    data: PathBuf,
    assert: bool,
    show: Option<String>,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self, String> {
        let mut options = Self { data: PathBuf::from(DEFAULT_DATA), assert: false, show: None };
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match arg.as_str() {
                "--assert" => options.assert = true,
                "--data" => options.data = rest.next().map(PathBuf::from).ok_or("`--data` needs a folder")?,
                "--show" => options.show = Some(rest.next().cloned().ok_or("`--show` needs the name of a set")?),
                other => {
                    return Err(format!("unknown argument `{other}`; known: --data DIR, --assert, --show SET"));
                }
            }
        }
        Ok(options)
    }
}

fn say(text: &str) -> Result<(), String> {
    std::io::stdout().lock().write_all(text.as_bytes()).map_err(|e| format!("cannot write: {e}"))
}

// ---- data ----------------------------------------------------------------------------------------------------------

struct Function {
    name: String,
    description: String,
    schema: Value,
}

struct Item {
    query: String,
    functions: Vec<Function>,
    /// Name of the right function and, per parameter, the values that count as right.
    gold: Option<(String, Map<String, Value>)>,
}

impl Item {
    fn gold_index(&self) -> Option<usize> {
        let (name, _) = self.gold.as_ref()?;
        self.functions.iter().position(|f| f.name == *name)
    }
}

impl Function {
    fn candidate(&self) -> Candidate<'_> {
        Candidate {
            name: &self.name,
            title: None,
            description: &self.description,
            examples: &[],
            input_schema: &self.schema,
        }
    }
}

fn load(folder: &Path, set: &str) -> Result<Option<Vec<Item>>, String> {
    let Some(questions) = lines(&folder.join(format!("{set}.json")))? else {
        return Ok(None);
    };
    let answers = lines(&folder.join("possible_answer").join(format!("{set}.json")))?.unwrap_or_default();
    let by_id: BTreeMap<String, &Value> = answers.iter().map(|a| (text(a.get("id")), a)).collect();
    Ok(Some(questions.iter().map(|q| item(q, by_id.get(&text(q.get("id"))).copied())).collect()))
}

fn lines(path: &Path) -> Result<Option<Vec<Value>>, String> {
    let read = match std::fs::read_to_string(path) {
        Ok(read) => read,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(format!("cannot read `{}`: {e}", path.display())),
    };
    let parsed = read.lines().filter(|l| !l.trim().is_empty()).map(serde_json::from_str).collect::<Result<_, _>>();
    parsed.map(Some).map_err(|e| format!("`{}`: {e}", path.display()))
}

fn text(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn item(question: &Value, answer: Option<&Value>) -> Item {
    let turns = question.pointer("/question/0").and_then(Value::as_array);
    let query =
        turns.and_then(|t| t.iter().rev().find(|m| text(m.get("role")) == "user")).map(|m| text(m.get("content")));
    let functions = match question.get("function") {
        Some(Value::Array(list)) => list.iter().map(function).collect(),
        Some(one) => vec![function(one)],
        None => Vec::new(),
    };
    let gold =
        answer.and_then(|a| a.pointer("/ground_truth/0")).and_then(Value::as_object).and_then(|o| o.iter().next());
    let gold = gold.map(|(name, values)| (name.clone(), values.as_object().cloned().unwrap_or_default()));
    Item { query: query.unwrap_or_default(), functions, gold }
}

fn function(value: &Value) -> Function {
    let mut schema = value.get("parameters").cloned().unwrap_or(Value::Null);
    to_json_schema(&mut schema);
    Function { name: text(value.get("name")), description: text(value.get("description")), schema }
}

/// BFCL writes Python's type names; this is the only place that knows.
fn to_json_schema(value: &mut Value) {
    let Value::Object(map) = value else { return };
    map.remove("optional");
    if let Some(Value::String(kind)) = map.get_mut("type") {
        let name = match kind.as_str() {
            "dict" | "HashMap" | "Hashtable" => "object",
            "float" | "double" => "number",
            "int" | "long" | "short" | "byte" => "integer",
            "tuple" | "list" | "Array" | "ArrayList" => "array",
            "bool" | "Boolean" => "boolean",
            "str" | "String" | "char" => "string",
            "any" => "",
            other => other,
        }
        .to_owned();
        *kind = name;
    }
    if map.get("type").and_then(Value::as_str) == Some("") {
        map.remove("type");
    }
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        properties.iter_mut().for_each(|(_, p)| to_json_schema(p));
    }
    for key in ["items", "additionalProperties"] {
        map.get_mut(key).into_iter().for_each(to_json_schema);
    }
}

// ---- measuring -----------------------------------------------------------------------------------------------------

/// Counts of one set and one half: index 0 the odd items, 1 the even ones.
#[derive(Default, Clone, Copy)]
struct Half {
    total: usize,
    answered: usize,
    right: usize,
    first: usize,
    impossible: usize,
    ambiguous: usize,
    exact: usize,
    asked: usize,
}

fn measure_solvable(set: &str, items: &[Item], table: &mut Table, show: bool) -> Result<(), String> {
    let thresholds = Thresholds::default();
    let mut halves = [Half::default(); 2];
    let mut shown = String::new();
    for (index, item) in items.iter().enumerate() {
        let (Some(gold), Some((_, answer))) = (item.gold_index(), &item.gold) else {
            continue;
        };
        let Some(half) = halves.get_mut(usize::from(index % 2 == 0)) else {
            continue;
        };
        let candidates: Vec<_> = item.functions.iter().map(Function::candidate).collect();
        half.total += 1;
        let choice = lexical::choose(&item.query, &candidates, &thresholds);
        match &choice {
            Choice::Pick { index, .. } => {
                half.answered += 1;
                half.right += usize::from(*index == gold);
            }
            Choice::Ambiguous(_) => half.ambiguous += 1,
            Choice::Impossible => half.impossible += 1,
        }
        let first = lexical::rank(&item.query, &candidates).first().map(|r| r.index);
        half.first += usize::from(first == Some(gold));
        let Some(tool) = candidates.get(gold) else { continue };
        let filled = lexical::fill(&item.query, tool, None);
        let verdict = judge(tool.input_schema, &filled.inputs, answer);
        half.exact += usize::from(verdict.is_ok());
        half.asked += usize::from(!filled.missing.is_empty());
        let chosen = matches!(choice, Choice::Pick { index, .. } if index == gold);
        if show && index % 2 == 0 && (verdict.is_err() || !chosen) {
            let why = verdict.err().unwrap_or_default();
            let _ = writeln!(
                shown,
                "#{index} {}\n   choice {choice:?} gold {gold}; {why}; missing {:?}",
                item.query, filled.missing
            );
            let _ = writeln!(shown, "   got  {}", Value::Object(filled.inputs.clone()));
            let _ = writeln!(shown, "   gold {}", Value::Object(answer.clone()));
            let _ = writeln!(shown, "   params {}", tool.input_schema.get("properties").unwrap_or(&Value::Null));
        }
    }
    table.decision_cost(set, decision_ns(items), items.len());
    say(&shown)?;
    table.solvable(set, &halves);
    Ok(())
}

fn measure_unsolvable(set: &str, items: &[Item], table: &mut Table, show: bool) -> Result<(), String> {
    let thresholds = Thresholds::default();
    let mut halves = [Half::default(); 2];
    let mut shown = String::new();
    for (index, item) in items.iter().enumerate() {
        let Some(half) = halves.get_mut(usize::from(index % 2 == 0)) else {
            continue;
        };
        let candidates: Vec<_> = item.functions.iter().map(Function::candidate).collect();
        half.total += 1;
        match lexical::choose(&item.query, &candidates, &thresholds) {
            Choice::Impossible => half.impossible += 1,
            Choice::Ambiguous(_) => half.ambiguous += 1,
            pick @ Choice::Pick { .. } if show && index % 2 == 0 => {
                let names: Vec<_> = candidates.iter().map(|c| (c.name, c.description)).collect();
                let _ = writeln!(shown, "#{index} {}\n   {pick:?} {names:?}", item.query);
            }
            Choice::Pick { .. } => {}
        }
    }
    table.decision_cost(set, decision_ns(items), items.len());
    say(&shown)?;
    table.unsolvable(set, &halves);
    Ok(())
}

/// One decision per item as the agent takes it: choose among all, fill one.
fn decision_ns(items: &[Item]) -> u64 {
    let thresholds = Thresholds::default();
    let clock = Clock::start();
    for item in items {
        let candidates: Vec<_> = item.functions.iter().map(Function::candidate).collect();
        std::hint::black_box(lexical::choose(&item.query, &candidates, &thresholds));
        if let Some(tool) = candidates.get(item.gold_index().unwrap_or(0)) {
            std::hint::black_box(lexical::fill(&item.query, tool, None));
        }
    }
    clock.elapsed_ns()
}

/// CPU time of this thread where the kernel tells it, wall time elsewhere.
struct Clock {
    wall: Instant,
    cpu: Option<u64>,
}

impl Clock {
    fn start() -> Self {
        Self { wall: Instant::now(), cpu: thread_cpu_ns() }
    }

    fn elapsed_ns(&self) -> u64 {
        match (self.cpu, thread_cpu_ns()) {
            (Some(before), Some(after)) => after.saturating_sub(before),
            _ => u64::try_from(self.wall.elapsed().as_nanos()).unwrap_or(u64::MAX),
        }
    }
}

fn thread_cpu_ns() -> Option<u64> {
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split_whitespace().next()?.parse().ok()
}

// ---- scoring: BFCL's simple_function_checker ------------------------------------------------------------------------

fn judge(schema: &Value, got: &Map<String, Value>, gold: &Map<String, Value>) -> Result<(), String> {
    let known = schema.get("properties").and_then(Value::as_object);
    for required in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        if !got.contains_key(required) {
            return Err(format!("`{required}` is missing"));
        }
    }
    for (name, value) in got {
        let (Some(property), Some(answers)) = (known.and_then(|k| k.get(name)), gold.get(name)) else {
            return Err(format!("`{name}` is not expected"));
        };
        let kind = property.get("type").and_then(Value::as_str).unwrap_or_default();
        let answers = answers.as_array().map(Vec::as_slice).unwrap_or_default();
        if !typed(value, kind) {
            return Err(format!("`{name}` is no {kind}"));
        }
        if !answers.iter().any(|a| same(value, a)) {
            return Err(format!("`{name}` is wrong"));
        }
    }
    for (name, answers) in gold {
        if !got.contains_key(name) && !may_be_omitted(answers) {
            return Err(format!("`{name}` was left out"));
        }
    }
    Ok(())
}

fn may_be_omitted(answers: &Value) -> bool {
    answers.as_array().is_some_and(|a| a.iter().any(|v| v.as_str() == Some("")))
}

fn typed(value: &Value, kind: &str) -> bool {
    match kind {
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

/// `answer` is one value that counts as right; inside objects every field holds a list of those again.
fn same(value: &Value, answer: &Value) -> bool {
    match (value, answer) {
        (Value::String(a), Value::String(b)) => plain(a) == plain(b),
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            let given = a.iter().all(|(key, value)| {
                b.get(key)
                    .and_then(Value::as_array)
                    .is_some_and(|answers| answers.iter().any(|answer| same(value, answer)))
            });
            given && b.iter().all(|(key, answers)| a.contains_key(key) || may_be_omitted(answers))
        }
        _ => value == answer,
    }
}

fn plain(text: &str) -> String {
    let kept = text.chars().filter(|c| !" ,./-_*^".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == '\'' { '"' } else { c }).collect()
}

// ---- reporting -----------------------------------------------------------------------------------------------------

struct Row {
    what: String,
    odd: f64,
    even: f64,
    target: Option<f64>,
}

#[derive(Default)]
struct Table {
    rows: Vec<Row>,
    costs: Vec<(String, f64)>,
}

impl Table {
    fn row(&mut self, what: String, halves: &[Half; 2], target: Option<f64>, share: impl Fn(&Half) -> (usize, usize)) {
        let [odd, even] = halves;
        self.rows.push(Row { what, odd: percent(share(odd)), even: percent(share(even)), target });
    }

    fn solvable(&mut self, set: &str, halves: &[Half; 2]) {
        let goal = |percent| (set == "multiple").then_some(percent);
        self.row(format!("{set}: right tool, of those answered"), halves, goal(96.0), |h| (h.right, h.answered));
        self.row(format!("{set}: kept (answered)"), halves, goal(96.0), |h| (h.answered, h.total));
        self.row(format!("{set}: right tool ranked first, of all"), halves, None, |h| (h.first, h.total));
        self.row(format!("{set}: asks which (ambiguous)"), halves, None, |h| (h.ambiguous, h.total));
        self.row(format!("{set}: impossible"), halves, None, |h| (h.impossible, h.total));
        let inputs = (set == "multiple" || set == "simple_python").then_some(55.0);
        self.row(format!("{set}: exact inputs, gold tool given"), halves, inputs, |h| (h.exact, h.total));
        self.row(format!("{set}: asks for a missing input"), halves, None, |h| (h.asked, h.total));
    }

    fn unsolvable(&mut self, set: &str, halves: &[Half; 2]) {
        let goal = (set == "irrelevance").then_some(75.0);
        self.row(format!("{set}: recall (impossible)"), halves, goal, |h| (h.impossible, h.total));
        self.row(format!("{set}: asks which (not counted as recall)"), halves, None, |h| (h.ambiguous, h.total));
    }

    #[expect(clippy::cast_precision_loss, reason = "counts and nanoseconds far below 2^52")]
    fn decision_cost(&mut self, set: &str, ns: u64, items: usize) {
        self.costs.push((set.to_owned(), ns as f64 / 1e6 / items.max(1) as f64));
    }

    fn render(&self) -> String {
        let mut out = format!("{:<52} {:>8} {:>8} {:>8}\n", "", "odd", "even", "target");
        for Row { what, odd, even, target } in &self.rows {
            let target = target.map_or_else(String::new, |t| format!("≥ {t:.0} %"));
            let _ = writeln!(out, "{what:<52} {odd:>6.1} % {even:>6.1} % {target:>8}");
        }
        for (set, ms) in &self.costs {
            let _ = writeln!(out, "{:<52} {ms:>6.3} ms", format!("{set}: CPU per decision (choose + fill)"));
        }
        out
    }

    /// Targets hold for the odd items.
    fn check(&self) -> Result<(), String> {
        let missed: Vec<_> = self
            .rows
            .iter()
            .filter_map(|row| {
                row.target.filter(|t| row.odd < *t).map(|t| format!("{}: {:.1} %, want {t:.0} %", row.what, row.odd))
            })
            .collect();
        if missed.is_empty() { Ok(()) } else { Err(format!("targets missed: {}", missed.join("; "))) }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
fn percent((part, whole): (usize, usize)) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}
