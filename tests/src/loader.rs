//! Plugins directories through the real engine: whatever lies in one, the good plugins load and the rest is named.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Instant;

use elysia_registry::{Catalog, Grant, Grounds, Loader, LoaderOptions, PluginState, Standing, World};
use elysia_sandbox::{CacheDirs, CallRequest, Engine, EngineOptions, GuestContext};
use elysia_types::{LimitSettings, SharedEnvironment, ToolInputs};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::guests::{self, Tool};

/// One trial per claim.
pub fn trials() -> Vec<Trial> {
    type Claim = (&'static str, fn(Place));
    let all: [Claim; 11] = [
        ("bad_entries_are_named_and_the_good_one_works", bad_entries),
        ("a_second_start_runs_no_guest_and_compiles_nothing", second_start),
        ("names_stay_with_the_first", names),
        ("descriptor_limits_hold_on_both_sides", descriptor_limits),
        ("a_schema_that_points_outside_is_refused", outside_schema),
        ("a_named_directory_must_be_there_and_the_default_need_not", directories),
        ("manifests_and_grants_decide_what_a_plugin_gets", grants),
        ("a_file_that_changed_after_loading_is_not_run", changed_file),
        ("inspection_tells_what_is_inert", inspection),
        ("a_check_looks_anew", check),
        ("a_warm_start_of_twenty_plugins_is_quick", warm_start),
    ];
    let trial = |(claim, run): (&str, fn(Place))| {
        Trial::test(format!("loader/{claim}"), move || {
            run(Place::new());
            Ok(())
        })
    };
    all.into_iter().map(trial).collect()
}

/// A folder with `plugins` and a cache of its own.
struct Place {
    dir: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
    options: LoaderOptions,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("plugins")).unwrap();
        let options = LoaderOptions {
            dirs: vec![dir.path().join("plugins")],
            explicit: true,
            grounds: Grounds { base: dir.path().to_owned(), kept: Vec::new(), plugins: Vec::new() },
            ..LoaderOptions::default()
        };
        Self { dir, runtime: tokio::runtime::Runtime::new().unwrap(), options }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join("plugins").join(name)
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// A plugin file with tools of these names.
    fn plugin(&self, file: &str, tools: &[&str]) {
        let tools: Vec<Tool> = tools.iter().map(|name| Tool::new(name, file)).collect();
        self.put(file, guests::component(&tools, ""));
    }

    fn limits(&mut self, toml: &str) {
        self.options.limits = toml::from_str::<LimitSettings>(toml).unwrap();
    }

    fn grant(&mut self, name: &str, toml: &str) {
        self.options.grants.insert(name.to_owned(), toml::from_str::<Grant>(toml).unwrap());
    }

    fn engine(&self) -> Engine {
        let cache = CacheDirs { cache_dir: self.cache_dir(), key_file: self.dir.path().join("state/cache.key") };
        Engine::new(EngineOptions { cache: Some(cache), guest_threads: 1 }).unwrap()
    }

    fn cache_dir(&self) -> PathBuf {
        self.dir.path().join("cache")
    }

    fn cached_files(&self) -> Vec<PathBuf> {
        let mut files: Vec<_> = std::fs::read_dir(self.cache_dir()).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort_by_key(|path| std::fs::metadata(path).unwrap().len());
        files
    }

    fn loader(&self) -> Loader {
        Loader::new(self.engine(), self.options.clone())
    }

    fn load(&self) -> Catalog {
        self.runtime.block_on(self.loader().load()).unwrap()
    }

    /// What a call of `tool` returns.
    fn call(&self, catalog: &Catalog, tool: &str, inputs: &Value) -> Option<Value> {
        let plugin = &catalog.tool(tool).unwrap().plugin;
        let environment = SharedEnvironment::default().view(None);
        let context = GuestContext {
            environment,
            state: Default::default(),
            prompt: String::new(),
            history: Vec::new(),
            now: "2026-01-01T00:00:00+00:00".to_owned(),
        };
        let request = CallRequest {
            plugin: plugin.name.clone(),
            tool: tool.parse().unwrap(),
            inputs: inputs.as_object().cloned().unwrap_or_else(ToolInputs::new),
            limits: plugin.limits.clone(),
            policy: plugin.policy.clone(),
            context,
        };
        self.runtime.block_on(async {
            let component = plugin.component().await.unwrap();
            let (yields, _taken) = mpsc::channel(16);
            self.engine().call(&component, request, yields, CancellationToken::new()).await.outcome.unwrap()
        })
    }
}

fn tool_names(catalog: &Catalog) -> Vec<&str> {
    catalog.tools().map(|tool| tool.descriptor.name.as_str()).collect()
}

/// The reason given for the entry of this name.
fn reason<'a>(catalog: &'a Catalog, name: &str) -> &'a str {
    let problem = catalog.problems().iter().find(|p| !p.quiet && p.name == name);
    &problem.unwrap_or_else(|| panic!("no problem named {name}: {:#?}", catalog.problems())).reason
}

fn fill_with_bad_entries(place: &Place, good: &[u8]) -> UnixListener {
    place.put("cut.wasm", &good[..good.len() / 2]);
    place.put("empty.wasm", "");
    place.put("text.wasm", "#!/bin/sh\necho hello\n");
    place.put("core.wasm", wat::parse_str("(module)").unwrap());
    place.put("foreign.wasm", b"\x7fELF\x02\x01\x01");
    place.put("noise.wasm", (0..4096u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect::<Vec<_>>());
    place.put("typed.wasm", wat::parse_str(TYPED).unwrap());
    place.put("future.wasm", wat::parse_str(r#"(component (instance (export "elysia:plugin/tools@0.2.0")))"#).unwrap());
    place.put("sockets.wasm", wat::parse_str(SOCKETS).unwrap());
    place.put("badname.toml", "nmae = \"x\"\n");
    place.put("badname.wasm", good);
    place.put("notes.txt", "hello");
    place.put("README.md", "hello");
    place.put("folder.wasm/plugin.wasm", good);
    place.put("sources/main.rs", "");
    std::fs::File::create(place.at("giant.wasm")).unwrap().set_len(8 << 30).unwrap();
    symlink(place.at("core.wasm"), place.at("link.wasm")).unwrap();
    symlink("/dev/zero", place.at("zero.wasm")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(place.at("pipe.wasm")).status().unwrap().success());
    UnixListener::bind(place.at("socket.wasm")).unwrap()
}

const TYPED: &str = r#"(component
    (core module $m (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1))))
    (core instance $i (instantiate $m))
    (func (export "add-numbers") (param "a" s32) (param "b" s32) (result s32) (canon lift (core func $i "add"))))"#;
const SOCKETS: &str = r#"(component
    (import "wasi:sockets/tcp@0.2.3" (instance))
    (instance (export "elysia:plugin/tools@0.1.0")))"#;

fn bad_entries(place: Place) {
    let good = guests::generated_plugin("echo", "Gives its inputs back.");
    place.put("good.wasm", &good);
    let _socket = fill_with_bad_entries(&place, &good);
    // Traps in describe.
    place.put("trap.wasm", guests::component(&[Tool::new("t", "t")], "(func $describe (result i32) unreachable)"));
    let catalog = place.load();
    assert_eq!(tool_names(&catalog), ["echo"]);
    assert_eq!(place.call(&catalog, "echo", &json!({"query": "x"})), Some(json!({"query": "x"})));
    for (name, expected) in [
        ("cut.wasm", "cut short"),
        ("empty.wasm", "it is empty"),
        ("text.wasm", "it is text"),
        ("core.wasm", "a core WebAssembly module"),
        ("foreign.wasm", "a native program"),
        ("noise.wasm", "it is not WebAssembly"),
        ("typed.wasm", "plain exports are not served yet in this version; seen: `add-numbers`"),
        ("future.wasm", "built for `elysia:plugin` 0.2.0"),
        ("sockets.wasm", "never get sockets"),
        ("badname.toml", "badname.toml:1:1: unknown key `nmae`; did you mean `name`?"),
        ("notes.txt", "it is not a plugin"),
        ("folder.wasm", "it is a folder"),
        ("giant.wasm", "`limits.file` is 64 MiB, observed 8 GiB"),
        ("link.wasm", "it is a link"),
        ("zero.wasm", "it is a link"),
        ("pipe.wasm", "it is a pipe"),
        ("socket.wasm", "it is a socket"),
        ("trap.wasm", "trap"),
    ] {
        assert!(reason(&catalog, name).contains(expected), "{name}: {}", reason(&catalog, name));
    }
    let quiet: Vec<&str> = catalog.problems().iter().filter(|p| p.quiet).map(|p| p.name.as_str()).collect();
    assert_eq!(quiet, ["README.md", "sources"]);
    let failed = catalog.reports().iter().filter(|r| r.state == PluginState::Failed);
    assert!(failed.clone().count() >= 12 && failed.clone().all(|r| r.reason.is_some()));
    let list = serde_json::to_value(catalog.reports()).unwrap();
    let good = list.as_array().unwrap().iter().find(|r| r["name"] == "good").unwrap();
    let keys: Vec<&String> = good.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["name", "path", "sha256", "state", "tools", "policy"]);
    let keys: Vec<&String> = good["tools"][0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["name", "description", "input_schema", "effects", "may_end", "branch"]);
}

fn second_start(mut place: Place) {
    place.plugin("one.wasm", &["one"]);
    assert_eq!(tool_names(&place.load()), ["one"]);
    let files = place.cached_files();
    assert_eq!(files.len(), 2, "code and descriptors");
    // Whoever compiled would write it again; whoever ran describe would need an instance.
    std::fs::remove_file(&files[1]).unwrap();
    place.limits("instances = 0");
    let catalog = place.load();
    assert_eq!(tool_names(&catalog), ["one"]);
    assert_eq!(place.cached_files().len(), 1);
    place.runtime.block_on(catalog.tool("one").unwrap().plugin.component()).unwrap();
    assert_eq!(place.cached_files().len(), 2, "compiled when first needed");
    // The same limits do stop a plugin that was not described before.
    place.plugin("two.wasm", &["two"]);
    assert_eq!(tool_names(&place.load()), ["one"]);
}

fn names(mut place: Place) {
    place.plugin("a.wasm", &["shared", "only_a"]);
    place.plugin("b.wasm", &["shared", "only_b", "back", "host_word"]);
    place.plugin("c.wasm", &["shared"]);
    place.plugin("d/plugin.wasm", &["only_d"]);
    place.plugin("e.wasm", &["only_e"]);
    place.put("e.toml", "name = \"a\"");
    place.plugin("f.wasm", &["twice", "twice"]);
    place.options.reserved.push("host_word".to_owned());
    let catalog = place.load();
    assert_eq!(tool_names(&catalog), ["shared", "only_a", "only_b", "only_d", "twice"]);
    assert_eq!(catalog.tool("shared").unwrap().plugin.name.as_str(), "a");
    let reasons: Vec<String> =
        catalog.problems().iter().filter(|p| !p.quiet).map(|p| format!("{}: {}", p.name, p.reason)).collect();
    let all = reasons.join("\n");
    for part in [
        "plugin `b`: its tool `shared` has the name of a tool of plugin `a`",
        "plugin `b`: its tool `back` has the name of a built-in",
        "plugin `b`: its tool `host_word` has the name of a built-in",
        "none of its tools can be taken: plugin `c`: its tool `shared`",
        "its name `a` is already that of the plugin at",
        "describes its tool `twice` twice",
    ] {
        assert!(all.contains(part), "{part} in\n{all}");
    }
    let states: Vec<(&str, PluginState)> = catalog.reports().iter().map(|r| (r.name.as_str(), r.state)).collect();
    use PluginState::{Failed, Ready};
    assert_eq!(states, [("a", Ready), ("b", Ready), ("c", Failed), ("d", Ready), ("a", Failed), ("f", Ready)]);
}

fn descriptor_limits(place: Place) {
    let many = |n: usize| (0..n).map(|i| Tool::new(&format!("tool_{n}_{i}"), "d")).collect::<Vec<_>>();
    let described = |name: &str, length: usize| vec![Tool::new(name, &"d".repeat(length))];
    let with_schema = |name: &str, length: usize| {
        let mut tool = Tool::new(name, "d");
        let frame = r#"{"type":"object","description":""}"#.len();
        tool.schema = format!(r#"{{"type":"object","description":"{}"}}"#, "x".repeat(length - frame));
        vec![tool]
    };
    for (file, tools) in [
        ("tools-64", many(64)),
        ("tools-65", many(65)),
        ("description-fits", described("described", 2048)),
        ("description-over", described("described_over", 2049)),
        ("schema-fits", with_schema("schema", 32 * 1024)),
        ("schema-over", with_schema("schema_over", 32 * 1024 + 1)),
    ] {
        place.put(&format!("{file}.wasm"), guests::component(&tools, ""));
    }
    let catalog = place.load();
    let ready: Vec<&str> = catalog.plugins().iter().map(|p| p.name.as_str()).collect();
    assert_eq!(ready, ["description-fits", "schema-fits", "tools-64"], "{:#?}", catalog.problems());
    for (name, limit, configured) in
        [("tools-65", "tools", "64"), ("description-over", "description", "2 KiB"), ("schema-over", "schema", "32 KiB")]
    {
        let problem = catalog.problems().iter().find(|p| p.name == format!("{name}.wasm")).unwrap();
        let expected = format!("`limits.{limit}` is {configured}, observed");
        assert!(problem.reason.contains(&expected) && problem.reason.contains(name), "{}", problem.reason);
        assert!(problem.hint.as_ref().unwrap().contains(&format!("[grants.{name}]")), "{problem:?}");
    }
    // What is remembered is checked against the limits of today.
    let mut place = place;
    place.limits("tools = 63");
    assert!(reason(&place.load(), "tools-64.wasm").contains("`limits.tools` is 63, observed 64"));
    place.limits("");
    place.grant("tools-65", "limits = { tools = 65 }");
    assert_eq!(place.load().plugins().len(), 4);
}

fn outside_schema(place: Place) {
    let mut tools: Vec<Tool> = ["web", "disk", "slow", "fine"].iter().map(|name| Tool::new(name, "d")).collect();
    tools[0].schema = r#"{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:1/x.json"}}}"#.to_owned();
    tools[1].schema = r#"{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}"#.to_owned();
    tools[2].schema = r#"{"type":"object","properties":{"a":{"type":"string","pattern":"(a+)\\1"}}}"#.to_owned();
    place.put("mixed.wasm", guests::component(&tools, ""));
    let catalog = place.load();
    assert_eq!(tool_names(&catalog), ["fine"]);
    let reasons: Vec<&str> = catalog.problems().iter().map(|p| p.reason.as_str()).collect();
    assert!(reasons[0].contains("`web`") && reasons[0].contains("not local"), "{reasons:?}");
    assert!(reasons[1].contains("`disk`") && reasons[2].contains("`slow`"), "{reasons:?}");
}

fn directories(mut place: Place) {
    let missing = place.dir.path().join("nowhere");
    place.options.dirs = vec![missing];
    place.options.explicit = false;
    let catalog = place.load();
    assert_eq!(catalog.tools().count(), 0);
    assert!(catalog.hint().unwrap().contains("--plugins DIR"));
    place.options.explicit = true;
    let error = place.runtime.block_on(place.loader().load()).unwrap_err();
    assert!(error.to_string().contains("nowhere") && error.hint().unwrap().contains("mkdir"), "{error}");
    place.plugin("one.wasm", &["one"]);
    let dir = place.dir.path().join("plugins");
    place.options.dirs = vec![dir.clone(), dir.join("../plugins")];
    let catalog = place.load();
    assert_eq!((catalog.plugins().len(), catalog.problems().len(), catalog.hint()), (1, 0, None));
}

fn grants(mut place: Place) {
    place.plugin("web.wasm", &["fetch"]);
    place.put("web.toml", "[wants]\nenv = [\"TZ\"]\n[limits]\nmemory = \"1GiB\"\nwall = \"5s\"");
    place.plugin("old.wasm", &["old"]);
    place.grant("web", "env = { TZ = \"UTC\", HOME = \"/x\" }");
    place.grant("old", "sha256 = \"00\"\nenv = { TZ = \"UTC\" }");
    place.grant("wbe", "");
    let catalog = place.load();
    let web = &catalog.tool("fetch").unwrap().plugin;
    assert_eq!(web.policy.env, [("TZ".to_owned(), "UTC".to_owned())]);
    assert_eq!((web.limits.memory, web.limits.wall.as_secs()), (256 << 20, 5));
    assert!(catalog.tool("old").unwrap().plugin.policy.env.is_empty());
    let warnings = catalog.warnings().join("\n");
    for part in [
        "plugin `web`: `env.HOME` is granted, but the manifest does not want it",
        "plugin `web`: the manifest asks for `memory` of 1 GiB; it gets 256 MiB",
        "plugin `old`: the grant [grants.old] was given to other bytes",
        "[grants.wbe] names no plugin that is here; did you mean `web`?",
    ] {
        assert!(warnings.contains(part), "{part} in\n{warnings}");
    }
}

fn changed_file(place: Place) {
    place.plugin("one.wasm", &["one"]);
    place.load();
    let catalog = place.load();
    place.plugin("one.wasm", &["other"]);
    let component = |catalog: &Catalog| place.runtime.block_on(catalog.tool("one").unwrap().plugin.component());
    // Its code is still known by the hash it was loaded with.
    component(&catalog).unwrap();
    place.plugin("one.wasm", &["one"]);
    let catalog = place.load();
    std::fs::remove_file(place.cached_files().last().unwrap()).unwrap();
    place.cached_files().into_iter().skip(2).for_each(|path| std::fs::remove_file(path).unwrap());
    place.plugin("one.wasm", &["other"]);
    let failure = component(&catalog).unwrap_err();
    assert_eq!(failure.code.as_str(), "quarantined");
    assert!(failure.message.contains("has changed since it was loaded"), "{}", failure.message);
}

fn inspection(mut place: Place) {
    place.plugin("one.wasm", &["one"]);
    place.put("one.toml", "version = \"1.2.3\"\n[wants]\nmodel = true");
    place.put("typed.wasm", wat::parse_str(TYPED).unwrap());
    place.put("text.wasm", "hello");
    place.grant("one", "");
    let inspect = |name: &str| place.runtime.block_on(place.loader().inspect(&place.at(name)));
    let one = inspect("one.wasm").unwrap();
    assert_eq!(one.world, World::Plugin("0.1.0".to_owned()));
    assert_eq!((one.report.state, one.version.as_deref()), (PluginState::Ready, Some("1.2.3")));
    assert!(one.wants.as_ref().unwrap().model && one.size > 0 && one.descriptors_size > 0);
    let inert = one.imports.iter().filter(|i| i.standing == Standing::Inert);
    let known = ["elysia:plugin/http@", "elysia:plugin/model@", "wasi:"];
    assert!(inert.clone().all(|i| known.iter().any(|k| i.name.starts_with(k))), "{:?}", one.imports);
    let shown = serde_json::to_value(&one).unwrap();
    assert_eq!(shown["tools"][0]["name"], "one");
    let typed = inspect("typed.wasm").unwrap();
    assert_eq!((typed.world, typed.report.state), (World::Typed, PluginState::Failed));
    assert_eq!(typed.exports, ["add-numbers"]);
    assert!(inspect("text.wasm").unwrap_err().reason.contains("it is text"));
}

fn check(place: Place) {
    place.plugin("one.wasm", &["one"]);
    place.plugin("folder/plugin.wasm", &["two"]);
    place.put("folder/plugin.toml", "");
    let mut bad = vec![Tool::new("bad", "d"), Tool::new("good", "d")];
    bad[0].schema = r#"{"type":"object","properties":{"a":{"$ref":"http://x/"}}}"#.to_owned();
    place.put("bad.wasm", guests::component(&bad, ""));
    let check = |name: &str| place.runtime.block_on(place.loader().check(&place.at(name)));
    assert_eq!(check("one.wasm").state, PluginState::Ready);
    for path in ["folder", "folder/plugin.wasm"] {
        let report = check(path);
        assert_eq!((report.state, report.name.as_str()), (PluginState::Ready, "folder"));
    }
    let report = check("bad.wasm");
    assert_eq!((report.state, report.tools.len()), (PluginState::Failed, 1));
    assert!(report.reason.unwrap().contains("not local"));
    assert!(check("none.wasm").reason.unwrap().contains("does not exist"));
    let dir: &Path = &place.dir.path().join("plugins");
    let catalog = place.runtime.block_on(place.loader().check_dir(dir)).unwrap();
    assert_eq!((catalog.plugins().len(), catalog.problems().iter().filter(|p| !p.quiet).count()), (3, 1));
}

/// The bound is ten times what a debug build takes on a busy machine; the point is that nothing is compiled.
fn warm_start(place: Place) {
    for i in 0..20 {
        let padding = format!("(data (i32.const 1048576) \"{}\") (memory (export \"memory\") 32)", "x".repeat(150_000));
        let tool = Tool::new(&format!("tool_{i}"), "Pads.");
        place.put(&format!("p{i}.wasm"), guests::component(&[tool], &padding));
    }
    assert_eq!(place.load().plugins().len(), 20);
    let engine = place.engine();
    let began = Instant::now();
    let catalog = place.runtime.block_on(Loader::new(engine, place.options.clone()).load()).unwrap();
    assert_eq!(catalog.plugins().len(), 20);
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
}
