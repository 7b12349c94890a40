//! Every limit on a guest: its key under `limits`, its default, and how settings of manifest and operator combine.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// A number of bytes, written `64MiB`, `1.5 GiB`, `500kB` or as a plain number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SizeInBytes(pub u64);

impl SizeInBytes {
    /// Reads a size.
    ///
    /// # Errors
    /// A sentence naming the accepted forms.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(split);
        let factor: f64 = match unit.trim() {
            "" | "B" => 1.0,
            "kB" | "KB" => 1e3,
            "MB" => 1e6,
            "GB" => 1e9,
            "KiB" => KIB as f64,
            "MiB" => MIB as f64,
            "GiB" => (1024 * MIB) as f64,
            _ => {
                return Err(format!("`{}` is not a size; write for example \"64MiB\"", crate::clean_line(text)));
            }
        };
        match number.parse::<f64>() {
            Ok(n) if n.is_finite() && n * factor < 9e15 => Ok(Self((n * factor) as u64)),
            _ => Err(format!("`{}` is not a size; write for example \"64MiB\"", crate::clean_line(text))),
        }
    }
}

impl fmt::Display for SizeInBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, name) in [(1024 * MIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")] {
            if self.0 >= unit {
                let whole = self.0 / unit;
                return if self.0.is_multiple_of(unit) {
                    write!(f, "{whole} {name}")
                } else if self.0 % unit < unit / 200 || self.0 % unit > unit - unit / 200 {
                    // Two decimals would show another number than it is: 1 MiB and one byte.
                    write!(f, "{} B", self.0)
                } else {
                    write!(f, "{:.2} {name}", self.0 as f64 / unit as f64)
                };
            }
        }
        write!(f, "{} B", self.0)
    }
}

impl<'de> Deserialize<'de> for SizeInBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Scalar::deserialize(deserializer)? {
            Scalar::Whole(n) => Ok(Self(n)),
            Scalar::Real(_) => {
                Err(serde::de::Error::custom("a size is a whole number of bytes or text like \"64MiB\""))
            }
            Scalar::Text(text) => Self::parse(&text).map_err(serde::de::Error::custom),
        }
    }
}

const DURATION_RANGE: &str = "a duration is at least 0 and at most 1000000000 seconds";

/// Deepest JSON that is read back wherever it may be stored: an event wraps an object a few levels deeper.
const MOST_DEPTH: u32 = 100;

/// A duration, written `30s`, `250ms`, `2m`, `1h` or as a number of seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpanOfTime(pub Duration);

impl SpanOfTime {
    /// Reads a duration.
    ///
    /// # Errors
    /// A sentence naming the accepted forms.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{}` is not a duration; write for example \"30s\" or \"250ms\"", crate::clean_line(text));
        let text = text.trim();
        let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(split);
        let factor = match unit.trim() {
            "ms" => 0.001,
            "" | "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            _ => return Err(wrong()),
        };
        let seconds = number.parse::<f64>().map_err(|_| wrong())? * factor;
        Self::from_seconds(seconds).ok_or_else(wrong)
    }

    fn from_seconds(seconds: f64) -> Option<Self> {
        (seconds <= 1e9).then(|| Duration::try_from_secs_f64(seconds).ok().map(Self)).flatten()
    }
}

impl fmt::Display for SpanOfTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.subsec_nanos() == 0 {
            write!(f, "{} s", self.0.as_secs())
        } else {
            write!(f, "{} ms", self.0.as_millis())
        }
    }
}

impl<'de> Deserialize<'de> for SpanOfTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Scalar::deserialize(deserializer)? {
            Scalar::Whole(n) => Self::from_seconds(n as f64).ok_or_else(|| serde::de::Error::custom(DURATION_RANGE)),
            Scalar::Real(n) => Self::from_seconds(n).ok_or_else(|| serde::de::Error::custom(DURATION_RANGE)),
            Scalar::Text(text) => Self::parse(&text).map_err(serde::de::Error::custom),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a number or text with a unit, for example \"64MiB\" or \"30s\"")]
enum Scalar {
    Whole(u64),
    Real(f64),
    Text(String),
}

/// `limits.compile`: the child process that compiles a component.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompileLimitSettings {
    /// CPU time.
    pub cpu: Option<SpanOfTime>,
    /// Address space.
    pub memory: Option<SizeInBytes>,
    /// Wall time.
    pub wall: Option<SpanOfTime>,
}

/// `limits.describe`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DescribeLimitSettings {
    /// CPU time.
    pub cpu: Option<SpanOfTime>,
    /// Wall time.
    pub wall: Option<SpanOfTime>,
}

/// `limits.calls`: a number means calls per query; a table sets each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallLimitSettings {
    /// Calls in one query.
    pub query: Option<u32>,
    /// Calls of one plugin at once.
    pub plugin: Option<u32>,
    /// Calls of one session at once.
    pub session: Option<u32>,
    /// Calls of the whole host at once.
    pub host: Option<u32>,
}

impl<'de> Deserialize<'de> for CallLimitSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            query: Option<u32>,
            plugin: Option<u32>,
            session: Option<u32>,
            host: Option<u32>,
        }
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "a number of calls per query, or a table with the keys query, plugin, session, host"
        )]
        enum Either {
            Count(u32),
            Table(Table),
        }
        Ok(match Either::deserialize(deserializer)? {
            Either::Count(n) => Self { query: Some(n), ..Self::default() },
            Either::Table(Table { query, plugin, session, host }) => Self { query, plugin, session, host },
        })
    }
}

/// `limits.http`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpLimitSettings {
    /// Requests in one call.
    pub requests: Option<u32>,
    /// Bytes of one response body.
    pub response: Option<SizeInBytes>,
    /// Wall time of one request.
    pub wall: Option<SpanOfTime>,
}

/// A `[limits]` table as written: only what it sets.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "each field is the key of the same name in `Limits` or `QueryBudget`")]
pub struct LimitSettings {
    pub file: Option<SizeInBytes>,
    pub compile: Option<CompileLimitSettings>,
    pub memory: Option<SizeInBytes>,
    pub tables: Option<u64>,
    pub instances: Option<u32>,
    pub wall: Option<SpanOfTime>,
    pub cpu: Option<SpanOfTime>,
    pub describe: Option<DescribeLimitSettings>,
    pub ask: Option<SpanOfTime>,
    pub calls: Option<CallLimitSettings>,
    pub host_memory: Option<SizeInBytes>,
    pub events: Option<u32>,
    #[serde(rename = "yield")]
    pub yield_size: Option<SizeInBytes>,
    pub output: Option<SizeInBytes>,
    pub json_depth: Option<u32>,
    pub tools: Option<u32>,
    pub description: Option<SizeInBytes>,
    pub schema: Option<SizeInBytes>,
    pub descriptors: Option<SizeInBytes>,
    pub state: Option<SizeInBytes>,
    pub stdio: Option<SizeInBytes>,
    pub inputs: Option<SizeInBytes>,
    pub feedback: Option<SizeInBytes>,
    pub status: Option<SizeInBytes>,
    pub http: Option<HttpLimitSettings>,
    pub environment: Option<SizeInBytes>,
    pub decisions: Option<u32>,
    pub query_wall: Option<SpanOfTime>,
    pub query_tokens: Option<u64>,
    pub query: Option<SizeInBytes>,
    pub history: Option<u64>,
    pub digest: Option<u64>,
}

/// What one plugin may use, resolved. Sizes in bytes. Defaults are those of the contract, section 2.5.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Component file.
    pub file: u64,
    /// CPU time of compiling.
    pub compile_cpu: Duration,
    /// Address space of compiling.
    pub compile_memory: u64,
    /// Wall time of compiling.
    pub compile_wall: Duration,
    /// Linear memory above the declared minimum, summed over memories.
    pub memory: u64,
    /// Largest declared minimum of memory.
    pub declared_memory: u64,
    /// Table elements, summed over tables.
    pub tables: u64,
    /// Core instances.
    pub instances: u32,
    /// Wall time of a call, from its start to its end.
    pub wall: Duration,
    /// Thread CPU time of a call.
    pub cpu: Duration,
    /// Thread CPU time of `describe`.
    pub describe_cpu: Duration,
    /// Wall time of `describe`.
    pub describe_wall: Duration,
    /// Wall time of `available` and `run-if-true`, all plugins together.
    pub ask: Duration,
    /// Calls of one plugin at once.
    pub calls_plugin: u32,
    /// Yields of one call.
    pub events: u32,
    /// One yield.
    pub yield_size: u64,
    /// All yields of a call.
    pub output: u64,
    /// Nesting of JSON from a guest.
    pub json_depth: u32,
    /// Tools of a plugin.
    pub tools: u32,
    /// Description of a tool.
    pub description: u64,
    /// Input or output schema of a tool.
    pub schema: u64,
    /// All descriptors of a plugin together.
    pub descriptors: u64,
    /// State of the plugin in one session.
    pub state: u64,
    /// Standard output and error kept per call.
    pub stdio: u64,
    /// Inputs of a call.
    pub inputs: u64,
    /// Feedback of a tool error.
    pub feedback: u64,
    /// A status or a warning.
    pub status: u64,
    /// HTTP requests of a call.
    pub http_requests: u32,
    /// One HTTP response body.
    pub http_response: u64,
    /// Wall time of one HTTP request.
    pub http_wall: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file: 64 * MIB,
            compile_cpu: Duration::from_secs(60),
            compile_memory: 3 * 1024 * MIB,
            compile_wall: Duration::from_secs(180),
            memory: 64 * MIB,
            declared_memory: 256 * MIB,
            tables: 100_000,
            instances: 64,
            wall: Duration::from_secs(30),
            cpu: Duration::from_secs(10),
            describe_cpu: Duration::from_secs(2),
            describe_wall: Duration::from_secs(10),
            ask: Duration::from_secs(2),
            calls_plugin: 4,
            events: 10_000,
            yield_size: MIB,
            output: 8 * MIB,
            json_depth: 64,
            tools: 64,
            description: 2 * KIB,
            schema: 32 * KIB,
            descriptors: 2 * MIB,
            state: MIB,
            stdio: 64 * KIB,
            inputs: 256 * KIB,
            feedback: 2 * KIB,
            status: KIB,
            http_requests: 50,
            http_response: 8 * MIB,
            http_wall: Duration::from_secs(30),
        }
    }
}

/// Largest memory a manifest may ask for by itself.
const MANIFEST_MEMORY: u64 = 256 * MIB;

impl Limits {
    /// These limits with what the operator set; an operator may raise and lower anything.
    #[must_use]
    pub fn with(mut self, set: &LimitSettings) -> Self {
        self.visit(set, |slot, wanted| *slot = wanted, |slot, wanted| *slot = wanted);
        self.json_depth = self.json_depth.min(MOST_DEPTH);
        self
    }

    /// These limits cut by what a manifest asks for: memory up to 256 MiB, and less of anything else.
    /// `operator` says which keys the operator has set: those are never raised.
    ///
    /// The second part is one warning per wish that was cut.
    #[must_use]
    pub fn asked(mut self, wish: &LimitSettings, operator: &LimitSettings) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        if let (Some(SizeInBytes(wanted)), None) = (wish.memory, operator.memory) {
            let given = wanted.min(MANIFEST_MEMORY);
            if given < wanted {
                warnings.push(cut_warning("memory", &SizeInBytes(wanted), &SizeInBytes(given)));
            }
            self.memory = given;
        }
        let rest = LimitSettings { memory: wish.memory.filter(|_| operator.memory.is_some()), ..wish.clone() };
        for key in self.keys_over(&rest) {
            warnings.push(format!(
                "the manifest asks for more `{key}` than is allowed; it gets what is allowed. Raise it with `limits` under \
                 its [grants] entry"
            ));
        }
        self.visit(&rest, |slot, wanted| *slot = wanted.min(*slot), |slot, wanted| *slot = wanted.min(*slot));
        (self, warnings)
    }

    fn keys_over(&self, wish: &LimitSettings) -> Vec<&'static str> {
        let mut over = Vec::new();
        macro_rules! check {
            ($($key:literal, $wanted:expr, $have:expr;)*) => { $( if $wanted.is_some_and(|w| w > $have) { over.push($key); } )* };
        }
        check! {
            "memory", wish.memory.map(|s| s.0), self.memory;
            "file", wish.file.map(|s| s.0), self.file;
            "tables", wish.tables, self.tables;
            "instances", wish.instances, self.instances;
            "wall", wish.wall.map(|s| s.0), self.wall;
            "cpu", wish.cpu.map(|s| s.0), self.cpu;
            "events", wish.events, self.events;
            "yield", wish.yield_size.map(|s| s.0), self.yield_size;
            "output", wish.output.map(|s| s.0), self.output;
            "json_depth", wish.json_depth, self.json_depth;
            "tools", wish.tools, self.tools;
            "description", wish.description.map(|s| s.0), self.description;
            "schema", wish.schema.map(|s| s.0), self.schema;
            "descriptors", wish.descriptors.map(|s| s.0), self.descriptors;
            "state", wish.state.map(|s| s.0), self.state;
            "stdio", wish.stdio.map(|s| s.0), self.stdio;
            "inputs", wish.inputs.map(|s| s.0), self.inputs;
            "feedback", wish.feedback.map(|s| s.0), self.feedback;
            "status", wish.status.map(|s| s.0), self.status;
            "compile", wish.compile.as_ref().and_then(|c| c.cpu).map(|s| s.0), self.compile_cpu;
            "describe", wish.describe.as_ref().and_then(|c| c.cpu).map(|s| s.0), self.describe_cpu;
            "http.requests", wish.http.as_ref().and_then(|h| h.requests), self.http_requests;
            "http.response", wish.http.as_ref().and_then(|h| h.response).map(|s| s.0), self.http_response;
            "http.wall", wish.http.as_ref().and_then(|h| h.wall).map(|s| s.0), self.http_wall;
            "calls.plugin", wish.calls.as_ref().and_then(|c| c.plugin), self.calls_plugin;
        }
        over
    }

    fn visit(
        &mut self,
        set: &LimitSettings,
        mut number: impl FnMut(&mut u64, u64),
        mut time: impl FnMut(&mut Duration, Duration),
    ) {
        let mut small = |slot: &mut u32, wanted: Option<u32>| {
            if let Some(wanted) = wanted {
                let mut wide = u64::from(*slot);
                number(&mut wide, u64::from(wanted));
                *slot = u32::try_from(wide).unwrap_or(u32::MAX);
            }
        };
        small(&mut self.instances, set.instances);
        small(&mut self.events, set.events);
        small(&mut self.json_depth, set.json_depth);
        small(&mut self.tools, set.tools);
        small(&mut self.calls_plugin, set.calls.as_ref().and_then(|c| c.plugin));
        small(&mut self.http_requests, set.http.as_ref().and_then(|h| h.requests));
        for (slot, wanted) in [
            (&mut self.file, set.file),
            (&mut self.compile_memory, set.compile.as_ref().and_then(|c| c.memory)),
            (&mut self.memory, set.memory),
            (&mut self.tables, set.tables.map(SizeInBytes)),
            (&mut self.yield_size, set.yield_size),
            (&mut self.output, set.output),
            (&mut self.description, set.description),
            (&mut self.schema, set.schema),
            (&mut self.descriptors, set.descriptors),
            (&mut self.state, set.state),
            (&mut self.stdio, set.stdio),
            (&mut self.inputs, set.inputs),
            (&mut self.feedback, set.feedback),
            (&mut self.status, set.status),
            (&mut self.http_response, set.http.as_ref().and_then(|h| h.response)),
        ] {
            if let Some(SizeInBytes(wanted)) = wanted {
                number(slot, wanted);
            }
        }
        for (slot, wanted) in [
            (&mut self.compile_cpu, set.compile.as_ref().and_then(|c| c.cpu)),
            (&mut self.compile_wall, set.compile.as_ref().and_then(|c| c.wall)),
            (&mut self.wall, set.wall),
            (&mut self.cpu, set.cpu),
            (&mut self.describe_cpu, set.describe.as_ref().and_then(|d| d.cpu)),
            (&mut self.describe_wall, set.describe.as_ref().and_then(|d| d.wall)),
            (&mut self.ask, set.ask),
            (&mut self.http_wall, set.http.as_ref().and_then(|h| h.wall)),
        ] {
            if let Some(SpanOfTime(wanted)) = wanted {
                time(slot, wanted);
            }
        }
    }
}

fn cut_warning(key: &str, wanted: &dyn fmt::Display, given: &dyn fmt::Display) -> String {
    format!(
        "the manifest asks for `{key}` of {wanted}; it gets {given}. Raise it with `limits` under its [grants] entry"
    )
}
