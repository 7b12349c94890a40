//! Guests made in-process from WebAssembly text: no toolchain needed, built in milliseconds.
//!
//! A text is the fields of one core module. `guests/prelude.wat` adds what it does not define itself: imports, memory,
//! an allocator, helpers to yield and return, and the exports of the plugin world. Inside it `@"text"` stands for the
//! address and length of that text. Lines that begin with `;;!` are TOML: see [`Header`].

use std::path::Path;
use std::sync::OnceLock;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{Resolve, WorldId};

const PRELUDE: &str = include_str!("guests/prelude.wat");
const PUPPET: &str = include_str!("guests/puppet.wat");
/// WASI as far as guests here import it; hosts check each import by itself, so a part is as good as the whole.
const WASI: &str = include_str!("guests/wasi.txt");
/// Where `@"…"` texts lie.
const TEXTS: usize = 16 * 1024;
/// Where descriptors lie; the heap begins behind them.
const DESCRIPTORS: usize = 64 * 1024;
const DESCRIPTOR_SIZE: usize = 108;

/// A tool as a guest describes it.
#[derive(Clone, Debug)]
pub struct Tool {
    pub name: String,
    pub description: String,
    pub schema: String,
    pub effects: u8,
    pub may_end: bool,
    pub checks_availability: bool,
    pub runs_unchosen: bool,
}

impl Tool {
    /// A tool that takes anything and changes nothing.
    pub fn new(name: &str, description: &str) -> Self {
        Self {
            name: name.to_owned(),
            description: description.to_owned(),
            schema: r#"{"type":"object","additionalProperties":true}"#.to_owned(),
            effects: 0,
            may_end: true,
            checks_availability: false,
            runs_unchosen: false,
        }
    }
}

/// A component of `text` with one tool `guest`; a text that begins with `(component` is taken as it is.
///
/// # Panics
/// When the text is wrong.
pub fn component_from_wat(text: &str) -> Vec<u8> {
    if text.lines().any(|line| line.starts_with("(component")) {
        return wat::parse_str(text).unwrap_or_else(|e| panic!("{e}"));
    }
    component(&[Tool::new("guest", "Does what its case needs.")], text)
}

/// A component of the module fields `body` that describes `tools`.
///
/// # Panics
/// When the text is wrong.
pub fn component(tools: &[Tool], body: &str) -> Vec<u8> {
    let module = wat::parse_str(module_text(tools, body)).unwrap_or_else(|e| panic!("{e}"));
    encode(module)
}

/// A small plugin whose one tool gives its inputs back as a result. Distinct names and descriptions give distinct
/// bytes.
pub fn generated_plugin(tool_name: &str, description: &str) -> Vec<u8> {
    let mut tool = Tool::new(tool_name, description);
    tool.schema = r#"{"type":"object","properties":{"query":{"type":"string","description":"What to look for"},"limit":{"type":"integer","minimum":1,"maximum":100,"default":10}}}"#.to_owned();
    let body = "(func $call (param $tool i32) (param i32) (param $inputs i32) (param $len i32) (result i32)
                  (call $return (local.get $inputs) (local.get $len)))";
    component(&[tool], body)
}

/// A plugin whose tool `puppet` does what its inputs say, in order: `{"do":[["status","x"],["text","hi"],…]}`.
///
/// All arguments are strings. Verbs: `status T`, `text T`, `warning T`, `log T`, `progress DONE TOTAL`,
/// `result OBJECT [NAME]`, `empty [NAME]`, `cite TEXT REF`, `fail KIND FEEDBACK` (kinds as in the WIT), `trap`, `spin`,
/// `sleep MS`, `exit STATUS`, `return JSON`, `grow PAGES`, `big BYTES` (yields a text of that length), `set KEY JSON`,
/// `get KEY`, `remove KEY`, `object REF`, `latest TOOL NAME`, `prompt`, `now`, `env`, `print T`, `read PATH`,
/// `write PATH T`, `fetch URL`, `repeat N VERB ARG` (VERB of one argument). Those that read yield a text with what they
/// found, or `none`, or `error N`.
pub fn puppet() -> Vec<u8> {
    puppet_named("puppet")
}

/// [`puppet`] under another name.
pub fn puppet_named(tool_name: &str) -> Vec<u8> {
    puppet_with(Tool::new(tool_name, "Does what its inputs say."))
}

/// [`puppet`] described otherwise; its schema stays.
pub fn puppet_with(mut tool: Tool) -> Vec<u8> {
    tool.schema = r#"{"type":"object","properties":{"do":{"type":"array","items":{"type":"array","items":{"type":"string"}}}},"required":["do"]}"#.to_owned();
    component(&[tool], PUPPET)
}

fn module_text(tools: &[Tool], body: &str) -> String {
    let (imports, rest) = PRELUDE.split_once(";; ---- after the body ----").expect("prelude has two parts");
    let defines = |name: &str| body.contains(&format!("(func {name} ")) || body.contains(&format!("(func {name}\n"));
    let mut text = format!("(module\n{imports}\n{body}\n");
    for part in rest.split(";; ---- unless ").skip(1) {
        let (name, fields) = part.split_once('\n').expect("a part has a name");
        let name = name.trim();
        let given = if name == "memory" { body.contains("(memory (export") } else { defines(name) };
        if !given {
            text.push_str(fields);
        }
    }
    for (name, function) in
        [("describe", "$describe"), ("available", "$available"), ("run-if-true", "$run_if_true"), ("call", "$call")]
    {
        let export = format!("elysia:plugin/tools@0.1.0#{name}\"");
        // The body may export it itself.
        if !body.contains(&format!("(export \"{export}")) {
            text.push_str(&format!("(export \"{export} (func {function}))\n"));
        }
    }
    let (descriptors, list, heap) = descriptors(tools);
    let pages = heap / 65536 + 2;
    let mut text = text.replace("$PAGES", &pages.to_string()).replace("$LIST", &list.to_string());
    text = text.replace("$COUNT", &tools.len().to_string()).replace("$HEAP", &heap.to_string());
    let (mut text, texts) = place_texts(&text);
    text.push_str(&format!("(data (i32.const {TEXTS}) \"{}\")\n", escaped(&texts)));
    text.push_str(&format!("(data (i32.const {DESCRIPTORS}) \"{}\")\n)", escaped(&descriptors)));
    text
}

/// Replaces each `@"text"` by its address and length.
fn place_texts(text: &str) -> (String, Vec<u8>) {
    let (mut out, mut texts, mut rest) = (String::new(), Vec::new(), text);
    while let Some((before, after)) = rest.split_once("@\"") {
        let (mut content, mut chars, mut end) = (String::new(), after.char_indices(), 0);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    end = at + 1;
                    break;
                }
                '\\' => match chars.next().expect("something is escaped").1 {
                    'n' => content.push('\n'),
                    'e' => content.push('\u{1b}'),
                    other => content.push(other),
                },
                other => content.push(other),
            }
        }
        out.push_str(&format!("{before}(i32.const {}) (i32.const {})", TEXTS + texts.len(), content.len()));
        texts.extend(content.bytes());
        rest = &after[end..];
    }
    assert!(TEXTS + texts.len() <= DESCRIPTORS, "texts of a guest take more than 48 KiB");
    out.push_str(rest);
    (out, texts)
}

fn escaped(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\{byte:02x}")).collect()
}

/// The memory image of all descriptors, the address of their list, and where the heap may begin.
fn descriptors(tools: &[Tool]) -> (Vec<u8>, usize, usize) {
    let mut image = vec![0u8; tools.len() * DESCRIPTOR_SIZE];
    for (i, tool) in tools.iter().enumerate() {
        let base = i * DESCRIPTOR_SIZE;
        for (offset, text) in [(0, &tool.name), (20, &tool.description), (28, &tool.schema)] {
            let at = DESCRIPTORS + image.len();
            image[base + offset..][..4].copy_from_slice(&(at as u32).to_le_bytes());
            image[base + offset + 4..][..4].copy_from_slice(&(text.len() as u32).to_le_bytes());
            image.extend(text.bytes());
        }
        image[base + 56] = tool.effects;
        image[base + 58] = u8::from(tool.may_end);
        image[base + 96] = u8::from(tool.checks_availability);
        image[base + 97] = u8::from(tool.runs_unchosen);
    }
    let heap = (DESCRIPTORS + image.len()).next_multiple_of(16);
    (image, DESCRIPTORS, heap)
}

fn world() -> &'static (Resolve, WorldId) {
    static WORLD: OnceLock<(Resolve, WorldId)> = OnceLock::new();
    WORLD.get_or_init(|| {
        let mut resolve = Resolve::default();
        let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
        resolve.push_dir(&wit).unwrap_or_else(|e| panic!("{e:#}"));
        let mut last = None;
        for package in WASI.split("\n====\n") {
            last = Some(resolve.push_str("wasi.wit", package).unwrap_or_else(|e| panic!("{e:#}")));
        }
        let world = resolve.select_world(&[last.expect("packages")], Some("guest")).unwrap_or_else(|e| panic!("{e:#}"));
        (resolve, world)
    })
}

fn encode(mut module: Vec<u8>) -> Vec<u8> {
    let (resolve, world) = world();
    embed_component_metadata(&mut module, resolve, *world, StringEncoding::UTF8, false)
        .unwrap_or_else(|e| panic!("{e:#}"));
    let mut encoder = ComponentEncoder::default();
    encoder.module(&module).unwrap_or_else(|e| panic!("{e:#}"));
    encoder.encode().unwrap_or_else(|e| panic!("{e:#}"))
}
