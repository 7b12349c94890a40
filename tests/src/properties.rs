//! Properties of the pure parts, for inputs nobody would think of. Failures print the smallest input found.

use std::sync::{Arc, OnceLock};

use elysia_decision::{
    Action, AgentProfile, ModelReply, ModelToolCall, Offer, ToolEntry, Tree, TreeConfig, Turn, TurnStart, Verdict,
    digest, neutralise, read_answer, read_reply,
};
use elysia_types::{
    Effects, Environment, InputSchema, JsonPolicy, Object, QueryBudget, SharedEnvironment, ToolDescriptor, Usage,
    clean, clean_line, parse_json,
};
use libtest_mimic::{Failed, Trial};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

/// One trial per property.
pub fn trials() -> Vec<Trial> {
    vec![
        property("references_are_unique_and_resolve", operations, |ops| environment_holds(&ops)),
        property("restoring_gives_the_same_environment", operations, |ops| restores(&ops)),
        property(
            "a_digest_never_exceeds_its_budget",
            || (objects(), 0usize..3_000),
            |(rows, budget)| digest_fits(rows, budget),
        ),
        property("a_reply_never_chooses_what_is_not_on_offer", reply, |reply| reply_is_legal(&reply)),
        property("clean_text_has_no_forbidden_characters", any::<String>, |text| cleaned(&text)),
        property("a_delimiter_cannot_be_forged", pieces, |text| unforged(&text)),
        property("completed_inputs_satisfy_the_schema", value, completed),
        property("parsing_json_never_panics_and_keeps_values", value, |json| parsed(&json)),
    ]
}

fn property<S: Strategy + 'static>(
    name: &str,
    inputs: impl FnOnce() -> S + Send + 'static,
    holds: fn(S::Value) -> Result<(), String>,
) -> Trial {
    Trial::test(format!("property/{name}"), move || {
        let mut runner = TestRunner::new(Config { cases: 256, failure_persistence: None, ..Config::default() });
        let result = runner.run(&inputs(), |input| holds(input).map_err(TestCaseError::fail));
        result.map_err(|e| Failed::from(e.to_string()))
    })
}

fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-zé\\PC]{0,12}",
        "[ -~]{0,200}",
        Just("7".to_owned()),
        Just("true".to_owned()),
        Just("{\"a\":1}".to_owned())
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|n| json!(n)),
        any::<f64>().prop_map(|n| json!(n)),
        text.prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 40, 8, |inner| {
        let key = prop_oneof!["n|s|o|l|choices|option|inputs|message|end|impossible", "[a-z\"\\\\]{1,5}"];
        prop_oneof![
            vec(inner.clone(), 0..8).prop_map(Value::Array),
            vec((key, inner), 0..8).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn objects() -> impl Strategy<Value = Vec<Vec<Object>>> {
    let object = value().prop_map(|v| match v {
        Value::Object(map) => map,
        other => std::iter::once(("v".to_owned(), other)).collect::<Map<_, _>>(),
    });
    vec(vec(object, 0..6), 0..8)
}

fn small() -> impl Strategy<Value = Object> {
    (0u8..3, 0u8..3).prop_map(|(a, b)| json!({"a": a, "b": b}).as_object().cloned().unwrap_or_default())
}

#[derive(Clone, Debug)]
enum Operation {
    Add(u8, u8, Vec<Object>, u64),
    Trim(usize),
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let add = (0u8..3, 0u8..3, vec(small(), 0..5), 0u64..4).prop_map(|(t, n, o, r)| Operation::Add(t, n, o, r));
    vec(prop_oneof![6 => add, 1 => (0usize..6).prop_map(Operation::Trim)], 0..24)
}

fn apply(operations: &[Operation]) -> Result<(Environment, Vec<String>), String> {
    let mut environment = Environment::default();
    let mut given: Vec<String> = Vec::new();
    for operation in operations {
        match operation {
            Operation::Add(tool, name, objects, rank) => {
                // Names that can spell the same reference in two ways.
                let tool = ["a", "a_b", "a_b_c"][usize::from(*tool)].parse().map_err(|e| format!("{e}"))?;
                let name = ["b", "c", "b_c"][usize::from(*name)].parse().map_err(|e| format!("{e}"))?;
                let added = environment.add(&tool, &name, Object::new(), objects.clone(), *rank, u64::MAX);
                let added = added.map_err(|e| e.to_string())?;
                for (reference, object) in added.refs.iter().zip(&added.objects) {
                    let stored = environment
                        .object(reference.as_str())
                        .ok_or_else(|| format!("{reference} does not resolve"))?;
                    if stored != object {
                        return Err(format!("{reference} resolves to another object"));
                    }
                    given.push(reference.to_string());
                }
            }
            Operation::Trim(keep) => {
                environment.trim(*keep, u64::MAX);
            }
        }
    }
    Ok((environment, given))
}

fn environment_holds(operations: &[Operation]) -> Result<(), String> {
    let (environment, _) = apply(operations)?;
    let mut whole: Vec<String> = Vec::new();
    for (_, _, entry) in environment.ranked() {
        for object in &entry.objects {
            let reference = object.get("_REF_ID").and_then(Value::as_str).ok_or("an object without a reference")?;
            let resolved = environment.whole(object);
            if resolved.contains_key("object_info") {
                return Err(format!("the repeat of {reference} does not resolve"));
            }
            if !object.contains_key("object_info") {
                if whole.iter().any(|r| r == reference) {
                    return Err(format!("{reference} stands on two objects"));
                }
                whole.push(reference.to_owned());
            }
        }
    }
    let ranks: Vec<u64> = environment.newest().map(|(_, _, e)| e.rank()).collect();
    if ranks.windows(2).any(|pair| pair[0] < pair[1]) || ranks.len() != environment.n_entries() {
        return Err(format!("newest first is not: {ranks:?}"));
    }
    Ok(())
}

fn restores(operations: &[Operation]) -> Result<(), String> {
    let (mut environment, _) = apply(operations)?;
    let (locations, entries) = environment.stored_since(0);
    let mut restored = Environment::restore(locations, entries);
    let same = |a: &Environment, b: &Environment| a.to_json() == b.to_json() && a.bytes() == b.bytes();
    if !same(&environment, &restored) {
        return Err("differs at once".to_owned());
    }
    // What is added later must get the same references and stubs in both.
    for tool in ["a", "a_b"] {
        let rows: Vec<Object> = [0, 1].iter().filter_map(|b| json!({"a": 1, "b": b}).as_object().cloned()).collect();
        let (tool, name) = (tool.parse().map_err(|e| format!("{e}"))?, "b".parse().map_err(|e| format!("{e}"))?);
        let one = environment.add(&tool, &name, Object::new(), rows.clone(), 0, u64::MAX);
        let two = restored.add(&tool, &name, Object::new(), rows, 0, u64::MAX);
        if one != two || !same(&environment, &restored) {
            return Err("differs after an addition".to_owned());
        }
    }
    Ok(())
}

fn digest_fits(rows: Vec<Vec<Object>>, budget: usize) -> Result<(), String> {
    let mut environment = Environment::default();
    let (tool, name) = ("search".parse().map_err(|e| format!("{e}"))?, "na\"me é".parse().map_err(|e| format!("{e}"))?);
    for (rank, objects) in rows.into_iter().enumerate() {
        let added = environment.add(&tool, &name, Object::new(), objects, rank as u64, u64::MAX);
        added.map_err(|e| e.to_string())?;
    }
    let text = digest(&environment, budget);
    if text.len() > budget {
        return Err(format!("{} bytes of {budget}", text.len()));
    }
    let mut n_told = 0;
    for line in text.lines() {
        let json: Value = serde_json::from_str(line).map_err(|e| format!("{e}: {line}"))?;
        n_told += json.get("older_results_not_shown").and_then(Value::as_u64).unwrap_or(1);
        if let Some(Value::Array(objects)) = json.get("objects") {
            let cut = objects.last().and_then(Value::as_str).is_some();
            let named = objects.iter().filter(|o| o.get("_REF_ID").is_some()).count();
            if !cut && named != objects.len() {
                return Err(format!("an object without its reference: {line}"));
            }
        }
    }
    if budget >= 64 && n_told != environment.n_entries() as u64 {
        return Err(format!("{n_told} of {} entries told", environment.n_entries()));
    }
    Ok(())
}

/// One tree and its first offer, for all properties.
fn stage() -> Result<(Arc<Tree>, Offer), String> {
    static STAGE: OnceLock<Result<(Arc<Tree>, Offer), String>> = OnceLock::new();
    STAGE.get_or_init(set_stage).clone()
}

fn set_stage() -> Result<(Arc<Tree>, Offer), String> {
    let schema = json!({"type": "object", "properties": {
        "n": {"type": "integer"}, "s": {"type": "string", "default": "x"},
        "o": {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]},
        "l": {"type": "array", "items": {"type": "boolean"}}}, "required": ["n"]});
    let mut config = TreeConfig::default();
    config.branches.insert("deep".to_owned(), elysia_decision::BranchConfig::default());
    let hidden = elysia_decision::ToolConfig { branch: Some("deep".to_owned()), ..Default::default() };
    config.tools.insert("hidden".to_owned(), hidden);
    let tools = ["get", "hidden"].map(|name| tool(name, schema.clone()));
    let tools = tools.into_iter().collect::<Result<Vec<_>, _>>()?;
    let (tree, _) = Tree::build(&config, tools).map_err(|e| e.to_string())?;
    let start = TurnStart {
        query_id: "q".parse().map_err(|e| format!("{e}"))?,
        session_id: "s".parse().map_err(|e| format!("{e}"))?,
        tree: tree.clone(),
        environment: SharedEnvironment::default(),
        history: Vec::new(),
        profile: AgentProfile::default(),
        now: "2026-03-02T09:30:00+01:00".to_owned(),
        budget: QueryBudget::default(),
    };
    let mut turn = Turn::query(start, "q".to_owned(), "m".to_owned());
    loop {
        match turn.next() {
            Action::Ask(prompt) => return Ok((tree, prompt.local.offer)),
            Action::Emit(_) => {}
            other => return Err(format!("{other:?}")),
        }
    }
}

fn tool(name: &str, schema: Value) -> Result<ToolEntry, String> {
    let descriptor = ToolDescriptor {
        name: name.parse().map_err(|e| format!("{e}"))?,
        title: None,
        description: String::new(),
        input_schema: schema.clone(),
        output_schema: None,
        examples: Vec::new(),
        effects: Effects::None,
        idempotent: true,
        may_end: true,
        status: None,
        placement: None,
        checks_availability: false,
        runs_unchosen: false,
        annotations: Vec::new(),
    };
    let schema = Arc::new(InputSchema::new(schema).map_err(|e| e.to_string())?);
    Ok(ToolEntry { descriptor: Arc::new(descriptor), schema, plugin: "p".parse().map_err(|e| format!("{e}"))? })
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "get|hidden|deep|back|text_response|impossible|summarize|Get| get",
        1 => any::<String>(),
    ]
}

fn reply() -> impl Strategy<Value = ModelReply> {
    let inputs = prop_oneof![
        value(),
        any::<i8>().prop_map(|n| json!({"n": n})),
        any::<i8>().prop_map(|n| json!({"inputs": {"n": n}}))
    ];
    let choice = (name(), inputs.clone()).prop_map(|(o, i)| json!({"option": o, "inputs": i}));
    let decision = (vec(choice, 0..10), value(), value(), any::<bool>(), any::<bool>());
    let decision = decision
        .prop_map(|(c, m, r, e, i)| json!({"choices": c, "message": m, "reason": r, "end": e, "impossible": i}));
    let wrapped = (decision, 0u8..4, "[a-z{}\"` \n]{0,30}").prop_map(|(d, how, noise)| match how {
        0 => d.to_string(),
        1 => format!("{noise}{d}{noise}"),
        2 => format!("{noise}\n```json\n{d:#}\n```\n{noise}"),
        _ => d.to_string().chars().rev().skip(1).collect::<Vec<_>>().into_iter().rev().collect(),
    });
    let text = prop_oneof![wrapped, value().prop_map(|v| v.to_string()), any::<String>()];
    let call = (name(), prop_oneof![inputs.prop_map(|v| v.to_string()), any::<String>()]);
    let calls = vec(call.prop_map(|(name, arguments)| ModelToolCall { name, arguments }), 0..10);
    (text, prop_oneof![2 => Just(Vec::new()), 1 => calls]).prop_map(|(text, tool_calls)| ModelReply {
        text,
        tool_calls,
        usage: Usage::default(),
    })
}

fn reply_is_legal(reply: &ModelReply) -> Result<(), String> {
    let (tree, offer) = stage()?;
    let _ = read_answer(reply);
    let Ok(legal) = read_reply(reply, &tree, &offer) else {
        return Ok(());
    };
    let names = offer.names(&tree);
    for choice in &legal.decision.choices {
        if !names.contains(&choice.option.as_str()) {
            return Err(format!("`{}` is not on offer", choice.option));
        }
    }
    match legal.verdict {
        Verdict::Tools(choices) => {
            if choices.is_empty() || choices.len() > 8 || legal.decision.impossible {
                return Err(format!("{} tools", choices.len()));
            }
            for (idx, inputs) in choices {
                let leaf = tree.leaf(idx).ok_or("no such tool")?;
                if !offer.tools.contains(&idx) || leaf.entry.schema.complete(inputs.clone()) != Ok(inputs) {
                    return Err("a tool that is not on offer, or inputs that are not valid".to_owned());
                }
            }
        }
        Verdict::Answer(text) if text.trim().is_empty() => return Err("an empty answer".to_owned()),
        _ => {}
    }
    Ok(())
}

fn is_forbidden(c: char) -> bool {
    let code = u32::from(c);
    (c.is_control() && c != '\n' && c != '\t') || (0x202A..=0x202E).contains(&code) || (0x2066..=0x2069).contains(&code)
}

fn cleaned(text: &str) -> Result<(), String> {
    let dirty = format!("{text}\u{1b}[31m\u{202e}\u{2066}\u{e0041}\u{7f}\u{9b}{text}");
    for clean in [clean(&dirty).into_owned(), clean_line(&dirty)] {
        if let Some(c) = clean.chars().find(|c| is_forbidden(*c)) {
            return Err(format!("{c:?} is left in {clean:?}"));
        }
        if elysia_types::clean(&clean) != clean {
            return Err("cleaning twice differs".to_owned());
        }
    }
    if clean_line(&dirty).contains(['\n', '\t']) { Err("a line has breaks".to_owned()) } else { Ok(()) }
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof!["</?data|<|>|/| |\n|data|DATA|\u{200b}|&lt;|<!--", "[a-z<]{0,4}"];
    vec(piece, 0..30).prop_map(|all| all.concat())
}

fn unforged(text: &str) -> Result<(), String> {
    let safe = neutralise(text).to_ascii_lowercase();
    let squeezed: String = safe.chars().filter(|c| c.is_alphanumeric() || *c == '<').collect();
    // `<` directly before the word, once everything that is not a letter is ignored.
    match squeezed.find("<data") {
        Some(_) => Err(safe),
        None => Ok(()),
    }
}

fn completed(inputs: Value) -> Result<(), String> {
    let (tree, _) = stage()?;
    let (_, leaf) = tree.tool("get").ok_or("no tool")?;
    let Value::Object(inputs) = inputs else { return Ok(()) };
    let Ok(done) = leaf.entry.schema.complete(inputs) else {
        return Ok(());
    };
    match leaf.entry.schema.complete(done.clone()) {
        Ok(again) if again == done && again.contains_key("s") && again.get("n").is_some_and(Value::is_i64) => Ok(()),
        other => Err(format!("{done:?} is not stable: {other:?}")),
    }
}

fn parsed(json: &Value) -> Result<(), String> {
    let policy = JsonPolicy { max_bytes: 1 << 20, max_depth: 64 };
    let text = json.to_string();
    let back = parse_json(&text, policy).map_err(|e| format!("{e}: {text}"))?;
    let _ = parse_json(text.get(..text.len() / 2).unwrap_or_default(), policy);
    if back == *json { Ok(()) } else { Err(format!("{back} is not {text}")) }
}
