//! What an endpoint does not support, learned from its refusals.

use serde_json::Value;

use super::NativeTools;

/// How choices are asked for; from the strictest to the plainest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// `tools` with `tool_choice: required`.
    Tools,
    /// `tools` without a choice enforced.
    OptionalTools,
    /// `response_format: json_schema`.
    Schema,
    /// Instructions in text alone.
    Text,
}

/// What is left out or named otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quirks {
    pub(crate) mode: Mode,
    /// Tools must be sent as such, whatever the endpoint says.
    pub(crate) insists: bool,
    /// `max_completion_tokens` instead of `max_tokens`.
    pub(crate) completion_tokens: bool,
    pub(crate) no_temperature: bool,
    pub(crate) no_stream_options: bool,
}

impl Quirks {
    pub(crate) fn new(native_tools: NativeTools, is_openai: bool) -> Self {
        Self {
            mode: if native_tools == NativeTools::Off { Mode::Schema } else { Mode::Tools },
            insists: native_tools == NativeTools::On,
            completion_tokens: is_openai,
            no_temperature: false,
            no_stream_options: false,
        }
    }

    /// What to do differently after a refusal of `sent`; `None` when the refusal is about something else.
    /// Each step takes something away for good, so learning ends.
    pub(crate) fn learn(self, status: u16, refusal: &str, sent: &Value) -> Option<Self> {
        if !matches!(status, 400 | 404 | 422 | 501) {
            return None;
        }
        let refusal = refusal.to_lowercase();
        let speaks_of = |words: &[&str]| words.iter().any(|word| refusal.contains(word));
        let was_sent = |key: &str| sent.get(key).is_some();
        if was_sent("temperature") && speaks_of(&["temperature"]) {
            return Some(Self { no_temperature: true, ..self });
        }
        if was_sent("max_tokens") && speaks_of(&["max_completion_tokens"]) {
            return Some(Self { completion_tokens: true, ..self });
        }
        if was_sent("stream_options") && speaks_of(&["stream_options", "include_usage"]) {
            return Some(Self { no_stream_options: true, ..self });
        }
        if was_sent("tools") && !self.insists {
            if self.mode == Mode::Tools && speaks_of(&["tool_choice"]) {
                return Some(Self { mode: Mode::OptionalTools, ..self });
            }
            if speaks_of(&["tool", "function call"]) {
                return Some(Self { mode: Mode::Schema, ..self });
            }
        }
        if was_sent("response_format") && speaks_of(&["response_format", "json_schema", "schema", "grammar"]) {
            // With tools insisted on, a schema is sent only for replies without tools.
            return (self.mode != Mode::Text).then_some(Self { mode: Mode::Text, ..self });
        }
        None
    }
}
