//! What does the host itself spend on a decision, and how does that grow?
//!
//! The machine of `elysia-decision` is driven with scripted replies: no model, no guest, no store. What is left is
//! making the offer, the digest and the prompt, and reading the reply.

use std::sync::Arc;

use elysia_decision::{Action, AgentProfile, ModelReply, Observation, ToolEntry, Tree, TreeConfig, Turn, TurnStart};
use elysia_types::{
    CallEnd, Effects, Environment, InputSchema, Message, Object, QueryBudget, SharedEnvironment, ToolDescriptor,
    ToolResult, Usage, Yield,
};
use serde_json::{Value, json};

/// No limit that the measured sizes would meet.
const ROOMY: u64 = 1 << 40;

/// A tree with `n` tools on its root.
pub(crate) fn tree(n: usize) -> Arc<Tree> {
    let tools = (0..n).map(entry).collect();
    Tree::build(&TreeConfig::default(), tools).unwrap().0
}

fn entry(n: usize) -> ToolEntry {
    let schema = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for, in the user's words"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
        },
        "required": ["query"],
    });
    let descriptor = ToolDescriptor {
        name: format!("tool_{n}").parse().unwrap(),
        title: None,
        description: format!("Looks things up in collection number {n} and returns what fits the query best."),
        input_schema: schema.clone(),
        output_schema: None,
        examples: Vec::new(),
        effects: Effects::Reads,
        idempotent: true,
        may_end: true,
        status: None,
        placement: None,
        checks_availability: false,
        runs_unchosen: false,
        annotations: Vec::new(),
    };
    ToolEntry {
        descriptor: Arc::new(descriptor),
        schema: Arc::new(InputSchema::new(schema).unwrap()),
        plugin: "measured".parse().unwrap(),
    }
}

/// `n` objects that differ.
pub(crate) fn objects(from: usize, n: usize) -> Vec<Object> {
    let object = |i: usize| match json!({
        "store": format!("store {}", i % 17), "product": format!("product {i}"), "amount": i * 37 % 1000, "sold": true,
    }) {
        Value::Object(object) => object,
        _ => Object::new(),
    };
    (from..from + n).map(object).collect()
}

/// An environment with `n` objects, ten to an entry.
pub(crate) fn filled(n: usize) -> Environment {
    let mut environment = Environment::default();
    for at in (0..n).step_by(10) {
        add(&mut environment, at, 10.min(n - at));
    }
    environment
}

/// Such an environment, to be shared with a query.
pub(crate) fn environment(n: usize) -> SharedEnvironment {
    SharedEnvironment::new(filled(n))
}

/// One like it, sharing nothing.
pub(crate) fn copy(environment: &Environment) -> Environment {
    let (locations, entries) = environment.stored_since(0);
    Environment::restore(locations, entries)
}

/// Adds one entry of `n` new objects.
pub(crate) fn add(environment: &mut Environment, from: usize, n: usize) {
    let (tool, name) = ("tool_0".parse().unwrap(), "default".parse().unwrap());
    environment.add(&tool, &name, Object::new(), objects(from, n), from as u64, ROOMY).unwrap();
}

/// What one driven query came to.
#[derive(Default)]
pub(crate) struct Driven {
    /// Size of each prompt, in bytes, in order.
    pub(crate) prompts: Vec<usize>,
    /// What it adds to the conversation.
    pub(crate) messages: Vec<Message>,
}

/// Drives one query: the first decision takes `tool_0`, the second answers.
pub(crate) fn drive(tree: &Arc<Tree>, environment: &SharedEnvironment, history: Vec<Message>, nth: usize) -> Driven {
    let start = TurnStart {
        query_id: format!("query-{nth}").parse().unwrap(),
        session_id: "session".parse().unwrap(),
        tree: Arc::clone(tree),
        environment: environment.clone(),
        history,
        profile: AgentProfile::default(),
        now: String::from("2026-01-01T12:00:00+01:00"),
        budget: QueryBudget { environment: ROOMY, ..QueryBudget::default() },
    };
    let mut turn = Turn::query(start, format!("Which product sold best in week {nth}?"), String::from("scripted"));
    let mut driven = Driven::default();
    loop {
        match turn.next() {
            Action::Emit(_) | Action::Stop(_) => {}
            Action::Wait => panic!("the turn waits for something nobody started"),
            Action::Check(_) => {
                drop(turn.feed(Observation::Checked { available: vec![], run_if_true: vec![], failed: vec![] }))
            }
            Action::Ask(prompt) => {
                let size = prompt.system.len() + prompt.messages.iter().map(|m| m.text.len()).sum::<usize>();
                let tools: usize = prompt.tools.iter().map(|t| t.description.len() + t.schema.to_string().len()).sum();
                driven.prompts.push(size + tools);
                turn.feed(Observation::Replied { reply: reply(driven.prompts.len(), nth), ms: 0 });
            }
            Action::Run(plan) => {
                let call_id = plan.call.call_id.clone();
                let item = Yield::Result(result(objects(1_000_000 + nth * 10, 10)));
                turn.feed(Observation::Yielded { call_id: call_id.clone(), item });
                let end = CallEnd { outcome: Ok(None), state: None };
                turn.feed(Observation::CallEnded { call_id, end, ms: 1 });
            }
            Action::Finish => break,
        }
    }
    driven.messages = turn.finish().new_messages;
    driven
}

fn reply(decision: usize, nth: usize) -> ModelReply {
    let text = match decision {
        1 => json!({"choices": [{"option": "tool_0", "inputs": {"query": format!("best in week {nth}")}}]}),
        _ => json!({"choices": [{"option": "text_response", "inputs": {"text": "It was the espresso."}}], "end": true}),
    };
    ModelReply { text: text.to_string(), tool_calls: Vec::new(), usage: Usage::default() }
}

fn result(objects: Vec<Object>) -> ToolResult {
    ToolResult {
        name: None,
        objects,
        metadata: Object::new(),
        payload_type: None,
        mapping: Vec::new(),
        llm_message: None,
        display: true,
        annotations: Vec::new(),
    }
}
