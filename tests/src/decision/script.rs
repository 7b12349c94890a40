//! A case's script, parsed.

use std::collections::HashMap;
use std::sync::Arc;

use elysia_decision::{BranchConfig, ModelReply, ModelToolCall, Preset, ToolConfig, ToolEntry, TreeConfig};
use elysia_types::{
    CitedText, Effects, Failure, FailureCode, InputSchema, Message, Object, Placement, QueryBudget, Role,
    ToolDescriptor, ToolInputs, ToolResult, Usage, Yield,
};
use serde_json::{Value, json};

/// What the model does when asked.
pub(super) enum Line {
    Reply(ModelReply),
    Fails(Failure),
}

/// What a call does.
#[derive(Clone, Default)]
pub(super) struct Behaviour {
    pub(super) yields: Vec<Yield>,
    pub(super) returned: Option<Value>,
    pub(super) failure: Option<Failure>,
    pub(super) state: bool,
    pub(super) slow: bool,
}

/// Answers to `available`: none means yes.
pub(super) type Available = Option<String>;

/// What the query is.
pub(super) enum Start {
    User(String),
    Call(String, ToolInputs),
}

/// A parsed case.
pub(super) struct Script {
    pub(super) config: TreeConfig,
    pub(super) tools: Vec<ToolEntry>,
    pub(super) budget: QueryBudget,
    pub(super) given: Vec<(String, String, Vec<Object>)>,
    pub(super) history: Vec<Message>,
    pub(super) start: Start,
    pub(super) lines: Vec<Line>,
    pub(super) local: bool,
    pub(super) show_prompt: bool,
    pub(super) behaviours: HashMap<String, Vec<Behaviour>>,
    pub(super) available: HashMap<String, Vec<Available>>,
    pub(super) if_true: HashMap<String, Vec<Option<ToolInputs>>>,
    pub(super) broken: HashMap<String, String>,
    usage: Usage,
    doing: Option<String>,
}

impl Script {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut script = Self {
            config: TreeConfig::default(),
            tools: Vec::new(),
            budget: QueryBudget::default(),
            given: Vec::new(),
            history: Vec::new(),
            start: Start::User("question".to_owned()),
            lines: Vec::new(),
            local: false,
            show_prompt: false,
            behaviours: HashMap::new(),
            available: HashMap::new(),
            if_true: HashMap::new(),
            broken: HashMap::new(),
            usage: Usage { input: 10, output: 5, cached: None },
            doing: None,
        };
        for (n, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            script.line(line).map_err(|e| format!("line {}: {e}", n + 1))?;
        }
        Ok(script)
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        if line.starts_with(' ') {
            return self.does(line.trim());
        }
        self.doing = None;
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "preset" => {
                self.config.preset = serde_json::from_value::<Preset>(json!(rest)).map_err(|e| e.to_string())?
            }
            "instruction" => self.config.instruction = Some(rest.to_owned()),
            "branch" => self.branch(rest),
            "tool" => self.tool(rest)?,
            "place" => self.place(rest)?,
            "limits" => self.limits(rest)?,
            "given" => {
                let (tool, rest) = split(rest)?;
                let (name, objects) = split(rest)?;
                self.given.push((tool.to_owned(), name.to_owned(), parse(objects)?));
            }
            "said" => {
                let (who, text) = split(rest)?;
                let role = if who == "user" { Role::User } else { Role::Assistant };
                self.history.push(Message { role, text: text.to_owned() });
            }
            "show" => self.show_prompt = true,
            "local" => self.local = true,
            "user" => self.start = Start::User(rest.to_owned()),
            "call" => {
                let (tool, inputs) = split(rest)?;
                self.start = Start::Call(tool.to_owned(), parse(inputs)?);
            }
            "usage" => {
                let (input, output) = split(rest)?;
                self.usage = Usage { input: parse(input)?, output: parse(output)?, cached: None };
            }
            _ => return self.plays(word, rest),
        }
        Ok(())
    }

    /// What the model and the plugins answer.
    fn plays(&mut self, word: &str, rest: &str) -> Result<(), String> {
        match word {
            "model" => self.reply(rest.replace("\\n", "\n"), Vec::new()),
            "calls" => {
                let tool_calls = native_calls(rest)?;
                self.reply(String::new(), tool_calls);
            }
            "fails" => self.lines.push(Line::Fails(failure(rest)?)),
            "available" => {
                let (tool, answer) = split(rest)?;
                let reason = answer.strip_prefix("no").map(|r| r.trim().to_owned());
                self.available.entry(tool.to_owned()).or_default().push(reason);
            }
            "iftrue" => {
                let (tool, inputs) = split(rest)?;
                self.if_true.entry(tool.to_owned()).or_default().push(parse(inputs)?);
            }
            "broken" => {
                let (tool, reason) = split(rest)?;
                self.broken.insert(tool.to_owned(), reason.to_owned());
            }
            "when" => {
                self.behaviours.entry(rest.to_owned()).or_default().push(Behaviour::default());
                self.doing = Some(rest.to_owned());
            }
            other => return Err(format!("unknown word `{other}`")),
        }
        Ok(())
    }

    fn reply(&mut self, text: String, tool_calls: Vec<ModelToolCall>) {
        self.lines.push(Line::Reply(ModelReply { text, tool_calls, usage: self.usage }));
    }

    fn branch(&mut self, rest: &str) {
        let (id, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let under = rest.split_whitespace().find_map(|w| w.strip_prefix("under="));
        let text: Vec<&str> = rest.split_whitespace().filter(|w| !w.starts_with("under=")).collect();
        let text = text.join(" ");
        let (description, instruction) = text.split_once(" / ").unwrap_or((&text, ""));
        let instruction = (!instruction.is_empty()).then(|| instruction.to_owned());
        let branch = BranchConfig { under: under.map(str::to_owned), description: description.to_owned(), instruction };
        self.config.branches.insert(id.to_owned(), branch);
    }

    fn tool(&mut self, rest: &str) -> Result<(), String> {
        let (rest, description) = rest.split_once(" -- ").unwrap_or((rest, ""));
        let (name, schema, words) = if let Some(at) = rest.find(" {") {
            let mut values = serde_json::Deserializer::from_str(&rest[at..]).into_iter::<Value>();
            let schema = values.next().ok_or("a schema")?.map_err(|e| e.to_string())?;
            (&rest[..at], schema, &rest[at + values.byte_offset()..])
        } else {
            let open = rest.find('(').ok_or("NAME(…)")?;
            let close = rest.find(')').ok_or("NAME(…)")?;
            (&rest[..open], short_schema(&rest[open + 1..close])?, &rest[close + 1..])
        };
        let words: Vec<&str> = words.split_whitespace().collect();
        let value = |key: &str| words.iter().find_map(|w| w.strip_prefix(key));
        let has = |word: &str| words.contains(&word);
        let effects = match () {
            () if has("reads") => Effects::Reads,
            () if has("writes") => Effects::Writes,
            () if has("destructive") => Effects::Destructive,
            () => Effects::None,
        };
        let branch = value("branch=").map(|b| b.parse().map_err(|e| format!("{e}"))).transpose()?;
        let after = value("after=").map(names).transpose()?.unwrap_or_default();
        let placement = (branch.is_some() || !after.is_empty()).then_some(Placement { branch, after });
        let description =
            if description.is_empty() { format!("does {name}") } else { description.replace("\\n", "\n") };
        let descriptor = ToolDescriptor {
            name: name.parse().map_err(|e| format!("{e}"))?,
            title: None,
            description,
            input_schema: schema.clone(),
            output_schema: None,
            examples: Vec::new(),
            effects,
            idempotent: false,
            may_end: has("ends"),
            status: None,
            placement,
            checks_availability: has("checks"),
            runs_unchosen: has("unasked"),
            annotations: Vec::new(),
        };
        let schema = Arc::new(InputSchema::new(schema).map_err(|e| e.to_string())?);
        let plugin = value("plugin=").unwrap_or("p").parse().map_err(|e| format!("{e}"))?;
        self.tools.push(ToolEntry { descriptor: Arc::new(descriptor), schema, plugin });
        Ok(())
    }

    fn place(&mut self, rest: &str) -> Result<(), String> {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let name = words.first().ok_or("a tool")?;
        let value = |key: &str| words.iter().find_map(|w| w.strip_prefix(key));
        let config = ToolConfig {
            branch: value("branch=").map(str::to_owned),
            after: value("after=").map(|names| names.split(',').filter(|n| !n.is_empty()).map(str::to_owned).collect()),
            enabled: !words.contains(&"disabled"),
            unchosen: words.contains(&"unchosen"),
        };
        self.config.tools.insert((*name).to_owned(), config);
        Ok(())
    }

    fn limits(&mut self, rest: &str) -> Result<(), String> {
        for word in rest.split_whitespace() {
            let (key, value) = word.split_once('=').ok_or("KEY=N")?;
            match key {
                "decisions" => self.budget.decisions = parse(value)?,
                "calls" => self.budget.calls = parse(value)?,
                "tokens" => self.budget.tokens = parse(value)?,
                "environment" => self.budget.environment = parse(value)?,
                "digest" => self.budget.digest = parse(value)?,
                "history" => self.budget.history = parse(value)?,
                other => return Err(format!("unknown limit `{other}`")),
            }
        }
        Ok(())
    }

    fn does(&mut self, line: &str) -> Result<(), String> {
        let tool = self.doing.clone().ok_or("an indented line without `when`")?;
        let doing = self.behaviours.get_mut(&tool).and_then(|b| b.last_mut()).ok_or("`when` first")?;
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "text" => doing.yields.push(Yield::Text(rest.replace("\\n", "\n"))),
            "cited" => {
                let (text, refs) = rest.rsplit_once(" [").ok_or("cited TEXT [REF,…]")?;
                let ref_ids = refs.trim_end_matches(']').split(',').map(str::to_owned).collect();
                let paragraphs = vec![CitedText { text: text.to_owned(), ref_ids }];
                doing.yields.push(Yield::CitedText { title: Some("Title".to_owned()), paragraphs });
            }
            "result" | "hidden" | "mapped" => {
                let (name, objects) = split(rest)?;
                let mut result = result(name, parse(objects)?, word != "hidden")?;
                if word == "mapped" {
                    result.mapping = vec![("title".to_owned(), "a".to_owned())];
                }
                doing.yields.push(Yield::Result(result));
            }
            "note" => match doing.yields.last_mut() {
                Some(Yield::Result(result)) => result.llm_message = Some(rest.to_owned()),
                _ => return Err("`note` follows a result".to_owned()),
            },
            "status" => doing.yields.push(Yield::Status(rest.to_owned())),
            "progress" => {
                let (done, total) = split(rest)?;
                doing.yields.push(Yield::Progress { done: parse(done)?, total: parse(total)? });
            }
            "warning" => doing.yields.push(Yield::Warning(rest.to_owned())),
            "return" => doing.returned = Some(parse(rest)?),
            "fail" => doing.failure = Some(failure(rest)?),
            "state" => doing.state = true,
            "slow" => doing.slow = true,
            other => return Err(format!("a call cannot `{other}`")),
        }
        Ok(())
    }
}

fn split(text: &str) -> Result<(&str, &str), String> {
    let (a, b) = text.split_once(' ').ok_or_else(|| format!("two words, not `{text}`"))?;
    Ok((a, b.trim()))
}

fn parse<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|e| format!("`{text}`: {e}"))
}

fn names(list: &str) -> Result<Vec<elysia_types::ToolName>, String> {
    list.split(',').map(|n| n.parse().map_err(|e| format!("{e}"))).collect()
}

fn failure(text: &str) -> Result<Failure, String> {
    let (code, message) = split(text)?;
    let code: FailureCode = serde_json::from_value(json!(code)).map_err(|e| e.to_string())?;
    Ok(Failure::new(code, message))
}

fn native_calls(text: &str) -> Result<Vec<ModelToolCall>, String> {
    let (mut calls, mut rest) = (Vec::new(), text);
    while !rest.trim().is_empty() {
        let (name, after) = split(rest.trim())?;
        let mut values = serde_json::Deserializer::from_str(after).into_iter::<Value>();
        let arguments = values.next().ok_or("arguments")?.map_err(|e| e.to_string())?.to_string();
        calls.push(ModelToolCall { name: name.to_owned(), arguments });
        rest = &after[values.byte_offset()..];
    }
    Ok(calls)
}

fn result(name: &str, objects: Vec<Object>, display: bool) -> Result<ToolResult, String> {
    Ok(ToolResult {
        name: if name == "-" { None } else { Some(name.parse().map_err(|e| format!("{e}"))?) },
        objects,
        metadata: Object::new(),
        payload_type: None,
        mapping: Vec::new(),
        llm_message: None,
        display,
        annotations: Vec::new(),
    })
}

/// `a: string, b?: integer=3, c: x|y` as a JSON Schema.
fn short_schema(text: &str) -> Result<Value, String> {
    let (mut properties, mut required) = (serde_json::Map::new(), Vec::new());
    for field in text.split(',').map(str::trim).filter(|f| !f.is_empty()) {
        let (name, kind) = field.split_once(':').ok_or("NAME: TYPE")?;
        let (kind, default) = kind.trim().split_once('=').unwrap_or((kind.trim(), ""));
        let mut schema = if kind.contains('|') {
            json!({"enum": kind.split('|').collect::<Vec<_>>()})
        } else {
            json!({"type": kind})
        };
        if !default.is_empty() {
            schema["default"] = parse(default)?;
        }
        match name.strip_suffix('?') {
            Some(optional) => properties.insert(optional.to_owned(), schema),
            None => {
                required.push(name);
                properties.insert(name.to_owned(), schema)
            }
        };
    }
    Ok(json!({"type": "object", "properties": properties, "required": required}))
}
